import EDM
public import Operations
public import SyncCore

/// The queue, which is in memory while the views are open; see ``QueueTable``.
extension SQLiteState {
    public func pendingOperations() throws(StateError) -> [PendingOperation] {
        try pendingOperations(from: 0, limit: .max)
    }

    public func pendingOperation(_ sequence: SequenceNumber) throws(StateError) -> PendingOperation? {
        try loaded().pending[sequence]
    }

    public func pendingOperations(
        from first: SequenceNumber, limit: Int
    ) throws(StateError) -> [PendingOperation] {
        try loaded().pending.operations(from: first, limit: limit)
    }

    /// Cost: O(n) for n pending operations.
    public func pendingOperations(
        _ kind: PendingOperation.Status.Kind
    ) throws(StateError) -> [PendingOperation] {
        try pendingOperations().filter { $0.status.kind == kind }
    }

    public func pendingStatus(
        of sequence: SequenceNumber
    ) throws(StateError) -> (status: PendingOperation.Status, since: Timestamp)? {
        try loaded().pending.status(of: sequence)
    }

    public func hasPending() throws(StateError) -> Bool { try pendingCount() > 0 }
    public func pendingCount() throws(StateError) -> Int { try loaded().pending.count }
    public func hasHeldBack() throws(StateError) -> Bool { try heldBackCount() > 0 }
    /// Returns the number of operations that are not to be sent: drafts and local-only operations.
    public func heldBackCount() throws(StateError) -> Int { try loaded().pending.heldBack }
    /// Returns whether the service has rejected any operation.
    func hasRejected() throws(StateError) -> Bool { try loaded().pending.hasRejected }

    public func pendingOperations(naming id: EntityID) throws(StateError) -> [SequenceNumber] {
        try loaded().pending.naming(id)
    }

    public func pendingOperations(changing id: EntityID) throws(StateError) -> [SequenceNumber] {
        try loaded().pending.changing(id)
    }

    public func hasPendingChange(of id: EntityID) throws(StateError) -> Bool {
        try loaded().pending.hasChange(of: id)
    }

    public func lastPending(inTransaction name: String) throws(StateError) -> SequenceNumber? {
        try loaded().pending.last(inTransaction: name)
    }

    /// Returns the status of an entity that follows from the pending operations.
    public func pendingState(of id: EntityID) throws(StateError) -> PendingState {
        try loaded().pending.pendingState(of: id)
    }

    private func loaded() throws(StateError) -> QueueTable {
        try queue.load()
        return queue
    }

    // MARK: Changes

    public func putPending(_ pending: PendingOperation) throws(StateError) {
        try loaded().put(pending, about: try subjects(of: pending.operation, model))
        try queueChanged()
    }

    public func setPendingStatus(
        _ status: PendingOperation.Status, since: Timestamp, of sequence: SequenceNumber
    ) throws(StateError) {
        try loaded().setStatus(status, since: since, of: sequence)
        try queueChanged()
    }

    public func removePending(_ sequence: SequenceNumber) throws(StateError) {
        try loaded().remove(sequence)
        try queueChanged()
    }

    /// Writes a change at once if no transaction is open.
    private func queueChanged() throws(StateError) {
        if !queue.hasTransaction { try mapped { () throws(SQLiteError) in try flushQueue() } }
    }

    // MARK: Effects

    public func hasEffects() throws(StateError) -> Bool {
        let queue = try loaded()
        return queue.pending.effects.count == queue.pending.count
    }

    public func effect(of sequence: SequenceNumber) throws(StateError) -> OperationEffect? {
        try loaded().pending.effects[sequence]
    }

    public func putEffect(_ effect: OperationEffect, of sequence: SequenceNumber) throws(StateError) {
        try queue.putEffect(effect, of: sequence)
    }

    public func removeEffect(of sequence: SequenceNumber) throws(StateError) { try queue.removeEffect(of: sequence) }

    public func removeEffects() throws(StateError) { try queue.removeEffects() }

    public func accesses(of item: StateItem) throws(StateError) -> [(operation: SequenceNumber, access: Access)] {
        try loaded().pending.effects.accesses(of: item)
    }
}
