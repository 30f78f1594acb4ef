import EDM
import ODataWire
import Operations

/// One end of links: an entity, and the relationship that leads from it.
struct LinkEnd: Hashable {
    let entity: EntityID
    let relationship: Relationship
}

/// Entities that the service created inside of others, by a deep insert, and whose keys its answer did not tell: they are
/// recognised where they come below their owner, or name it by a constraint.
extension ImageBuilder {
    /// Those below the owner that the service's entities are, by their places among these. A single-valued property has no
    /// other; in a collection it is the one whose values tell.
    mutating func takeKeyless(
        like expanded: EntityPayload.Expanded, below owner: EntityID, _ property: Property, in set: EntitySet
    ) throws(StateError) -> [Int: EntityID] {
        guard let relationship = property.navigation?.relationship else { return [:] }
        guard try mayHaveKeyless(set) else { return [:] }
        let end = LinkEnd(entity: owner, relationship: relationship)
        let ids = try keyless(at: end)
        guard !ids.isEmpty else { return [:] }
        var unknown: [Int] = []
        for (index, entity) in expanded.entities.enumerated() where try !isKnown(entity, set, below: owner) {
            unknown.append(index)
        }
        guard property.isCollection else {
            guard let index = unknown.first else { return [:] }
            keyless[end] = Array(ids.dropFirst())
            return [index: ids[0]]
        }
        // Of a part of them nothing can be told by elimination.
        guard expanded.nextLink == nil else { return [:] }
        var sent: [PropertyValues] = []
        var links: [Set<LinkRow>] = []
        for id in ids {
            sent.append(try sentValues(of: id))
            links.append(try ownLinks(of: id))
        }
        let pairs = ChildMatching.byValues(sent, unknown.map { expanded.entities[$0].values }) {
            sent[$0] == sent[$1] && links[$0] == links[$1]
        }
        let found = Set(pairs.map { ids[$0.sent] })
        keyless[end]?.removeAll { found.contains($0) }
        return Dictionary(uniqueKeysWithValues: pairs.map { (unknown[$0.answered], ids[$0.sent]) })
    }

    /// By the owner that dependent properties name.
    mutating func takeKeyless(
        like payload: EntityPayload, _ type: EntityType, _ set: EntitySet
    ) throws(StateError) -> EntityID? {
        guard try mayHaveKeyless(set) else { return nil }
        for property in type.navigationProperties {
            guard let end = property.navigation, !end.constraints.isEmpty,
                let target = model.principalSet(of: property, in: set, from: type)
            else { continue }
            let key = PropertyValues(end.constraints.map { ($0.principal, payload.values[$0.dependent] ?? .null) })
            guard let text = KeyText.of(key, type: target.entityType),
                let owner = try storage.entity(set: target.name, key: text)
            else { continue }
            let back = Relationship(name: end.relationship.name, isForward: !end.relationship.isForward)
            let found = try takeKeyless(
                like: payload, LinkEnd(entity: owner, relationship: back), isOnly: end.sourceMultiplicity != .many)
            if let found { return found }
        }
        return nil
    }

    /// Whether it is worth looking: an owner may have a million entities below it, and to look is to read them all.
    private mutating func mayHaveKeyless(_ set: EntitySet) throws(StateError) -> Bool {
        if let known = keylessSets[set.name] { return known }
        let found = try storage.mayHaveKeyless(set: set.name)
        keylessSets[set.name] = found
        return found
    }

    mutating func hasKeyless(below owner: EntityID, _ property: Property) throws(StateError) -> Bool {
        guard let end = property.navigation else { return false }
        return try !keyless(at: LinkEnd(entity: owner, relationship: end.relationship)).isEmpty
    }

    /// The one that says most of what the service's entity is.
    private mutating func takeKeyless(
        like payload: EntityPayload, _ end: LinkEnd, isOnly: Bool
    ) throws(StateError) -> EntityID? {
        var best: (id: EntityID, says: Int)?
        for id in try keyless(at: end) {
            let sent = try sentValues(of: id)
            let says = sent.names.count { payload.values[$0] != nil }
            guard isOnly || (says > 0 && ChildMatching.canBe(payload.values, sent)), says > best?.says ?? -1 else {
                continue
            }
            best = (id, says)
        }
        if let best { keyless[end]?.removeAll { $0 == best.id } }
        return best?.id
    }

    private func sentValues(of id: EntityID) throws(StateError) -> PropertyValues {
        let values = try EntityResolver(storage: storage, model: model).serviceRow(id)?.values ?? [:]
        return PropertyValues(values.filter { $0.value != .null }.map { ($0.name, $0.value) })
    }

    /// The entity's links without itself in them, so that those of two entities can be compared.
    private func ownLinks(of id: EntityID) throws(StateError) -> Set<LinkRow> {
        let nobody = EntityID(rawValue: 0)
        var links: Set<LinkRow> = []
        for var link in try storage.links(of: id) where link.inBase {
            if link.first == id { link.first = nobody }
            if link.second == id { link.second = nobody }
            link.inLocal = true
            links.insert(link)
        }
        return links
    }

    private mutating func keyless(at end: LinkEnd) throws(StateError) -> [EntityID] {
        if let known = keyless[end] { return known }
        let name = end.relationship.name
        let links =
            end.relationship.isForward
            ? try storage.links(name, first: end.entity) : try storage.links(name, second: end.entity)
        let resolver = EntityResolver(storage: storage, model: model)
        var found: [EntityID] = []
        for link in links where link.inBase {
            let id = end.relationship.isForward ? link.second : link.first
            guard let row = try resolver.serviceRow(id), row.origin.isOnService,
                let type = model.findEntityType(row.type), KeyText.of(row.values, type: type) == nil
            else { continue }
            found.append(id)
        }
        keyless[end] = found
        return found
    }
}
