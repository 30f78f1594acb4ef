package import Operations

/// The queue of pending operations of one state, shared by a storage and the working set above it.
///
/// It is in memory as a whole once it is loaded, and remembers which operations the storage has not written yet.
public final class QueueTable {
    /// What of an operation a storage has to write.
    package enum Change {
        case status
        /// All of it, or that it is gone.
        case operation
    }

    /// Empty until ``load()``.
    package private(set) var pending = PendingQueue()
    /// Nil once the queue was read.
    private var loader: (() throws(StateError) -> PendingQueue)?
    /// Reads the queue from the storage, which sets this once; nil if there is no storage.
    package var reader: (() throws(StateError) -> PendingQueue)? { didSet { loader = reader } }
    private var changes: [SequenceNumber: Change] = [:]
    private var isInTransaction = false
    /// Whether ``changedStandings`` is kept.
    package var notesStandings = false { didSet { if !notesStandings { changedStandings = [] } } }
    /// The entities of which another operation is pending than before, or in another status.
    private var changedStandings: Set<EntityID> = []

    package init() {}

    /// Forgets the queue, to read it again from the storage.
    func forget() {
        pending = PendingQueue()
        changes = [:]
        loader = reader
    }

    /// Reads the queue if that was not done yet.
    package func load() throws(StateError) {
        guard let loader else { return }
        pending = try loader()
        self.loader = nil
        if isInTransaction { pending.begin() }
    }

    package var isLoaded: Bool { loader == nil }

    /// Returns a queue with the same operations, which changes by itself.
    func copy() -> QueueTable {
        let copy = QueueTable()
        copy.pending = pending
        return copy
    }

    // MARK: Changes

    /// Adds the operation, or replaces the one with the same sequence number.
    ///
    /// - Parameter subjects: the entities that the operation is about; see ``StateReader/subjects(of:_:)``.
    package func put(_ operation: PendingOperation, about subjects: [EntityID]) throws(StateError) {
        try load()
        noteStandings(of: operation.sequence)
        pending.put(operation, about: subjects)
        changes[operation.sequence] = .operation
        noteStandings(of: operation.sequence)
    }

    package func setStatus(
        _ status: PendingOperation.Status, since: Timestamp, of sequence: SequenceNumber
    ) throws(StateError) {
        try load()
        guard pending.status(of: sequence) != nil else { return }
        pending.setStatus(status, since: since, of: sequence)
        if changes[sequence] == nil { changes[sequence] = .status }
        noteStandings(of: sequence)
    }

    package func remove(_ sequence: SequenceNumber) throws(StateError) {
        try load()
        noteStandings(of: sequence)
        pending.remove(sequence)
        changes[sequence] = .operation
    }

    package func putEffect(_ effect: OperationEffect, of sequence: SequenceNumber) throws(StateError) {
        try load()
        pending.putEffect(effect, of: sequence)
    }

    package func removeEffect(of sequence: SequenceNumber) throws(StateError) {
        try load()
        pending.removeEffect(of: sequence)
    }

    package func removeEffects() throws(StateError) {
        try load()
        if pending.effects.count > 0 { pending.removeEffects() }
    }

    /// Returns what has changed since the last call, in ascending order of sequence number.
    package func takeChanges() -> [(sequence: SequenceNumber, change: Change)] {
        defer { changes = [:] }
        return changes.map { ($0.key, $0.value) }.sorted { $0.sequence < $1.sequence }
    }

    /// Returns the entities whose standing has changed since the last call, if ``notesStandings`` says so.
    package func takeChangedStandings() -> Set<EntityID> {
        defer { changedStandings = [] }
        return changedStandings
    }

    private func noteStandings(of sequence: SequenceNumber) {
        guard notesStandings, let operation = pending[sequence]?.operation else { return }
        changedStandings.formUnion(operation.touchedEntities + pending.subjects(of: sequence))
    }

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

    /// Takes back what has changed since ``begin()``.
    ///
    /// The operations that had changed are written again, as they are then: that is harmless, and needs no memory of what was
    /// written before.
    package func rollBack() {
        isInTransaction = false
        pending.rollBack()
    }
}
