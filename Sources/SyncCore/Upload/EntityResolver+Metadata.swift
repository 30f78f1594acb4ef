import EDM
import Operations

/// The metadata elements that an operation uses. They were checked when the operation was created, but the metadata may
/// have changed since, or their record may be lost.
extension EntityResolver {
    /// Returns the first element that the operation uses and the metadata lack, such as `entity set Orders`.
    func missingName(in operation: Operation) throws(StateError) -> String? {
        if let call = operation.call, case .failure(let misfit) = try invocation(call, in: operation) {
            return misfit.missing ?? "action \(call.name) in this form"
        }
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
        // For an unknown entity nothing is checked; the planner holds the operation for another reason.
        guard let type = try entityType(of: entity, in: operation) else { return nil }
        return type.findProperty(navigation) == nil ? "property \(navigation)" : nil
    }

    private func missingName(in creation: Creation) -> String? {
        if model.findEntitySet(creation.set) == nil { return "entity set \(creation.set)" }
        guard let type = model.findEntityType(creation.type) else { return "type \(creation.type)" }
        for binding in creation.bindings where type.findProperty(binding.navigation) == nil {
            return "property \(binding.navigation)"
        }
        for level in creation.inline where type.findProperty(level.navigation) == nil {
            return "property \(level.navigation)"
        }
        return creation.inline.lazy.flatMap(\.entities).compactMap(missingName).first
    }
}
