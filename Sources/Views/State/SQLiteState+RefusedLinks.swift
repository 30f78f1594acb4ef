import EDM
import Operations
import SyncCore

extension SQLiteState {
    /// Returns whether the service has rejected an operation that changes the link. Cost: one lookup for each operation
    /// that refers to one of its ends.
    func isRefused(_ link: LinkRow, _ model: EntityDataModel) throws(StateError) -> Bool {
        guard try hasRejected() else { return false }
        let sequences = Set(try pendingOperations(naming: link.first) + pendingOperations(naming: link.second))
        for sequence in sequences.sorted() {
            guard let pending = try pendingOperation(sequence), pending.status.kind == .rejected else { continue }
            if try makes(pending.operation, link, model) { return true }
        }
        return false
    }

    private func makes(_ operation: Operation, _ link: LinkRow, _ model: EntityDataModel) throws(StateError) -> Bool {
        switch operation.action {
        case .create(let creation, let parent):
            if let parent, try isAlong(parent.navigation, parent.entity, creation.entity, link, model) { return true }
            return try makes(creation, link, model)
        case .update(let entity, let changes, let bindings):
            for binding in bindings {
                for target in binding.targets where try isAlong(binding.navigation, entity, target, link, model) {
                    return true
                }
            }
            guard entity == link.first || entity == link.second, let type = try type(of: entity, model) else {
                return false
            }
            return Self.names(link, changes, type)
        case .delete: return false
        case .createLink(let made), .updateLink(let made), .deleteLink(let made):
            return try isAlong(made.navigation, made.from, made.to, link, model)
        }
    }

    private func makes(_ creation: Creation, _ link: LinkRow, _ model: EntityDataModel) throws(StateError) -> Bool {
        for binding in creation.bindings {
            for target in binding.targets
            where try isAlong(binding.navigation, creation.entity, target, link, model) { return true }
        }
        for inline in creation.inline {
            for child in inline.entities {
                if try isAlong(inline.navigation, creation.entity, child.entity, link, model) { return true }
                if try makes(child, link, model) { return true }
            }
        }
        guard creation.entity == link.first || creation.entity == link.second,
            let type = model.findEntityType(creation.type)
        else { return false }
        return Self.names(link, creation.values, type)
    }

    /// Returns whether the values set dependent properties of the link's relationship.
    private static func names(_ link: LinkRow, _ values: PropertyValues, _ type: EntityType) -> Bool {
        type.navigationProperties.contains { property in
            guard let end = property.navigation, end.relationship.name == link.relationship else { return false }
            return end.constraints.contains { values[$0.dependent] != nil }
        }
    }

    private func isAlong(
        _ navigation: String, _ from: EntityID, _ to: EntityID, _ link: LinkRow, _ model: EntityDataModel
    ) throws(StateError) -> Bool {
        guard from == link.first && to == link.second || from == link.second && to == link.first else { return false }
        let end = try type(of: from, model)?.findProperty(navigation)?.navigation
        return end?.relationship.name == link.relationship
    }

    private func type(of id: EntityID, _ model: EntityDataModel) throws(StateError) -> EntityType? {
        if let row = try row(id) { return model.findEntityType(row.type) }
        return try set(of: id).flatMap { model.findEntitySet($0)?.entityType }
    }
}
