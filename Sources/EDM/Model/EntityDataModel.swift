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

    /// What is wrong with the document, at most a thousand defects: those that elements are left out for come first, a cause
    /// before what follows from it. Empty after a strict reading.
    public let defects: [MetadataDefect]

    /// Whether the document declares sets, or where navigation properties lead, in a way that cannot be used.
    let hidesSets: Bool
    let elementCounts: ElementCounts
    private let structuredTypes: [String: StructuredType]
    private let enumerationTypes: [String: EnumerationType]
    private let sets: [String: EntitySet]
    private let contained: ContainedSets
    private let subtypes: [String: [String]]
    private let definitions: [String: TypeDefinition]
    private let aliases: [String: String]

    public convenience init(
        version: ODataVersion, schemas: [Schema], structuredTypes: [StructuredType],
        enumerationTypes: [EnumerationType], entitySets: [EntitySet], singletons: [EntitySet],
        references: [DocumentReference] = []
    ) {
        self.init(
            version: version, schemas: schemas, structuredTypes: structuredTypes, enumerationTypes: enumerationTypes,
            entitySets: entitySets, singletons: singletons, references: references, defects: [],
            hidesSets: false, elementCounts: ElementCounts())
    }

    init(
        version: ODataVersion, schemas: [Schema], structuredTypes: [StructuredType],
        enumerationTypes: [EnumerationType], entitySets: [EntitySet], singletons: [EntitySet],
        references: [DocumentReference], defects: [MetadataDefect], hidesSets: Bool, elementCounts: ElementCounts
    ) {
        self.version = version
        self.schemas = schemas
        self.entitySets = entitySets
        self.singletons = singletons
        self.references = references
        self.defects = defects
        self.hidesSets = hidesSets
        definitions = Dictionary(
            schemas.flatMap(\.typeDefinitions).map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        let own = schemas.compactMap { schema in schema.alias.map { ($0, schema.namespace) } }
        let included = references.flatMap(\.includes).compactMap { include in
            include.alias.map { ($0, include.namespace) }
        }
        aliases = Dictionary(own + included, uniquingKeysWith: { first, _ in first })
            .filter { alias, _ in !schemas.contains { $0.namespace == alias } }
        self.elementCounts = elementCounts
        self.structuredTypes = Dictionary(
            structuredTypes.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        self.enumerationTypes = Dictionary(
            enumerationTypes.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        let subtypes: [String: [String]] = structuredTypes.reduce(into: [:]) { result, type in
            if let base = type.baseType { result[base, default: []].append(type.name) }
        }
        self.subtypes = subtypes
        contained = Self.containedSets(in: entitySets + singletons, version, structuredTypes, subtypes)
        sets = Dictionary(
            (entitySets + singletons + contained.sets).map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    }

    private static func containedSets(
        in roots: [EntitySet], _ version: ODataVersion, _ types: [StructuredType], _ subtypes: [String: [String]]
    ) -> ContainedSets {
        let own = Dictionary(types.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        func isContaining(_ property: Property) -> Bool { property.navigation?.containsTarget == true }
        guard types.contains(where: { $0.navigationProperties.contains(where: isContaining) }) else {
            return ContainedSets(of: [], version: version, navigations: { _ in [] }, type: { _ in nil })
        }
        /// Of the type and all that derive from it, each once.
        func navigations(_ type: EntityType) -> [Property] {
            var found: [Property] = []
            var names = [type.name]
            var seen: Set<String> = []
            while let name = names.popLast() {
                guard seen.insert(name).inserted, let type = own[name] else { continue }
                for property in type.navigationProperties where isContaining(property) {
                    if !found.contains(property) { found.append(property) }
                }
                names += (subtypes[name] ?? []).sorted(by: >)
            }
            return found
        }
        return ContainedSets(
            of: roots, version: version, navigations: navigations,
            type: { name in own[name].flatMap { $0.kind == .entity ? $0 : nil } })
    }

    /// The sets of contained entities, those nearest to the container first. See ``EntitySet/containment``.
    public var containedSets: [EntitySet] { contained.sets }

    /// The sets of the entities that those of a set contain, in ascending order of name.
    public func containedSets(in set: EntitySet) -> [EntitySet] { contained.sets(in: set) }

    /// All sets that have entities: those of the container, its singletons, and the sets of contained entities.
    public var allSets: [EntitySet] { entitySets + singletons + contained.sets }

    /// The entity set or singleton of that name, or the set of contained entities with that path, as `People/Trips`.
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
    /// The type definition of that qualified name.
    public func typeDefinition(named name: String) -> TypeDefinition? { definitions[name] }

    /// The qualified name with its namespace, if it is written with the alias of a schema.
    package func resolveAlias(_ name: String) -> String {
        guard !aliases.isEmpty, let dot = name.lastIndex(of: "."), let namespace = aliases[String(name[..<dot])] else {
            return name
        }
        return namespace + name[dot...]
    }

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

    /// The set that a navigation property of `set` leads to: that of the contained entities, or the binding, or else the
    /// only set of the target type.
    ///
    /// Contained entities are in no other set, whatever its type (OData 4.01 Part 1, 4.2), and the way back leads to the
    /// entity that contains them.
    ///
    /// - Parameter type: the entity's type, if it is known; see ``boundTarget(of:in:from:)``.
    public func target(of navigation: Property, in set: EntitySet, from type: EntityType? = nil) -> EntitySet? {
        if let contained = contained.target(of: navigation, in: set) { return contained }
        if navigation.navigation?.containsTarget == true, !version.isLegacy { return nil }
        if let containment = set.containment, containment.isWalked(by: navigation), !navigation.isCollection,
            containment.navigation.navigation?.partner == navigation.name
        {
            return containment.parent
        }
        if let bound = boundTarget(of: navigation, in: set, from: type) { return sets[bound] }
        // Where the document hides a set, it may be that one.
        guard !hidesSets, let target = navigation.navigation?.targetType else { return nil }
        let candidates = entitySets.filter {
            isType($0.entityType.name, derivedFrom: target) || isType(target, derivedFrom: $0.entityType.name)
        }
        return candidates.count == 1 ? candidates[0] : nil
    }

    /// Whether the entities that a navigation property of `set` leads to can only be in ``target(of:in:from:)``.
    ///
    /// A property without a binding may lead to a different set for each entity (CSDL 4.01, 13.4). The only set of the type
    /// is where all of them are as long as no contained ones have the type as well.
    public func isCertainTarget(of navigation: Property, in set: EntitySet, from type: EntityType? = nil) -> Bool {
        guard let target = navigation.navigation?.targetType, !contained.typeNames.isEmpty,
            contained.target(of: navigation, in: set) == nil, set.containment?.isWalked(by: navigation) != true,
            boundTarget(of: navigation, in: set, from: type) == nil
        else { return true }
        return !contained.typeNames.contains {
            isType($0, derivedFrom: target) || isType(target, derivedFrom: $0)
        }
    }

    /// The set whose entities the referential constraint of a navigation property names by their values.
    ///
    /// Nil where values do not tell the entity: the key of a contained one is unique only below its parent, and whom an
    /// entity is contained in is part of its identity, whatever its properties say.
    public func principalSet(of navigation: Property, in set: EntitySet, from type: EntityType? = nil) -> EntitySet? {
        if navigation.navigation?.containsTarget == true || set.containment?.isWalked(by: navigation) == true {
            return nil
        }
        guard let target = target(of: navigation, in: set, from: type), !target.isContained else { return nil }
        return target
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
