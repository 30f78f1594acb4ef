import Operations

/// Undone operations: no longer pending, and kept for a redo.
extension Fold {
    /// Undoes operations. Skips those that are not pending: an undo does not affect the service.
    mutating func undo(_ sequences: [SequenceNumber], by record: SequenceNumber) throws(StateError) {
        var touched: Set<EntityID> = []
        for sequence in sequences {
            guard var pending = try storage.pendingOperation(sequence) else { continue }
            try beginRebase()
            // Only an operation that the service does not have can be undone. If its status differs, the record of its
            // outcome was lost, and the outcome was known when the operation was undone.
            switch pending.status {
            case .pending, .rejected: break
            case .inFlight, .inDoubt, .deferred:
                pending.status = .pending
                pending.since = pending.time
            }
            try removePending(sequence)
            try storage.bookkeeping.putUndone(UndoneOperation(operation: pending, undo: record))
            touched.formUnion(pending.operation.touchedEntities)
        }
        try discardMergeBases(of: touched.sorted())
        try removeGone(among: touched)
    }

    /// Removes operations that cancel each other out. Unlike undone operations, they cannot be redone.
    mutating func elide(_ sequences: [SequenceNumber]) throws(StateError) {
        var touched: Set<EntityID> = []
        for sequence in sequences {
            guard let pending = try storage.pendingOperation(sequence) else { continue }
            try beginRebase()
            try removePending(sequence)
            touched.formUnion(pending.operation.touchedEntities)
        }
        try discardMergeBases(of: touched.sorted())
        try removeGone(among: touched)
    }

    /// Removes the entities that the service no longer has and that no operation refers to any more.
    mutating func removeGone(among ids: Set<EntityID>) throws(StateError) {
        for id in ids.sorted() where try baseRow(id)?.origin == .gone {
            guard try storage.pendingOperations(naming: id).isEmpty else { continue }
            try edit(.base) { e throws(StateError) in try e.removeFromBase(id, hasPending: false) }
        }
    }

    /// Restores undone operations in their old positions, because pending operations are applied in order of their
    /// numbers.
    mutating func redo(_ sequences: [SequenceNumber]) throws(StateError) {
        for sequence in sequences {
            guard var undone = try storage.bookkeeping.undoneOperation(sequence) else { continue }
            try beginRebase()
            // A redo implies that the operation fits again.
            if undone.operation.isUnfit { undone.operation.status = .pending }
            try storage.bookkeeping.removeUndone(sequence)
            try storage.putPending(undone.operation)
            edits?.added.insert(sequence)
            try register(undone.operation.operation)
        }
    }
}
