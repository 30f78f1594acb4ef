internal import EDM

/// Everything that is generated, with its Swift names. Names are given in the order of the document, and a name that is
/// taken gets a number, so they stay as they are when something is added at the end.
struct ServicePlan {
    /// A class of an entity type.
    struct Entity {
        let type: EntityType
        let className: String
        /// `EntityValue`, or the class of the base type.
        let baseClass: String
        /// What the type itself declares, navigation properties last.
        let members: [Member]
    }

    struct Member {
        let property: Property
        let name: String
    }

    /// An entity set with the names of its three functions.
    struct Set {
        let name: String
        let className: String
        let list: String
        let fetchList: String
        let fetchOne: String
    }

    let serviceName: String
    let metadataName: String
    /// What the document calls itself, for comments.
    let namespace: String
    let entities: [Entity]
    let sets: [Set]

    init(model: EntityDataModel, options: ProxyOptions, names: ChosenNames = ChosenNames()) throws(ProxyError) {
        let types = model.schemas.flatMap(\.entityTypes).filter { model.findEntityType($0.name) === $0 }
        var scope = NameScope(reserved: ReservedNames.types, ignoresCase: true)
        let service = try Self.serviceName(model, options, names)
        serviceName = scope.claim(service.name)
        guard !service.isChosen || serviceName == service.name else {
            throw names.refusal(ofService: service.name) ?? .invalidName(option: "--service", name: service.name)
        }
        metadataName = scope.claim(service.name + "Metadata")
        namespace = model.schemas.first?.namespace ?? service.name
        let plain = Self.plainNames(types, model)
        var classes: [String: String] = [:]
        for type in types {
            classes[type.name] = try names.claimClass(
                of: type.name, otherwise: options.prefix + (plain[type.name] ?? type.localName), in: &scope)
        }
        entities = try Self.entities(types, classes, model, names)
        sets = Self.sets(model, classes, plain)
    }

    /// The name that the option gives, or an annotation, or else the container.
    private static func serviceName(
        _ model: EntityDataModel, _ options: ProxyOptions, _ names: ChosenNames
    ) throws(ProxyError) -> (name: String, isChosen: Bool) {
        guard options.prefix.isEmpty || SwiftName.isIdentifier(options.prefix) else {
            throw .invalidName(option: "--prefix", name: options.prefix)
        }
        if let given = options.service {
            guard SwiftName.isIdentifier(given) else { throw .invalidName(option: "--service", name: given) }
            return (given, true)
        }
        let qualified = model.schemas.lazy.flatMap(\.containers).first?.name ?? model.schemas.first?.namespace
        if let qualified, let choice = names.services[qualified] { return (choice.name, true) }
        let local = (qualified ?? "").split(separator: ".").last.map(String.init) ?? "Service"
        return (options.prefix + SwiftName.ofType(local), false)
    }

    /// The class names before prefix and collisions. A type that is called like the set it fills gets the singular, since
    /// one entity and all of them have to be told apart.
    private static func plainNames(_ types: [EntityType], _ model: EntityDataModel) -> [String: String] {
        var names: [String: String] = [:]
        for type in types {
            let sharesName = model.findEntitySet(type.localName).map { !$0.isSingleton && $0.entityType == type }
            let name = sharesName ?? false ? SwiftName.singular(type.localName) : type.localName
            names[type.name] = SwiftName.ofType(name)
        }
        return names
    }

    // MARK: Entities

    private static func entities(
        _ types: [EntityType], _ classes: [String: String], _ model: EntityDataModel, _ names: ChosenNames
    ) throws(ProxyError) -> [Entity] {
        let classNames = Swift.Set(classes.values)
        var scopes: [String: NameScope] = [:]
        var members: [String: [Member]] = [:]
        for type in types where members[type.name] == nil {
            var scope = NameScope(reserved: ReservedNames.entityMembers, alsoTaken: classNames)
            // A derived class must not declare again what its base class has, so base classes choose their names first.
            for next in model.baseTypes(of: type).reversed() + [type] {
                if let known = scopes[next.name] {
                    scope = known
                    continue
                }
                var own: [Member] = []
                for property in next.properties + next.navigationProperties
                where property.declaringType == next.name {
                    let name = try names.claimMember(
                        property.name, of: next.name, otherwise: SwiftName.ofMember(property.name), in: &scope)
                    own.append(Member(property: property, name: name))
                }
                members[next.name] = own
                scopes[next.name] = scope
            }
        }
        return types.map { type in
            Entity(
                type: type, className: classes[type.name] ?? type.localName,
                baseClass: type.baseType.flatMap { classes[$0] } ?? "EntityValue", members: members[type.name] ?? [])
        }
    }

    // MARK: Sets

    private static func sets(
        _ model: EntityDataModel, _ classes: [String: String], _ plain: [String: String]
    ) -> [Set] {
        let sets = model.entitySets.filter { classes[$0.entityType.name] != nil && model.findEntitySet($0.name) === $0 }
        let setsOfType = Dictionary(grouping: sets, by: \.entityType.name)
        var scope = NameScope(reserved: ReservedNames.serviceMembers)
        let lists = sets.map { set in
            (scope.claim(SwiftName.ofMember(set.name)), scope.claim("fetch" + SwiftName.ofType(set.name)))
        }
        return zip(sets, lists).map { set, list in
            let all = SwiftName.ofType(set.name)
            let ofType = setsOfType[set.entityType.name]?.count == 1 ? plain[set.entityType.name] : nil
            let one = ofType ?? SwiftName.singular(all)
            return Set(
                name: set.name, className: classes[set.entityType.name] ?? "EntityValue", list: list.0,
                fetchList: list.1, fetchOne: scope.claim(one == all ? "fetchFirst" + all : "fetch" + one))
        }
    }
}
