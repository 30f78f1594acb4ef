public import EDM

/// An entity as expressions see it. The closures may look things up lazily; they are asked only for what an expression
/// mentions.
public struct EvaluationScope {
    /// What a property of the entity is; nil where the entity has no such property.
    public var property: (String) -> EvaluationOperand?
    /// Whether the entity is of the type with that qualified name, or of one derived from it.
    public var isInstance: (String) -> Bool
    /// The answer to the offline functions: `isLocal`, `hasPendingChanges`, `isInErrorState`, `upsertedLastDownload`.
    public var state: (CanonicalFunction) -> Bool
    /// The entity's type, which tells what its enumerations mean; nil where it is not known.
    public var type: StructuredType?
    /// Names the entity among all others, where it has an identity: entities are grouped and counted by it.
    public var identity: String?

    public init(
        property: @escaping (String) -> EvaluationOperand?, isInstance: @escaping (String) -> Bool = { _ in false },
        state: @escaping (CanonicalFunction) -> Bool = { _ in false }, type: StructuredType? = nil,
        identity: String? = nil
    ) {
        self.property = property
        self.isInstance = isInstance
        self.state = state
        self.type = type
        self.identity = identity
    }

    /// The entity with dynamic properties besides its own, which they hide.
    public func adding(_ values: PropertyValues) -> EvaluationScope {
        guard !values.isEmpty else { return self }
        var scope = self
        let own = property
        scope.property = { name in values[name].map { .value($0) } ?? own(name) }
        return scope
    }

    /// A scope over plain values, without relationships.
    public init(_ values: PropertyValues, type: EntityType? = nil) {
        self.init(
            property: { name in
                if let value = values[name] { return .value(value) }
                return type.map { $0.findProperty(name) == nil && !$0.isOpen(to: name) } ?? false ? nil : .value(.null)
            }, isInstance: { $0 == type?.name }, type: type)
    }
}

/// What an expression, or a step of a path, stands for.
public enum EvaluationOperand {
    case value(Value)
    /// A single-valued navigation property; nil where nothing is linked.
    case entity(EvaluationScope?)
    case entities([EvaluationScope])
}
