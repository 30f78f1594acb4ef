/// An entity set or singleton of the entity container, or a set of contained entities.
public final class EntitySet: Sendable {
    /// The declared name, or the path of contained entities, like `People/Trips`.
    ///
    /// If sets of several containers have the same name (V2 and V3), those outside of the default container have
    /// ``segment`` as their name.
    public let name: String
    /// The first segment of the set's URLs: the name, preceded by that of its container if this is not the default
    /// one, like `Container2.Photos` (MS-ODATA 2.2.3.1: `[entityContainer "."] entitySet`).
    public let segment: String
    /// The declared type of the entities, which can also be of derived types.
    public let entityType: EntityType
    /// A Boolean value that indicates whether it is a singleton: a single entity with its own name (CSDL 4.01, section
    /// 13.3).
    public let isSingleton: Bool
    /// The names of target sets by navigation property path. In V2 and V3, they are taken from the association sets.
    public let bindings: [String: String]
    /// Alternate keys of the set's entities, in addition to those of the type (`Core.AlternateKeys` on the set).
    public let alternateKeys: [AlternateKey]
    /// The annotations of the set.
    public let annotations: [Annotation]
    /// The containment of the set's entities; `nil` for sets and singletons of the entity container.
    public let containment: Containment?

    /// Creates a set. By default its segment is its name.
    public init(
        name: String, entityType: EntityType, isSingleton: Bool = false, bindings: [String: String] = [:],
        alternateKeys: [AlternateKey] = [], annotations: [Annotation] = [], containment: Containment? = nil,
        segment: String? = nil
    ) {
        self.name = name
        self.segment = segment ?? name
        self.entityType = entityType
        self.isSingleton = isSingleton
        self.bindings = bindings
        self.alternateKeys = alternateKeys
        self.annotations = annotations
        self.containment = containment
    }
}

extension EntitySet {
    /// A Boolean value that indicates whether the metadata declare ETags of the set's entities
    /// (`Org.OData.Core.V1.OptimisticConcurrency`).
    public var hasOptimisticConcurrency: Bool {
        annotations.contains { $0.term == "Org.OData.Core.V1.OptimisticConcurrency" }
    }

    /// Whether the service permits updates of the set's entities: not if the metadata exclude them by
    /// `Capabilities.UpdateRestrictions`, or in V2 by `sap:updatable`.
    package var permitsUpdates: Bool {
        !annotations.contains { annotation in
            switch annotation.term {
            case "Org.OData.Capabilities.V1.UpdateRestrictions":
                annotation.expression.flatMap(\.children).contains {
                    $0.attributes["Property"] == "Updatable"
                        && ($0.attributes["Bool"] ?? $0.children.first?.text) == "false"
                }
            case "sap:updatable": annotation.value == "false"
            default: false
            }
        }
    }
}

extension EntitySet {
    /// The names of properties that an update of the set's entities cannot change
    /// (`Capabilities.UpdateRestrictions/NonUpdatableProperties`).
    package var nonUpdatableProperties: Set<String> {
        let restrictions = annotations.filter { $0.term == "Org.OData.Capabilities.V1.UpdateRestrictions" }
        let properties = restrictions.flatMap(\.expression).flatMap(\.children).filter {
            $0.attributes["Property"] == "NonUpdatableProperties"
        }
        return Set(properties.flatMap(\.children).flatMap(\.children).map(\.text))
    }

    /// Returns the qualified name of the type cast that a path from an entity of the set needs before the property, or
    /// nil if the declared type has the property (OData 4.01 Part 2, section 4.11).
    package func cast(for property: Property) -> String? {
        entityType.findProperty(property.name) == property ? nil : property.declaringType
    }
}

extension EntitySet: Hashable {
    public static func == (a: EntitySet, b: EntitySet) -> Bool { a === b || a.name == b.name }
    public func hash(into hasher: inout Hasher) { hasher.combine(name) }
}

extension EntitySet: CustomStringConvertible {
    public var description: String { name }
}
