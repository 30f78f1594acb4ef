import EDM
import Operations

/// What an operation reads and writes, as far as order matters: two operations may change places unless one writes what
/// the other reads or writes.
struct OperationFootprint {
    private(set) var created: Set<EntityID> = []
    private(set) var writes: Set<EntityID> = []
    private(set) var reads: Set<EntityID> = []
    /// Existing entities whose own representation is changed or deleted, so that an `If-Match` may be needed.
    private(set) var conditional: Set<EntityID> = []

    init(_ operation: Operation, navigation: (EntityID, String) -> Navigation?) {
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
        case .createLink(let link), .updateLink(let link), .deleteLink(let link):
            addLink(link.from, link.navigation, link.to, navigation)
        }
        reads.subtract(writes)
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
        if end?.multiplicity != .many || isManyToMany { writes.insert(from) } else { reads.insert(from) }
        if end?.sourceMultiplicity != .many || isManyToMany { writes.insert(to) } else { reads.insert(to) }
    }
}
