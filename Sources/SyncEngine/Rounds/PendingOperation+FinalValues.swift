import EDM
import Operations
import SyncCore

extension PendingOperation {
    /// Returns the operation with the values that are visible after all members have taken effect.
    ///
    /// A later member may overwrite a value of an earlier one, in a request of its own or in a joint one. With the
    /// final values, either all members are found or none.
    ///
    /// - Parameter members: Operations that took effect all or none, in order.
    func withFinalValues(among members: [PendingOperation]) -> PendingOperation {
        func merged(_ entity: EntityID, into values: PropertyValues) -> PropertyValues {
            var values = values
            for member in members {
                guard case .update(entity, let changes, _) = member.operation.action else { continue }
                guard member.operation.call == nil else {
                    // The values after an action are those of the service.
                    for name in changes.names { values[name] = nil }
                    continue
                }
                values.merge(changes)
            }
            return values
        }
        var result = self
        switch operation.action {
        case _ where operation.call != nil: break
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
