import EDM
package import Operations

/// The pending operations, in ascending order of sequence number.
extension StateReader {
    /// Returns the queue after loading it.
    private func loadedQueue() throws(StateError) -> PendingQueue { try queue.load() }

    package func pendingOperations() throws(StateError) -> [PendingOperation] {
        try pendingOperations(from: 0, limit: .max)
    }

    package func pendingOperation(_ sequence: SequenceNumber) throws(StateError) -> PendingOperation? {
        queue.operationsRead += 1
        return try loadedQueue()[sequence]
    }

    func isPending(_ sequence: SequenceNumber) throws(StateError) -> Bool {
        try loadedQueue().contains(sequence)
    }

    /// Returns the status of a pending operation with its time, or nil if the operation is not pending.
    package func pendingStatus(
        of sequence: SequenceNumber
    ) throws(StateError) -> (status: PendingOperation.Status, since: Timestamp)? {
        try loadedQueue().status(of: sequence)
    }

    /// Returns at most `limit` pending operations from `first` on.
    package func pendingOperations(
        from first: SequenceNumber, limit: Int
    ) throws(StateError) -> [PendingOperation] {
        let page = try loadedQueue().operations(from: first, limit: limit)
        queue.operationsRead += page.count
        return page
    }

    /// Returns the operations with a status of this kind. Cost: O(n) for n pending operations.
    package func pendingOperations(
        _ kind: PendingOperation.Status.StatusKind
    ) throws(StateError) -> [PendingOperation] {
        let found = try loadedQueue().operations(kind)
        queue.operationsRead += found.count
        return found
    }

    /// Calls `body` with every pending operation. `body` must not use the state; its error ends the pass.
    package func forEachPending(_ body: (PendingOperation) throws -> Void) throws {
        var next: SequenceNumber = 0
        while true {
            let page = try pendingOperations(from: next, limit: 256)
            guard let last = page.last else { return }
            for operation in page { try body(operation) }
            next = last.sequence + 1
        }
    }

    package func hasPending() throws(StateError) -> Bool { try loadedQueue().count > 0 }
    package func pendingCount() throws(StateError) -> Int { try loadedQueue().count }
    /// Returns whether any pending operation is not to be sent: a draft or a local-only operation.
    package func hasHeldBack() throws(StateError) -> Bool { try heldBackCount() > 0 }
    /// Returns the number of operations that are not to be sent.
    package func heldBackCount() throws(StateError) -> Int { try loadedQueue().heldBack }
    /// Returns whether the service has rejected any operation.
    package func hasRejected() throws(StateError) -> Bool { try loadedQueue().hasRejected }

    /// Returns the pending operations that refer to the entity.
    package func pendingOperations(naming id: EntityID) throws(StateError) -> [SequenceNumber] {
        try loadedQueue().naming(id)
    }

    /// Returns the pending operations that change the entity.
    package func pendingOperations(changing id: EntityID) throws(StateError) -> [SequenceNumber] {
        try loadedQueue().changing(id)
    }

    package func hasPendingChange(of id: EntityID) throws(StateError) -> Bool {
        try loadedQueue().hasChange(of: id)
    }

    /// Returns the last pending operation of the app's transaction, or nil if it has none.
    package func lastPending(inTransaction name: String) throws(StateError) -> SequenceNumber? {
        try loadedQueue().last(inTransaction: name)
    }

    /// Returns the status of an entity that follows from the pending operations. Only if the state is stored, because
    /// other states do not track the subjects of operations.
    package func pendingState(of id: EntityID) throws(StateError) -> PendingState {
        try loadedQueue().pendingState(of: id)
    }

    // MARK: Effects

    // They are not part of the state: without them all operations are rebased.

    /// Returns whether each pending operation has an effect, and no other operation has one.
    package func hasEffects() throws(StateError) -> Bool {
        let pending = try queue.loadWithEffects()
        return pending.effects.count == pending.count
    }

    package func effect(of sequence: SequenceNumber) throws(StateError) -> OperationEffect? {
        try queue.loadWithEffects().effects[sequence]
    }

    /// Calls `body` once for each item that the operation read or wrote. `body` must not change effects.
    func forEachAccess(
        by sequence: SequenceNumber, _ body: (StateItem, Access) throws(StateError) -> Void
    ) throws(StateError) {
        try queue.loadWithEffects().effects.forEachAccess(by: sequence, body)
    }

    /// Calls `body` once for each operation that would be disturbed if it accessed the item after `earlier`, in any
    /// order. `body` must not change effects.
    func forEachAccess(
        to item: StateItem, disturbedBy earlier: Access, _ body: (SequenceNumber, Access) throws(StateError) -> Void
    ) throws(StateError) {
        try queue.loadWithEffects().effects.forEachAccess(to: item, disturbedBy: earlier, body)
    }
}

extension StateStorage {
    /// Stores the effect of an operation. Replaces a stored one.
    package func putEffect(_ effect: OperationEffect, of sequence: SequenceNumber) throws(StateError) {
        try queue.putEffect(effect, of: sequence)
    }
    package func removeEffect(of sequence: SequenceNumber) throws(StateError) { try queue.removeEffect(of: sequence) }
    package func removeEffects() throws(StateError) { try queue.removeEffects() }
}
