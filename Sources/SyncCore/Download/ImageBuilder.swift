public import EDM
public import ODataWire
public import Operations

/// Gives what a service sent its entity IDs: the ID that the key always had, or a new one.
///
/// An entity that was created here and is not confirmed is recognised by its key where the app gave it one, so that a
/// create whose answer was lost does not become two entities.
public struct ImageBuilder<Storage: StateReader> {
    let storage: Storage
    let model: EntityDataModel
    /// Whether only what is known, or can be told to be, is taken from below a navigation property that leads to entities
    /// without a key.
    let identifying: Bool
    /// Entities that the service created without telling their keys, by owner and relationship, as far as they were looked
    /// for and not found yet.
    var keyless: [LinkEnd: [EntityID]] = [:]
    /// By set: whether the service may have such entities in it.
    var keylessSets: [String: Bool] = [:]
    let links: EntityLinks
    private var next: EntityID
    private let firstNew: EntityID
    /// What the service says of streams that it did not say before; to be kept once the images are folded.
    public internal(set) var streams: [StreamImage] = []
    /// Entities that got their ID from this builder, before any record with them is folded.
    var assigned = AssignedKeys()
    /// What the storage says of entities that were asked for together; see ``learn(_:in:)``.
    var learned = LearnedEntities()
    /// The entities that contain those of a set that come by themselves, as the path of what is read says it.
    var places: [String: EntityID] = [:]
    /// By the entity that contains them: the contained entities that are in the store, by their keys.
    var children: [LinkEnd: [ExactText: EntityID]] = [:]
    /// Entities that could not be taken, for no query yet.
    public internal(set) var quarantined: [QuarantinedEntity] = []
    /// Those of them below others that the store has: what it has of them stays.
    var kept: [EntityID] = []
    /// What the answer was asked to expand; nil outside of downloads.
    var asked: AskedExpansions?
    /// Whether each entity is to come with all that was asked for below it, as in everything but deltas.
    var tellsAll = false
    /// Expanded navigation properties, as `Set/Property`, that an answer was silent about.
    public internal(set) var untold: Set<String> = []
    /// Where the entities are that got their ID from this builder.
    private var homes: [EntityID: Home] = [:]
    /// Expanded navigation properties that lead to no known entity set, or out of the set that they are bound to.
    public internal(set) var skipped: Set<String> = []

    public init(storage: Storage, model: EntityDataModel, identifying: Bool = false) throws(StateError) {
        self.identifying = identifying
        self.storage = storage
        self.model = model
        let header = try storage.header()
        links = EntityLinks(model: model, serviceRoot: header.service?.root ?? "")
        next = header.nextEntity
        firstNew = header.nextEntity
    }

    /// Whether the ID is one that this builder gave: the storage knows nothing of the entity.
    func isNew(_ id: EntityID) -> Bool { id >= firstNew }

    /// The set of an entity, and the entity that contains it.
    private struct Home {
        var set: String
        var container: EntityID?
    }

    /// Whether the entity is one of the set.
    func isOne(_ id: EntityID, of set: EntitySet) throws(StateError) -> Bool {
        if isNew(id) { return homes[id]?.set == set.name }
        return try storage.set(of: id) == set.name
    }

    /// Whether the entity is one that `container` contains.
    func isContained(_ id: EntityID, in set: EntitySet, by container: EntityID) throws(StateError) -> Bool {
        if isNew(id) { return homes[id]?.container == container }
        return try storage.container(of: id, in: set) == container
    }

    /// The ID that the next entity gets that nothing is known of.
    var nextNew: EntityID { next }

    /// The images of an entity and of all that came expanded below it, parents first. Nil where it has no key.
    ///
    /// - Parameter known: the entity's ID, where the request tells it.
    public mutating func images(
        of payload: EntityPayload, in set: EntitySet, known: EntityID? = nil
    ) throws(StateError) -> [EntityImage]? {
        var images: [EntityImage] = []
        return try add(payload, in: set, known: known, to: &images) == nil ? nil : images
    }

    /// Puts the images behind others.
    ///
    /// - Parameters:
    ///   - parent: the entity that contains it, where it came below that one.
    ///   - branches: what the request asked for below it.
    /// - Returns: the entity's ID; nil, and nothing is put there, where it has no key.
    mutating func add(
        _ given: EntityPayload, in set: EntitySet, known: EntityID? = nil, below parent: EntityID? = nil,
        expanding branches: [AskedExpansions.Branch] = [], to images: inout [EntityImage]
    ) throws(StateError) -> EntityID? {
        let knownType = try type(ofKnown: known)
        let named = given.type.flatMap(model.findEntityType)
        let type = named ?? knownType.flatMap(model.findEntityType) ?? set.entityType
        let payload = withKey(given, type, set)
        let container = try container(of: payload, in: set, known: known, below: parent)
        let key = keyText(payload.values, type, set, in: container)
        let name = name(payload, type, set)
        let found =
            if let known { Optional(known) } else { try identify(payload, type, set, name, key, in: container) }
        guard let id = found else {
            setAside(keyless: given, type, set, isPlaced: !set.isContained || container != nil)
            return nil
        }
        if isNew(id) { homes[id] = Home(set: set.name, container: container) }
        if let key { assigned[set.name, key] = id }
        if let name { assigned[EntityNames<Storage>.namesSet, name] = id }
        try noteStreams(of: payload, id, type, set)
        let editLink = editLink(payload, type, set)
        let typeName = named?.name ?? knownType ?? set.entityType.name
        // An image has room for one name; the one for requests comes last.
        if let name, let editLink, editLink != name {
            images.append(
                EntityImage(entity: id, set: set.name, type: typeName, values: [:], etag: nil, editLink: name))
        }
        let place = images.count
        images.append(
            EntityImage(
                entity: id, set: set.name, type: typeName, values: payload.values, etag: payload.etag,
                editLink: editLink ?? name))
        for expanded in payload.expanded {
            guard let property = type.findProperty(expanded.navigation), property.isNavigation,
                let home = home(of: expanded, property, set, type)
            else {
                skipped.insert("\(set.name)/\(expanded.navigation)")
                continue
            }
            let branch = branches.first { $0.navigation == property.name }
            let targets = try add(
                home.entities, below: id, property, in: home.set, expanding: branch?.below ?? [], to: &images)
            let parent = home.set.isContained(by: property) ? id : nil
            for found in expanded.unreadable {
                guard let id = try setAside(found, in: home.set, below: parent) else { continue }
                try keep(id, branch?.below ?? [])
            }
            if !home.isWhole { skipped.insert("\(set.name)/\(expanded.navigation)") }
            var isComplete =
                expanded.nextLink == nil && expanded.unreadable.isEmpty && targets.count == expanded.entities.count
            if isComplete, branch?.isRestricted == true, let asked {
                isComplete = try !asked.isWholeElsewhere(property.name, of: id, in: storage)
            }
            images[place].links.append(
                EntityImage.ImageLinks(navigation: property.name, targets: targets, isComplete: isComplete))
        }
        if tellsAll { try keepUntold(branches, payload, id, type, set) }
        return id
    }

    /// The set that expanded entities are in, and those of them that are: a link leads into the set that the property is
    /// bound to and into no other (CSDL 4.01, section 13.4). Nil if the set is not known.
    ///
    /// A property without a binding may lead into several sets of its type; then the entity-ids tell which. What is contained
    /// is where it stands, also if the service names it by another path.
    private func home(
        of expanded: EntityPayload.Expanded, _ property: Property, _ set: EntitySet, _ type: EntityType
    ) -> (set: EntitySet, entities: EntityPayload.Expanded, isWhole: Bool)? {
        let bound = model.target(of: property, in: set, from: type)
        if let bound, bound.isContained(by: property) { return (bound, expanded, true) }
        let isCertain = bound != nil && model.isCertainTarget(of: property, in: set, from: type)
        if isCertain, let bound, !expanded.entities.contains(where: { $0.id != nil }) { return (bound, expanded, true) }
        let named = expanded.entities.map { entity in entity.id.flatMap { links.set(in: $0, expected: bound) } }
        guard let target = bound ?? named.lazy.compactMap({ $0 }).first else { return nil }
        var inside = expanded
        inside.entities = zip(expanded.entities, named).filter { isCertain ? $1 ?? target == target : $1 == target }
            .map(\.0)
        return (target, inside, inside.entities.count == expanded.entities.count)
    }

    /// Whether an entity that a delta shows below a navigation property is in the set that the property leads to.
    func isInside(_ entity: EntityPayload, _ target: EntitySet, _ property: Property, isCertain: Bool) -> Bool {
        if target.isContained(by: property) { return true }
        guard let named = entity.id.flatMap({ links.set(in: $0, expected: target) }) else { return isCertain }
        return named == target
    }

    /// The entities that the navigation property leads to.
    private mutating func add(
        _ expanded: EntityPayload.Expanded, below id: EntityID, _ property: Property, in target: EntitySet,
        expanding branches: [AskedExpansions.Branch], to images: inout [EntityImage]
    ) throws(StateError) -> [EntityID] {
        var targets: [EntityID] = []
        let keyless = try takeKeyless(like: expanded, below: id, property, in: target)
        for (index, entity) in expanded.entities.enumerated() {
            let found = keyless[index]
            if identifying, found == nil, try !isKnown(entity, target, below: id), try hasKeyless(below: id, property) {
                continue
            }
            let parent = target.isContained(by: property) ? id : nil
            let id = try add(
                entity, in: target, known: found, below: parent, expanding: branches, to: &images)
            if let id { targets.append(id) }
        }
        return targets
    }

    /// A payload that does not name its type does not take the one away that an entity has.
    private func type(ofKnown id: EntityID?) throws(StateError) -> String? {
        guard let id else { return nil }
        return try storage.row(id)?.type
    }

    private mutating func identify(
        _ payload: EntityPayload, _ type: EntityType, _ set: EntitySet, _ name: String?, _ keyText: String?,
        in container: EntityID?
    ) throws(StateError) -> EntityID? {
        // Where it is contained is part of what it is.
        if set.isContained, container == nil { return nil }
        if let name, let id = try entity(named: name, set) {
            guard let container else { return id }
            if try isContained(id, in: set, by: container) { return id }
        }
        let key: String
        if set.isSingleton {
            key = ""
        } else if let keyText {
            key = keyText
        } else {
            return nil
        }
        if let id = assigned[set.name, key] { return id }
        let former = try entity(set, key: key)
        let plain = set.isContained ? KeyText.of(payload.values, type: type) ?? "" : key
        if let former, try hasKey(former, plain), try !isNamedOtherwise(former, name) { return former }
        if let container {
            if let id = try containedRow(set, key: plain, in: container), try !isNamedOtherwise(id, name) { return id }
            if let former, try isNowhere(former) { return former }
            defer { next = EntityID(rawValue: next.rawValue &+ 1) }
            return next
        }
        if set.isSingleton, let id = try storage.rows(set: set.name).first { return id }
        for id in try rows(set, key: key, type, payload.values) where try !isNamedOtherwise(id, name) { return id }
        // Who left and comes again is the same. Who is there under another key is not: his key is somebody else's now.
        if let former, try isNowhere(former) { return former }
        if let id = try takeKeyless(like: payload, type, set) { return id }
        defer { next = EntityID(rawValue: next.rawValue &+ 1) }
        // A singleton's key is not among its values.
        if set.isSingleton { assigned[set.name, key] = next }
        return next
    }

    /// Whether it is the key that the service last said of the entity.
    private func hasKey(_ id: EntityID, _ key: String) throws(StateError) -> Bool {
        guard let row = try serviceRow(id) else { return false }
        if let set = model.findEntitySet(row.set), set.isSingleton || set.isContainedSingle { return true }
        return model.findEntityType(row.type).flatMap { KeyText.of(row.values, type: $0) } == key
    }

    private func isNowhere(_ id: EntityID) throws(StateError) -> Bool {
        try EntityResolver(storage: storage, model: model).anyRow(id) == nil
    }

    /// Whether the key leads to an entity that is there, and is still its key.
    ///
    /// - Parameter owner: the entity that it came below.
    func isKnown(
        _ payload: EntityPayload, _ set: EntitySet, below owner: EntityID
    ) throws(StateError) -> Bool {
        guard let plain = KeyText.of(payload.values, type: set.entityType),
            let key = keyText(payload.values, set.entityType, set, in: set.isContained ? owner : nil)
        else { return false }
        if assigned[set.name, key] != nil { return true }
        guard let id = try entity(set, key: key) else { return false }
        return try hasKey(id, plain)
    }

    /// The text of the key map: of a contained entity, the key below the one that contains it.
    func keyText(
        _ values: PropertyValues, _ type: EntityType, _ set: EntitySet, in container: EntityID?
    ) -> String? {
        let key = KeyText.of(values, type: type)
        guard set.isContained else { return key }
        guard let container, key != nil || set.isContainedSingle else { return nil }
        return ContainedKey.text(container, set.isContainedSingle ? nil : key)
    }
}

extension ImageBuilder {
    /// The entity that a delta names, by its entity-id or its key; nil where it is not known.
    ///
    /// - Parameter parent: the entity that contains it, where the delta names it below that one.
    func find(
        _ payload: EntityPayload, in set: EntitySet, below parent: EntityID? = nil
    ) throws(StateError) -> EntityID? {
        let type = payload.type.flatMap(model.findEntityType) ?? set.entityType
        let payload = withKey(payload, type, set)
        if let name = name(payload, type, set), let id = try entity(named: name, set) {
            guard set.isContained, let parent else { return id }
            if try isContained(id, in: set, by: parent) { return id }
        }
        if set.isSingleton { return try storage.rows(set: set.name).first }
        if set.isContained {
            let container = try container(of: payload, in: set, known: nil, below: parent)
            guard let container, let key = keyText(payload.values, type, set, in: container) else { return nil }
            if let id = assigned[set.name, key] { return id }
            let predicate = set.isContainedSingle ? nil : KeyPredicate(of: type, in: payload.values)
            return isNew(container) ? nil : try storage.entity(of: set, key: predicate, in: container)
        }
        guard let key = KeyText.of(payload.values, type: type) else { return nil }
        if let id = assigned[set.name, key] { return id }
        if let id = try entity(set, key: key), try hasKey(id, key) { return id }
        return try rows(set, key: key, type, payload.values).first
    }
}
