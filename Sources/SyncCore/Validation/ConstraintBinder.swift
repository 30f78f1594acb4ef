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
        case .create(var creation, let parent):
            try bind(&creation, in: parent)
            return .create(creation, parent: parent)
        case .update(let id, let changes, let bindings):
            guard let row = try storage.row(id) else { return action }
            let added = try self.bindings(of: row.set, model.findEntityType(row.type), changes) { name in
                bindings.contains { $0.navigation == name }
            }
            return added.isEmpty ? action : .update(id, changes: changes, bindings: bindings + added)
        case .delete, .createLink, .updateLink, .deleteLink: return action
        }
    }

    /// Adds such bindings to a creation.
    package func bind(_ creation: inout Creation, in parent: Parent?) throws(StateError) {
        let owner = try parent.flatMap { p throws(StateError) in
            try storage.row(p.entity).flatMap { model.findEntityType($0.type)?.findProperty(p.navigation) }
        }
        try bind(&creation, through: owner)
    }

    /// - Parameter owner: The navigation property that the entity is created through, which already defines the link.
    private func bind(_ creation: inout Creation, through owner: Property?) throws(StateError) {
        let type = model.findEntityType(creation.type)
        let added = try bindings(of: creation.set, type, creation.values) { name in
            creation.bindings.contains { $0.navigation == name } || creation.inline.contains { $0.navigation == name }
                || owner?.navigation?.partner == name
        }
        creation.bindings += added
        for level in creation.inline.indices {
            let property = type?.findProperty(creation.inline[level].navigation)
            for child in creation.inline[level].entities.indices {
                try bind(&creation.inline[level].entities[child], through: property)
            }
        }
    }

    /// - Parameter isKnown: Returns whether the action already defines the target of a navigation property.
    private func bindings(
        of set: String, _ type: EntityType?, _ values: PropertyValues, besides isKnown: (_ name: String) -> Bool
    ) throws(StateError) -> [Binding] {
        var bindings: [Binding] = []
        guard let type else { return bindings }
        for property in type.dependentNavigationProperties where !property.isCollection && !isKnown(property.name) {
            guard let pairs = property.navigation?.constraints, let set = model.findEntitySet(set),
                let target = model.principalSet(of: property, in: set, from: type),
                !pairs.contains(where: { pair in type.keyProperties.contains { $0.name == pair.dependent } })
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
