import OperationLog
import Operations
import SyncCore

extension OperationOutcome {
    /// Creates the outcome for the status in a snapshot.
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

/// The remaining information about records that a compaction removed: the operations that were pending or undone at the
/// time of the snapshot, and the set of each entity.
struct CompactedHistory {
    /// The first record that the log still has.
    let first: SequenceNumber
    /// The operations before ``first``, in order.
    private(set) var operations: [(operation: PendingOperation, outcome: OperationOutcome)] = []

    /// Reads the newest intact snapshot. The result is empty if there is none; the reader reports that itself.
    ///
    /// - Parameter sets: Learns the sets of all entities in the snapshot.
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

    /// Returns the operation as it was recorded or later amended, or nil if it had ended.
    func record(_ sequence: SequenceNumber) -> Record? {
        place(of: sequence).map {
            Record(time: operations[$0].operation.time, body: .operation(operations[$0].operation.operation))
        }
    }

    /// Returns the outcome at the time of the snapshot.
    func outcome(_ sequence: SequenceNumber) -> OperationOutcome? { place(of: sequence).map { operations[$0].outcome } }

    private func place(of sequence: SequenceNumber) -> Int? {
        operations.firstIndex { $0.operation.sequence == sequence }
    }

    /// Reads a snapshot. Returns whether it is complete.
    private mutating func read(
        _ snapshot: SnapshotFile, _ reader: LogReader, _ sets: inout EntitySets
    ) throws(LogError) -> Bool {
        let cursor = try reader.snapshot(snapshot)
        var decoder = SnapshotDecoder()
        var found: [(operation: PendingOperation, outcome: OperationOutcome)] = []
        while let record = try cursor.next() {
            guard let item = try? decoder.add(kind: record.kind, payload: record.bytes) else { continue }
            switch item {
            case .entity(let id, let set): sets.add(id, set)
            case .pending(let pending) where pending.sequence < first:
                found.append((pending, OperationOutcome(pending.status)))
            case .undone(let undone) where undone.sequence < first:
                let before = OperationOutcome(undone.operation.status)
                found.append((undone.operation, .undone(by: undone.undo, before: before)))
            default: break
            }
        }
        guard (try? decoder.finish()) != nil else { return false }
        operations = found.sorted { $0.operation.sequence < $1.operation.sequence }
        return true
    }
}
