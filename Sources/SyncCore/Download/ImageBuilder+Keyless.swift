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
    /// The one below the owner that the service's entity is. A single-valued property has no other; in a collection it is
    /// the one whose values are all the same.
    mutating func takeKeyless(
        like payload: EntityPayload, below owner: EntityID, _ property: Property
    ) throws(StateError) -> EntityID? {
        guard let end = property.navigation else { return nil }
        return try takeKeyless(
            like: payload, LinkEnd(entity: owner, relationship: end.relationship), isOnly: !property.isCollection)
    }

    /// By the owner that dependent properties name.
    mutating func takeKeyless(
        like payload: EntityPayload, _ type: EntityType, _ set: EntitySet
    ) throws(StateError) -> EntityID? {
        for property in type.navigationProperties {
            guard let end = property.navigation, !end.constraints.isEmpty,
                let target = model.target(of: property, in: set)
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

    mutating func hasKeyless(below owner: EntityID, _ property: Property) throws(StateError) -> Bool {
        guard let end = property.navigation else { return false }
        return try !keyless(at: LinkEnd(entity: owner, relationship: end.relationship)).isEmpty
    }

    private mutating func takeKeyless(
        like payload: EntityPayload, _ end: LinkEnd, isOnly: Bool
    ) throws(StateError) -> EntityID? {
        let resolver = EntityResolver(storage: storage, model: model)
        for id in try keyless(at: end) {
            let row = try resolver.serviceRow(id)
            let sent = PropertyValues((row?.values ?? [:]).filter { $0.value != .null }.map { ($0.name, $0.value) })
            let tells = sent.contains { payload.values[$0.name] != nil }
            guard isOnly || (tells && ChildMatching.canBe(payload.values, sent)) else { continue }
            keyless[end]?.removeAll { $0 == id }
            return id
        }
        return nil
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
