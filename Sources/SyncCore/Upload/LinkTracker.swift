import EDM
import Operations

/// The links of entities while the pending operations are applied one after another to the base state.
///
/// A link that is created and removed within the pending operations appears in no state, but its removal may enable a
/// later operation: a city can be deleted only after its mayor, who was assigned by an earlier pending operation, has
/// been removed.
struct LinkTracker<Storage: StateReader> {
    private let resolver: EntityResolver<Storage>
    private var changes = LinkChanges()
    /// The last new entity with a key, by set and key.
    private var keys: [ExactText: EntityID] = [:]

    init(_ resolver: EntityResolver<Storage>) { self.resolver = resolver }

    private var storage: Storage { resolver.storage }
    private var model: EntityDataModel { resolver.model }

    /// Returns the partners by one relationship and direction, or by all.
    func partners(of entity: EntityID, by relationship: Relationship?) throws(StateError) -> [EntityID] {
        if let relationship { return try partners(at: LinkEnd(entity: entity, relationship: relationship)) }
        var found: Set<EntityID> = []
        for end in try ends(of: entity) { found.formUnion(try partners(at: end)) }
        return found.sorted()
    }

    /// Returns the entity and all entities that the service deletes with it, at any depth, according to the metadata.
    func deleted(with entity: EntityID) throws(StateError) -> [EntityID] {
        var found = [entity]
        var known: Set<EntityID> = [entity]
        var next = 0
        while next < found.count {
            let owner = found[next]
            next += 1
            guard let set = try resolver.set(of: owner).flatMap({ model.findEntitySet($0) }) else { continue }
            for relationship in model.cascades(of: set) {
                for partner in try partners(at: LinkEnd(entity: owner, relationship: relationship))
                where known.insert(partner).inserted {
                    found.append(partner)
                }
            }
        }
        return found
    }

    /// Applies an operation. Returns the links that it ends.
    @discardableResult
    mutating func follow(
        _ operation: Operation, _ footprint: OperationFootprint
    ) throws(StateError) -> [EndedLink] {
        var ended: [EndedLink] = []
        func end(_ end: LinkEnd, besides new: EntityID? = nil) throws(StateError) {
            for other in try partners(at: end) {
                changes.set(end, other, false)
                guard other != new else { continue }
                ended.append(EndedLink(entity: end.entity, relationship: end.relationship, partner: other))
            }
        }
        switch operation.action {
        case .delete(let entity):
            for gone in try deleted(with: entity) { for own in try ends(of: gone) { try end(own) } }
        case .deleteLink:
            for link in footprint.links {
                let relationship = link.navigation.relationship
                changes.set(LinkEnd(entity: link.from, relationship: relationship), link.to, false)
                ended.append(EndedLink(entity: link.from, relationship: relationship, partner: link.to))
            }
        default:
            for (entity, relationship) in footprint.cleared {
                try end(LinkEnd(entity: entity, relationship: relationship))
            }
            for link in footprint.links {
                let forth = LinkEnd(entity: link.from, relationship: link.navigation.relationship)
                let back = LinkEnd(entity: link.to, relationship: forth.relationship.reversed)
                if link.navigation.multiplicity != .many { try end(forth, besides: link.to) }
                if link.navigation.sourceMultiplicity != .many { try end(back, besides: link.from) }
                changes.set(forth, link.to, true)
            }
        }
        return ended
    }

    /// Returns whether entities have the same links as in another tracker that began with the same state.
    func agrees(with other: LinkTracker) throws(StateError) -> Bool {
        for entity in changes.entities.union(other.changes.entities) {
            let relationships = changes.relationships(of: entity).union(other.changes.relationships(of: entity))
            for relationship in relationships {
                let end = LinkEnd(entity: entity, relationship: relationship)
                if try partners(at: end) != other.partners(at: end) { return false }
            }
        }
        return true
    }

    /// Returns the entities that had the keys of the entities that the operation creates, and assigns the keys to the
    /// new ones. Deletions of the former have to precede the creation.
    mutating func formerOwners(_ operation: Operation) throws(StateError) -> [EntityID] {
        guard case .create(let creation, let parent) = operation.action else { return [] }
        var owners: [EntityID] = []
        func visit(_ creation: Creation, in parent: EntityID?) throws(StateError) {
            if let key = creation.keyText(in: parent, model) {
                let name = ExactText("\(creation.set)(\(key))")
                var known = keys[name]
                if known == nil { known = try storage.entity(set: creation.set, key: key) }
                if let known, known != creation.entity { owners.append(known) }
                keys[name] = creation.entity
            }
            for level in creation.inline {
                for child in level.entities { try visit(child, in: creation.entity) }
            }
        }
        try visit(creation, in: parent?.entity)
        return owners
    }

    private func ends(of entity: EntityID) throws(StateError) -> [LinkEnd] {
        var relationships = changes.relationships(of: entity)
        for link in try storage.links(of: entity) where link.inBase {
            relationships.insert(Relationship(name: link.relationship, isForward: link.first == entity))
        }
        return relationships.map { LinkEnd(entity: entity, relationship: $0) }
    }

    /// Returns the partners in ascending order.
    private func partners(at end: LinkEnd) throws(StateError) -> [EntityID] {
        changes.partners(at: end, besides: try basePartners(at: end))
    }

    private func basePartners(at end: LinkEnd) throws(StateError) -> [EntityID] {
        // An entity that does not exist on the service has no links there.
        guard try resolver.sharedServiceRow(end.entity) != nil else { return [] }
        let name = end.relationship.name
        let links =
            end.relationship.isForward
            ? try storage.links(name, first: end.entity) : try storage.links(name, second: end.entity)
        return links.filter(\.inBase).map { end.relationship.isForward ? $0.second : $0.first }
    }
}

/// A link that an operation ends, from the perspective of one of its entities.
struct EndedLink {
    let entity: EntityID
    let relationship: Relationship
    let partner: EntityID
}

/// The link changes of operations. Only changes are stored, because an end may have a hundred thousand partners in the
/// state, and each operation adds one.
private struct LinkChanges {
    private struct Change {
        let relationship: Relationship
        var added = SmallSet<EntityID>()
        var removed = SmallSet<EntityID>()

        mutating func record(_ partner: EntityID, _ isLinked: Bool) {
            if isLinked {
                removed.remove(partner)
                added.insert(partner)
            } else {
                added.remove(partner)
                removed.insert(partner)
            }
        }
    }

    /// The changes by entity. An entity has few ends.
    private var changes = IDTable<[Change]>()

    /// Records a change at both ends.
    mutating func set(_ end: LinkEnd, _ partner: EntityID, _ isLinked: Bool) {
        record(end, partner, isLinked)
        record(LinkEnd(entity: partner, relationship: end.relationship.reversed), end.entity, isLinked)
    }

    private mutating func record(_ end: LinkEnd, _ partner: EntityID, _ isLinked: Bool) {
        let place = changes.place(of: end.entity, inserting: [])
        Self.record(end.relationship, partner, isLinked, in: &changes[at: place])
    }

    private static func record(
        _ relationship: Relationship, _ partner: EntityID, _ isLinked: Bool, in changes: inout [Change]
    ) {
        let known = changes.firstIndex { $0.relationship == relationship }
        if known == nil { changes.append(Change(relationship: relationship)) }
        changes[known ?? changes.count - 1].record(partner, isLinked)
    }

    var entities: Set<EntityID> { Set(changes.entities) }

    func relationships(of entity: EntityID) -> Set<Relationship> { Set((changes[entity] ?? []).map(\.relationship)) }

    /// Returns the partners in ascending order, like the base.
    func partners(at end: LinkEnd, besides base: [EntityID]) -> [EntityID] {
        let known = changes[end.entity]?.first { $0.relationship == end.relationship }
        guard let change = known else { return base }
        if base.isEmpty { return change.added.elements.sorted() }
        return Set(base).union(change.added.elements).subtracting(change.removed.elements).sorted()
    }
}
