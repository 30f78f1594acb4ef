import EDM
import Operations

/// An order of the operations of a change set in which as many as possible are sent with an ETag.
///
/// A new or ended link may change the ETag of either end, so a later update would be sent without one and could
/// overwrite changes of other clients. An update without links therefore moves before the first operation that links or
/// unlinks its entity; a deletion unlinks an entity if its dependent properties change. A `PUT` then repeats the
/// dependent properties as they were before. A deletion moves before the deletion of an entity that it depends on.
/// Otherwise the order is the app's, and a check of the ETag precedes the link; see
/// ``RequestPlanner/addCheck(before:)``.
struct GuardedUpdateOrder {
    let resolver: EntityResolver<WorkingSet>

    /// Operations in this order.
    ///
    /// An operation that ends links of other entities, and thereby changes their dependent properties, has these entities
    /// at its index in `unlinked`. Later updates and deletions of an entity that it links or unlinks are at its index in
    /// `unguarded`.
    typealias OrderedOperations = (
        operations: [PendingOperation], unlinked: [Int: [EntityID]], unguarded: [Int: [PendingOperation]]
    )

    private struct OperationPlace {
        var guarded: [PendingOperation] = []
        let last: PendingOperation
        let unlinked: [EntityID]
        var unguarded: [PendingOperation] = []
        /// The entities that the operations read or change.
        var touched: EntityIDs
    }

    /// Returns the operations in this order.
    func sorted(_ operations: [PendingOperation]) throws(StateError) -> OrderedOperations {
        // Only requests with ETags move, or depend on the links that earlier operations end.
        guard operations.count > 1, operations.contains(where: \.operation.maySendETag) else {
            return (operations, [:], [:])
        }
        /// Each operation, with the updates that precede it, and the requests that follow it without an ETag.
        var places: [OperationPlace] = []
        var firstLinks: [EntityID: Int] = [:]
        /// Entities whose updates do not move, because the order of operations on one entity matters.
        var fixed: Set<EntityID> = []
        /// The dependent properties of the links so far. An update of them follows the link that it replaces.
        var linked: [EntityID: Set<String>] = [:]
        /// The entities whose ETags may have changed.
        var changed: Set<EntityID> = []
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
                places[place].touched.insert(entity)
                continue
            case .delete(let entity):
                fixed.insert(entity)
                guard changed.contains(entity), let place = firstLinks[entity],
                    try resolver.sharedServiceRow(entity)?.row.etag != nil
                else { break }
                guard try canMove(pending.operation, before: places[place...], tracker) else {
                    places[place].unguarded.append(pending)
                    break
                }
                let footprint = try resolver.footprint(pending.operation, &tracker)
                places[place].guarded.append(pending)
                places[place].touched.formUnion(footprint.entities)
                continue
            case .create, .createLink, .updateLink, .deleteLink: break
            }
            let (footprint, ended) = try resolver.follow(pending.operation, &tracker)
            var unlinked = try self.unlinked(ended, by: pending.operation)
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
            changed.formUnion(referenced + others.map(\.entity))
            places.append(
                OperationPlace(last: pending, unlinked: others.map(\.entity), touched: footprint.entities))
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

    /// Returns whether the deletion can be the first of the operations: the former first one deletes an entity that the
    /// deleted one depends on, no other of them concerns the same entities, and the deletion changes no other entity.
    private func canMove(
        _ deletion: Operation, before places: ArraySlice<OperationPlace>, _ tracker: LinkTracker<WorkingSet>
    ) throws(StateError) -> Bool {
        guard let first = places.first, case .delete(let principal) = first.last.operation.action else { return false }
        var tracker = tracker
        let (footprint, ended) = try resolver.follow(deletion, &tracker)
        let entities = footprint.entities
        let changed = try unlinked(ended, by: deletion).filter { !$0.properties.isEmpty }.map(\.entity)
        guard try !LinkTracker(resolver).deleted(with: deletion.subject).contains(principal) else { return false }
        return changed.allSatisfy { $0 == deletion.subject }
            && !first.unguarded.contains { entities.contains($0.operation.subject) }
            && places.dropFirst().allSatisfy { !$0.touched.contains(where: entities.contains) }
    }

    /// Returns the entities that lose a link by the operation, with the dependent properties that change thereby.
    private func unlinked(
        _ ended: [EndedLink], by operation: Operation
    ) throws(StateError) -> [(entity: EntityID, properties: [String])] {
        var found: [(entity: EntityID, properties: [String])] = []
        for link in ended {
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
