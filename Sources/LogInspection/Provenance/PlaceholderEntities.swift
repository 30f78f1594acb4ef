import EDM
import Operations
import SyncCore

/// Creates placeholders for entities outside a trail to which its operations link. Without them the links would not
/// exist.
struct PlaceholderEntities {
    let followed: Set<EntityID>
    let storage: WorkingSet

    func make(for operation: Operation, _ model: EntityDataModel) throws(StateError) {
        switch operation.action {
        case .create(let creation, let parent):
            if let parent { try make(parent.entity, leadingTo: creation.set, by: parent.navigation, model) }
            var left = [creation]
            while let creation = left.popLast() {
                try make(creation.bindings, of: creation.set, model)
                left += creation.inline.flatMap(\.entities)
            }
        case .update(let entity, _, let bindings):
            if let set = try storage.set(of: entity) { try make(bindings, of: set, model) }
        case .delete: break
        case .createLink(let link), .updateLink(let link), .deleteLink(let link):
            if let set = try storage.set(of: link.from) {
                try make(link.to, set: target(link.navigation, of: set, model), model)
            } else if let set = try storage.set(of: link.to) {
                try make(link.from, leadingTo: set, by: link.navigation, model)
            }
        }
    }

    private func make(_ bindings: [Binding], of set: String, _ model: EntityDataModel) throws(StateError) {
        for binding in bindings {
            for target in binding.targets {
                try make(target, set: self.target(binding.navigation, of: set, model), model)
            }
        }
    }

    private func target(_ navigation: String, of set: String, _ model: EntityDataModel) -> EntitySet? {
        guard let set = model.findEntitySet(set), let property = set.entityType.findProperty(navigation) else {
            return nil
        }
        return model.target(of: property, in: set)
    }

    private func make(_ id: EntityID, leadingTo set: String, by navigation: String, _ model: EntityDataModel)
        throws(StateError)
    {
        try make(id, set: model.entitySets.first { target(navigation, of: $0.name, model)?.name == set }, model)
    }

    private func make(_ id: EntityID, set: EntitySet?, _ model: EntityDataModel) throws(StateError) {
        guard let set, !followed.contains(id), try storage.row(id) == nil else { return }
        try storage.register(id, set: set.name)
        try storage.putRow(EntityRow(id: id, set: set.name, type: set.entityType.name, values: [:], origin: .service))
    }
}
