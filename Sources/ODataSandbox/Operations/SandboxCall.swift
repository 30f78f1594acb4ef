public import EDM
internal import ODataWire

/// What a function or action of a sandbox does. What it changes is kept where it was an action, together with the rest of
/// its change set, and where every rule of the metadata still holds.
public typealias SandboxOperation = @Sendable (inout SandboxCall) throws(SandboxError) -> SandboxResult

/// What a function or action gives back.
public enum SandboxResult: Sendable, Hashable {
    case nothing
    /// A primitive, enumeration or complex value, or a collection of such.
    case value(Value)
    /// nil is null.
    case entity(Sandbox.Content?)
    case entities([Sandbox.Content])
}

/// The call of a function or action, and the service as it can be read and changed by it.
public struct SandboxCall {
    /// Of the import, or without the namespace of what is bound.
    public let name: String
    /// Each that was given, of the type that the metadata declare. An entity that was told in full is a complex value.
    public let parameters: PropertyValues
    /// Entities that were referred to, by the name of the parameter.
    public let entities: [String: [Sandbox.Content]]
    /// What it is called on: one entity, or all of a collection.
    public let binding: [Sandbox.Content]
    var transaction: Transaction

    /// The set's entities in the order of their creation.
    public func contents(of set: String) -> [Sandbox.Content] { transaction.state.rows(of: set).map(\.content) }

    /// What a navigation property of an entity leads to.
    public func targets(of content: Sandbox.Content, _ navigation: String) -> [Sandbox.Content] {
        guard let property = transaction.entityType(of: content.row)?.findProperty(navigation),
            let navigation = property.navigation
        else { return [] }
        return transaction.state.targets(of: content.row, through: navigation).compactMap {
            transaction.state[$0]?.content
        }
    }

    /// A new entity with these values.
    @discardableResult
    public mutating func insert(into set: String, _ values: PropertyValues) throws(SandboxError) -> Sandbox.Content {
        guard let found = transaction.schema.model.findEntitySet(set) else { throw Transaction.gone }
        let id = try transaction.insert(into: found, values: values)
        guard let row = transaction.state[id] else { throw Transaction.gone }
        return row.content
    }

    /// Gives the entity these values, and leaves the others as they are.
    public mutating func update(_ content: Sandbox.Content, _ values: PropertyValues) throws(SandboxError) {
        try transaction.update(content.row, with: values)
    }

    public mutating func delete(_ content: Sandbox.Content) throws(SandboxError) {
        try transaction.delete(content.row)
    }

    /// Links two entities through a navigation property of the first.
    public mutating func link(
        _ source: Sandbox.Content, _ navigation: String, to target: Sandbox.Content
    ) throws(SandboxError) {
        guard let property = transaction.entityType(of: source.row)?.findProperty(navigation) else {
            throw Transaction.gone
        }
        try transaction.link(source.row, property, to: target.row)
    }
}

extension Sandbox.Content {
    var row: RowID { RowID(set: set, number: number) }
}

extension Row {
    var content: Sandbox.Content { Sandbox.Content(set: id.set, number: id.number, values: values) }
}
