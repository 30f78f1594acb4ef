/// A resolved metadata document: types with inherited properties, relationships with both ends.
///
/// Immutable, and safe to share. Read a model with `CSDLReader`.
public final class EntityDataModel: Sendable {
    /// The protocol version; that of the first document if several were read.
    public let version: ODataVersion
    /// The schemas of all documents, those of the first document first.
    public let schemas: [Schema]
    /// The sets of all entity containers in the order of the document, without singletons.
    public let entitySets: [EntitySet]
    /// The singletons of all entity containers, in the order of the document.
    public let singletons: [EntitySet]
    /// The references to other documents, whether these were read or not.
    public let references: [DocumentReference]

    /// The defects of the document, at most a thousand. Defects with omitted elements are first, a cause before its
    /// consequences. Empty after a strict reading.
    public let defects: [MetadataDefect]

    /// Whether the document has unusable declarations of sets or of the targets of navigation properties.
    let hidesSets: Bool
    /// A Boolean value that indicates whether the model has elements that exist only in the store.
    public let hasClientOnly: Bool
    /// Whether an end of a relationship may have the multiplicity 1; false only if none has.
    package let hasMandatoryEnds: Bool
    /// The names that navigation properties of complex types have, and no other properties of complex types.
    package let complexNavigations: Set<String>
    let elementCounts: ElementCounts
    private let structuredTypes: NameMap<StructuredType>
    private let enumerationTypes: [String: EnumerationType]
    private let sets: NameMap<EntitySet>
    private let contained: ContainedSets
    private let subtypes: [String: [String]]
    private let definitions: [String: TypeDefinition]
    private let aliases: [String: String]

    /// Creates a model from resolved elements, without defects.
    ///
    /// Aliases and type definitions are those of `schemas`; all other elements are found only if they are in the list
    /// of their kind. If several elements of a list have the same name, the first one is used.
    ///
    /// - Parameters:
    ///   - version: the protocol version.
    ///   - schemas: the schemas.
    ///   - structuredTypes: the entity and complex types.
    ///   - enumerationTypes: the enumeration types.
    ///   - entitySets: the sets of the entity containers.
    ///   - singletons: the singletons of the entity containers.
    ///   - references: the references to other documents.
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
        hasClientOnly = Self.hasClientOnly(entitySets, structuredTypes)
        definitions = Dictionary(
            schemas.flatMap(\.typeDefinitions).map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        let own = schemas.compactMap { schema in schema.alias.map { ($0, schema.namespace) } }
        let included = references.flatMap(\.includes).compactMap { include in
            include.alias.map { ($0, include.namespace) }
        }
        aliases = Dictionary(own + included, uniquingKeysWith: { first, _ in first })
            .filter { alias, _ in !schemas.contains { $0.namespace == alias } }
        let complex = structuredTypes.filter { $0.kind == .complex }
        complexNavigations = Set(complex.flatMap { $0.navigationProperties.map(\.name) })
            .subtracting(complex.flatMap { $0.properties.map(\.name) })
        self.elementCounts = elementCounts
        self.structuredTypes = NameMap(structuredTypes.map { ($0.name, $0) })
        self.enumerationTypes = Dictionary(
            enumerationTypes.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        let subtypes: [String: [String]] = structuredTypes.reduce(into: [:]) { result, type in
            if let base = type.baseType { result[base, default: []].append(type.name) }
        }
        self.subtypes = subtypes
        contained = Self.containedSets(in: entitySets + singletons, version, structuredTypes, subtypes)
        sets = NameMap((entitySets + singletons + contained.sets).map { ($0.name, $0) })
        // A contained entity always has a container.
        hasMandatoryEnds =
            !contained.sets.isEmpty
            || (structuredTypes + (entitySets + singletons).map(\.entityType)).contains { type in
                type.navigationProperties.contains {
                    $0.navigation?.multiplicity == .one || $0.navigation?.sourceMultiplicity == .one
                }
            }
    }

    private static func containedSets(
        in roots: [EntitySet], _ version: ODataVersion, _ types: [StructuredType], _ subtypes: [String: [String]]
    ) -> ContainedSets {
        let own = Dictionary(types.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        func isContaining(_ property: Property) -> Bool { property.navigation?.containsTarget == true }
        guard types.contains(where: { $0.navigationProperties.contains(where: isContaining) }) else {
            return ContainedSets(of: [], version: version, navigations: { _ in [] }, type: { _ in nil })
        }
        /// Returns the containing navigation properties of the type and all derived types, each once.
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

    /// Returns the sets of the entities that the entities of a set contain, in ascending order of name.
    public func containedSets(in set: EntitySet) -> [EntitySet] { contained.sets(in: set) }

    /// All sets with entities: those of the container, its singletons, and the sets of contained entities.
    public var allSets: [EntitySet] { entitySets + singletons + contained.sets }

    /// Returns the entity set or singleton with the given name, or the set of contained entities with the given path,
    /// like `People/Trips`.
    public func findEntitySet(_ name: String) -> EntitySet? { sets[name] }
    /// Returns the entity type with the given qualified name.
    public func findEntityType(_ name: String) -> EntityType? {
        structuredTypes[name].flatMap { $0.kind == .entity ? $0 : nil }
    }
    /// Returns the complex type with the given qualified name.
    public func findComplexType(_ name: String) -> ComplexType? {
        structuredTypes[name].flatMap { $0.kind == .complex ? $0 : nil }
    }
    /// Returns the enumeration type with the given qualified name, or `nil` if there is none.
    public func enumerationType(named name: String) -> EnumerationType? { enumerationTypes[name] }
    /// Returns the type definition with the given qualified name.
    public func typeDefinition(named name: String) -> TypeDefinition? { definitions[name] }

    /// Returns the qualified name with the alias of a schema replaced by its namespace.
    package func resolveAlias(_ name: String) -> String {
        guard !aliases.isEmpty, let dot = name.lastIndex(of: "."), let namespace = aliases[String(name[..<dot])] else {
            return name
        }
        return namespace + name[dot...]
    }

    /// The number of declarations of each kind.
    public var counts: ModelCounts { ModelCounts(self) }

    /// Returns the qualified names of the types whose base type is the given one.
    public func derivedTypes(of name: String) -> [String] { subtypes[name] ?? [] }

    /// Returns the properties of a name that entities of the type can have: that of the type, or those of derived types.
    package func declarations(of name: String, in type: StructuredType) -> [Property] {
        if let property = type.findProperty(name) { return [property] }
        var found: [Property] = []
        var visited: Set = [type.name]
        var rest = derivedTypes(of: type.name)
        // A model created in code can contain a cycle.
        while let next = rest.popLast() {
            guard visited.insert(next).inserted else { continue }
            if let property = structuredTypes[next]?.findProperty(name) {
                found.append(property)
            } else {
                rest += derivedTypes(of: next)
            }
        }
        return found.sorted { $0.declaringType < $1.declaringType }
    }

    /// Returns the base types that the document declares, the nearest first.
    public func baseTypes(of type: StructuredType) -> [StructuredType] {
        var result: [StructuredType] = []
        var next = type.baseType.flatMap { structuredTypes[$0] }
        // A model created in code can contain a cycle.
        while let base = next, result.count < structuredTypes.count {
            result.append(base)
            next = base.baseType.flatMap { structuredTypes[$0] }
        }
        return result
    }

    /// Whether all base types are in documents that were read.
    func knowsAllBaseTypes(of type: StructuredType) -> Bool {
        (baseTypes(of: type).last ?? type).baseType == nil
    }

    /// Returns whether `type` is `base` or derives from it. All entity and complex types derive from the abstract
    /// ones of `Edm`.
    public func isType(_ type: String, derivedFrom base: String) -> Bool {
        if type == base { return true }
        if base == BuiltInType.entity, findEntityType(type) != nil { return true }
        if base == BuiltInType.complex, findComplexType(type) != nil { return true }
        var next = structuredTypes[type]?.baseType
        while let name = next {
            if name == base { return true }
            next = structuredTypes[name]?.baseType
        }
        return false
    }

    /// Returns the name of the set to which a navigation property of `set` is bound (CSDL 4.01, section 13.4), or
    /// `nil` if it has no binding.
    ///
    /// - Parameters:
    ///   - navigation: the navigation property.
    ///   - set: the set of the entity.
    ///   - type: the entity's type. A binding whose path contains a cast to it, or to one of its base types, has
    ///     precedence.
    public func boundTarget(of navigation: Property, in set: EntitySet, from type: EntityType? = nil) -> String? {
        guard !set.bindings.isEmpty else { return nil }
        if let type, type.name != set.entityType.name {
            for type in [type] + baseTypes(of: type) {
                if let bound = set.bindings["\(type.name)/\(navigation.name)"] { return bound }
            }
        }
        return set.bindings[navigation.name] ?? set.bindings[navigation.description]
    }

    /// Returns the target set of a navigation property: the set of contained entities, otherwise the binding,
    /// otherwise the only set of the target type.
    ///
    /// Contained entities are in no other set, whatever its type (OData 4.01 Part 1, 4.2), and the partner of the
    /// containing property leads to the parent's set.
    ///
    /// - Parameters:
    ///   - navigation: the navigation property.
    ///   - set: the set of the entity.
    ///   - type: the entity's type, if known; see ``boundTarget(of:in:from:)``.
    public func target(of navigation: Property, in set: EntitySet, from type: EntityType? = nil) -> EntitySet? {
        if let contained = contained.target(of: navigation, in: set) { return contained }
        if navigation.navigation?.containsTarget == true, !version.isLegacy { return nil }
        if let containment = set.containment, containment.isWalked(by: navigation), !navigation.isCollection,
            containment.navigation.navigation?.partner == navigation.name
        {
            return containment.parent
        }
        if let bound = boundTarget(of: navigation, in: set, from: type) { return sets[bound] }
        // If the document has unusable sets, one of those may be the target.
        guard !hidesSets, let target = navigation.navigation?.targetType else { return nil }
        var candidates = entitySets.filter {
            isType($0.entityType.name, derivedFrom: target) || isType(target, derivedFrom: $0.entityType.name)
        }
        // Without a binding, a property does not lead to drafts.
        if hasClientOnly, candidates.count > 1 { candidates.removeAll { $0.activeSet != nil } }
        return candidates.count == 1 ? candidates[0] : nil
    }

    /// Returns whether all targets of a navigation property are in the set ``target(of:in:from:)``.
    ///
    /// A property without a binding can lead to different sets (CSDL 4.01, 13.4). The only set of the type contains
    /// all targets unless contained entities have the type as well.
    public func isCertainTarget(of navigation: Property, in set: EntitySet, from type: EntityType? = nil) -> Bool {
        guard let target = navigation.navigation?.targetType, !contained.typeNames.isEmpty,
            contained.target(of: navigation, in: set) == nil, set.containment?.isWalked(by: navigation) != true,
            boundTarget(of: navigation, in: set, from: type) == nil
        else { return true }
        return !contained.typeNames.contains {
            isType($0, derivedFrom: target) || isType(target, derivedFrom: $0)
        }
    }

    /// Returns the set whose entities the referential constraint of a navigation property identifies by their values.
    ///
    /// `nil` if the values do not identify the entity: the key of a contained entity is unique only below its parent,
    /// and the parent is part of its identity, independent of its properties.
    public func principalSet(of navigation: Property, in set: EntitySet, from type: EntityType? = nil) -> EntitySet? {
        if navigation.navigation?.containsTarget == true || set.containment?.isWalked(by: navigation) == true {
            return nil
        }
        guard let target = target(of: navigation, in: set, from: type), !target.isContained else { return nil }
        return target
    }

    /// Returns the navigation property in the reverse direction of the relationship, if the model has one.
    public func partner(of property: Property) -> Property? {
        guard let navigation = property.navigation, let name = navigation.partner else { return nil }
        return structuredTypes[navigation.targetType]?.findProperty(name)
    }
}

/// The protocol version of a service. It determines the wire format.
public enum ODataVersion: String, Sendable, Hashable, CaseIterable {
    /// OData 2.0.
    case v2 = "2.0"
    /// OData 3.0.
    case v3 = "3.0"
    /// OData 4.0.
    case v4 = "4.0"
    /// OData 4.01.
    case v401 = "4.01"

    /// Whether the version is V2 or V3: verbose JSON, `$links`, MERGE. Otherwise it uses the formats of V4.
    public var isLegacy: Bool { self == .v2 || self == .v3 }

    /// Whether a segment of a URL can be a type cast. V2 has no such segments.
    package var hasTypeSegments: Bool { self != .v2 }
}

extension EntityDataModel {
    /// Returns the type and all entity types that derive from it, in the order of their names.
    public func entityTypes(derivedFrom type: EntityType) -> [EntityType] {
        [type]
            + derivedTypes(of: type.name).sorted().compactMap { findEntityType($0) }
            .flatMap { entityTypes(derivedFrom: $0) }
    }
}
