import EDM
import Operations

/// What an operation needs of the metadata. It was checked when the operation was made; the metadata may have changed since,
/// or the record that brought them may be lost.
extension EntityResolver {
    /// The first name that the operation uses and the metadata do not have, as in `entity set Orders`.
    func missingName(in operation: Operation) throws(StateError) -> String? {
        switch operation.action {
        case .create(let creation, let parent):
            if let missing = missingName(in: creation) { return missing }
            guard let parent else { return nil }
            return try missingName(parent.navigation, of: parent.entity, in: operation)
        case .update(let entity, _, let bindings):
            for binding in bindings {
                if let missing = try missingName(binding.navigation, of: entity, in: operation) { return missing }
            }
            return nil
        case .delete: return nil
        case .createLink(let link), .updateLink(let link), .deleteLink(let link):
            return try missingName(link.navigation, of: link.from, in: operation)
        }
    }

    private func missingName(
        _ navigation: String, of entity: EntityID, in operation: Operation
    ) throws(StateError) -> String? {
        // Of an entity that is not known here nothing can be said; the planner holds the operation for that.
        guard let type = try entityType(of: entity, in: operation) else { return nil }
        return type.findProperty(navigation) == nil ? "property \(navigation)" : nil
    }

    private func missingName(in creation: Creation) -> String? {
        if model.findEntitySet(creation.set) == nil { return "entity set \(creation.set)" }
        guard let type = model.findEntityType(creation.type) else { return "type \(creation.type)" }
        for name in creation.bindings.map(\.navigation) + creation.inline.map(\.navigation)
        where type.findProperty(name) == nil {
            return "property \(name)"
        }
        return creation.inline.lazy.flatMap(\.entities).compactMap(missingName).first
    }
}
