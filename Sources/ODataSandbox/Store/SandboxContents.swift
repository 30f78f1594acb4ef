public import EDM

extension Sandbox {
    /// Inserts an entity into a set, or sets the entity of a singleton, without using the protocol.
    ///
    /// - Throws: A ``SandboxError``, like ``SandboxCall/insert(into:_:)``; also `nullNotAllowed` or `mandatoryEnd` if a
    ///   value or a partner is missing. Nothing is inserted then.
    public mutating func insert(into set: String, _ values: PropertyValues) throws {
        guard let found = schema.model.findEntitySet(set) else { throw Transaction.gone }
        try transact { transaction throws(SandboxError) in _ = try transaction.insert(into: found, values: values) }
    }

    /// An entity as the service stores it, for checks of the stored content independent of the protocol.
    public struct StoredEntity: Sendable, Hashable {
        /// The name of the entity set.
        public let set: String
        /// A number that is unique over all entities ever created. Keys may be reused; this number is not.
        public let number: Int
        /// The values of the properties.
        public let values: PropertyValues
    }

    /// Returns the set's entities in the order of their creation.
    public func contents(of set: String) -> [StoredEntity] {
        state.rows(of: set).map { StoredEntity(set: set, number: $0.id.number, values: $0.values) }
    }

    /// Returns the numbers of the targets of an entity's navigation property, ascending.
    public func targets(of content: StoredEntity, _ navigation: String) -> [Int] {
        schema.model.findEntitySet(content.set)?.entityType.findProperty(navigation)?.navigation.map {
            state.targets(of: RowID(set: content.set, number: content.number), through: $0).map(\.number)
        } ?? []
    }
}
