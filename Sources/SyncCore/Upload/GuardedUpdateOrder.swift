import EDM
import Operations

/// An order of the operations of a change set in which as many as possible are sent with an ETag.
///
/// A new or ended link may change the ETag of either end, so a later update would be sent without one and could
/// overwrite changes of other clients. An update without links therefore moves before the first operation that links or
/// unlinks its entity; a deletion unlinks an entity if its dependent properties change. A `PUT` then repeats the
/// dependent properties as they were before. Otherwise the order is the app's, and a check of the ETag precedes the link;
/// see ``RequestPlanner/addCheck(before:)``.
struct GuardedUpdateOrder {
    let resolver: EntityResolver<WorkingSet>

    /// Operations in this order.
    ///
    /// An operation that ends links of other entities, and thereby changes their dependent properties, has these entities
    /// at its index in `unlinked`. Later updates of an entity that it links or unlinks are at its index in `unguarded`.
    typealias OrderedOperations = (
        operations: [PendingOperation], unlinked: [Int: [EntityID]], unguarded: [Int: [PendingOperation]]
    )

    private struct OperationPlace {
        var guarded: [PendingOperation] = []
        let last: PendingOperation
        let unlinked: [EntityID]
        var unguarded: [PendingOperation] = []
    }

    /// Returns the operations in this order.
    func sorted(_ operations: [PendingOperation]) throws(StateError) -> OrderedOperations {
        // Only requests with ETags move, or depend on the links that earlier operations end.
        guard operations.count > 1, operations.contains(where: \.operation.maySendETag) else {
            return (operations, [:], [:])
        }
        /// Each operation, with the updates that precede it, and those that follow it without an ETag.
        var places: [OperationPlace] = []
        var firstLinks: [EntityID: Int] = [:]
        /// Entities whose updates do not move, because the order of operations on one entity matters.
        var fixed: Set<EntityID> = []
        /// The dependent properties of the links so far. An update of them follows the link that it replaces.
        var linked: [EntityID: Set<String>] = [:]
        var tracker = LinkTracker(resolver)
        for pending in operations {
            switch pending.operation.action {
            // Neither a call nor a change after it moves.
            case _ where pending.operation.call != nil: fixed.formUnion(pending.operation.referencedEntities)
            case .update(let entity, let changes, let bindings):
                guard let place = firstLinks[entity], bindings.isEmpty, !fixed.contains(entity),
                    try resolver.serviceRow(entity)?.etag != nil,
                    linked[entity]?.isDisjoint(with: changes.names) ?? true,
                    try resolver.namedTargets(of: entity, changes, in: pending.operation).isEmpty
                else {
                    if let place = firstLinks[entity] { places[place].unguarded.append(pending) }
                    if firstLinks[entity] != nil || !bindings.isEmpty { fixed.insert(entity) }
                    break
                }
                places[place].guarded.append(pending)
                continue
            case .delete(let entity): fixed.insert(entity)
            case .create, .createLink, .updateLink, .deleteLink: break
            }
            var unlinked = try unlinked(by: pending.operation, &tracker)
            // The other ends of the links of a deleted entity keep their ETags, if none of their properties changes.
            if case .delete = pending.operation.action { unlinked.removeAll(where: \.properties.isEmpty) }
            let referenced = pending.operation.referencedEntities
            for entity in referenced + unlinked.map(\.entity)
            where !isUpdate(pending, ofOnly: entity) && firstLinks[entity] == nil {
                firstLinks[entity] = places.count
            }
            for dependent in try dependents(of: pending.operation) + unlinked {
                linked[dependent.entity, default: []].formUnion(dependent.properties)
            }
            let others = unlinked.filter { !$0.properties.isEmpty && !referenced.contains($0.entity) }
            places.append(OperationPlace(last: pending, unlinked: others.map(\.entity)))
        }
        var sorted: OrderedOperations = ([], [:], [:])
        for place in places {
            sorted.operations += place.guarded
            if !place.unguarded.isEmpty { sorted.unguarded[sorted.operations.count] = place.unguarded }
            if !place.unlinked.isEmpty { sorted.unlinked[sorted.operations.count] = place.unlinked }
            sorted.operations.append(place.last)
        }
        return sorted
    }

    /// Returns the entities whose dependent properties the links of the operation determine.
    private func dependents(
        of operation: Operation
    ) throws(StateError) -> [(entity: EntityID, properties: [String])] {
        var found: [(entity: EntityID, properties: [String])] = []
        for effect in operation.sentEffects {
            guard let target = effect.target,
                let end = try resolver.navigation(effect.name, of: effect.entity, in: operation)?.navigation
            else { continue }
            found.append((effect.entity, end.constraints.map(\.dependent)))
            found.append((target, end.inverseConstraints.map(\.dependent)))
        }
        return found
    }

    /// Returns the entities that lose a link by the operation, with the dependent properties that change thereby.
    private func unlinked(
        by operation: Operation, _ tracker: inout LinkTracker<WorkingSet>
    ) throws(StateError) -> [(entity: EntityID, properties: [String])] {
        var found: [(entity: EntityID, properties: [String])] = []
        for link in try resolver.follow(operation, &tracker).ended {
            for (entity, relationship) in [
                (link.entity, link.relationship), (link.partner, link.relationship.reversed),
            ] {
                let ends = try resolver.entityType(of: entity, in: operation)?.navigationProperties ?? []
                let own = ends.compactMap(\.navigation).filter { $0.relationship == relationship }
                found.append((entity, own.flatMap(\.constraints).map(\.dependent)))
            }
        }
        return found
    }

    /// Returns whether the operation changes only values of the entity.
    private func isUpdate(_ pending: PendingOperation, ofOnly entity: EntityID) -> Bool {
        if case .update(entity, _, let bindings) = pending.operation.action { bindings.isEmpty } else { false }
    }
}
