import Operations

/// Operations that the app took back: no longer pending, and kept, since they may be wanted again.
extension Fold {
    /// What is not pending any more is left alone: an undo has no say in what the service did.
    mutating func undo(_ sequences: [SequenceNumber], by record: SequenceNumber) throws(StateError) {
        var touched: Set<EntityID> = []
        for sequence in sequences {
            guard var pending = try storage.pendingOperation(sequence) else { continue }
            try unwind()
            // Only what was not at the service's can be undone. Where the log says otherwise a record was lost that told the
            // outcome, and whoever undid it knew.
            switch pending.status {
            case .pending, .rejected: break
            case .inFlight, .inDoubt, .deferred:
                pending.status = .pending
                pending.since = pending.time
            }
            try removePending(sequence)
            try storage.putUndone(UndoneOperation(operation: pending, undo: record))
            touched.formUnion(pending.operation.touchedEntities)
        }
        try forgetAncestors(of: touched.sorted())
        try removeGone(among: touched)
    }

    /// Operations that cancel each other out end as if they had never been. Unlike undone ones they do not come back.
    mutating func elide(_ sequences: [SequenceNumber]) throws(StateError) {
        var touched: Set<EntityID> = []
        for sequence in sequences {
            guard let pending = try storage.pendingOperation(sequence) else { continue }
            try unwind()
            try removePending(sequence)
            touched.formUnion(pending.operation.touchedEntities)
        }
        try forgetAncestors(of: touched.sorted())
        try removeGone(among: touched)
    }

    /// What the service no longer holds was kept for the operations on it only.
    mutating func removeGone(among ids: Set<EntityID>) throws(StateError) {
        for id in ids.sorted() where try baseRow(id)?.origin == .gone {
            guard try storage.pendingOperations(naming: id).isEmpty else { continue }
            try edit(.base) { e throws(StateError) in try e.removeFromBase(id, hasPending: false) }
        }
    }

    /// They go back to their old places: the pending operations are applied in order of their numbers.
    mutating func redo(_ sequences: [SequenceNumber]) throws(StateError) {
        for sequence in sequences {
            guard var undone = try storage.undoneOperation(sequence) else { continue }
            try unwind()
            // It fits again, or nobody would redo it.
            if undone.operation.isUnfit { undone.operation.status = .pending }
            try storage.removeUndone(sequence)
            try storage.putPending(undone.operation)
            edits?.added.insert(sequence)
            try register(undone.operation.operation)
        }
    }
}
