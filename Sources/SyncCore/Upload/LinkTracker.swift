import EDM
import Operations

/// Who is linked to whom while the pending operations pass one after another, starting from what the service last said.
///
/// A link that comes and goes within the pending operations is in no state, but its removal is what lets the next one happen:
/// a city can be deleted only after its mayor, who moved in a moment ago, has moved out.
struct LinkTracker<Storage: StateStorage> {
    private struct End: Hashable {
        let entity: EntityID
        let relationship: Relationship
    }

    private let storage: Storage
    /// The partners at the ends that an operation has changed.
    private var changed: [End: Set<EntityID>] = [:]
    private var changedEnds: [EntityID: Set<Relationship>] = [:]
    /// By set and key: the new entity that got the key last.
    private var keys: [String: EntityID] = [:]

    init(_ storage: Storage) { self.storage = storage }

    /// By one relationship and direction, or by any.
    func partners(of entity: EntityID, by relationship: Relationship?) throws(StateError) -> [EntityID] {
        guard relationship == nil else {
            return try partners(at: relationship.map { End(entity: entity, relationship: $0) })
        }
        var found: Set<EntityID> = []
        for end in try ends(of: entity) { found.formUnion(try partners(at: end)) }
        return found.sorted()
    }

    mutating func follow(_ operation: Operation, _ footprint: OperationFootprint) throws(StateError) {
        switch operation.action {
        case .delete(let entity):
            for end in try ends(of: entity) { for partner in try partners(at: end) { try set(end, partner, false) } }
        case .deleteLink:
            for link in footprint.links {
                try set(End(entity: link.from, relationship: link.navigation.relationship), link.to, false)
            }
        default:
            for (entity, relationship) in footprint.cleared {
                let end = End(entity: entity, relationship: relationship)
                for other in try partners(at: end) { try set(end, other, false) }
            }
            for link in footprint.links {
                let end = End(entity: link.from, relationship: link.navigation.relationship)
                if link.navigation.multiplicity != .many {
                    for other in try partners(at: end) { try set(end, other, false) }
                }
                if link.navigation.sourceMultiplicity != .many {
                    let back = End(entity: link.to, relationship: end.relationship.reversed)
                    for other in try partners(at: back) { try set(back, other, false) }
                }
                try set(end, link.to, true)
            }
        }
    }

    /// Who had the keys of the entities that the operation creates: what deletes those comes before. The new ones have them
    /// from now on.
    mutating func formerOwners(_ operation: Operation, _ model: EntityDataModel) throws(StateError) -> [EntityID] {
        guard case .create(let creation, _) = operation.action else { return [] }
        var owners: [EntityID] = []
        func visit(_ creation: Creation) throws(StateError) {
            if let type = model.findEntityType(creation.type), let key = KeyText.of(creation.values, type: type) {
                let name = "\(creation.set)(\(key))"
                var known = keys[name]
                if known == nil { known = try storage.entity(set: creation.set, key: key) }
                if let known, known != creation.entity { owners.append(known) }
                keys[name] = creation.entity
            }
            for level in creation.inline { for child in level.entities { try visit(child) } }
        }
        try visit(creation)
        return owners
    }

    private func ends(of entity: EntityID) throws(StateError) -> [End] {
        var relationships = changedEnds[entity] ?? []
        for link in try storage.links(of: entity) where link.inBase {
            relationships.insert(Relationship(name: link.relationship, isForward: link.first == entity))
        }
        return relationships.map { End(entity: entity, relationship: $0) }
    }

    private func partners(at end: End?) throws(StateError) -> [EntityID] {
        guard let end else { return [] }
        if let known = changed[end] { return known.sorted() }
        let name = end.relationship.name
        let links =
            end.relationship.isForward
            ? try storage.links(name, first: end.entity) : try storage.links(name, second: end.entity)
        return links.filter(\.inBase).map { end.relationship.isForward ? $0.second : $0.first }
    }

    /// At both ends.
    private mutating func set(_ end: End, _ partner: EntityID, _ isLinked: Bool) throws(StateError) {
        for (end, partner) in [
            (end, partner), (End(entity: partner, relationship: end.relationship.reversed), end.entity),
        ] {
            var partners = Set(try partners(at: end))
            if isLinked { partners.insert(partner) } else { partners.remove(partner) }
            changed[end] = partners
            changedEnds[end.entity, default: []].insert(end.relationship)
        }
    }
}
