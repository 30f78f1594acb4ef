package import EDM
package import Operations

/// Separates the parts of an action that exist only in the store from those for the service.
///
/// An entity of a client-only set exists only in the store, with everything that an action does to it. Of an entity of
/// the service, this holds for client-only properties, and for links along client-only navigation properties.
package struct ClientOnlySplit {
    /// An action that consists only of client-only changes, or of none.
    package struct PartialAction: Sendable, Hashable {
        package var action: Operation.Action
        package var isClientOnly: Bool

        package init(_ action: Operation.Action, isClientOnly: Bool) {
            self.action = action
            self.isClientOnly = isClientOnly
        }
    }

    private let storage: WorkingSet
    private let model: EntityDataModel

    package init(storage: WorkingSet, model: EntityDataModel) {
        self.storage = storage
        self.model = model
    }

    /// Returns the parts, in an order in which each refers only to entities that exist or that an earlier one creates.
    package func parts(of action: Operation.Action) throws(StateError) -> [PartialAction] {
        guard model.hasClientOnly else { return [PartialAction(action, isClientOnly: false)] }
        switch action {
        case .create(let creation, let parent): return try parts(of: creation, in: parent)
        case .update(let entity, let changes, let bindings):
            if try isClientOnly(entity) { return [PartialAction(action, isClientOnly: true)] }
            let type = try type(of: entity)
            let (ours, theirs) = separate(changes, bindings, type)
            guard !ours.isEmpty else { return [PartialAction(action, isClientOnly: false)] }
            let own = PartialAction(.update(entity, changes: ours.values, bindings: ours.bindings), isClientOnly: true)
            guard !theirs.isEmpty else { return [own] }
            let other = PartialAction(
                .update(entity, changes: theirs.values, bindings: theirs.bindings), isClientOnly: false)
            return [other, own]
        case .delete(let entity): return [PartialAction(action, isClientOnly: try isClientOnly(entity))]
        case .createLink(let link), .updateLink(let link), .deleteLink(let link):
            return [PartialAction(action, isClientOnly: try isOwn(link.navigation, of: link.from))]
        }
    }

    /// Returns whether an operation consists only of client-only changes.
    package func isClientOnly(_ operation: Operation) throws(StateError) -> Bool {
        guard operation.delivery == .localOnly, operation.stream == nil, operation.call == nil else { return false }
        let parts = try parts(of: operation.action)
        return parts.allSatisfy(\.isClientOnly)
    }

    // MARK: Creations

    private func parts(of creation: Creation, in parent: Parent?) throws(StateError) -> [PartialAction] {
        var before: [PartialAction] = []
        var after: [PartialAction] = []
        if isClientOnly(set: creation.set) {
            let own = try clientOnly(creation, &before)
            return before + [PartialAction(.create(own, parent: parent), isClientOnly: true)]
        }
        let own = try forService(creation, &after)
        guard let parent,
            try isOwn(parent.navigation, of: parent.entity)
        else { return [PartialAction(.create(own, parent: parent), isClientOnly: false)] + after }
        let link = Link(from: parent.entity, navigation: parent.navigation, to: creation.entity)
        return [PartialAction(.create(own, parent: nil), isClientOnly: false)] + after
            + [PartialAction(.createLink(link), isClientOnly: true)]
    }

    /// Returns the creation of an entity of the service without its client-only parts, which are added to `after`.
    private func forService(_ creation: Creation, _ after: inout [PartialAction]) throws(StateError) -> Creation {
        let type = model.findEntityType(creation.type)
        let (ours, theirs) = separate(creation.values, creation.bindings, type)
        var result = creation
        (result.values, result.bindings) = (theirs.values, theirs.bindings)
        if !ours.isEmpty {
            after.append(
                PartialAction(
                    .update(creation.entity, changes: ours.values, bindings: ours.bindings), isClientOnly: true))
        }
        result.inline = []
        for inline in creation.inline {
            var children: [Creation] = []
            for child in inline.entities {
                if isClientOnly(inline.navigation, type) || isClientOnly(set: child.set) {
                    let parent = Parent(entity: creation.entity, navigation: inline.navigation)
                    after += try separateChild(child, in: parent, type)
                } else {
                    children.append(try forService(child, &after))
                }
            }
            if !children.isEmpty {
                result.inline.append(Creation.Inline(navigation: inline.navigation, entities: children))
            }
        }
        return result
    }

    /// Returns the parts of a child that is linked to an entity of the service by a client-only navigation property.
    private func separateChild(
        _ child: Creation, in parent: Parent, _ type: EntityType?
    ) throws(StateError) -> [PartialAction] {
        if isClientOnly(set: child.set) { return try parts(of: child, in: parent) }
        let link = Link(from: parent.entity, navigation: parent.navigation, to: child.entity)
        return try parts(of: child, in: nil) + [PartialAction(.createLink(link), isClientOnly: true)]
    }

    /// Returns the creation of a client-only entity. Entities of the service in it are created before, and bound.
    private func clientOnly(_ creation: Creation, _ before: inout [PartialAction]) throws(StateError) -> Creation {
        var result = creation
        result.inline = []
        for inline in creation.inline {
            var children: [Creation] = []
            var bound: [EntityID] = []
            for child in inline.entities {
                if isClientOnly(set: child.set) {
                    children.append(try clientOnly(child, &before))
                } else {
                    before += try parts(of: child, in: nil)
                    bound.append(child.entity)
                }
            }
            if !children.isEmpty {
                result.inline.append(Creation.Inline(navigation: inline.navigation, entities: children))
            }
            if !bound.isEmpty { result.bindings.append(Binding(navigation: inline.navigation, targets: bound)) }
        }
        return result
    }

    // MARK: Elements

    private struct ElementContent {
        var values = PropertyValues()
        var bindings: [Binding] = []

        var isEmpty: Bool { values.isEmpty && bindings.isEmpty }
    }

    private func separate(
        _ values: PropertyValues, _ bindings: [Binding], _ type: EntityType?
    ) -> (ours: ElementContent, theirs: ElementContent) {
        var (ours, theirs) = (ElementContent(), ElementContent(values: values))
        for name in values.names where isClientOnly(name, type) {
            ours.values[name] = values[name]
            theirs.values[name] = nil
        }
        for binding in bindings {
            if isClientOnly(binding.navigation, type) {
                ours.bindings.append(binding)
            } else {
                theirs.bindings.append(binding)
            }
        }
        return (ours, theirs)
    }

    private func isClientOnly(_ property: String, _ type: EntityType?) -> Bool {
        type?.findProperty(property)?.isClientOnly == true
    }

    /// Returns whether links of an entity along a navigation property are client-only.
    private func isOwn(_ navigation: String, of entity: EntityID) throws(StateError) -> Bool {
        if try isClientOnly(entity) { return true }
        return isClientOnly(navigation, try type(of: entity))
    }

    private func isClientOnly(set: String) -> Bool { model.findEntitySet(set)?.isClientOnly == true }

    private func isClientOnly(_ entity: EntityID) throws(StateError) -> Bool {
        guard let set = try storage.set(of: entity) else { return false }
        return isClientOnly(set: set)
    }

    private func type(of entity: EntityID) throws(StateError) -> EntityType? {
        if let row = try storage.row(entity) { return model.findEntityType(row.type) }
        guard let set = try storage.set(of: entity) else { return nil }
        return model.findEntitySet(set)?.entityType
    }
}
