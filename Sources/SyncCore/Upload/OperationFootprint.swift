import EDM
import Operations

/// What an operation reads and writes, as far as order matters: two operations may change places unless one writes what
/// the other reads or writes.
struct OperationFootprint {
    private(set) var created: EntityIDs = []
    private(set) var writes: EntityIDs = []
    private(set) var reads: EntityIDs = []
    /// Entities that the operation has to do with though it does not name them: partners that lose a link, being those of a
    /// deleted entity or pushed out by a new link, what a delete takes along, and who had the key of a new entity before
    /// it.
    private(set) var affected: EntityIDs = []
    /// Entities that no `$<Content-ID>` can stand for.
    private(set) var keyed: EntityIDs = []
    /// The links that the operation makes, from each navigation property's source to its target.
    private(set) var links: [(from: EntityID, navigation: Navigation, to: EntityID)] = []
    /// Where dependent properties were set to null: links that end, whomever they lead to.
    private(set) var cleared: [(entity: EntityID, relationship: Relationship)] = []
    /// Where a new link leaves no room for another one.
    private var singleEnds: [(EntityID, Relationship)] = []
    /// Existing entities whose own representation is changed or deleted, so that an `If-Match` may be needed.
    private(set) var conditional: EntityIDs = []

    /// What of an entity that is there the operation has the last word about, as long as no other says something else of it.
    enum Facet: Hashable {
        case representation(EntityID)
        /// Whom an entity is linked to, where there is room for one.
        case end(EntityID, Relationship)
        /// Whether two entities are linked.
        case link(String, EntityID, EntityID)
    }

    /// Nothing where the operation creates an entity: what comes behind it there cannot go without it anyway.
    var facets: [Facet] {
        guard created.isEmpty else { return [] }
        var facets = conditional.map(Facet.representation) + cleared.map { Facet.end($0.entity, $0.relationship) }
        for (from, navigation, to) in links {
            let relationship = navigation.relationship
            if navigation.multiplicity == .many, navigation.sourceMultiplicity == .many {
                let (first, second) = relationship.isForward ? (from, to) : (to, from)
                facets.append(.link(relationship.name, first, second))
            }
            if navigation.multiplicity != .many { facets.append(.end(from, relationship)) }
            if navigation.sourceMultiplicity != .many { facets.append(.end(to, relationship.reversed)) }
        }
        return facets
    }

    /// Of an operation that no service is told of.
    init() {}

    /// - Parameters:
    ///   - named: the navigation properties that an entity's new values decide, and the entities that they name.
    ///   - owners: the entities that had the keys of new ones before.
    ///   - partners: the entities that one is linked to, by one navigation property or by any.
    ///   - deleted: an entity and all that is deleted along with it.
    init(
        _ operation: Operation, navigation: (EntityID, String) -> Navigation?,
        owners: [EntityID], named: (EntityID, PropertyValues) -> [NamedTarget],
        partners: (EntityID, Relationship?) -> [EntityID], deleted: (EntityID) -> [EntityID]
    ) {
        switch operation.action {
        case .create(let creation, let parent):
            add(creation, navigation, named)
            if let parent { addLink(parent.entity, parent.navigation, creation.entity, navigation) }
        case .update(let entity, let changes, let bindings):
            writes.insert(entity)
            conditional.insert(entity)
            follow(named(entity, changes), of: entity, besides: bindings.map(\.navigation), navigation)
            for binding in bindings {
                for target in binding.targets { addLink(entity, binding.navigation, target, navigation) }
            }
        case .delete(let entity):
            writes.insert(entity)
            conditional.insert(entity)
            // What is pending on anything that goes along has to arrive while that is still there.
            affected = EntityIDs(deleted(entity).flatMap { [$0] + partners($0, nil) })
        case .createLink(let link), .updateLink(let link):
            addLink(link.from, link.navigation, link.to, navigation)
        case .deleteLink(let link):
            addLink(link.from, link.navigation, link.to, navigation)
            // The address of a link in a collection has the target's key in it.
            if navigation(link.from, link.navigation)?.multiplicity == .many { keyed.insert(link.to) }
        }
        for (entity, end) in singleEnds { affected.formUnion(partners(entity, end)) }
        for (entity, end) in cleared { affected.formUnion(partners(entity, end)) }
        affected.formUnion(owners)
        affected.subtract(writes)
        affected.subtract(reads)
        reads.subtract(writes)
        keyed.formUnion(conditional)
    }

    /// Of two operations that one request carries out.
    mutating func formUnion(_ other: OperationFootprint) {
        created.formUnion(other.created)
        writes.formUnion(other.writes)
        reads = reads.union(other.reads).subtracting(writes)
        affected = affected.union(other.affected).subtracting(writes).subtracting(reads)
        keyed.formUnion(other.keyed)
        conditional.formUnion(other.conditional)
        links += other.links
        cleared += other.cleared
    }

    /// What dependent properties name, for the operation is made with values.
    struct NamedTarget {
        let navigation: String
        /// nil where a dependent property is null.
        let target: EntityID?
    }

    /// A link by dependent properties is a link; where a binding says whom, it is the binding's (OData 4.01 Part 1, 11.4.3).
    private mutating func follow(
        _ named: [NamedTarget], of entity: EntityID, besides bound: [String],
        _ navigation: (EntityID, String) -> Navigation?
    ) {
        for item in named where !bound.contains(item.navigation) {
            if let target = item.target {
                addLink(entity, item.navigation, target, navigation)
            } else if let end = navigation(entity, item.navigation) {
                cleared.append((entity, end.relationship))
            }
        }
    }

    private mutating func add(
        _ creation: Creation, _ navigation: (EntityID, String) -> Navigation?,
        _ named: (EntityID, PropertyValues) -> [NamedTarget]
    ) {
        created.insert(creation.entity)
        writes.insert(creation.entity)
        let decided = creation.bindings.map(\.navigation) + creation.inline.map(\.navigation)
        follow(
            named(creation.entity, creation.values).filter { $0.target != nil }, of: creation.entity, besides: decided,
            navigation)
        for binding in creation.bindings {
            for target in binding.targets { addLink(creation.entity, binding.navigation, target, navigation) }
        }
        for inline in creation.inline {
            for child in inline.entities {
                add(child, navigation, named)
                addLink(creation.entity, inline.navigation, child.entity, navigation)
            }
        }
    }

    /// A link writes the end that has room for one partner only: a second link there would push the first one out.
    private mutating func addLink(
        _ from: EntityID, _ name: String, _ to: EntityID, _ navigation: (EntityID, String) -> Navigation?
    ) {
        let end = navigation(from, name)
        let isManyToMany = end?.multiplicity == .many && end?.sourceMultiplicity == .many
        if let end {
            links.append((from, end, to))
            if end.multiplicity != .many { singleEnds.append((from, end.relationship)) }
            if end.sourceMultiplicity != .many { singleEnds.append((to, end.relationship.reversed)) }
        }
        if end?.multiplicity != .many || isManyToMany { writes.insert(from) } else { reads.insert(from) }
        if end?.sourceMultiplicity != .many || isManyToMany { writes.insert(to) } else { reads.insert(to) }
    }
}
