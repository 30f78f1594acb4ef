package import EDM
package import Operations

/// Read access to a state: the current and base state of entities and links, the queue, and the bookkeeping of uploads
/// and downloads.
///
/// `Views` implements it with SQLite, ``WorkingSet`` in memory over a backing. Both produce the same digest.
package protocol StateReader: AnyObject {
    associatedtype Bookkeeping: BookkeepingStorage
    /// The items other than entities, links and the queue.
    var bookkeeping: Bookkeeping { get }

    func header() throws(StateError) -> StateHeader

    // Entities in their current state
    func row(_ id: EntityID) throws(StateError) -> EntityRow?
    /// Returns the entities of a set whose properties have all these values, in ascending order. A property is a name
    /// or a path such as `Address/Street`. Texts are compared by their code units.
    func findRows(set: String, where values: [(property: String, value: Value)]) throws(StateError) -> [EntityID]
    /// Returns whether the set may contain rows whose property has a whole number in the range; true if unknown. Cost:
    /// independent of the size of the set.
    func mayHaveRows(set: String, where property: String, in range: ClosedRange<Int64>) throws(StateError) -> Bool
    /// Returns all entities of a set, in ascending order.
    func rows(set: String) throws(StateError) -> [EntityID]
    /// Returns whether the service may have entities in the set whose keys are unknown here; true if unknown. Cost:
    /// independent of the size of the set.
    func mayHaveKeyless(set: String) throws(StateError) -> Bool

    /// Returns the set of an entity that ever entered the log, including a deleted one.
    func set(of id: EntityID) throws(StateError) -> String?
    /// Returns the entity to which the key was last assigned.
    func entity(set: String, key: String) throws(StateError) -> EntityID?
    /// Returns whether keys between two given ones, in the order of their bytes, may be assigned; true if unknown. Cost:
    /// independent of the number of keys.
    func mayHaveKeys(set: String, from first: String, through last: String) throws(StateError) -> Bool

    /// Returns the base state of the entity if it was saved because of pending operations, or else nil.
    func base(_ id: EntityID) throws(StateError) -> BaseState?
    /// Returns the entities in their base state, in any order, without those that never entered the log. Faster than
    /// separate lookups.
    func serviceEntities(_ ids: [EntityID]) throws(StateError) -> [ServiceEntity]

    // Links
    /// Returns the links of the entity at the relationship's first end, in ascending order of the second.
    func links(_ relationship: String, first: EntityID) throws(StateError) -> [LinkRow]
    /// Returns the links of the entity at the relationship's second end, in ascending order of the first.
    func links(_ relationship: String, second: EntityID) throws(StateError) -> [LinkRow]
    func link(_ relationship: String, first: EntityID, second: EntityID) throws(StateError) -> LinkRow?
    /// Returns the links that the entity has at either end, ordered by relationship, first and second entity.
    func links(of id: EntityID) throws(StateError) -> [LinkRow]
    /// Returns the links that are only in the base state or only in the current state.
    func changedLinks() throws(StateError) -> [LinkRow]

    /// The pending operations; see the functions below.
    var queue: QueueTable { get }

    // Passes over the whole state, for digests and snapshots. Names are in the order of their UTF-8 bytes. The bodies
    // must not use the state; their errors end the pass.
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
}

/// The items of a state other than entities and the queue: undone operations, open batches, merge bases, streams,
/// defining queries with their coverage, and the results of the last downloads and uploads.
package protocol BookkeepingReader: AnyObject {
    // Undone operations, in ascending order of their own sequence number
    func undoneOperations() throws(StateError) -> [UndoneOperation]
    func undoneOperation(_ sequence: SequenceNumber) throws(StateError) -> UndoneOperation?
    /// Returns whether any operation is undone. The fold calls this for each batch and each response.
    func hasUndone() throws(StateError) -> Bool

    // Open batches: some of their operations are in flight or in doubt. In ascending order
    func openBatches() throws(StateError) -> [OpenBatch]
    func openBatch(_ batch: BatchID) throws(StateError) -> OpenBatch?

    /// Returns the merge base of an entity, or nil if its base state has not changed since its pending changes were
    /// made.
    func mergeBase(_ id: EntityID) throws(StateError) -> MergeBase?
    /// Returns the entities that have a merge base, in ascending order.
    func mergeBases() throws(StateError) -> [EntityID]
    /// Returns whether any merge base exists. The fold calls this for each record.
    func hasMergeBases() throws(StateError) -> Bool

    /// Returns the streams of the entity whose content the store has received from the service, by property, the media
    /// stream of the entity itself first.
    func streams(of id: EntityID) throws(StateError) -> [StreamImage]

    /// Returns the defining queries in the order in which they were added.
    func queries() throws(StateError) -> [QueryState]
    /// Returns whether a query covers the entity.
    func isCovered(_ id: EntityID) throws(StateError) -> Bool
    func isCovered(_ id: EntityID, by query: String) throws(StateError) -> Bool
    /// Returns whether the query covers the entity only because it was created here: no download has delivered it.
    func awaitsDelivery(_ id: EntityID, by query: String) throws(StateError) -> Bool

    /// Returns the dangling links, in the order in which the service returned them.
    func openLinks() throws(StateError) -> [OpenLink]
    /// Returns the entities that downloads delivered and the store could not accept, in order of arrival.
    func quarantine() throws(StateError) -> [QuarantineEntry]
    /// Returns the last downloads and uploads, in order.
    func events() throws(StateError) -> [StoreEvent]

    /// Calls `body` with every undone operation, by sequence number.
    func forEachUndone(_ body: (UndoneOperation) throws -> Void) throws
    /// Calls `body` with every merge base, by entity.
    func forEachMergeBase(_ body: (MergeBase) throws -> Void) throws
    /// Calls `body` with the streams of every entity that has any, by entity.
    func forEachStreams(_ body: (EntityID, [StreamImage]) throws -> Void) throws
    /// Calls `body` with every entity that a query covers, and the run that delivered it, by query and entity.
    func forEachCoverage(_ body: (_ query: String, _ id: EntityID, _ run: SequenceNumber) throws -> Void) throws
}

extension StateReader {
    package func mayHaveRows(
        set: String, where property: String, in range: ClosedRange<Int64>
    ) throws(StateError) -> Bool { true }

    package func mayHaveKeys(set: String, from first: String, through last: String) throws(StateError) -> Bool { true }

    /// Returns the base state of the entity, or nil if the service does not have it.
    package func serviceRow(_ id: EntityID) throws(StateError) -> EntityRow? {
        switch try base(id) {
        case .row(let row): row
        case .absent: nil
        case nil: try row(id).flatMap { $0.origin == .local ? nil : $0 }
        }
    }
}
