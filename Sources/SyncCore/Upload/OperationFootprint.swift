import EDM
import Operations

/// What an operation reads and writes, as far as order matters: two operations may change places unless one writes what
/// the other reads or writes.
struct OperationFootprint {
    private(set) var created: Set<EntityID> = []
    private(set) var writes: Set<EntityID> = []
    private(set) var reads: Set<EntityID> = []
    /// Partners that lose a link by the operation though it does not name them: those of a deleted entity, and those that a
    /// new link pushes out.
    private(set) var affected: Set<EntityID> = []
    /// Entities that no `$<Content-ID>` can stand for.
    private(set) var keyed: Set<EntityID> = []
    /// The links that the operation makes, from each navigation property's source to its target.
    private(set) var links: [(from: EntityID, navigation: Navigation, to: EntityID)] = []
    /// Where a new link leaves no room for another one.
    private var singleEnds: [(EntityID, Relationship)] = []
    /// Existing entities whose own representation is changed or deleted, so that an `If-Match` may be needed.
    private(set) var conditional: Set<EntityID> = []

    /// - Parameter partners: the entities that one is linked to, by one navigation property or by any.
    init(
        _ operation: Operation, navigation: (EntityID, String) -> Navigation?,
        partners: (EntityID, Relationship?) -> [EntityID]
    ) {
        switch operation.action {
        case .create(let creation, let parent):
            add(creation, navigation)
            if let parent { addLink(parent.entity, parent.navigation, creation.entity, navigation) }
        case .update(let entity, _, let bindings):
            writes.insert(entity)
            conditional.insert(entity)
            for binding in bindings {
                for target in binding.targets { addLink(entity, binding.navigation, target, navigation) }
            }
        case .delete(let entity):
            writes.insert(entity)
            conditional.insert(entity)
            affected.formUnion(partners(entity, nil))
        case .createLink(let link), .updateLink(let link):
            addLink(link.from, link.navigation, link.to, navigation)
        case .deleteLink(let link):
            addLink(link.from, link.navigation, link.to, navigation)
            // The address of a link in a collection has the target's key in it.
            if navigation(link.from, link.navigation)?.multiplicity == .many { keyed.insert(link.to) }
        }
        for (entity, end) in singleEnds { affected.formUnion(partners(entity, end)) }
        affected.subtract(writes)
        affected.subtract(reads)
        reads.subtract(writes)
        keyed.formUnion(conditional)
    }

    private mutating func add(_ creation: Creation, _ navigation: (EntityID, String) -> Navigation?) {
        created.insert(creation.entity)
        writes.insert(creation.entity)
        for binding in creation.bindings {
            for target in binding.targets { addLink(creation.entity, binding.navigation, target, navigation) }
        }
        for inline in creation.inline {
            for child in inline.entities { add(child, navigation) }
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
            let back = Relationship(name: end.relationship.name, isForward: !end.relationship.isForward)
            if end.multiplicity != .many { singleEnds.append((from, end.relationship)) }
            if end.sourceMultiplicity != .many { singleEnds.append((to, back)) }
        }
        if end?.multiplicity != .many || isManyToMany { writes.insert(from) } else { reads.insert(from) }
        if end?.sourceMultiplicity != .many || isManyToMany { writes.insert(to) } else { reads.insert(to) }
    }
}
