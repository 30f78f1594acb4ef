internal import EDM

/// All declarations to generate, with their Swift names.
///
/// Names are assigned in document order, and a name that is already in use receives a number. Elements that are added
/// at the end of the document therefore do not change existing names.
struct ServicePlan {
    let serviceName: String
    let metadataName: String
    /// The namespace of the document, for comments.
    let namespace: String
    let entities: [Entity]
    let complexTypes: [Complex]
    let enumerations: [Enumeration]
    let definitions: [Definition]
    let sets: [Set]
    let singletons: [Singleton]
    let operations: [Operation]
    let hasOpenEnumerations: Bool

    /// The class of an entity type.
    struct Entity {
        let type: EntityType
        let className: String
        /// `EntityValue`, or the class of the base type.
        let baseClass: String
        /// The members that the type itself declares, with navigation properties last.
        let members: [Member]
        /// The key that the type itself declares. Empty if the key is inherited or cannot be addressed.
        let key: [KeyPart]
    }

    /// The struct of a complex type.
    struct Complex {
        let type: ComplexType
        let name: String
        /// The members: inherited ones first, navigation properties last.
        let members: [Member]
    }

    struct Member {
        let property: Property
        let name: String
        let form: MemberForm
        let isKey: Bool

        enum MemberForm {
            /// The Swift type of a value, and whether the member is not optional.
            case value(String, isRequired: Bool)
            /// The class of the target.
            case toOne(String)
            case toMany(String)
            case stream
            /// Only a property of the metadata.
            case plain
        }
    }

    /// A part of a key, which becomes a parameter.
    struct KeyPart {
        let property: String
        let label: String
        let type: String
    }

    /// A Swift enumeration, or a struct with a constant for each member.
    struct Enumeration {
        let type: EnumerationType
        let name: String
        let form: EnumerationForm
        let members: [(member: EnumerationType.Member, name: String)]

        enum EnumerationForm {
            case closed, open, flags, openFlags
        }
    }

    /// A type alias.
    struct Definition {
        let definition: TypeDefinition
        let name: String
        let underlying: String
    }

    init(model: EntityDataModel, options: ProxyOptions, names chosen: ChosenNames = ChosenNames()) throws(ProxyError) {
        let entityTypes = model.schemas.flatMap(\.entityTypes).filter { model.findEntityType($0.name) === $0 }
        var scope = NameScope(reserved: ReservedNames.types, ignoresCase: true)
        let service = try Self.serviceName(model, options, chosen)
        serviceName = scope.claim(service.name)
        guard !service.isChosen || serviceName == service.name else {
            throw chosen.refusal(ofService: service.name) ?? .invalidName(option: "--service", name: service.name)
        }
        var chosen = chosen
        if options.service == nil { chosen.takeService(serviceName) }
        metadataName = scope.claim(service.name + "Metadata")
        namespace = model.schemas.first?.namespace ?? service.name

        let plain = Self.plainNames(entityTypes, model)
        var names = TypeNames(prefix: options.prefix, chosen: chosen)
        for type in entityTypes { try names.claim(type.name, as: plain[type.name] ?? type.localName, in: &scope) }
        for name in Self.valueTypes(model) {
            try names.claim(name, as: SwiftName.ofType(Self.local(name)), in: &scope)
        }

        let typeNames = names.all.union(ReservedNames.typesInUse).union([serviceName, metadataName])
        let planner = MemberPlanner(
            model: model, options: options, names: names, chosen: chosen, typeNames: typeNames)
        entities = try planner.entities(entityTypes)
        complexTypes = try planner.complexTypes()
        enumerations = planner.enumerations()
        definitions = planner.definitions()
        var calls = ServicePlanner(
            model: model, options: options, names: names, plain: plain, typeNames: typeNames, entities: entities)
        sets = calls.sets()
        singletons = calls.singletons()
        operations = calls.operations()
        hasOpenEnumerations = options.hasOpenEnumerations
    }

    /// Returns the service name from the option, an annotation, or the entity container, in this order of precedence.
    private static func serviceName(
        _ model: EntityDataModel, _ options: ProxyOptions, _ chosen: ChosenNames
    ) throws(ProxyError) -> (name: String, isChosen: Bool) {
        guard options.prefix.isEmpty || SwiftName.isIdentifier(options.prefix) else {
            throw .invalidName(option: "--prefix", name: options.prefix)
        }
        if let given = options.service {
            guard SwiftName.isIdentifier(given) else { throw .invalidName(option: "--service", name: given) }
            return (given, true)
        }
        let containers = model.schemas.flatMap(\.containers)
        // A container that another container extends is part of it.
        let extended = Swift.Set(containers.compactMap(\.extends))
        let own = containers.filter { !extended.contains($0.name) }
        let container = own.first(where: \.isDefault) ?? own.first ?? containers.first
        let qualified = container?.name ?? model.schemas.first?.namespace
        if let qualified, let choice = chosen.services[qualified] { return (choice.name, true) }
        return (options.prefix + SwiftName.ofType(qualified.map(local) ?? "Service"), false)
    }

    /// Returns the class names without prefix and before collisions are resolved. A type with the same name as its
    /// entity set receives the singular, to distinguish one entity from the set.
    private static func plainNames(_ types: [EntityType], _ model: EntityDataModel) -> [String: String] {
        var names: [String: String] = [:]
        let taken = Swift.Set(types.map(\.localName))
        for type in types {
            let sharesName = model.findEntitySet(type.localName).map { !$0.isSingleton && $0.entityType == type }
            // Unless another type has this name already.
            let singular = SwiftName.singular(type.localName)
            let hasSingular = sharesName ?? false && !taken.contains(singular)
            names[type.name] = SwiftName.ofType(hasSingular ? singular : type.localName)
        }
        return names
    }

    /// Returns the complex types, enumeration types and type definitions, in this order; each kind is in document
    /// order.
    private static func valueTypes(_ model: EntityDataModel) -> [String] {
        model.schemas.flatMap(\.complexTypes).filter { model.findComplexType($0.name) === $0 }.map(\.name)
            + model.schemas.flatMap(\.enumerationTypes).map(\.name)
            + model.schemas.flatMap(\.typeDefinitions).filter { SwiftText.type($0.underlyingType) != nil }.map(\.name)
    }

    /// Returns the name without its namespace.
    static func local(_ name: String) -> String { String(name.split(separator: ".").last ?? "") }
}
