import Operations

/// The adaptation of an operation to another store, in which entities have other IDs.
struct OperationRenaming {
    /// The new IDs by the original ones.
    let names: [EntityID: EntityID]

    /// Returns the operation with the new IDs, or nil if one of its entities has none.
    func renamed(_ operation: Operation) -> Operation? {
        guard let action = renamed(operation.action) else { return nil }
        var operation = operation
        operation.action = action
        if let call = operation.call {
            guard let call = renamed(call) else { return nil }
            operation.call = call
        }
        if case .entity(let entity)? = operation.uploadCategory {
            guard let name = names[entity] else { return nil }
            operation.uploadCategory = .entity(name)
        }
        for index in operation.headerTemplates.indices {
            for part in operation.headerTemplates[index].parts.indices {
                guard case .key(let entity, let property) = operation.headerTemplates[index].parts[part] else {
                    continue
                }
                guard let name = names[entity] else { return nil }
                operation.headerTemplates[index].parts[part] = .key(name, property: property)
            }
        }
        return operation
    }

    private func renamed(_ action: Operation.Action) -> Operation.Action? {
        switch action {
        case .create(let creation, let parent):
            guard let creation = renamed(creation) else { return nil }
            guard let parent else { return .create(creation, parent: nil) }
            return names[parent.entity].map {
                .create(creation, parent: Parent(entity: $0, navigation: parent.navigation))
            }
        case .update(.unbound, _, _): return action
        case .update(let entity, let changes, let bindings):
            guard let name = names[entity], let bindings = renamed(bindings) else { return nil }
            return .update(name, changes: changes, bindings: bindings)
        case .delete(let entity): return names[entity].map { .delete($0) }
        case .createLink(let link): return renamed(link).map { .createLink($0) }
        case .updateLink(let link): return renamed(link).map { .updateLink($0) }
        case .deleteLink(let link): return renamed(link).map { .deleteLink($0) }
        }
    }

    private func renamed(_ call: ActionCall) -> ActionCall? {
        var call = call
        switch call.binding {
        case .entity(let entity):
            guard let name = names[entity] else { return nil }
            call.binding = .entity(name)
        case .property(let property, of: let entity):
            guard let name = names[entity] else { return nil }
            call.binding = .property(property, of: name)
        case .set, nil: break
        }
        for index in call.arguments.indices {
            switch call.arguments[index].content {
            case .value: break
            case .entity(let entity):
                guard let entity = renamed(entity) else { return nil }
                call.arguments[index].content = .entity(entity)
            case .entities(let entities):
                let renamed = entities.compactMap { self.renamed($0) }
                guard renamed.count == entities.count else { return nil }
                call.arguments[index].content = .entities(renamed)
            }
        }
        return call
    }

    private func renamed(_ entity: ActionCall.Entity) -> ActionCall.Entity? {
        guard case .reference(let id) = entity else { return entity }
        return names[id].map { .reference($0) }
    }

    private func renamed(_ link: Link) -> Link? {
        guard let from = names[link.from], let to = names[link.to] else { return nil }
        return Link(from: from, navigation: link.navigation, to: to)
    }

    private func renamed(_ bindings: [Binding]) -> [Binding]? {
        var renamed = bindings
        for index in renamed.indices {
            for target in renamed[index].targets.indices {
                guard let name = names[renamed[index].targets[target]] else { return nil }
                renamed[index].targets[target] = name
            }
        }
        return renamed
    }

    /// Renames a creation. The recursion depth is bounded by the rules for deep inserts.
    private func renamed(_ creation: Creation) -> Creation? {
        guard let name = names[creation.entity], let bindings = renamed(creation.bindings) else { return nil }
        var result = creation
        result.entity = name
        result.bindings = bindings
        for level in creation.inline.indices {
            for index in creation.inline[level].entities.indices {
                guard let child = renamed(creation.inline[level].entities[index]) else { return nil }
                result.inline[level].entities[index] = child
            }
        }
        return result
    }
}
