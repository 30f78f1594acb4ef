import EDM
import Operations
import SyncCore

extension PendingOperation {
    /// The operation as its effect can be seen when all of these have taken effect: what one of them says of an entity, a later
    /// one may have said otherwise, in a request of its own or in one for both. So each of them is found, or none.
    ///
    /// - Parameter members: operations that took effect together or not at all, in order.
    func withFinalValues(among members: [PendingOperation]) -> PendingOperation {
        func merged(_ entity: EntityID, into values: PropertyValues) -> PropertyValues {
            var values = values
            for member in members {
                if case .update(entity, let changes, _) = member.operation.action { values.merge(changes) }
            }
            return values
        }
        var result = self
        switch operation.action {
        case .create(var creation, let parent):
            creation.values = merged(creation.entity, into: creation.values)
            result.operation.action = .create(creation, parent: parent)
        case .update(let entity, let changes, let bindings):
            result.operation.action = .update(entity, changes: merged(entity, into: changes), bindings: bindings)
        case .delete, .createLink, .updateLink, .deleteLink: break
        }
        return result
    }
}
