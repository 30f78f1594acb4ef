import EDM
public import OfflineStore
import SyncCore

/// The entities of one class that a query finds: the list at once, and a new one after each change that affects it.
///
/// ```swift
/// let large = try service.box(for: Order.self).query { Order.total > 100 }.orderBy(Order.placedAt)
/// for try await update in try large.observe() {
///     print(update.entities.count, "orders,", update.difference.inserted.count, "of them new")
/// }
/// ```
///
/// Nothing is read before the first list is requested. A slow reader receives the newest list with the difference from
/// the last one that it received; nothing is buffered. The sequence ends when the store is closed or the task is
/// cancelled. It throws, and ends, if the query cannot be answered, for example because new metadata do not contain a
/// property of it.
public struct LiveList<Entity: EntityValue>: AsyncSequence, Sendable {
    public typealias Element = ListUpdate<Entity>
    /// The error with which the sequence ends.
    public typealias Failure = TidelogError

    let query: LiveQuery
    /// Creates the entities of each list, with the metadata of that time.
    let factory: EntityFactory

    init(_ request: QueryRequest, _ factory: EntityFactory) throws(TidelogError) {
        query = try factory.provider.observe(request)
        self.factory = factory
    }

    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(results: query.makeAsyncIterator(), factory: factory)
    }

    /// An iterator for one reader. It must not be used by two tasks at the same time.
    public struct AsyncIterator: AsyncIteratorProtocol {
        var results: LiveQuery.AsyncIterator
        let factory: EntityFactory

        /// Waits for the next list. Returns `nil` at the end.
        ///
        /// - Throws: `invalidRequest`, `notFound` or `unsupported` if the query cannot be answered, or `invalidRequest`
        ///   if an entity has another class; `damaged` or `storage` if the store cannot be read. The sequence has ended
        ///   then.
        public mutating func next(
            isolation actor: isolated (any Actor)? = #isolation
        ) async throws(TidelogError) -> ListUpdate<Entity>? {
            // New metadata make the query run again. There is no model after the store was closed.
            guard let result = try await results.next(isolation: actor), let model = factory.provider.loadedModel else {
                return nil
            }
            return try ListUpdate(result, factory.with(model))
        }
    }
}

/// A list of a ``LiveList``, with its difference from the previous list.
public struct ListUpdate<Entity: EntityValue> {
    /// The entities in the order of the query. All objects are new.
    public let entities: [Entity]
    /// The removed, inserted, moved and changed entities. In the first list all entities are inserted.
    ///
    /// Entities are identified by ``EntityIdentity``, also if their keys or sort order have changed. An entity is
    /// *changed* if a value, its state or an expanded entity differs.
    public let difference: ListDifference<EntityIdentity>
    /// The causes of all changes since the previous list; empty for the first.
    public let causes: Set<ChangeCause>
    /// The number of entities ignoring ``DataQuery/top(_:)`` and ``DataQuery/skip(_:)``; `nil` unless the query
    /// requests it by ``DataQuery/inlineCount()``.
    public let count: Int?

    init(_ result: LiveResult, _ factory: EntityFactory) throws(TidelogError) {
        var objects = EntityObjects(factory)
        var entities: [Entity] = []
        entities.reserveCapacity(result.answer.entities.count)
        for snapshot in result.answer.entities {
            guard snapshot.entityID != nil else { throw .rowsWithoutIdentity }
            var content = snapshot
            guard let found = objects.entity(moving: &content), let entity = found as? Entity else {
                throw TidelogError(
                    .invalidRequest, "The query leads to an entity of type \(snapshot.type), not to a \(Entity.self).")
            }
            entities.append(entity)
        }
        self.entities = entities
        let provider = factory.provider
        // The previous list had rows without identity only if it has thrown.
        difference = result.difference.mapIdentities { identity in
            if case .entity(let id) = identity { EntityIdentity(id, in: provider) } else { nil }
        }
        causes = result.causes
        count = result.answer.count.flatMap { Int(exactly: $0) }
    }

    /// Returns the new list with the old objects of all entities that have not changed.
    ///
    /// Unsaved changes in these objects and their loaded relations are kept.
    ///
    /// - Parameter old: the entities of the previous list, in their order.
    public func applied(to old: [Entity]) -> [Entity] { difference.applied(to: old) { entities[$0] } }
}

extension BoxQuery {
    /// Returns the matching entities from now on: the list at once, and a new one after each change that affects it.
    ///
    /// - Throws: `unsupported` for a ``HistoricalODataProvider``, whose entities do not change.
    public func observe() throws(TidelogError) -> LiveList<Entity> {
        let service = box.service
        let model = try service.metadata
        return try LiveList(try request(query.resolvedOptions(box.place.type), model), service.factory(model))
    }
}

extension DataService {
    /// Returns the entities of a class that a query finds from now on.
    ///
    /// - Parameters:
    ///   - type: the class.
    ///   - set: the entity set; needed if several sets contain entities of the class.
    ///   - query: the conditions, sort order, range and expansions.
    /// - Throws: `unsupported` online, because a service does not report changes; otherwise like ``box(for:in:)``.
    public func observe<Entity: EntityValue>(
        _ type: Entity.Type, in set: String? = nil, matching query: DataQuery = DataQuery()
    ) throws(TidelogError) -> LiveList<Entity> {
        guard query.url == nil else {
            return try LiveList(try request(query), factory(try metadata))
        }
        return try BoxQuery(box: try box(for: type, in: set), query: query).observe()
    }
}

extension ToMany {
    /// Returns the targets in the store from now on: the list at once, and a new one after each change that affects it.
    ///
    /// Unsaved changes of this collection are not included.
    ///
    /// - Throws: `unsupported` if the object that owns the relation was not read from a store or saved to one, and for
    ///   backlinks.
    public func observe() throws(TidelogError) -> LiveList<Element> {
        guard let (request, factory) = liveRequest else {
            throw TidelogError(
                .unsupported, "Only a relation of a stored entity, in the direction of its property, is observed.",
                recovery: "Save the entity, or observe a query of a box.")
        }
        return try LiveList(request, factory)
    }
}

extension TidelogError {
    fileprivate static var rowsWithoutIdentity: TidelogError {
        TidelogError(
            .invalidRequest, "The query returns rows without identity, such as groups of an aggregation.",
            recovery: "Observe it without a class: observe(_:).")
    }
}
