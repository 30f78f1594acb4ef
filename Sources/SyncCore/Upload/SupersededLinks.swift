import EDM
import Operations

/// Link operations of a change set that need no request, because a later operation has their effect.
///
/// **Replaced links.** An unlink at a to-one end whose link a later operation replaces. A replacement removes the old
/// link implicitly. An additional request would be harmful: the requests of a change set have no guaranteed order (OData
/// 4.0 Part 1, 11.7.4), and an unlink processed last would remove the new link. Operations are compared by the entity
/// with the to-one end, regardless of the end at which an operation is expressed. An operation replaces the link in two
/// cases:
///
/// - It sets a link at the to-one end, by a reference, a binding or dependent properties.
/// - It adds the entity to the collection of another partner, which moves the entity there.
///
/// An operation that only displaces the link at the other end of a one-to-one relationship does not count.
///
/// **Links of deleted entities.** A link that is added to or removed from an entity which a later operation deletes; see
/// ``LinksOfDeletedEntities``.
struct SupersededLinks {
    /// The operations of ``others`` that need no request of their own.
    private(set) var operations: Set<SequenceNumber> = []
    /// All operations that need no request, by the operation that has their effect.
    private(set) var replacements: [SequenceNumber: [SequenceNumber]] = [:]
    /// The operations of the change set without the links of deleted entities, which have no effect on any request.
    let others: [PendingOperation]

    private struct End: Hashable {
        let entity: EntityID
        let relationship: Relationship
    }

    private var removals: [End: Set<SequenceNumber>] = [:]

    init(
        in changeSet: [PendingOperation], _ resolver: EntityResolver<WorkingSet>
    ) throws(StateError) {
        replacements = try LinksOfDeletedEntities(resolver).found(in: changeSet)
        let ended = Set(replacements.values.joined())
        others = ended.isEmpty ? changeSet : changeSet.filter { !ended.contains($0.sequence) }
        try findReplaced(in: others, resolver)
    }

    private mutating func findReplaced(
        in changeSet: [PendingOperation], _ resolver: EntityResolver<WorkingSet>
    ) throws(StateError) {
        // An operation replaces only links that earlier ones remove.
        guard changeSet.count > 1, changeSet.contains(where: \.operation.action.isUnlink) else { return }
        for pending in changeSet {
            let operation = pending.operation
            func navigation(_ entity: EntityID, _ name: String) throws(StateError) -> Navigation? {
                try resolver.navigation(name, of: entity, in: operation)?.navigation
            }
            switch operation.action {
            // No request expresses the effect of a call.
            case _ where operation.call != nil: continue
            case .deleteLink(let link):
                guard let end = try navigation(link.from, link.navigation) else { continue }
                remove(link, end, pending.sequence)
            case .createLink(let link), .updateLink(let link):
                guard !removals.isEmpty, let end = try navigation(link.from, link.navigation) else { continue }
                replace(link.from, end, link.to, pending.sequence)
            case .update(let entity, let changes, let bindings):
                guard !removals.isEmpty else { continue }
                for binding in bindings {
                    guard let end = try navigation(entity, binding.navigation) else { continue }
                    for target in binding.targets { replace(entity, end, target, pending.sequence) }
                }
                for named in try resolver.namedTargets(of: entity, changes, in: operation) {
                    guard let target = named.target, let end = try navigation(entity, named.navigation),
                        !bindings.contains(where: { $0.navigation == named.navigation })
                    else { continue }
                    replace(entity, end, target, pending.sequence)
                }
            case .create, .delete: continue
            }
        }
    }

    private mutating func remove(_ link: Link, _ end: Navigation, _ sequence: SequenceNumber) {
        if end.multiplicity != .many {
            removals[End(entity: link.from, relationship: end.relationship), default: []].insert(sequence)
        }
        if end.sourceMultiplicity != .many {
            removals[End(entity: link.to, relationship: end.relationship.reversed), default: []].insert(sequence)
        }
    }

    private mutating func replace(_ from: EntityID, _ end: Navigation, _ to: EntityID, _ sequence: SequenceNumber) {
        let replaced: End
        if end.multiplicity != .many {
            replaced = End(entity: from, relationship: end.relationship)
        } else if end.sourceMultiplicity != .many {
            replaced = End(entity: to, relationship: end.relationship.reversed)
        } else {
            return
        }
        guard let found = removals.removeValue(forKey: replaced)?.subtracting(operations), !found.isEmpty else {
            return
        }
        operations.formUnion(found)
        replacements[sequence, default: []] += found.sorted()
    }
}

extension Operation.Action {
    fileprivate var isUnlink: Bool { if case .deleteLink = self { true } else { false } }
}
