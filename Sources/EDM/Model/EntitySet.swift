/// An entity set or singleton of the entity container, or a set of contained entities.
public final class EntitySet: Sendable {
    /// The declared name; for contained entities the path, as `People/Trips`. Of sets of the same name in several containers
    /// (V2 and V3), those outside of the default one have ``segment`` for a name.
    public let name: String
    /// The first segment of its URLs at the service: the name, behind that of its container if this is not the default one,
    /// as `Container2.Photos` (MS-ODATA 2.2.3.1: `[entityContainer "."] entitySet`).
    public let segment: String
    public let entityType: EntityType
    public let isSingleton: Bool
    /// Navigation property paths and the names of the sets that they lead to. V2 and V3: taken from the association sets.
    public let bindings: [String: String]
    /// The keys besides that of the type by which entities of the set can be addressed (`Core.AlternateKeys` on the set).
    public let alternateKeys: [AlternateKey]
    public let annotations: [Annotation]
    /// Below which entities those of this set are; nil for the sets and singletons of the entity container.
    public let containment: Containment?

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

extension EntitySet: Hashable {
    public static func == (a: EntitySet, b: EntitySet) -> Bool { a === b || a.name == b.name }
    public func hash(into hasher: inout Hasher) { hasher.combine(name) }
}

extension EntitySet: CustomStringConvertible {
    public var description: String { name }
}
