public import EDM

/// The implementation of a function or action of a sandbox.
///
/// The changes of an action are kept together with the rest of its change set, provided that all rules of the metadata
/// are satisfied.
public typealias SandboxOperation = @Sendable (inout SandboxCall) throws(SandboxError) -> SandboxResult

/// The result of a function or action.
public enum SandboxResult: Sendable, Hashable {
    /// No result.
    case nothing
    /// A primitive, enumeration or complex value, or a collection of such values.
    case value(Value)
    /// An entity, or nil for null.
    case entity(Sandbox.StoredEntity?)
    /// A collection of entities, in the order of the response.
    case entities([Sandbox.StoredEntity])
}

/// A call of a function or action, which can read and change the content of the service.
public struct SandboxCall {
    /// The name of the import, or the unqualified name of the bound operation.
    public let name: String
    /// The passed arguments, with the types from the metadata. An entity with its full content is a complex value.
    public let parameters: PropertyValues
    /// The entities passed by reference, by the name of the parameter.
    public let entities: [String: [Sandbox.StoredEntity]]
    /// The binding parameter: one entity, or all entities of a collection.
    public let binding: [Sandbox.StoredEntity]
    var transaction: Transaction

    /// Returns the set's entities in the order of their creation.
    public func contents(of set: String) -> [Sandbox.StoredEntity] { transaction.state.rows(of: set).map(\.content) }

    /// Returns the targets of an entity's navigation property.
    public func targets(of content: Sandbox.StoredEntity, _ navigation: String) -> [Sandbox.StoredEntity] {
        guard let property = transaction.entityType(of: content.row)?.findProperty(navigation),
            let navigation = property.navigation
        else { return [] }
        return transaction.state.targets(of: content.row, through: navigation).compactMap {
            transaction.state[$0]?.content
        }
    }

    /// Creates an entity with these values.
    ///
    /// - Throws: `notFound` if there is no such set; `badRequest` if its entities are created inside of another entity;
    ///   `unknownProperty` or `typeMismatch` if a value does not fit its property; `missingKey` or `duplicateKey` if
    ///   the key cannot be used; `referentialConstraint` if a dependent property that is part of the key names another
    ///   entity than its link. Missing values and mandatory partners are checked at the end of the call.
    @discardableResult
    public mutating func insert(into set: String, _ values: PropertyValues) throws(SandboxError) -> Sandbox.StoredEntity
    {
        guard let found = transaction.schema.model.findEntitySet(set) else { throw Transaction.gone }
        let id = try transaction.insert(into: found, values: values)
        guard let row = transaction.state[id] else { throw Transaction.gone }
        return row.content
    }

    /// Sets these values of the entity and keeps all other values.
    ///
    /// - Throws: `notFound` if the entity does not exist; `unknownProperty` or `typeMismatch` if a value does not fit
    ///   its property; `duplicateKey` if a property from which the key is derived leads to the key of another entity;
    ///   `referentialConstraint` if a dependent property that is part of the key names another entity than its link.
    public mutating func update(_ content: Sandbox.StoredEntity, _ values: PropertyValues) throws(SandboxError) {
        try transaction.update(content.row, with: values)
    }

    /// Deletes the entity.
    ///
    /// - Throws: `notFound` if the entity does not exist.
    public mutating func delete(_ content: Sandbox.StoredEntity) throws(SandboxError) {
        try transaction.delete(content.row)
    }

    /// Links two entities through a navigation property of the first one.
    ///
    /// - Throws: `notFound` if an entity or the property does not exist; `typeMismatch` if the target has another type;
    ///   `referentialConstraint` if a dependent property that is part of the key names another entity.
    public mutating func link(
        _ source: Sandbox.StoredEntity, _ navigation: String, to target: Sandbox.StoredEntity
    ) throws(SandboxError) {
        guard let property = transaction.entityType(of: source.row)?.findProperty(navigation) else {
            throw Transaction.gone
        }
        try transaction.link(source.row, property, to: target.row)
    }
}

extension Sandbox.StoredEntity {
    var row: RowID { RowID(set: set, number: number) }
}

extension Row {
    var content: Sandbox.StoredEntity { Sandbox.StoredEntity(set: id.set, number: id.number, values: values) }
}
