import EDM
import ODataWire
import Operations

/// An order of the operations of a change set in which as many as possible are sent with an ETag.
///
/// A link may change the ETag of either end, so a later update is sent without one and could overwrite changes of other
/// clients. An update without links therefore moves before the first link of its entity. A `PUT` then repeats the
/// dependent properties as they were before the link. Otherwise the order is the app's.
struct GuardedUpdateOrder<Storage: StateReader> {
    let resolver: EntityResolver<Storage>

    func sorted(_ operations: [PendingOperation]) throws(StateError) -> [PendingOperation] {
        /// Each operation, with the updates that precede it.
        var places: [(guarded: [PendingOperation], operation: PendingOperation)] = []
        var firstLinks: [EntityID: Int] = [:]
        /// Entities whose updates do not move, because the order of operations on one entity matters.
        var fixed: Set<EntityID> = []
        /// The dependent properties of the links so far. An update of them follows the link that it replaces.
        var linked: [EntityID: Set<String>] = [:]
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
                    if firstLinks[entity] != nil || !bindings.isEmpty { fixed.insert(entity) }
                    break
                }
                places[place].guarded.append(pending)
                continue
            case .delete(let entity): fixed.insert(entity)
            case .create, .createLink, .updateLink, .deleteLink: break
            }
            for entity in pending.operation.referencedEntities where !isUpdate(pending, ofOnly: entity) {
                if firstLinks[entity] == nil { firstLinks[entity] = places.count }
            }
            for dependent in try dependents(of: pending.operation) {
                linked[dependent.entity, default: []].formUnion(dependent.properties)
            }
            places.append(([], pending))
        }
        return places.flatMap { $0.guarded + [$0.operation] }
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

    /// Returns whether the operation changes only values of the entity.
    private func isUpdate(_ pending: PendingOperation, ofOnly entity: EntityID) -> Bool {
        if case .update(entity, _, let bindings) = pending.operation.action { bindings.isEmpty } else { false }
    }
}
