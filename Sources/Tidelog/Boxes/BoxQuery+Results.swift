import EDM
import ODataQuery
public import OfflineStore
public import Operations

/// Results of a query other than its list of entities.
extension BoxQuery {
    /// Returns the only matching entity, or `nil` if none matches.
    ///
    /// - Throws: `invalidRequest` if more than one entity matches; the errors of ``BoxQuery/find()``.
    public func findUnique() async throws(TidelogError) -> Entity? {
        let found = try await top(Swift.min(2, Int(clamping: query.options.top ?? 2))).find()
        guard found.count < 2 else {
            throw TidelogError(
                .invalidRequest, "The query found more than one \(Entity.self).",
                recovery: "Add a condition that only one entity satisfies, or use first().")
        }
        return found.first
    }

    /// Returns the IDs of all matching entities, in the order of the query. Reads only keys.
    ///
    /// - Throws: Like ``find()``.
    public func findIDs() async throws(TidelogError) -> [EntityID] {
        try await keysOnly().find().compactMap(\.entityID)
    }

    /// Deletes all matching entities in one change set: all or none.
    ///
    /// Linked entities are kept, unless the metadata defines a cascade (`OnDelete`).
    ///
    /// - Returns: The number of matching entities.
    /// - Throws: `refused` if the metadata forbids the deletion of one of them. Nothing is deleted then.
    @discardableResult
    public func remove() async throws(TidelogError) -> Int {
        let entities = try await keysOnly().find()
        try await box.remove(entities)
        return entities.count
    }

    /// Returns a query for the values of one property, and for aggregates of them: `query.property(Order.total).sum()`.
    public func property<Value>(_ property: StructuralProperty<some Any, Value>) -> BoxPropertyQuery<Entity, Value> {
        BoxPropertyQuery(query: self, property: property.property)
    }

    /// Returns the query without values that only display needs.
    private func keysOnly() -> BoxQuery {
        var options = query.options
        (options.expand, options.select) = ([], box.place.type.keyProperties.map { SelectItem($0.name) })
        return with { query in query.with { $0.options = options } }
    }
}

extension Box {
    /// Returns a Boolean value that indicates whether the store has an entity of the class with the given ID.
    ///
    /// - Throws: `noStore` if the store is not open.
    public func contains(_ id: EntityID) async throws(TidelogError) -> Bool { try await get(id) != nil }

    /// Returns a Boolean value that indicates whether the store has an entity of the class with the given key.
    ///
    /// - Throws: `noStore` if the store is not open; `invalidRequest` if the key is incomplete.
    public func contains(_ key: KeyPredicate) async throws(TidelogError) -> Bool { try await get(key) != nil }

    /// Returns a Boolean value that indicates whether the store has entities of the class with all of the given IDs.
    ///
    /// - Throws: `noStore` if the store is not open.
    public func contains(_ ids: [EntityID]) async throws(TidelogError) -> Bool {
        for id in ids where try await get(id) == nil { return false }
        return true
    }
}
