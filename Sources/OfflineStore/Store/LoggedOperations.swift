import EDM
import OperationLog
import Operations
import SyncCore
import Views

/// The logged content of pending operations: the original records with the changes of later ones.
struct LoggedOperations {
    private let reader: LogReader
    private let decoder = RecordDecoder()

    init(_ reader: LogReader) { self.reader = reader }

    /// Returns the first operation that differs between the state and the log, or nil if there is none.
    ///
    /// Cost: reads the records of the operations, and if one was changed later, all records after it.
    func first(of operations: [SequenceNumber], differingIn state: WorkingSet) throws -> SequenceNumber? {
        let first = try reader.firstSequence()
        let operations = operations.sorted()
        var differing = try recorded(operations.filter { $0 >= first }, differingIn: state)
        if let earliest = differing.keys.min() { try change(&differing, from: earliest + 1) }
        // A compaction removed the records of these.
        let compacted = Set(operations.prefix { $0 < first })
        if !compacted.isEmpty, let snapshot = try reader.snapshots().first {
            var kept = try pending(compacted, in: snapshot)
            try change(&kept, from: snapshot.sequence)
            differing.merge(kept) { $1 }
        }
        return try operations.first { sequence in
            guard differing[sequence] != nil || compacted.contains(sequence) else { return false }
            return try !Self.isSame(state.pendingOperation(sequence)?.operation, differing[sequence])
        }
    }

    /// Returns whether the encoded operations are equal. Equal strings may have different bytes.
    private static func isSame(_ one: Operation?, _ other: Operation?) -> Bool {
        guard let one, let other else { return false }
        return RecordCodec.encode(Record(time: 0, body: .operation(one)))
            == RecordCodec.encode(Record(time: 0, body: .operation(other)))
    }

    /// Returns whether the record would have the same bytes if the operation was logged now. Then it has the same
    /// content and need not be decoded.
    private static func isSame(_ pending: PendingOperation, asIn record: LogRecord) -> Bool {
        let (kind, payload) = RecordCodec.encode(Record(time: pending.time, body: .operation(pending.operation)))
        return kind == record.kind && payload[...] == record.bytes
    }

    /// Returns the recorded operations that differ from those of the state.
    private func recorded(
        _ operations: [SequenceNumber], differingIn state: WorkingSet
    ) throws -> [SequenceNumber: Operation] {
        var found: [SequenceNumber: Operation] = [:]
        var cursor: LogCursor?
        var next: SequenceNumber = 0
        for sequence in operations {
            // Successive operations are usually adjacent in the log.
            if cursor == nil || sequence < next || sequence - next > 64 {
                (cursor, next) = (reader.records(from: sequence), sequence)
            }
            while let record = try cursor?.next() {
                next = record.sequence + 1
                guard record.sequence == sequence else { continue }
                let pending = try state.pendingOperation(sequence)
                if let pending, Self.isSame(pending, asIn: record) { break }
                if case .operation(let operation) = try ViewsOpener.decoded(record, decoder).body,
                    !Self.isSame(pending?.operation, operation)
                {
                    found[sequence] = operation
                }
                break
            }
        }
        return found
    }

    private func pending(
        _ operations: Set<SequenceNumber>, in snapshot: SnapshotFile
    ) throws -> [SequenceNumber: Operation] {
        var found: [SequenceNumber: Operation] = [:]
        let cursor = try reader.snapshot(snapshot)
        var decoder = SnapshotDecoder()
        while let record = try cursor.next() {
            switch try decoder.add(kind: record.kind, payload: record.bytes) {
            case .pending(let pending) where operations.contains(pending.sequence):
                found[pending.sequence] = pending.operation
            case .undone(let undone) where operations.contains(undone.operation.sequence):
                found[undone.operation.sequence] = undone.operation.operation
            default: continue
            }
        }
        return found
    }

    private static let changingKinds: Set<UInt8> = [
        RecordCodec.RecordKind.deliveryChanged.rawValue, RecordCodec.RecordKind.conflictResolved.rawValue,
        RecordCodec.RecordKind.operationsAmended.rawValue,
    ]

    /// Applies later changes to the operations like the fold.
    private func change(_ operations: inout [SequenceNumber: Operation], from first: SequenceNumber) throws {
        try reader.forEach(from: first) { record in
            guard Self.changingKinds.contains(record.kind) else { return }
            switch try ViewsOpener.decoded(record, decoder).body {
            case .deliveryChanged(let changed, let delivery):
                for sequence in changed { operations[sequence]?.delivery = delivery }
            case .operationsAmended(let amended):
                for amended in amended where operations[amended.operation] != nil {
                    operations[amended.operation] = amended.content
                }
            case .conflictResolved(let resolved):
                for part in resolved.dropped { operations[part.operation]?.drop(part) }
            default: break
            }
        }
    }
}

extension Operation {
    fileprivate mutating func drop(_ part: ConflictResolved.PartialUpdate) {
        guard case .update(let entity, var changes, var bindings) = action else { return }
        for name in part.properties { changes[name] = nil }
        bindings.removeAll { part.navigations.contains($0.navigation) }
        action = .update(entity, changes: changes, bindings: bindings)
    }
}
