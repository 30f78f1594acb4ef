public import EDM

extension Sandbox {
    /// Puts an entity into a set, or gives a singleton its entity, as somebody behind the service does.
    public mutating func insert(into set: String, _ values: PropertyValues) throws {
        guard let found = schema.model.findEntitySet(set) else { throw Transaction.gone }
        try transact { transaction throws(SandboxError) in _ = try transaction.insert(into: found, values: values) }
    }

    /// An entity as the service holds it, for who holds the service to account and not to the protocol.
    public struct Content: Sendable, Hashable {
        public let set: String
        /// Counted over all entities that there ever were. Keys may come back, this does not.
        public let number: Int
        public let values: PropertyValues
    }

    /// The set's entities in the order of their creation.
    public func contents(of set: String) -> [Content] {
        state.rows(of: set).map { Content(set: set, number: $0.id.number, values: $0.values) }
    }

    /// The numbers of what a navigation property of an entity leads to, ascending.
    public func targets(of content: Content, _ navigation: String) -> [Int] {
        schema.model.findEntitySet(content.set)?.entityType.findProperty(navigation)?.navigation.map {
            state.targets(of: RowID(set: content.set, number: content.number), through: $0).map(\.number)
        } ?? []
    }
}
