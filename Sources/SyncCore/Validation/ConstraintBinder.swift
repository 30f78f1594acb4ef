package import EDM
package import Operations

/// Adds bindings to dependent properties that refer to a new local entity. The service may assign another key to that
/// entity, and only an ID remains valid.
package struct ConstraintBinder {
    private let storage: WorkingSet
    private let model: EntityDataModel

    package init(storage: WorkingSet, model: EntityDataModel) {
        self.storage = storage
        self.model = model
    }

    /// Returns the action with such bindings, derived from the state before the action.
    package func binding(_ action: Operation.Action) throws(StateError) -> Operation.Action {
        switch action {
        case .create(let creation, let parent):
            let owner = try parent.flatMap { p throws(StateError) in
                try storage.row(p.entity).flatMap { model.findEntityType($0.type)?.findProperty(p.navigation) }
            }
            return .create(try binding(creation, through: owner), parent: parent)
        case .update(let id, let changes, let bindings):
            guard let row = try storage.row(id) else { return action }
            let added = try self.bindings(of: row.set, type: row.type, changes, besides: bindings.map(\.navigation))
            return .update(id, changes: changes, bindings: bindings + added)
        case .delete, .createLink, .updateLink, .deleteLink: return action
        }
    }

    /// Returns the creation with such bindings.
    ///
    /// - Parameter owner: The navigation property that the entity is created through, which already defines the link.
    private func binding(_ creation: Creation, through owner: Property?) throws(StateError) -> Creation {
        var creation = creation
        let type = model.findEntityType(creation.type)
        var known = creation.bindings.map(\.navigation) + creation.inline.map(\.navigation)
        if let back = owner?.navigation?.partner { known.append(back) }
        creation.bindings += try bindings(of: creation.set, type: creation.type, creation.values, besides: known)
        for level in creation.inline.indices {
            let property = type?.findProperty(creation.inline[level].navigation)
            for child in creation.inline[level].entities.indices {
                creation.inline[level].entities[child] = try binding(
                    creation.inline[level].entities[child], through: property)
            }
        }
        return creation
    }

    private func bindings(
        of set: String, type: String, _ values: PropertyValues, besides known: [String]
    ) throws(StateError) -> [Binding] {
        guard let set = model.findEntitySet(set), let type = model.findEntityType(type) else { return [] }
        let keys = type.keyProperties.map(\.name)
        var bindings: [Binding] = []
        for property in type.navigationProperties where !property.isCollection && !known.contains(property.name) {
            guard let pairs = property.navigation?.constraints, !pairs.isEmpty,
                let target = model.principalSet(of: property, in: set, from: type),
                !pairs.contains(where: { keys.contains($0.dependent) })
            else { continue }
            let named = pairs.compactMap { pair in
                values[pair.dependent].map { (property: pair.principal, value: $0) }
            }
            guard named.count == pairs.count, !named.contains(where: { $0.value == .null }),
                let principal = try storage.findRows(set: target.name, where: named).first,
                try storage.row(principal)?.origin == .local
            else { continue }
            bindings.append(Binding(navigation: property.name, targets: [principal]))
        }
        return bindings
    }
}
