/// What a metadata document says, resolved: types with what they inherit, relationships with both their ends.
///
/// Immutable and shared freely. Read one with `CSDLReader`.
public final class EntityDataModel: Sendable {
    public let version: ODataVersion
    public let schemas: [Schema]
    /// The sets of all entity containers in the order of the document, singletons excluded.
    public let entitySets: [EntitySet]
    public let singletons: [EntitySet]
    /// The other documents that those which were read refer to, whether they were read too or not.
    public let references: [DocumentReference]

    /// What is wrong with the document and could be lived with, in the order in which it was found: a key of a property
    /// that does not exist, a parameter declared twice. Empty after a strict reading.
    public let defects: [CSDLError]

    let elementCounts: ElementCounts
    private let structuredTypes: [String: StructuredType]
    private let enumerationTypes: [String: EnumerationType]
    private let sets: [String: EntitySet]
    private let subtypes: [String: [String]]

    public convenience init(
        version: ODataVersion, schemas: [Schema], structuredTypes: [StructuredType],
        enumerationTypes: [EnumerationType], entitySets: [EntitySet], singletons: [EntitySet],
        references: [DocumentReference] = []
    ) {
        self.init(
            version: version, schemas: schemas, structuredTypes: structuredTypes, enumerationTypes: enumerationTypes,
            entitySets: entitySets, singletons: singletons, references: references, defects: [],
            elementCounts: ElementCounts())
    }

    init(
        version: ODataVersion, schemas: [Schema], structuredTypes: [StructuredType],
        enumerationTypes: [EnumerationType], entitySets: [EntitySet], singletons: [EntitySet],
        references: [DocumentReference], defects: [CSDLError], elementCounts: ElementCounts
    ) {
        self.version = version
        self.schemas = schemas
        self.entitySets = entitySets
        self.singletons = singletons
        self.references = references
        self.defects = defects
        self.elementCounts = elementCounts
        self.structuredTypes = Dictionary(
            structuredTypes.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        self.enumerationTypes = Dictionary(
            enumerationTypes.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        sets = Dictionary((entitySets + singletons).map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        subtypes = structuredTypes.reduce(into: [:]) { result, type in
            if let base = type.baseType { result[base, default: []].append(type.name) }
        }
    }

    /// The entity set or singleton of that name.
    public func findEntitySet(_ name: String) -> EntitySet? { sets[name] }
    /// The entity type of that qualified name.
    public func findEntityType(_ name: String) -> EntityType? {
        structuredTypes[name].flatMap { $0.kind == .entity ? $0 : nil }
    }
    /// The complex type of that qualified name.
    public func findComplexType(_ name: String) -> ComplexType? {
        structuredTypes[name].flatMap { $0.kind == .complex ? $0 : nil }
    }
    public func enumerationType(named name: String) -> EnumerationType? { enumerationTypes[name] }

    /// How many declarations of each kind the model has.
    public var counts: ModelCounts { ModelCounts(self) }

    /// The qualified names of the types that name this one as their base.
    public func derivedTypes(of name: String) -> [String] { subtypes[name] ?? [] }

    /// The base types that the document declares, the nearest first.
    public func baseTypes(of type: StructuredType) -> [StructuredType] {
        var result: [StructuredType] = []
        var next = type.baseType.flatMap { structuredTypes[$0] }
        // Models can be made by hand, so a cycle is possible here.
        while let base = next, result.count < structuredTypes.count {
            result.append(base)
            next = base.baseType.flatMap { structuredTypes[$0] }
        }
        return result
    }

    /// Whether no base type is in a document that was not read.
    func knowsAllBaseTypes(of type: StructuredType) -> Bool {
        (baseTypes(of: type).last ?? type).baseType == nil
    }

    /// Whether `type` is `base` or derives from it. All entity and complex types derive from the abstract ones of `Edm`.
    public func isType(_ type: String, derivedFrom base: String) -> Bool {
        if base == BuiltInType.entity, findEntityType(type) != nil { return true }
        if base == BuiltInType.complex, findComplexType(type) != nil { return true }
        var current: String? = type
        while let name = current {
            if name == base { return true }
            current = structuredTypes[name]?.baseType
        }
        return false
    }

    /// The name of the set that a navigation property of entities of `set` is bound to (CSDL 4.01, section 13.4); nil if
    /// the document binds it to none.
    ///
    /// - Parameter type: the entity's type. A binding whose path casts to it, or to a base type of it, goes first.
    public func boundTarget(of navigation: Property, in set: EntitySet, from type: EntityType? = nil) -> String? {
        guard !set.bindings.isEmpty else { return nil }
        if let type, type.name != set.entityType.name {
            for type in [type] + baseTypes(of: type) {
                if let bound = set.bindings["\(type.name)/\(navigation.name)"] { return bound }
            }
        }
        return set.bindings[navigation.name] ?? set.bindings[navigation.description]
    }

    /// The set that a navigation property of `set` leads to: its binding, or else the only set of the target type.
    ///
    /// - Parameter type: the entity's type, if it is known; see ``boundTarget(of:in:from:)``.
    public func target(of navigation: Property, in set: EntitySet, from type: EntityType? = nil) -> EntitySet? {
        if let bound = boundTarget(of: navigation, in: set, from: type) { return sets[bound] }
        guard let target = navigation.navigation?.targetType else { return nil }
        let candidates = entitySets.filter {
            isType($0.entityType.name, derivedFrom: target) || isType(target, derivedFrom: $0.entityType.name)
        }
        return candidates.count == 1 ? candidates[0] : nil
    }

    /// The navigation property that walks `property`'s relationship backwards, where the model has one.
    public func partner(of property: Property) -> Property? {
        guard let navigation = property.navigation, let name = navigation.partner else { return nil }
        return structuredTypes[navigation.targetType]?.findProperty(name)
    }
}

/// The protocol version that a service speaks. It decides the wire format.
public enum ODataVersion: String, Sendable, Hashable, CaseIterable {
    case v2 = "2.0"
    case v3 = "3.0"
    case v4 = "4.0"
    case v401 = "4.01"

    /// V2 and V3: verbose JSON, `$links`, MERGE. Otherwise the formats of V4.
    public var isLegacy: Bool { self == .v2 || self == .v3 }
}

extension EntityDataModel {
    /// The type itself and, in the order of the document's names, every entity type that derives from it.
    public func entityTypes(derivedFrom type: EntityType) -> [EntityType] {
        [type]
            + derivedTypes(of: type.name).sorted().compactMap { findEntityType($0) }
            .flatMap { entityTypes(derivedFrom: $0) }
    }
}
