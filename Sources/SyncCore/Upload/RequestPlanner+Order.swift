import EDM
import ODataWire
import Operations

extension RequestPlanner {
    /// The operations of a change set in an order in which what can go under an ETag does.
    ///
    /// A link may change the ETag of either end, so what comes behind it asks for none, and would overwrite what others have
    /// changed. An update that says nothing of links goes in front of the first one that concerns its entity, and no further:
    /// otherwise the order is the app's.
    func guardedFirst(_ operations: [PendingOperation]) throws(StateError) -> [PendingOperation] {
        // What a PUT repeats depends on the links before it.
        guard options.supportsPatch, operations.count > 1 else { return operations }
        /// Each operation, with the updates that go in front of it.
        var places: [(guarded: [PendingOperation], operation: PendingOperation)] = []
        var firstLinks: [EntityID: Int] = [:]
        /// Entities whose updates stay where they are: the order of what is said of one entity matters.
        var fixed: Set<EntityID> = []
        for pending in operations {
            switch pending.operation.action {
            case .update(let entity, let changes, let bindings):
                guard let place = firstLinks[entity], bindings.isEmpty, !fixed.contains(entity),
                    try resolver.serviceRow(entity)?.etag != nil,
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

    /// Whether nothing but values of the entity are said.
    private func isUpdate(_ pending: PendingOperation, ofOnly entity: EntityID) -> Bool {
        if case .update(entity, _, let bindings) = pending.operation.action { bindings.isEmpty } else { false }
    }
}
