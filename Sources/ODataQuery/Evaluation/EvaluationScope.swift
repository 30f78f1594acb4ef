package import EDM

/// An entity as seen by expressions. The closures can be lazy; they are called only for names that an expression
/// contains.
package struct EvaluationScope {
    /// Returns the value of a property, or nil if the entity has no such property.
    package var property: (String) -> EvaluationOperand?
    /// Returns whether the entity has the type with the qualified name, or a type derived from it.
    package var isInstance: (String) -> Bool
    /// Returns the result of an offline function: `isLocal`, `hasPendingChanges`, `isInErrorState`,
    /// `upsertedLastDownload`.
    package var state: (CanonicalFunction) -> Bool
    /// The entity's type, which is necessary to interpret its enumerations, or nil if it is unknown.
    package var type: StructuredType?
    /// The enumerations of computed and aggregated values, which the type does not declare.
    var enumerations: [String: EnumerationType] = [:]
    /// The identity of the entity for grouping and counting, if it has one.
    package var identity: String?
    /// Returns the entities of an entity set, or the entity of a singleton, for paths from `$root`. Nil for an unknown
    /// name; if the function itself is nil, only the service can evaluate such paths.
    package var root: ((String) -> EvaluationOperand?)?

    package init(
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

    /// Returns the entity with additional dynamic properties, which hide its own.
    package func adding(_ values: PropertyValues) -> EvaluationScope {
        guard !values.isEmpty else { return self }
        var scope = self
        let own = property
        scope.property = { name in values[name].map { .value($0) } ?? own(name) }
        return scope
    }

    /// Creates a scope for plain values without relationships.
    package init(_ values: PropertyValues, type: EntityType? = nil) {
        self.init(
            property: { name in
                if let value = values[name] { return .value(value) }
                return type.map { $0.findProperty(name) == nil && !$0.isOpen(to: name) } ?? false ? nil : .value(.null)
            }, isInstance: { $0 == type?.name }, type: type)
    }
}

/// The result of an expression or of a path step.
package enum EvaluationOperand {
    case value(Value)
    /// A single-valued navigation property, or nil if it has no target.
    case entity(EvaluationScope?)
    case entities([EvaluationScope])
}
