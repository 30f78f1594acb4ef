package import Operations

/// The queue of a state, shared by a storage and the working set over it.
///
/// After it is loaded it is completely in memory. It tracks the operations that the storage has not written yet.
package final class QueueTable {
    /// The part of an operation that a storage has to write.
    package enum Change: Equatable {
        case status
        /// The whole operation, or its removal.
        case operation
        /// The whole operation, whose encoded form is at these places of ``encodedOperations``.
        case encodedOperation(Range<Int>)
    }

    /// The queue; empty before ``load()``.
    package private(set) var pending = PendingQueue()
    /// The pending call of ``reader``; nil after loading.
    private var loader: (() throws(StateError) -> PendingQueue)?
    /// A closure that reads the queue from the storage, which sets it once; nil if there is no storage.
    package var reader: (() throws(StateError) -> PendingQueue)? { didSet { loader = reader } }
    private var changes = IDTable<Change>()
    /// Whether a storage writes the changes. A state in memory would keep one for each operation that it ever had.
    private let tracksChanges: Bool
    /// The encoded operations of the changes. ``drainChanges()`` removes them, so they must be read before.
    package private(set) var encodedOperations: [UInt8] = []
    private var isInTransaction = false
    /// The number of reads of pending operations, for tests that measure work.
    package var operationsRead = 0
    /// Whether ``changedPendingStates`` is tracked.
    package var tracksPendingStates = false { didSet { if !tracksPendingStates { changedPendingStates = [] } } }
    /// The entities whose pending operations, or their statuses, have changed.
    private var changedPendingStates: Set<EntityID> = []

    /// Creates an empty queue.
    ///
    /// - Parameter tracksChanges: Whether a storage writes the changes.
    package init(tracksChanges: Bool = true) { self.tracksChanges = tracksChanges }

    /// Discards the queue, so that it is read from the storage again.
    func invalidate() {
        pending = PendingQueue()
        changes.removeAll()
        encodedOperations = []
        loader = reader
    }

    /// Reads the queue from the storage if it was not read yet.
    @discardableResult
    package func load() throws(StateError) -> PendingQueue {
        guard let loader else { return pending }
        pending = try loader()
        self.loader = nil
        if isInTransaction { pending.begin() }
        return pending
    }

    /// Reads the queue and the effects of its operations if they were not read yet.
    func loadWithEffects() throws(StateError) -> PendingQueue {
        let queue = try load()
        if queue.effectsReader != nil { try queue.loadEffects() }
        return queue
    }

    package var isLoaded: Bool { loader == nil }

    /// Returns the status of an entity in the loaded queue.
    package func pendingState(of id: EntityID) -> PendingState { pending.pendingState(of: id) }

    /// Returns an independent queue with the same operations.
    func copy() -> QueueTable {
        let copy = QueueTable(tracksChanges: tracksChanges)
        copy.pending = pending.copy()
        return copy
    }

    // MARK: Changes

    /// Adds the operation, or replaces the one with the same sequence number.
    ///
    /// - Parameters:
    ///   - subjects: The subjects of the operation; see ``StateReader/subjects(of:_:after:)``.
    ///   - encoded: The encoded operation, if the caller has it. It is kept until the storage writes it.
    package func put(
        _ operation: PendingOperation, about subjects: [EntityID], encoded: ArraySlice<UInt8>? = nil
    ) throws(StateError) {
        try load()
        let tracksPendingStates = tracksPendingStates
        if tracksPendingStates { trackPendingStates(of: operation.sequence) }
        pending.put(operation, about: subjects, encoded: pending.keepsEncoded ? encoded.map { Array($0) } : nil)
        if !tracksChanges {
            // Nothing is written.
        } else if let encoded {
            let start = encodedOperations.count
            encodedOperations.append(contentsOf: encoded)
            changes.updateValue(.encodedOperation(start..<encodedOperations.count), for: operation.sequence)
        } else {
            changes.updateValue(.operation, for: operation.sequence)
        }
        if tracksPendingStates { trackPendingStates(of: operation.sequence) }
    }

    package func setStatus(
        _ status: PendingOperation.Status, since: Timestamp, of sequence: SequenceNumber
    ) throws(StateError) {
        try load()
        guard pending.status(of: sequence) != nil else { return }
        pending.setStatus(status, since: since, of: sequence)
        if tracksChanges { _ = changes.place(of: sequence, inserting: .status) }
        trackPendingStates(of: sequence)
    }

    /// Determines the subjects of all operations again, after a change of the metadata. They are not stored.
    func renewSubjects(_ subjects: (Operation) throws(StateError) -> [EntityID]) throws(StateError) {
        try load()
        for sequence in pending.sequences {
            guard let operation = pending[sequence]?.operation else { continue }
            trackPendingStates(of: sequence)
            pending.setSubjects(try subjects(operation), of: sequence)
            trackPendingStates(of: sequence)
        }
    }

    package func remove(_ sequence: SequenceNumber) throws(StateError) {
        try load()
        trackPendingStates(of: sequence)
        pending.remove(sequence)
        if tracksChanges { changes.updateValue(.operation, for: sequence) }
    }

    package func putEffect(_ effect: OperationEffect, of sequence: SequenceNumber) throws(StateError) {
        try loadWithEffects().putEffect(effect, of: sequence)
    }

    package func removeEffect(of sequence: SequenceNumber) throws(StateError) {
        try loadWithEffects().removeEffect(of: sequence)
    }

    package func removeEffects() throws(StateError) {
        let pending = try loadWithEffects()
        if pending.effects.count > 0 { pending.removeEffects() }
    }

    /// Returns the changes since the last call, in ascending order of sequence number.
    package func drainChanges() -> [(sequence: SequenceNumber, change: Change)] {
        defer {
            changes.removeAll()
            encodedOperations = []
        }
        return zip(changes.ids, changes.values).map { ($0, $1) }.sorted { $0.sequence < $1.sequence }
    }

    /// Returns the entities whose status has changed since the last call, if ``tracksPendingStates`` is set.
    package func drainChangedPendingStates() -> Set<EntityID> {
        defer { changedPendingStates = [] }
        return changedPendingStates
    }

    private func trackPendingStates(of sequence: SequenceNumber) {
        guard tracksPendingStates, let operation = pending[sequence]?.operation else { return }
        changedPendingStates.formUnion(operation.touchedEntities + pending.subjects(of: sequence))
    }

    /// The number of operations that the storage has to write.
    var changeCount: Int { changes.count }

    // MARK: Transactions

    package var hasTransaction: Bool { isInTransaction }

    package func begin() {
        isInTransaction = true
        pending.begin()
    }

    package func commit() {
        isInTransaction = false
        pending.commit()
    }

    /// Reverts the changes since ``begin()``.
    ///
    /// The storage writes these operations again at the next flush: redundant, but without a copy of the changes
    /// before.
    package func rollBack() {
        isInTransaction = false
        pending.rollBack()
    }
}
