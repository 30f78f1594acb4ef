import EDM
import Operations

/// The entities that an operation reads and writes; none if it is not sent. Two operations commute unless one writes an
/// entity that the other reads or writes.
struct OperationFootprint {
    private(set) var created = EntityIDs()
    private(set) var writes = EntityIDs()
    private(set) var reads = EntityIDs()
    /// Entities that the operation affects without naming them.
    ///
    /// These are partners that lose a link because of a deletion or a new link, entities that a delete cascades to, and
    /// former owners of a new entity's key.
    private(set) var affected = EntityIDs()
    /// Entities that must be referenced by key and not by `$<Content-ID>`.
    private(set) var keyed = EntityIDs()
    /// The links that the operation creates, from each navigation property's source to its target.
    private(set) var links: [(from: EntityID, navigation: Navigation, to: EntityID)] = []
    /// Ends whose dependent properties were set to null. Their links end, whatever the partner is.
    private(set) var cleared: [(entity: EntityID, relationship: Relationship)] = []
    /// Existing entities whose own representation is changed or deleted, so that an `If-Match` may be needed.
    private(set) var conditional = EntityIDs()

    /// All entities that the operation reads, writes or affects.
    var entities: EntityIDs { writes.union(reads).union(affected) }

    /// An aspect of an existing entity that an operation determines until another operation changes it.
    enum Facet: Hashable {
        case representation(EntityID)
        /// The partner at a to-one end.
        case end(EntityID, Relationship)
        /// Whether two entities are linked.
        case link(String, EntityID, EntityID)
    }

    /// The facets that the operation sets. Empty if it creates an entity, because later operations on that entity
    /// depend on the creation anyway.
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

    /// Adds an operation to an empty footprint. Not an initializer, which would copy the large value.
    ///
    /// - Parameters:
    ///   - owners: The former owners of the keys of new entities.
    ///   - named: Returns the navigation properties that new values of an entity determine, and their targets.
    ///   - partners: Returns the partners of an entity, by one navigation property or by all.
    ///   - deleted: Returns an entity and all entities that are deleted with it.
    mutating func add(
        _ operation: Operation, navigation: NavigationLookup,
        owners: [EntityID], named: TargetLookup,
        partners: (EntityID, Relationship?) throws(StateError) -> [EntityID],
        deleted: (EntityID) throws(StateError) -> [EntityID]
    ) throws(StateError) {
        switch operation.action {
        case .create(let creation, let parent):
            try add(creation, navigation, named)
            if let parent { try addLink(parent.entity, parent.navigation, creation.entity, navigation) }
        case .update(let entity, let changes, let bindings):
            writes.insert(entity)
            conditional.insert(entity)
            try follow(try named(entity, changes), of: entity, besides: bindings.map(\.navigation), navigation)
            for binding in bindings {
                for target in binding.targets { try addLink(entity, binding.navigation, target, navigation) }
            }
        case .delete(let entity):
            writes.insert(entity)
            conditional.insert(entity)
            // Pending operations on cascaded entities have to be processed while these still exist.
            var gone: [EntityID] = []
            for entity in try deleted(entity) { gone += [entity] + (try partners(entity, nil)) }
            affected = EntityIDs(gone)
        case .createLink(let link), .updateLink(let link):
            try addLink(link.from, link.navigation, link.to, navigation)
        case .deleteLink(let link):
            try addLink(link.from, link.navigation, link.to, navigation)
            // The URL of a link in a collection contains the target's key.
            if try navigation(link.from, link.navigation)?.multiplicity == .many { keyed.insert(link.to) }
        }
        if let call = operation.call { add(call) }
        // A new link displaces any other at a to-one end.
        for (from, end, to) in links {
            if end.multiplicity != .many { affected.formUnion(try partners(from, end.relationship)) }
            if end.sourceMultiplicity != .many { affected.formUnion(try partners(to, end.relationship.reversed)) }
        }
        for (entity, end) in cleared { affected.formUnion(try partners(entity, end)) }
        affected.formUnion(owners)
        affected.subtract(writes)
        affected.subtract(reads)
        reads.subtract(writes)
        keyed.formUnion(conditional)
    }

    /// Adds a call: it may change the bound entity, and the request contains the keys of the arguments.
    private mutating func add(_ call: ActionCall) {
        writes.subtract([.unbound])
        // The effect on an entity that the URL does not contain needs no ETag.
        conditional = EntityIDs()
        if let entity = call.boundEntity { writes.insert(entity) }
        if case .entity(let entity)? = call.binding { conditional.insert(entity) }
        for entity in call.argumentEntities { reads.insert(entity) }
        // An action is refused for reasons of its own, and must not share the change set of a create.
        keyed.formUnion(writes)
        keyed.formUnion(reads)
    }

    /// Adds the footprint of another operation that the same request performs.
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

    /// Returns a navigation property of an entity.
    typealias NavigationLookup = (EntityID, String) throws(StateError) -> Navigation?
    /// Returns the targets that new values of an entity determine.
    typealias TargetLookup = (EntityID, PropertyValues) throws(StateError) -> [NamedTarget]

    /// A navigation property whose target is determined by the values of dependent properties.
    struct NamedTarget {
        let navigation: String
        /// The target, or nil if a dependent property is null.
        let target: EntityID?
    }

    /// Adds the links that dependent properties determine. A binding of the same navigation property takes precedence
    /// (OData 4.01 Part 1, 11.4.3).
    private mutating func follow(
        _ named: [NamedTarget], of entity: EntityID, besides bound: [String], _ navigation: NavigationLookup
    ) throws(StateError) {
        for item in named where !bound.contains(item.navigation) {
            if let target = item.target {
                try addLink(entity, item.navigation, target, navigation)
            } else if let end = try navigation(entity, item.navigation) {
                cleared.append((entity, end.relationship))
            }
        }
    }

    private mutating func add(
        _ creation: Creation, _ navigation: NavigationLookup, _ named: TargetLookup
    ) throws(StateError) {
        created.insert(creation.entity)
        writes.insert(creation.entity)
        let decided = creation.bindings.map(\.navigation) + creation.inline.map(\.navigation)
        try follow(
            try named(creation.entity, creation.values).filter { $0.target != nil }, of: creation.entity,
            besides: decided, navigation)
        for binding in creation.bindings {
            for target in binding.targets { try addLink(creation.entity, binding.navigation, target, navigation) }
        }
        for inline in creation.inline {
            for child in inline.entities {
                try add(child, navigation, named)
                try addLink(creation.entity, inline.navigation, child.entity, navigation)
            }
        }
    }

    /// Adds a link. It writes a to-one end, because a second link there would displace the first one.
    private mutating func addLink(
        _ from: EntityID, _ name: String, _ to: EntityID, _ navigation: NavigationLookup
    ) throws(StateError) {
        let end = try navigation(from, name)
        let isManyToMany = end?.multiplicity == .many && end?.sourceMultiplicity == .many
        if let end { links.append((from, end, to)) }
        if end?.multiplicity != .many || isManyToMany { writes.insert(from) } else { reads.insert(from) }
        if end?.sourceMultiplicity != .many || isManyToMany { writes.insert(to) } else { reads.insert(to) }
    }
}
