import EDM
import Operations
import SyncCore

/// Entities that a trail does not follow and that its operations link to: they have to be there, or the link would not be.
struct MissingEnds {
    let followed: Set<EntityID>
    let storage: MemoryState

    func make(for operation: Operation, _ model: EntityDataModel) {
        switch operation.action {
        case .create(let creation, let parent):
            if let parent { make(parent.entity, leadingTo: creation.set, by: parent.navigation, model) }
            var left = [creation]
            while let creation = left.popLast() {
                make(creation.bindings, of: creation.set, model)
                left += creation.inline.flatMap(\.entities)
            }
        case .update(let entity, _, let bindings):
            if let set = storage.set(of: entity) { make(bindings, of: set, model) }
        case .delete: break
        case .createLink(let link), .updateLink(let link), .deleteLink(let link):
            if let set = storage.set(of: link.from) {
                make(link.to, set: target(link.navigation, of: set, model), model)
            } else if let set = storage.set(of: link.to) {
                make(link.from, leadingTo: set, by: link.navigation, model)
            }
        }
    }

    private func make(_ bindings: [Binding], of set: String, _ model: EntityDataModel) {
        for binding in bindings {
            for target in binding.targets { make(target, set: self.target(binding.navigation, of: set, model), model) }
        }
    }

    private func target(_ navigation: String, of set: String, _ model: EntityDataModel) -> EntitySet? {
        guard let set = model.findEntitySet(set), let property = set.entityType.findProperty(navigation) else {
            return nil
        }
        return model.target(of: property, in: set)
    }

    private func make(_ id: EntityID, leadingTo set: String, by navigation: String, _ model: EntityDataModel) {
        make(id, set: model.entitySets.first { target(navigation, of: $0.name, model)?.name == set }, model)
    }

    private func make(_ id: EntityID, set: EntitySet?, _ model: EntityDataModel) {
        guard let set, !followed.contains(id), storage.row(id) == nil else { return }
        storage.register(id, set: set.name)
        storage.putRow(EntityRow(id: id, set: set.name, type: set.entityType.name, values: [:], origin: .service))
    }
}
