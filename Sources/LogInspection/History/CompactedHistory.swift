import OperationLog
import Operations
import SyncCore

extension OperationFate {
    /// As a snapshot has it.
    init(_ status: PendingOperation.Status) {
        switch status {
        case .pending: self = .pending
        case .inFlight(let batch): self = .inFlight(batch)
        case .inDoubt(let batch, let reason): self = .inDoubt(batch, reason: reason)
        case .rejected(let refusal): self = .rejected(nil, refusal)
        case .deferred(let refusal, _): self = .deferred(refusal)
        }
    }
}

/// What is still known of the records that a compaction removed: the operations among them that had not ended when the
/// snapshot was made or were undone, and the set of each entity.
struct CompactedHistory {
    /// The first record that the log still has.
    let first: SequenceNumber
    /// In order; all are in front of ``first``.
    private(set) var operations: [(operation: PendingOperation, fate: OperationFate)] = []

    /// - Parameter sets: learns the sets of all entities that the snapshot knows.
    /// Empty where no snapshot can be read; the reader says so by itself.
    init(_ reader: LogReader, first: SequenceNumber, _ sets: inout EntitySets) throws(LogError) {
        self.first = first
        for snapshot in try reader.snapshots().reversed() {
            do throws(LogError) {
                if try read(snapshot, reader, &sets) { return }
            } catch {
                guard case .damaged = error else { throw error }
            }
        }
    }

    /// The operation with the number as it was recorded, or amended since; nil where it had ended.
    func record(_ sequence: SequenceNumber) -> Record? {
        place(of: sequence).map {
            Record(time: operations[$0].operation.time, body: .operation(operations[$0].operation.operation))
        }
    }

    /// How it stood when the snapshot was made.
    func fate(_ sequence: SequenceNumber) -> OperationFate? { place(of: sequence).map { operations[$0].fate } }

    private func place(of sequence: SequenceNumber) -> Int? {
        operations.firstIndex { $0.operation.sequence == sequence }
    }

    /// Returns whether the snapshot is one to its end.
    private mutating func read(
        _ snapshot: SnapshotFile, _ reader: LogReader, _ sets: inout EntitySets
    ) throws(LogError) -> Bool {
        let cursor = try reader.snapshot(snapshot)
        var decoder = SnapshotDecoder()
        var found: [(operation: PendingOperation, fate: OperationFate)] = []
        while let record = try cursor.next() {
            guard let item = try? decoder.add(kind: record.kind, payload: record.payload) else { continue }
            switch item {
            case .entity(let id, let set): sets.learn(id, set)
            case .pending(let pending) where pending.sequence < first:
                found.append((pending, OperationFate(pending.status)))
            case .undone(let undone) where undone.sequence < first:
                let before = OperationFate(undone.operation.status)
                found.append((undone.operation, .undone(by: undone.undo, before: before)))
            default: break
            }
        }
        guard (try? decoder.finish()) != nil else { return false }
        operations = found.sorted { $0.operation.sequence < $1.operation.sequence }
        return true
    }
}
