import EDM
import OperationLog
import Operations
import SyncCore
import Views

/// Views that turn out, while the store is open, not to be what was written, or not what the log says. They are derived: they
/// are made again from the log, and what met the fault is done again.
extension LocalStore {
    /// Makes the views again if the error is that they are damaged.
    ///
    /// - Returns: whether they were, so that what failed can be done again.
    func remakeViews(after error: any Error) throws -> Bool {
        let damage: StateError? =
            switch error {
            case let error as StateError: error
            case ValidationError.state(let error): error
            case let error as TidelogError: error.cause as? StateError
            default: nil
            }
        guard let damage, storedViews.isFault(damage), mayRemakeViews, !isClosed else { return false }
        try remakeViews(because: damage.message)
        return true
    }

    func remakeViews(because reason: String) throws {
        mayRemakeViews = false
        rearrangements += 1
        forgetViews()
        storedViews.close()
        var opening = ViewsOpening(
            files: files, log: log, reader: try reader(), disk: disk, unusable: unusableSnapshots)
        opening.longQueue = longQueue
        opening.flushLimit = flushLimit
        (storedViews, fold) = try opening.remade()
        viewsNotes += ["The views were made again from the log, because: \(reason)"] + opening.notes
        observers.tell(.unknown)
        try arrangeIndexes()
    }

    /// Makes the views again if they do not have these operations as the log does, so that only what the log says is sent.
    ///
    /// - Returns: whether they did not, so that what was made of them has to be made again.
    func remakeViews(ifUnlogged operations: [SequenceNumber]) throws(TidelogError) -> Bool {
        guard mayRemakeViews else { return false }
        do {
            try commitPages()
            guard let differing = try LoggedOperations(try reader()).first(of: operations, differingIn: state) else {
                return false
            }
            try remakeViews(because: "They do not have operation \(differing) as the log does.")
            return true
        } catch {
            throw mapped(error)
        }
    }
}

/// What the log says of pending operations: as they were recorded, with what later records changed of them.
struct LoggedOperations {
    private let reader: LogReader
    private let decoder = RecordDecoder()

    init(_ reader: LogReader) { self.reader = reader }

    /// The first of the operations that the state does not have as the log does; nil if it has all of them so.
    ///
    /// Cost: reads the records of the operations; where one was changed later, all records behind it.
    func first(of operations: [SequenceNumber], differingIn state: WorkingSet) throws -> SequenceNumber? {
        let first = try reader.firstSequence()
        let operations = operations.sorted()
        var differing = try recorded(operations.filter { $0 >= first }) { sequence, operation in
            try !Self.isSame(state.pendingOperation(sequence)?.operation, operation)
        }
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

    /// By their bytes: texts that look the same are not the same.
    private static func isSame(_ one: Operation?, _ other: Operation?) -> Bool {
        guard let one, let other else { return false }
        return RecordCodec.encode(Record(time: 0, body: .operation(one)))
            == RecordCodec.encode(Record(time: 0, body: .operation(other)))
    }

    /// Those of the operations, in the form in which they were recorded, for which the condition holds.
    private func recorded(
        _ operations: [SequenceNumber], where condition: (SequenceNumber, Operation) throws -> Bool
    ) throws -> [SequenceNumber: Operation] {
        var found: [SequenceNumber: Operation] = [:]
        var cursor: LogCursor?
        var next: SequenceNumber = 0
        for sequence in operations {
            // Operations that were made one after another lie side by side.
            if cursor == nil || sequence < next || sequence - next > 64 {
                (cursor, next) = (reader.records(from: sequence), sequence)
            }
            while let record = try cursor?.next() {
                next = record.sequence + 1
                guard record.sequence == sequence else { continue }
                if case .operation(let operation) = try ViewsOpening.decoded(record, decoder).body,
                    try condition(sequence, operation)
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
            switch try decoder.add(kind: record.kind, payload: record.payload) {
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
        RecordCodec.Kind.deliveryChanged.rawValue, RecordCodec.Kind.conflictResolved.rawValue,
        RecordCodec.Kind.operationsAmended.rawValue,
    ]

    /// Changes the operations as the fold does.
    private func change(_ operations: inout [SequenceNumber: Operation], from first: SequenceNumber) throws {
        try reader.forEach(from: first) { record in
            guard Self.changingKinds.contains(record.kind) else { return }
            switch try ViewsOpening.decoded(record, decoder).body {
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
    fileprivate mutating func drop(_ part: ConflictResolved.Part) {
        guard case .update(let entity, var changes, var bindings) = action else { return }
        for name in part.properties { changes[name] = nil }
        bindings.removeAll { part.navigations.contains($0.navigation) }
        action = .update(entity, changes: changes, bindings: bindings)
    }
}
