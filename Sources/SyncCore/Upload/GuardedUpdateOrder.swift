import EDM
import ODataWire
import Operations

/// An order of the operations of a change set in which as many as possible are sent with an ETag.
///
/// A link may change the ETag of either end, so a later update is sent without one and could overwrite changes of other
/// clients. An update without links therefore moves before the first link of its entity. Otherwise the order is the
/// app's.
struct GuardedUpdateOrder<Storage: StateReader> {
    let resolver: EntityResolver<Storage>
    /// Whether an update is a `PUT`, which repeats all values of its entity. Links change some of them if the entity has
    /// a referential constraint; its updates do not move.
    let repeatsValues: Bool

    func sorted(_ operations: [PendingOperation]) throws(StateError) -> [PendingOperation] {
        /// Each operation, with the updates that precede it.
        var places: [(guarded: [PendingOperation], operation: PendingOperation)] = []
        var firstLinks: [EntityID: Int] = [:]
        /// Entities whose updates do not move, because the order of operations on one entity matters.
        var fixed: Set<EntityID> = []
        for pending in operations {
            switch pending.operation.action {
            // Neither a call nor a change after it moves.
            case _ where pending.operation.call != nil: fixed.formUnion(pending.operation.referencedEntities)
            case .update(let entity, let changes, let bindings):
                guard let place = firstLinks[entity], bindings.isEmpty, !fixed.contains(entity),
                    try resolver.serviceRow(entity)?.etag != nil,
                    try !sendsValuesOfLinks(entity, in: pending.operation),
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
            places.append(([], pending))
        }
        return places.flatMap { $0.guarded + [$0.operation] }
    }

    /// Returns whether an update of the entity contains values that links determine.
    private func sendsValuesOfLinks(_ entity: EntityID, in operation: Operation) throws(StateError) -> Bool {
        guard repeatsValues else { return false }
        guard let type = try resolver.entityType(of: entity, in: operation) else { return true }
        return type.navigationProperties.contains { $0.navigation?.constraints.isEmpty == false }
    }

    /// Returns whether the operation changes only values of the entity.
    private func isUpdate(_ pending: PendingOperation, ofOnly entity: EntityID) -> Bool {
        if case .update(entity, _, let bindings) = pending.operation.action { bindings.isEmpty } else { false }
    }
}
