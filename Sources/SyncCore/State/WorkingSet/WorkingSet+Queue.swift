import EDM
public import Operations

/// The queue, which is in memory with and without a backing.
extension WorkingSet {
    private var pending: PendingQueue {
        get throws(StateError) {
            try queue.load()
            return queue.pending
        }
    }

    public func pendingOperations() throws(StateError) -> [PendingOperation] {
        try pendingOperations(from: 0, limit: .max)
    }

    public func pendingOperation(_ sequence: SequenceNumber) throws(StateError) -> PendingOperation? {
        operationsRead += 1
        return try pending[sequence]
    }

    public func pendingStatus(
        of sequence: SequenceNumber
    ) throws(StateError) -> (status: PendingOperation.Status, since: Timestamp)? {
        try pending.status(of: sequence)
    }

    public func pendingOperations(
        from first: SequenceNumber, limit: Int
    ) throws(StateError) -> [PendingOperation] {
        let page = try pending.operations(from: first, limit: limit)
        operationsRead += page.count
        return page
    }

    public func pendingOperations(
        _ kind: PendingOperation.Status.Kind
    ) throws(StateError) -> [PendingOperation] {
        try pendingOperations().filter { $0.status.kind == kind }
    }

    public func hasPending() throws(StateError) -> Bool { try pending.count > 0 }
    public func pendingCount() throws(StateError) -> Int { try pending.count }
    public func hasHeldBack() throws(StateError) -> Bool { try pending.heldBack > 0 }

    public func pendingOperations(naming id: EntityID) throws(StateError) -> [SequenceNumber] {
        try pending.naming(id)
    }

    public func pendingOperations(changing id: EntityID) throws(StateError) -> [SequenceNumber] {
        try pending.changing(id)
    }

    public func hasPendingChange(of id: EntityID) throws(StateError) -> Bool { try pending.hasChange(of: id) }

    public func lastPending(inTransaction name: String) throws(StateError) -> SequenceNumber? {
        try pending.last(inTransaction: name)
    }

    /// Returns the status of an entity that follows from the pending operations. Only with a backing.
    public func pendingState(of id: EntityID) throws(StateError) -> PendingState { try pending.pendingState(of: id) }

    // MARK: Changes

    public func putPending(_ operation: PendingOperation) throws(StateError) {
        touched?.pending.insert(operation.sequence)
        if tally.isKept { tally.replace(try pending[operation.sequence], by: operation) }
        // Only queries need the subjects.
        let subjects = backing == nil ? [] : try subjects(of: operation.operation, backing?.model)
        try queue.put(operation, about: subjects)
    }

    public func setPendingStatus(
        _ status: PendingOperation.Status, since: Timestamp, of sequence: SequenceNumber
    ) throws(StateError) {
        touched?.pending.insert(sequence)
        let old = tally.isKept ? try pending[sequence] : nil
        try queue.setStatus(status, since: since, of: sequence)
        if let old { tally.replace(old, by: try pending[sequence]) }
    }

    public func removePending(_ sequence: SequenceNumber) throws(StateError) {
        touched?.pending.insert(sequence)
        if tally.isKept { tally.replace(try pending[sequence], by: nil) }
        try queue.remove(sequence)
    }

    // MARK: Effects

    public func hasEffects() throws(StateError) -> Bool { try pending.effects.count == pending.count }
    public func effect(of sequence: SequenceNumber) throws(StateError) -> OperationEffect? {
        try pending.effects[sequence]
    }
    public func putEffect(_ effect: OperationEffect, of sequence: SequenceNumber) throws(StateError) {
        try queue.putEffect(effect, of: sequence)
    }
    public func removeEffect(of sequence: SequenceNumber) throws(StateError) { try queue.removeEffect(of: sequence) }
    public func removeEffects() throws(StateError) { try queue.removeEffects() }
    public func accesses(of item: StateItem) throws(StateError) -> [(operation: SequenceNumber, access: Access)] {
        try pending.effects.accesses(of: item)
    }
}
