public import EDM
public import Operations

/// A state that is read: entities and links with the pending operations on top, what is below them, the queue, and the
/// bookkeeping of uploads and downloads.
///
/// `Views` answers from SQLite, ``WorkingSet`` from memory and from what lies below it. Both give the same digest.
public protocol StateReader: BookkeepingReader {
    func header() throws(StateError) -> StateHeader

    // Entities, with pending operations on top
    func row(_ id: EntityID) throws(StateError) -> EntityRow?
    /// Returns the entities of a set whose properties have all these values, in ascending order. A property is given by its name
    /// or by a path such as `Address/Street`. Texts are compared by their code units.
    func findRows(set: String, where values: [(property: String, value: Value)]) throws(StateError) -> [EntityID]
    /// Returns whether there may be rows in the set whose property has a whole number in the range; true if that is not known.
    /// Cost: does not grow with the set.
    func mayHaveRows(set: String, where property: String, in range: ClosedRange<Int64>) throws(StateError) -> Bool
    /// Returns all entities of a set, in ascending order.
    func rows(set: String) throws(StateError) -> [EntityID]
    /// Returns whether the service may have entities in the set whose keys it has not told; true if that is not known. Cost: does
    /// not grow with the set.
    func mayHaveKeyless(set: String) throws(StateError) -> Bool

    /// Returns the set of an entity that ever entered the log, also of a deleted one.
    func set(of id: EntityID) throws(StateError) -> String?
    /// Returns the entity to which the service last gave the key.
    func entity(set: String, key: String) throws(StateError) -> EntityID?

    /// Returns what the entity was before the pending operations on it; nil if there are none.
    func base(_ id: EntityID) throws(StateError) -> BaseState?
    /// Returns the entities as the service last described them, whatever is pending on them, in any order; none of those that
    /// never entered the log. Faster than one question for each.
    func serviceEntities(_ ids: [EntityID]) throws(StateError) -> [ServiceEntity]

    // Links
    /// Returns the links of the entity at the relationship's first end, in ascending order of the second.
    func links(_ relationship: String, first: EntityID) throws(StateError) -> [LinkRow]
    /// Returns the links of the entity at the relationship's second end, in ascending order of the first.
    func links(_ relationship: String, second: EntityID) throws(StateError) -> [LinkRow]
    func link(_ relationship: String, first: EntityID, second: EntityID) throws(StateError) -> LinkRow?
    /// Returns the links that the entity has at either end, ordered by relationship, first and second entity.
    func links(of id: EntityID) throws(StateError) -> [LinkRow]
    /// Returns the links in which base and local state differ.
    func changedLinks() throws(StateError) -> [LinkRow]

    // Pending operations in ascending order of sequence number
    func pendingOperations() throws(StateError) -> [PendingOperation]
    func pendingOperation(_ sequence: SequenceNumber) throws(StateError) -> PendingOperation?
    /// Returns the status of a pending operation and since when it has it; nil if the operation is not pending.
    func pendingStatus(
        of sequence: SequenceNumber
    ) throws(StateError) -> (status: PendingOperation.Status, since: Timestamp)?
    /// Returns the first pending operations from `first` on, `limit` of them at most.
    func pendingOperations(from first: SequenceNumber, limit: Int) throws(StateError) -> [PendingOperation]
    /// Returns the operations with a status of this kind.
    func pendingOperations(_ kind: PendingOperation.Status.Kind) throws(StateError) -> [PendingOperation]
    func hasPending() throws(StateError) -> Bool
    func pendingCount() throws(StateError) -> Int
    /// Returns whether a pending operation is not to be sent: a draft, or a change for this store only.
    func hasHeldBack() throws(StateError) -> Bool
    /// Returns the pending operations that name the entity, in order.
    func pendingOperations(naming id: EntityID) throws(StateError) -> [SequenceNumber]
    /// Returns the pending operations that change the entity, in order.
    func pendingOperations(changing id: EntityID) throws(StateError) -> [SequenceNumber]
    func hasPendingChange(of id: EntityID) throws(StateError) -> Bool
    /// Returns the last pending operation of the app's transaction; nil if it has none.
    func lastPending(inTransaction name: String) throws(StateError) -> SequenceNumber?

    // What pending operations read and wrote when they were applied. No part of the state: without it all of them are taken off
    // and put back.
    /// Returns whether there is an effect for each pending operation, and for no other.
    func hasEffects() throws(StateError) -> Bool
    func effect(of sequence: SequenceNumber) throws(StateError) -> OperationEffect?
    /// Returns the operations that read or wrote the item, in order.
    func accesses(of item: StateItem) throws(StateError) -> [(operation: SequenceNumber, access: Access)]

    // Everything, one item at a time, for digests and snapshots. Names are in the order of their UTF-8 bytes. The bodies must
    // not use the state; their errors end the pass.
    /// Calls `body` with every registered entity, in ascending order.
    func forEachEntity(_ body: (_ id: EntityID, _ set: String) throws -> Void) throws
    /// Calls `body` with every assigned key, by set and key.
    func forEachKey(_ body: (_ set: String, _ key: String, _ id: EntityID) throws -> Void) throws
    /// Calls `body` with every row, by set and entity.
    func forEachRow(_ body: (EntityRow) throws -> Void) throws
    /// Calls `body` with every base state, by entity.
    func forEachBase(_ body: (EntityID, BaseState) throws -> Void) throws
    /// Calls `body` with every link, by relationship, first and second entity.
    func forEachLink(_ body: (LinkRow) throws -> Void) throws
    /// Calls `body` with every pending operation, by sequence number.
    func forEachPending(_ body: (PendingOperation) throws -> Void) throws
}

/// What a state has besides entities and the queue: undone operations, open batches, ancestors, streams, defining queries with
/// what they brought, and what the last downloads and uploads left.
public protocol BookkeepingReader: AnyObject {
    // Undone operations, which are no longer pending, in ascending order of their own sequence number
    func undoneOperations() throws(StateError) -> [UndoneOperation]
    func undoneOperation(_ sequence: SequenceNumber) throws(StateError) -> UndoneOperation?

    // Batches from their preparation until nothing of them is in flight or in doubt, in ascending order
    func openBatches() throws(StateError) -> [OpenBatch]
    func openBatch(_ batch: BatchID) throws(StateError) -> OpenBatch?

    /// Returns what an entity was when the pending changes of it were made; nil if it still is.
    func ancestor(_ id: EntityID) throws(StateError) -> Ancestor?
    /// Returns the entities that have an ancestor, in ascending order.
    func ancestors() throws(StateError) -> [EntityID]
    /// Returns whether there is an ancestor. The fold asks at each record.
    func hasAncestors() throws(StateError) -> Bool

    /// Returns the streams of the entity of which the store holds the service's content, by property, that of a media entity
    /// itself first.
    func streams(of id: EntityID) throws(StateError) -> [StreamImage]

    /// Returns the defining queries in the order in which they were added.
    func queries() throws(StateError) -> [QueryState]
    /// Returns whether a query brings the entity.
    func isCovered(_ id: EntityID) throws(StateError) -> Bool
    func isCovered(_ id: EntityID, by query: String) throws(StateError) -> Bool

    /// Returns the links of which an end is not in the store, in the order in which the service told them.
    func openLinks() throws(StateError) -> [OpenLink]
    /// Returns the entities that downloads brought and that could not be taken, in the order in which they came.
    func quarantine() throws(StateError) -> [QuarantineEntry]
    /// Returns the last downloads and uploads, in the order in which they came.
    func events() throws(StateError) -> [StoreEvent]

    /// Calls `body` with every undone operation, by sequence number.
    func forEachUndone(_ body: (UndoneOperation) throws -> Void) throws
    /// Calls `body` with every ancestor, by entity.
    func forEachAncestor(_ body: (Ancestor) throws -> Void) throws
    /// Calls `body` with the streams of every entity that has some, by entity.
    func forEachStreams(_ body: (EntityID, [StreamImage]) throws -> Void) throws
    /// Calls `body` with every entity that a query brought and the run that brought it, by query and entity.
    func forEachCoverage(_ body: (_ query: String, _ id: EntityID, _ run: SequenceNumber) throws -> Void) throws
}

extension StateReader {
    public func mayHaveRows(
        set: String, where property: String, in range: ClosedRange<Int64>
    ) throws(StateError) -> Bool { true }

    /// Returns the entity as the service last described it, whatever is pending on it; nil if the service does not have it.
    public func serviceRow(_ id: EntityID) throws(StateError) -> EntityRow? {
        switch try base(id) {
        case .row(let row): row
        case .absent: nil
        case nil: try row(id).flatMap { $0.origin == .local ? nil : $0 }
        }
    }
}
