package import EDM
import ODataQuery
package import ODataWire
package import Operations

/// Converts payloads of the service to images with entity IDs: the ID that the key always had, or a new one.
///
/// An unconfirmed local entity is recognized by its key if the app assigned one, so that a create without a response
/// does not lead to two entities.
package struct ImageBuilder {
    let storage: WorkingSet
    let model: EntityDataModel
    /// Whether entities without a known identity are skipped below a navigation property that leads to keyless
    /// entities.
    let identifying: Bool
    private var keyless: KeylessEntities
    let links: EntityLinks
    private var next: EntityID
    private let firstNew: EntityID
    /// New or changed stream metadata. They are stored after the images were folded.
    package internal(set) var streams: [StreamImage] = []
    /// Entities that received their ID or key from this builder, before any record with them is folded.
    var assigned = AssignedKeys()
    var lookup: EntityLookup
    /// The containers that the request path determines, by set.
    var places: [String: EntityID] = [:]
    /// Whether the service names all stored entities in its own way, by set.
    var named: [String: Bool] = [:]
    /// The stored contained entities by container and key.
    var children: [LinkEnd: [ExactText: EntityID]] = [:]
    /// Entities that could not be applied, without a query yet.
    package internal(set) var quarantined: [QuarantinedEntity] = []
    /// The stored entities of those below others. The store keeps its version of them.
    var kept: [EntityID] = []
    /// The requested expansions; nil outside of downloads.
    var asked: RequestedExpansions?
    /// Whether each entity contains all requested expansions. False for deltas.
    var tellsAll = false
    /// Expanded navigation properties that a response omitted, as `Set/Property`.
    package internal(set) var omittedExpansions: Set<String> = []
    /// The location of each entity that received its ID from this builder, in the order of the IDs.
    private var homes: [Home] = []
    /// The locations of other entities that count as new. There are none unless the log contains the highest ID, after
    /// which ``StateHeader/nextEntity`` is 0.
    private var otherHomes: [EntityID: Home] = [:]
    /// Expanded navigation properties that lead to no known entity set, or out of the set that they are bound to.
    package internal(set) var skipped: Set<String> = []

    package init(storage: WorkingSet, model: EntityDataModel, identifying: Bool = false) throws(StateError) {
        self.identifying = identifying
        self.storage = storage
        self.model = model
        let header = try storage.header()
        keyless = KeylessEntities(storage, model)
        lookup = EntityLookup(storage, model)
        links = EntityLinks(model: model, serviceRoot: header.service?.root ?? "")
        next = header.nextEntity
        firstNew = header.nextEntity
    }

    /// Returns whether this builder assigned the ID, so that the storage does not have the entity.
    func isNew(_ id: EntityID) -> Bool { id >= firstNew }

    /// The set of an entity, and its container.
    private struct Home {
        var set: String
        var container: EntityID?
    }

    private func home(of id: EntityID) -> Home? {
        let index = Int(clamping: id.rawValue &- firstNew.rawValue)
        return homes.indices.contains(index) ? homes[index] : otherHomes[id]
    }

    /// Stores the location of an entity that counts as new.
    private mutating func setHome(of id: EntityID, _ home: Home) {
        let index = Int(clamping: id.rawValue &- firstNew.rawValue)
        if index == homes.count {
            homes.append(home)
        } else if homes.indices.contains(index) {
            homes[index] = home
        } else {
            otherHomes[id] = home
        }
    }

    /// Returns whether the entity belongs to the set.
    func isOne(_ id: EntityID, of set: EntitySet) throws(StateError) -> Bool {
        if isNew(id) { return home(of: id)?.set == set.name }
        return try storage.set(of: id) == set.name
    }

    /// Returns whether the entity is contained in `container`.
    func isContained(_ id: EntityID, in set: EntitySet, by container: EntityID) throws(StateError) -> Bool {
        if isNew(id) { return home(of: id)?.container == container }
        return try storage.container(of: id, in: set) == container
    }

    /// The ID of the next new entity.
    var nextNew: EntityID { next }

    /// Returns the images of an entity and of all expanded entities below it, parents first. Nil if it has no key.
    ///
    /// - Parameter known: The entity's ID, if the request determines it.
    package mutating func images(
        of payload: EntityPayload, in set: EntitySet, known: EntityID? = nil
    ) throws(StateError) -> [EntityImage]? {
        var images: [EntityImage] = []
        return try add(payload, in: set, known: known, to: &images) == nil ? nil : images
    }

    /// Appends the images of an entity and of all expanded entities below it.
    ///
    /// - Parameters:
    ///   - itemKey: The key, if it was looked up.
    ///   - parent: The parent of the entity in the payload, if there is one.
    ///   - branches: The requested expansions below it.
    /// - Returns: The entity's ID. Nil if it has no key; then nothing is appended.
    mutating func add(
        _ given: EntityPayload, in set: EntitySet, known: EntityID? = nil, itemKey: EntityLookup.Key? = nil,
        below parent: EntityID? = nil, expanding branches: [RequestedExpansions.Branch] = [],
        to images: inout [EntityImage]
    ) throws(StateError) -> EntityID? {
        let knownType = try type(ofKnown: known)
        let named = given.type.flatMap { model.findEntityType($0, in: set) }
        let type = named ?? knownType.flatMap(model.findEntityType) ?? set.entityType
        let typeName = named?.name ?? knownType ?? set.entityType.name
        // Most payloads contain their key and are not copied.
        if let keyed = links.keyed(given, type, set) {
            return try add(keyed, given: given, type, typeName, set, known, itemKey, parent, branches, &images)
        }
        return try add(given, given: given, type, typeName, set, known, itemKey, parent, branches, &images)
    }

    /// Appends the images of an entity.
    ///
    /// - Parameters:
    ///   - payload: The payload with the key from its links.
    ///   - given: The payload of the service.
    private mutating func add(
        _ payload: EntityPayload, given: EntityPayload, _ type: EntityType, _ typeName: String, _ set: EntitySet,
        _ known: EntityID?, _ itemKey: EntityLookup.Key?, _ parent: EntityID?,
        _ branches: [RequestedExpansions.Branch], _ images: inout [EntityImage]
    ) throws(StateError) -> EntityID? {
        let container = try container(of: payload, in: set, known: known, below: parent)
        let key = itemKey?.text ?? keyText(payload.values, type, set, in: container)
        let name = links.name(payload, type, set)
        let found: EntityID? =
            if let known { known } else { try identify(payload, type, set, name, key, itemKey, in: container) }
        guard let id = found else {
            let isPlaced = !set.isContained || container != nil
            quarantined.append(
                QuarantinedEntity(keyless: given, type, set, isPlaced: isPlaced, version: model.version))
            return nil
        }
        let typeName = try lookup.typeName(typeName, of: id, in: given, type)
        if isNew(id) { setHome(of: id, Home(set: set.name, container: container)) }
        if let key { assigned[set.name, key] = id }
        if let name { assigned[EntityNames<WorkingSet>.namesSet, name] = id }
        if type.hasStream || !payload.namedStreams.isEmpty {
            let known = isNew(id) ? [] : try storage.bookkeeping.streams(of: id)
            streams += StreamMetadata(links: links).changes(of: payload, id, type, set, known: known)
        }
        let editLink = links.editLink(payload, type, set)
        // An image has one name. The one for requests is appended last.
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
            let links = try add(expanded, of: id, set, type, expanding: branches, to: &images)
            guard let links else { continue }
            images[place].links.append(links)
            for name in try dependents(endedBy: links, of: id, type, payload) { images[place].values[name] = .null }
        }
        if tellsAll { try keepOmittedExpansions(branches, payload, id, type, set) }
        return id
    }

    /// Appends the images of expanded entities. Returns the links to them, or nil if the set of the entities is unknown.
    private mutating func add(
        _ expanded: EntityPayload.Expanded, of id: EntityID, _ set: EntitySet, _ type: EntityType,
        expanding branches: [RequestedExpansions.Branch], to images: inout [EntityImage]
    ) throws(StateError) -> EntityImage.ImageLinks? {
        guard let property = type.findProperty(expanded.navigation), property.isNavigation,
            let home = home(of: expanded, property, set, type)
        else {
            skipped.insert("\(set.name)/\(expanded.navigation)")
            return nil
        }
        let branch = branches.first { $0.navigation == property.name }
        let targets = try add(
            home.entities, below: id, property, in: home.set, expanding: branch?.below ?? [], to: &images)
        let parent = home.set.isContained(by: property) ? id : nil
        for found in expanded.unreadable {
            guard let id = try addToQuarantine(found, in: home.set, below: parent) else { continue }
            try retain(id, branch?.below ?? [])
        }
        if !home.isWhole { skipped.insert("\(set.name)/\(expanded.navigation)") }
        var isComplete =
            expanded.nextLink == nil && expanded.unreadable.isEmpty && targets.count == expanded.entities.count
        if isComplete, branch?.isRestricted == true, let asked {
            isComplete = try !asked.isWholeElsewhere(property.name, of: id, in: storage)
        }
        return EntityImage.ImageLinks(navigation: property.name, targets: targets, isComplete: isComplete)
    }

    /// Returns the set of expanded entities, and those of them that belong to it. A link leads into the set that the
    /// property is bound to and into no other (CSDL 4.01, section 13.4). Nil if the set is unknown.
    ///
    /// A property without a binding may lead into several sets of its type; then the entity-ids determine the set.
    /// Contained entities belong to their parent, even if the service names them by another path.
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

    /// Returns whether an entity that a delta contains below a navigation property belongs to the property's target
    /// set.
    func isInside(_ entity: EntityPayload, _ target: EntitySet, _ property: Property, isCertain: Bool) -> Bool {
        if target.isContained(by: property) { return true }
        guard let named = entity.id.flatMap({ links.set(in: $0, expected: target) }) else { return isCertain }
        return named == target
    }

    /// Appends the targets of a navigation property.
    private mutating func add(
        _ expanded: EntityPayload.Expanded, below id: EntityID, _ property: Property, in target: EntitySet,
        expanding branches: [RequestedExpansions.Branch], to images: inout [EntityImage]
    ) throws(StateError) -> [EntityID] {
        var targets: [EntityID] = []
        let matched = try matchKeyless(expanded, below: id, property, in: target)
        for (index, entity) in expanded.entities.enumerated() {
            let found = matched[index]
            if identifying, found == nil, try !isKnown(entity, target, below: id),
                try keyless.hasKeyless(below: id, property)
            {
                continue
            }
            let parent = target.isContained(by: property) ? id : nil
            let id = try add(
                entity, in: target, known: found, below: parent, expanding: branches, to: &images)
            if let id { targets.append(id) }
        }
        return targets
    }

    private mutating func matchKeyless(
        _ expanded: EntityPayload.Expanded, below owner: EntityID, _ property: Property, in set: EntitySet
    ) throws(StateError) -> [Int: EntityID] {
        let ids = try keyless.candidates(below: owner, property, in: set)
        guard !ids.isEmpty else { return [:] }
        var unknown: [Int] = []
        for (index, entity) in expanded.entities.enumerated() where try !isKnown(entity, set, below: owner) {
            unknown.append(index)
        }
        return try keyless.match(ids, with: expanded, unknown: unknown, below: owner, property)
    }

    /// Returns the stored type, which a payload without a type does not change.
    private func type(ofKnown id: EntityID?) throws(StateError) -> String? {
        guard let id else { return nil }
        return try storage.row(id)?.type
    }

    private mutating func identify(
        _ payload: EntityPayload, _ type: EntityType, _ set: EntitySet, _ name: String?, _ keyText: String?,
        _ itemKey: EntityLookup.Key?, in container: EntityID?
    ) throws(StateError) -> EntityID? {
        // The container is part of the identity.
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
        let former = if let itemKey { itemKey.owner } else { try storage.entity(set: set.name, key: key) }
        let plain = set.isContained ? KeyText.of(payload.values, type: type) ?? "" : key
        if let former, try !links.namesOtherwise(former, name, in: storage) {
            // An unchanged entity has the same key, whose text need not be created.
            if lookup.hasBase(former, type.name, payload.values) { return former }
            if try hasKey(former, plain) { return former }
        }
        if let container {
            let contained = try containedRow(set, key: plain, in: container)
            if let contained, try !links.namesOtherwise(contained, name, in: storage) { return contained }
            if let former, try isUnlinked(former) { return former }
            defer { next = EntityID(rawValue: next.rawValue &+ 1) }
            return next
        }
        if set.isSingleton, let id = try storage.rows(set: set.name).first { return id }
        for id in try lookup.rows(set, type, payload.values, isOfItem: itemKey != nil)
        where try !links.namesOtherwise(id, name, in: storage) {
            return id
        }
        // An entity that left and returns is the same. One that exists under another key is not: its key belongs to
        // another entity now.
        if let former, try isUnlinked(former) { return former }
        if let id = try keyless.match(payload, type, set) { return id }
        defer { next = EntityID(rawValue: next.rawValue &+ 1) }
        // A singleton's key is not among its values.
        if set.isSingleton { assigned[set.name, key] = next }
        return next
    }

    /// Returns whether the key is the entity's key in the base state.
    private func hasKey(_ id: EntityID, _ key: String) throws(StateError) -> Bool {
        guard let row = try lookup.serviceRow(id) else { return false }
        if let set = model.findEntitySet(row.set), set.isSingleton || set.isContainedSingle { return true }
        return model.findEntityType(row.type).flatMap { KeyText.of(row.values, type: $0) } == key
    }

    private func isUnlinked(_ id: EntityID) throws(StateError) -> Bool {
        try EntityResolver(storage: storage, model: model).anyRow(id) == nil
    }

    /// Returns whether the key leads to an existing entity that still has this key.
    ///
    /// - Parameter owner: The parent of the entity in the payload.
    func isKnown(
        _ payload: EntityPayload, _ set: EntitySet, below owner: EntityID
    ) throws(StateError) -> Bool {
        guard let plain = KeyText.of(payload.values, type: set.entityType),
            let key = keyText(payload.values, set.entityType, set, in: set.isContained ? owner : nil)
        else { return false }
        if assigned[set.name, key] != nil { return true }
        guard let id = try storage.entity(set: set.name, key: key) else { return false }
        return try hasKey(id, plain)
    }

    /// Returns the text of the key map. For a contained entity, this is the key below its container.
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
    /// Returns the entity that a delta identifies by entity-id or key, or nil if it is unknown.
    ///
    /// - Parameter parent: The parent of the entity in the delta, if there is one.
    func find(
        _ payload: EntityPayload, in set: EntitySet, below parent: EntityID? = nil
    ) throws(StateError) -> EntityID? {
        let type = model.entityType(of: payload, in: set)
        let payload = links.keyed(payload, type, set) ?? payload
        if let name = links.name(payload, type, set), let id = try entity(named: name, set) {
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
        if let id = try storage.entity(set: set.name, key: key), try hasKey(id, key) { return id }
        return try lookup.rows(set, type, payload.values).first
    }
}
