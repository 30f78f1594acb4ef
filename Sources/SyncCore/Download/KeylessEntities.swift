import EDM
import ODataWire
import Operations

/// One end of links: an entity, and a relationship in one direction.
struct LinkEnd: Hashable {
    let entity: EntityID
    let relationship: Relationship
}

/// Recognizes keyless entities: the service created them by a deep insert without returning their keys. They are
/// recognized below their owner, or by a constraint that refers to the owner.
struct KeylessEntities {
    private let storage: WorkingSet
    private let model: EntityDataModel
    /// Cached keyless entities that were not matched yet, by owner and relationship.
    private var unmatched: [LinkEnd: [EntityID]] = [:]
    /// Whether a set may contain keyless entities. A page has few sets.
    private var sets: [(set: EntitySet, mayHave: Bool)] = []

    init(_ storage: WorkingSet, _ model: EntityDataModel) {
        self.storage = storage
        self.model = model
    }

    /// Returns the keyless entities below an owner that entities of the set may be.
    mutating func candidates(
        below owner: EntityID, _ property: Property, in set: EntitySet
    ) throws(StateError) -> [EntityID] {
        guard let relationship = property.navigation?.relationship, try mayHaveKeyless(set) else { return [] }
        return try keyless(at: LinkEnd(entity: owner, relationship: relationship))
    }

    /// Returns the keyless entities below the owner that the payload contains, by their index in it.
    ///
    /// For a to-one property the match is unique. In a collection the values decide.
    ///
    /// - Parameters:
    ///   - ids: The ``candidates(below:_:in:)``.
    ///   - unknown: The indexes of the entities in the payload that have no known identity.
    mutating func match(
        _ ids: [EntityID], with expanded: EntityPayload.Expanded, unknown: [Int], below owner: EntityID,
        _ property: Property
    ) throws(StateError) -> [Int: EntityID] {
        guard let relationship = property.navigation?.relationship else { return [:] }
        let end = LinkEnd(entity: owner, relationship: relationship)
        guard property.isCollection else {
            guard let index = unknown.first else { return [:] }
            unmatched[end] = Array(ids.dropFirst())
            return [index: ids[0]]
        }
        // A partial collection allows no matching by elimination.
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
        unmatched[end]?.removeAll { found.contains($0) }
        return Dictionary(uniqueKeysWithValues: pairs.map { (unknown[$0.answered], ids[$0.sent]) })
    }

    /// Returns the keyless entity below the owner that dependent properties refer to.
    mutating func match(
        _ payload: EntityPayload, _ type: EntityType, _ set: EntitySet
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
            let found = try match(
                payload, LinkEnd(entity: owner, relationship: back), isOnly: end.sourceMultiplicity != .many)
            if let found { return found }
        }
        return nil
    }

    /// Returns whether a search is useful. An owner may have a million entities below it, all of which a search would
    /// read.
    private mutating func mayHaveKeyless(_ set: EntitySet) throws(StateError) -> Bool {
        if let known = sets.first(where: { $0.set === set }) { return known.mayHave }
        let found = try storage.mayHaveKeyless(set: set.name)
        sets.append((set, found))
        return found
    }

    /// Returns whether the owner has keyless entities that were not matched yet.
    mutating func hasKeyless(below owner: EntityID, _ property: Property) throws(StateError) -> Bool {
        guard let end = property.navigation else { return false }
        return try !keyless(at: LinkEnd(entity: owner, relationship: end.relationship)).isEmpty
    }

    /// Returns the keyless entity with the most values in common with the payload.
    private mutating func match(
        _ payload: EntityPayload, _ end: LinkEnd, isOnly: Bool
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
        if let best { unmatched[end]?.removeAll { $0 == best.id } }
        return best?.id
    }

    private func sentValues(of id: EntityID) throws(StateError) -> PropertyValues {
        let values = try EntityResolver(storage: storage, model: model).serviceRow(id)?.values ?? [:]
        return PropertyValues(values.filter { $0.value != .null }.map { ($0.name, $0.value) })
    }

    /// Returns the entity's links with its own ID replaced, so that the links of two entities can be compared.
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
        if let known = unmatched[end] { return known }
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
        unmatched[end] = found
        return found
    }
}
