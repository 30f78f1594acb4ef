import EDM
import Operations
import SyncCore

/// The links that rejected operations change.
struct RefusedLinks<State: StateReader> {
    let state: State
    let model: EntityDataModel

    /// Returns whether the service has rejected an operation that changes the link. Cost: one lookup for each operation
    /// that refers to one of its ends.
    func contains(_ link: LinkRow) throws(StateError) -> Bool {
        guard try state.hasRejected() else { return false }
        let sequences = Set(
            try state.pendingOperations(naming: link.first) + state.pendingOperations(naming: link.second))
        for sequence in sequences.sorted() {
            guard let pending = try state.pendingOperation(sequence), pending.status.kind == .rejected else { continue }
            if try makes(pending.operation, link) { return true }
        }
        return false
    }

    private func makes(_ operation: Operation, _ link: LinkRow) throws(StateError) -> Bool {
        switch operation.action {
        case .create(let creation, let parent):
            if let parent, try isAlong(parent.navigation, parent.entity, creation.entity, link) { return true }
            return try makes(creation, link)
        case .update(let entity, let changes, let bindings):
            for binding in bindings {
                for target in binding.targets where try isAlong(binding.navigation, entity, target, link) {
                    return true
                }
            }
            guard entity == link.first || entity == link.second, let type = try type(of: entity) else {
                return false
            }
            return Self.names(link, changes, type)
        case .delete: return false
        case .createLink(let made), .updateLink(let made), .deleteLink(let made):
            return try isAlong(made.navigation, made.from, made.to, link)
        }
    }

    private func makes(_ creation: Creation, _ link: LinkRow) throws(StateError) -> Bool {
        for binding in creation.bindings {
            for target in binding.targets
            where try isAlong(binding.navigation, creation.entity, target, link) { return true }
        }
        for inline in creation.inline {
            for child in inline.entities {
                if try isAlong(inline.navigation, creation.entity, child.entity, link) { return true }
                if try makes(child, link) { return true }
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
        _ navigation: String, _ from: EntityID, _ to: EntityID, _ link: LinkRow
    ) throws(StateError) -> Bool {
        guard from == link.first && to == link.second || from == link.second && to == link.first else { return false }
        let end = try type(of: from)?.findProperty(navigation)?.navigation
        return end?.relationship.name == link.relationship
    }

    private func type(of id: EntityID) throws(StateError) -> EntityType? {
        if let row = try state.row(id) { return model.findEntityType(row.type) }
        return try state.set(of: id).flatMap { model.findEntitySet($0)?.entityType }
    }
}
