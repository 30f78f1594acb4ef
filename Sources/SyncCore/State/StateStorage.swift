public import EDM
public import Operations

/// Where the fold keeps its result. `MemoryState` keeps it in memory, `Views` in SQLite; both must give the same digest.
///
/// The methods store and find; they decide nothing. All rules are in ``Fold`` and ``StateEditor``.
public protocol StateStorage: AnyObject {
    func header() throws(StateError) -> StateHeader
    func setHeader(_ header: StateHeader) throws(StateError)
    /// Makes room for the entity sets of a new or changed model. Rows of sets that it no longer has are dropped; the log
    /// still has them.
    func install(_ model: EntityDataModel) throws(StateError)

    // Entities, with pending operations on top
    func row(_ id: EntityID) throws(StateError) -> EntityRow?
    func putRow(_ row: EntityRow) throws(StateError)
    func removeRow(_ id: EntityID) throws(StateError)
    /// The entities of a set whose properties have all these values, in ascending order. A property is named, or given by a
    /// path such as `Address/Street`; texts are compared by their code units.
    func findRows(set: String, where values: [(property: String, value: Value)]) throws(StateError) -> [EntityID]
    /// Whether there may be rows in the set whose property has a whole number in the range; true where that is not known. Cost:
    /// not that of the set.
    func mayHaveRows(set: String, where property: String, in range: ClosedRange<Int64>) throws(StateError) -> Bool
    /// All entities of a set, in ascending order.
    func rows(set: String) throws(StateError) -> [EntityID]
    /// Whether the service may have entities in the set whose keys it has not told; true where that is not known. Cost: not
    /// that of the set.
    func mayHaveKeyless(set: String) throws(StateError) -> Bool

    /// The set of every entity that ever entered the log, deleted ones included.
    func set(of id: EntityID) throws(StateError) -> String?
    /// The first set that an entity is registered with is its own for good.
    func register(_ id: EntityID, set: String) throws(StateError)

    // Key map: every key that the service ever gave an entity
    func entity(set: String, key: String) throws(StateError) -> EntityID?
    func assignKey(set: String, key: String, to id: EntityID) throws(StateError)

    // Base state of entities with pending operations
    func base(_ id: EntityID) throws(StateError) -> BaseState?
    /// In place of what was saved before.
    func saveBase(_ id: EntityID, _ base: BaseState) throws(StateError)
    /// Forgets it.
    func removeBase(_ id: EntityID) throws(StateError)
    /// The first saved base states in ascending order of entity, so many at most; forgets them.
    func takeBases(limit: Int) throws(StateError) -> [(EntityID, BaseState)]

    /// The entities as the service last said, whatever is pending on them, in any order; none of those that never entered
    /// the log. For many at once, where a question for each would take longer than what is made of the answer.
    func serviceEntities(_ ids: [EntityID]) throws(StateError) -> [ServiceEntity]

    // Links
    func links(_ relationship: String, first: EntityID) throws(StateError) -> [LinkRow]
    func links(_ relationship: String, second: EntityID) throws(StateError) -> [LinkRow]
    func link(_ relationship: String, first: EntityID, second: EntityID) throws(StateError) -> LinkRow?
    /// The links at which the entity stands at either end.
    func links(of id: EntityID) throws(StateError) -> [LinkRow]
    /// The links in which base and local state differ.
    func changedLinks() throws(StateError) -> [LinkRow]
    func putLink(_ link: LinkRow) throws(StateError)
    func removeLink(_ relationship: String, first: EntityID, second: EntityID) throws(StateError)

    // Pending operations in ascending order of sequence number
    func pendingOperations() throws(StateError) -> [PendingOperation]
    func pendingOperation(_ sequence: SequenceNumber) throws(StateError) -> PendingOperation?
    /// How the operation stands, without the operation itself, and since when; nil where it is not pending.
    func pendingStatus(
        of sequence: SequenceNumber
    ) throws(StateError) -> (status: PendingOperation.Status, since: Timestamp)?
    func putPending(_ operation: PendingOperation) throws(StateError)
    /// The operation itself stays as it is. One that is not pending is left alone.
    func setPendingStatus(
        _ status: PendingOperation.Status, since: Timestamp, of sequence: SequenceNumber
    ) throws(StateError)
    func removePending(_ sequence: SequenceNumber) throws(StateError)

    // The queue without reading all of it, however long it is
    /// The first pending operations from `first` on, in order, `limit` of them or what is left.
    func pendingOperations(from first: SequenceNumber, limit: Int) throws(StateError) -> [PendingOperation]
    /// Those in that status, in order.
    func pendingOperations(_ kind: PendingOperation.Status.Kind) throws(StateError) -> [PendingOperation]
    /// How many there are.
    func pendingCount() throws(StateError) -> Int
    /// Whether one of them is not to be sent: a draft, or for this store only. Asked for at each operation.
    func hasHeldBack() throws(StateError) -> Bool
    /// The pending operations that name the entity, in order.
    func pendingOperations(naming id: EntityID) throws(StateError) -> [SequenceNumber]
    /// Those of them that change the entity, in order. Cost: not that of those that only name it.
    func pendingOperations(changing id: EntityID) throws(StateError) -> [SequenceNumber]
    /// Whether there is one. Asked for at each entity that a record changes.
    func hasPendingChange(of id: EntityID) throws(StateError) -> Bool
    /// The last pending operation of the app's transaction; nil where it has none.
    func lastPending(inTransaction name: String) throws(StateError) -> SequenceNumber?

    // What pending operations read and wrote when they were applied. No part of the state: without it all of them are taken off
    // and put back.
    /// Whether there is an effect for each pending operation, and for no other.
    func hasEffects() throws(StateError) -> Bool
    func effect(of sequence: SequenceNumber) throws(StateError) -> OperationEffect?
    /// In place of what was there before.
    func putEffect(_ effect: OperationEffect, of sequence: SequenceNumber) throws(StateError)
    func removeEffect(of sequence: SequenceNumber) throws(StateError)
    func removeEffects() throws(StateError)
    /// The operations that read or wrote it, in order.
    func accesses(of item: StateItem) throws(StateError) -> [(operation: SequenceNumber, access: Access)]

    // Undone operations, which are no longer pending, in ascending order of their own sequence number
    func undoneOperations() throws(StateError) -> [UndoneOperation]
    func undoneOperation(_ sequence: SequenceNumber) throws(StateError) -> UndoneOperation?
    func putUndone(_ operation: UndoneOperation) throws(StateError)
    func removeUndone(_ sequence: SequenceNumber) throws(StateError)

    // Batches from their preparation until nothing of them is in flight or in doubt, in ascending order
    func openBatches() throws(StateError) -> [OpenBatch]
    func openBatch(_ batch: BatchID) throws(StateError) -> OpenBatch?
    func putOpenBatch(_ batch: OpenBatch) throws(StateError)
    func removeOpenBatch(_ batch: BatchID) throws(StateError)
    func hasPending() throws(StateError) -> Bool

    // What entities were when the pending changes of them were made, where the base is not that any more
    func ancestor(_ id: EntityID) throws(StateError) -> Ancestor?
    func putAncestor(_ ancestor: Ancestor) throws(StateError)
    func removeAncestor(_ id: EntityID) throws(StateError)
    /// The entities that have one, in ascending order.
    func ancestors() throws(StateError) -> [EntityID]
    /// Whether there is any: asked for at each record.
    func hasAncestors() throws(StateError) -> Bool

    // Streams of which the service's content lies in the store
    /// By property, that of a media entity itself first.
    func streams(of id: EntityID) throws(StateError) -> [StreamImage]
    /// In place of all that were there before.
    func putStreams(_ streams: [StreamImage], of id: EntityID) throws(StateError)

    // Defining queries in the order in which they were added, and which entities they brought
    func queries() throws(StateError) -> [QueryState]
    func putQuery(_ query: QueryState) throws(StateError)
    func removeQuery(_ name: String) throws(StateError)
    func cover(_ id: EntityID, query: String, run: SequenceNumber) throws(StateError)
    /// The entities that the query brought before `run`; they are no longer covered by it afterwards.
    func takeUncovered(query: String, before run: SequenceNumber) throws(StateError) -> [EntityID]
    func isCovered(_ id: EntityID) throws(StateError) -> Bool
    /// The query brings the entity no more; nil for no query does.
    func uncover(_ id: EntityID, query: String?) throws(StateError)

    /// Whether the query brings the entity.
    func isCovered(_ id: EntityID, by query: String) throws(StateError) -> Bool

    // Links of which an end is not in the store
    /// In the order in which they were told.
    func openLinks() throws(StateError) -> [OpenLink]
    /// In place of all that were there before.
    func putOpenLinks(_ links: [OpenLink]) throws(StateError)

    // Entities that downloads brought and that could not be taken
    /// In the order in which they came.
    func quarantine() throws(StateError) -> [QuarantineEntry]
    /// In place of all that were there before.
    func putQuarantine(_ entries: [QuarantineEntry]) throws(StateError)

    // The last downloads and uploads
    /// In the order in which they came.
    func events() throws(StateError) -> [StoreEvent]
    /// In place of all that were there before.
    func putEvents(_ events: [StoreEvent]) throws(StateError)

    // Everything, one at a time, for digests and snapshots. Names are in the order of their UTF-8 bytes. The bodies must not
    // use the storage; what they throw is thrown on.
    /// Every registered entity, ascending.
    func forEachEntity(_ body: (_ id: EntityID, _ set: String) throws -> Void) throws
    /// Every assigned key, by set and key.
    func forEachKey(_ body: (_ set: String, _ key: String, _ id: EntityID) throws -> Void) throws
    /// By set and entity.
    func forEachRow(_ body: (EntityRow) throws -> Void) throws
    /// By entity.
    func forEachBase(_ body: (EntityID, BaseState) throws -> Void) throws
    /// By relationship, first and second entity.
    func forEachLink(_ body: (LinkRow) throws -> Void) throws
    /// By sequence number.
    func forEachPending(_ body: (PendingOperation) throws -> Void) throws
    /// By sequence number.
    func forEachUndone(_ body: (UndoneOperation) throws -> Void) throws
    /// By entity.
    func forEachAncestor(_ body: (Ancestor) throws -> Void) throws
    /// By entity.
    func forEachStreams(_ body: (EntityID, [StreamImage]) throws -> Void) throws
    /// By query and entity.
    func forEachCoverage(_ body: (_ query: String, _ id: EntityID, _ run: SequenceNumber) throws -> Void) throws
}

extension StateStorage {
    public func mayHaveRows(
        set: String, where property: String, in range: ClosedRange<Int64>
    ) throws(StateError) -> Bool { true }

    /// The entity as the service last said, whatever is pending on it; nil where it does not have it.
    public func serviceRow(_ id: EntityID) throws(StateError) -> EntityRow? {
        switch try base(id) {
        case .row(let row): row
        case .absent: nil
        case nil: try row(id).flatMap { $0.origin == .local ? nil : $0 }
        }
    }
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
