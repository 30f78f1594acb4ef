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

    /// Returns the operation with the values that later updates of its entity set in its place, or nil if there are none.
    ///
    /// - Parameter others: Other operations in doubt, each of which may have taken effect.
    func withValuesOverwritten(by others: [PendingOperation]) -> PendingOperation? {
        let (entity, values): (EntityID, PropertyValues)
        switch operation.action {
        case .create(let creation, _): (entity, values) = (creation.entity, creation.values)
        case .update(let id, let changes, _): (entity, values) = (id, changes)
        case .delete, .createLink, .updateLink, .deleteLink: return nil
        }
        var final = values
        for other in others where other.sequence > sequence && other.operation.call == nil {
            guard case .update(entity, let changes, _) = other.operation.action else { continue }
            for item in changes where values[item.name] != nil { final[item.name] = item.value }
        }
        guard final != values else { return nil }
        var result = self
        switch operation.action {
        case .create(var creation, let parent):
            creation.values = final
            result.operation.action = .create(creation, parent: parent)
        case .update(_, _, let bindings): result.operation.action = .update(entity, changes: final, bindings: bindings)
        case .delete, .createLink, .updateLink, .deleteLink: break
        }
        return result
    }

    /// Returns whether this operation, sent again, may overwrite a value that a later update has set.
    ///
    /// - Parameter type: The type of the updated entity.
    func overwrites(_ later: PendingOperation, of type: EntityType) -> Bool {
        guard sequence < later.sequence, case .update(let entity, let changes, _) = later.operation.action else {
            return false
        }
        // A link also sets the dependent properties of its constraint.
        let isLinked = type.navigationProperties.contains { property in
            property.navigation?.constraints.contains { changes[$0.dependent] != nil } ?? false
        }
        switch operation.action {
        case .update(entity, let own, let bindings):
            return own.contains { changes[$0.name] != nil } || !bindings.isEmpty && isLinked
        case .createLink(let link), .updateLink(let link), .deleteLink(let link):
            return isLinked && (link.from == entity || link.to == entity)
        case .update, .create, .delete: return false
        }
    }
}
