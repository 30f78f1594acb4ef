import EDM
import ODataWire
import Operations

extension RequestPlanner {
    /// The operations of a change set in an order in which what can go under an ETag does.
    ///
    /// A link may change the ETag of either end, so what comes behind it asks for none, and would overwrite what others have
    /// changed. An update that says nothing of links comes to the same in front of them.
    func guardedFirst(_ operations: [PendingOperation]) throws(StateError) -> [PendingOperation] {
        // What a PUT repeats depends on the links before it.
        guard options.supportsPatch, operations.count > 1 else { return operations }
        var first: [PendingOperation] = []
        var rest: [PendingOperation] = []
        var entitiesOfRest: Set<EntityID> = []
        for pending in operations {
            switch pending.operation.action {
            case .update(let entity, let changes, let bindings)
            where bindings.isEmpty && !entitiesOfRest.contains(entity):
                if try resolver.serviceRow(entity)?.etag != nil,
                    try resolver.namedTargets(of: entity, changes, in: pending.operation).isEmpty
                {
                    first.append(pending)
                    continue
                }
                entitiesOfRest.insert(entity)
            case .update(let entity, _, _), .delete(let entity): entitiesOfRest.insert(entity)
            case .create, .createLink, .updateLink, .deleteLink: break
            }
            rest.append(pending)
        }
        return first + rest
    }
}
