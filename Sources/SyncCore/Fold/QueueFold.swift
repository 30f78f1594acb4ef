import Operations

/// Records that remove operations from the queue or replace them, other than confirmations.
struct QueueFold {
    /// The entities of the former operations.
    private var touched: Set<EntityID> = []

    /// Runs `change` and then removes the data that only the former operations needed.
    static func change(
        _ layers: inout LayeredState,
        _ change: (inout QueueFold, inout LayeredState) throws(StateError) -> Void
    ) throws(StateError) {
        var fold = QueueFold()
        try change(&fold, &layers)
        try layers.mergeBases.discard(of: fold.touched.sorted())
        try layers.removeGone(among: fold.touched)
    }

    /// Undoes operations. Skips those that are not pending: an undo does not affect the service.
    mutating func undo(_ sequences: [SequenceNumber], by record: SequenceNumber, in layers: inout LayeredState)
        throws(StateError)
    {
        for sequence in sequences {
            guard var pending = try layers.storage.pendingOperation(sequence) else { continue }
            try layers.beginRebase()
            // Only an operation that the service does not have can be undone. If its status differs, the record of its
            // outcome was lost, and the outcome was known when the operation was undone.
            switch pending.status {
            case .pending, .rejected: break
            case .inFlight, .inDoubt, .deferred:
                pending.status = .pending
                pending.since = pending.time
            }
            try layers.removePending(sequence)
            try layers.storage.bookkeeping.putUndone(UndoneOperation(operation: pending, undo: record))
            touched.formUnion(pending.operation.touchedEntities)
        }
    }

    /// Removes operations that cancel each other out. Unlike undone operations, they cannot be redone.
    mutating func elide(_ sequences: [SequenceNumber], in layers: inout LayeredState) throws(StateError) {
        for sequence in sequences {
            guard let pending = try layers.storage.pendingOperation(sequence) else { continue }
            try layers.beginRebase()
            try layers.removePending(sequence)
            touched.formUnion(pending.operation.touchedEntities)
        }
    }

    /// Replaces the content of operations in their positions. Operations that were sent do not change.
    mutating func amend(_ amended: [AmendedOperation], in layers: inout LayeredState) throws(StateError) {
        for amended in amended {
            guard var pending = try layers.storage.pendingOperation(amended.operation), pending.status.batch == nil
            else {
                continue
            }
            try layers.revertPending()
            // The new content may refer to other entities.
            touched.formUnion(pending.operation.touchedEntities)
            try layers.storage.removePending(pending.sequence)
            pending.operation = amended.content
            pending.status = .pending
            if let time = layers.time { pending.since = time }
            try layers.storage.putPending(pending)
            try layers.keepNextEntity(above: pending.operation)
            try layers.register(pending.operation)
        }
    }

    /// Moves the changes of client-only operations to the base state. Skips operations that ended.
    mutating func keep(_ sequences: [SequenceNumber], in layers: inout LayeredState) throws(StateError) {
        for sequence in sequences {
            guard let pending = try layers.storage.pendingOperation(sequence) else { continue }
            try layers.beginRebase()
            try layers.removePending(sequence)
            if let kept = try layers.visible(pending) {
                try layers.edit(.base) { e throws(StateError) in try e.apply(kept) }
            }
            try layers.assignKeys(pending.operation.createdEntities)
            touched.formUnion(pending.operation.touchedEntities)
        }
    }
}
