public import EDM
public import Operations

/// A state that can be changed. The methods store; they decide nothing. All rules are in ``Fold`` and ``StateEditor``.
public protocol StateStorage: StateReader, BookkeepingStorage {
    func setHeader(_ header: StateHeader) throws(StateError)
    /// Makes room for the entity sets of a new or changed model. Rows of sets that the model does not have are dropped; the log
    /// still has them.
    func install(_ model: EntityDataModel) throws(StateError)

    func putRow(_ row: EntityRow) throws(StateError)
    func removeRow(_ id: EntityID) throws(StateError)
    /// Registers an entity with its set. The first set is the entity's own for good.
    func register(_ id: EntityID, set: String) throws(StateError)
    func assignKey(set: String, key: String, to id: EntityID) throws(StateError)

    /// Saves the base state of an entity, in place of the one that was saved before.
    func saveBase(_ id: EntityID, _ base: BaseState) throws(StateError)
    func removeBase(_ id: EntityID) throws(StateError)
    /// Removes and returns the first base states in ascending order of entity, `limit` of them at most.
    func takeBases(limit: Int) throws(StateError) -> [(EntityID, BaseState)]

    func putLink(_ link: LinkRow) throws(StateError)
    func removeLink(_ relationship: String, first: EntityID, second: EntityID) throws(StateError)

    func putPending(_ operation: PendingOperation) throws(StateError)
    /// Sets the status of an operation. Does nothing if the operation is not pending.
    func setPendingStatus(
        _ status: PendingOperation.Status, since: Timestamp, of sequence: SequenceNumber
    ) throws(StateError)
    func removePending(_ sequence: SequenceNumber) throws(StateError)
    /// Stores what an operation read and wrote, in place of what was there before.
    func putEffect(_ effect: OperationEffect, of sequence: SequenceNumber) throws(StateError)
    func removeEffect(of sequence: SequenceNumber) throws(StateError)
    func removeEffects() throws(StateError)
}

/// The bookkeeping of a state that can be changed.
public protocol BookkeepingStorage: BookkeepingReader {
    func putUndone(_ operation: UndoneOperation) throws(StateError)
    func removeUndone(_ sequence: SequenceNumber) throws(StateError)
    func putOpenBatch(_ batch: OpenBatch) throws(StateError)
    func removeOpenBatch(_ batch: BatchID) throws(StateError)
    func putAncestor(_ ancestor: Ancestor) throws(StateError)
    func removeAncestor(_ id: EntityID) throws(StateError)
    /// Stores the streams of an entity, in place of all that were there before.
    func putStreams(_ streams: [StreamImage], of id: EntityID) throws(StateError)
    func putQuery(_ query: QueryState) throws(StateError)
    func removeQuery(_ name: String) throws(StateError)
    /// Notes that a run of a query brought the entity.
    func cover(_ id: EntityID, query: String, run: SequenceNumber) throws(StateError)
    /// Returns the entities that the query brought before `run`, in ascending order; the query covers them no longer.
    func takeUncovered(query: String, before run: SequenceNumber) throws(StateError) -> [EntityID]
    /// Notes that the query, or no query if it is nil, brings the entity.
    func uncover(_ id: EntityID, query: String?) throws(StateError)
    /// Stores the open links, in place of all that were there before.
    func putOpenLinks(_ links: [OpenLink]) throws(StateError)
    /// Stores the quarantine, in place of all that was there before.
    func putQuarantine(_ entries: [QuarantineEntry]) throws(StateError)
    /// Stores the events, in place of all that were there before.
    func putEvents(_ events: [StoreEvent]) throws(StateError)
}

/// A storage below a ``WorkingSet``, which reads from it what it does not hold itself, and writes to it what has changed.
public protocol StateBacking: StateStorage {
    /// The metadata that are installed.
    var model: EntityDataModel? { get }
    /// The pending operations, which are in memory as a whole.
    var queue: QueueTable { get }
    /// The lowest entity of which neither a row, a base state, a link nor a registration is stored, nor of any that follow.
    func firstUnusedEntity() throws(StateError) -> EntityID

    /// Runs `body` in one transaction: all of it is stored, or nothing. What was gathered is committed first.
    func transaction<T>(_ body: () throws -> T) throws -> T
    /// Runs `body` in a transaction that further calls join, until ``commitGathered()``. If `body` throws, all that was gathered
    /// is rolled back.
    func gathering<T>(_ body: () throws -> T) throws -> T
    /// Commits what was gathered, if there is something.
    func commitGathered() throws(StateError)
}

/// The state could not be read or written.
public struct StateError: Error, Sendable, Hashable, CustomStringConvertible {
    public enum Code: Sendable, Hashable {
        /// What is stored makes no sense: rebuild it from the log.
        case damaged
        /// The storage refused: disk full, no permission, locked.
        case unavailable
        /// A record needs the metadata of a service, and no record has given it yet, or it does not parse.
        case noModel
        /// No request can be made for a pending operation.
        case unsendable
    }

    public let code: Code
    public let message: String

    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    public var description: String { message }
}
