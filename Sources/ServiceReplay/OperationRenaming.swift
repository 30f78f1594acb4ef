import Operations

/// The adaptation of an operation to another store, in which entities have other IDs.
struct OperationRenaming {
    /// The new IDs by the original ones.
    let names: [EntityID: EntityID]

    private struct UnknownEntity: Error {}

    /// Returns the operation with the new IDs, or nil if one of its entities has none.
    func renamed(_ operation: Operation) -> Operation? {
        var operation = operation
        do throws(UnknownEntity) {
            operation.action = try renamed(operation.action)
            operation.call = try operation.call.map(renamed)
            if case .entity(let entity)? = operation.uploadCategory {
                operation.uploadCategory = .entity(try name(entity))
            }
            for index in operation.headerTemplates.indices {
                for part in operation.headerTemplates[index].parts.indices {
                    guard case .key(let entity, let property) = operation.headerTemplates[index].parts[part] else {
                        continue
                    }
                    operation.headerTemplates[index].parts[part] = .key(try name(entity), property: property)
                }
            }
            return operation
        } catch {
            return nil
        }
    }

    private func name(_ entity: EntityID) throws(UnknownEntity) -> EntityID {
        guard let name = names[entity] else { throw UnknownEntity() }
        return name
    }

    private func renamed(_ action: Operation.Action) throws(UnknownEntity) -> Operation.Action {
        switch action {
        case .create(let creation, let parent):
            return .create(
                try creation.map(identity: name, reference: name),
                parent: try parent.map { p throws(UnknownEntity) in try p.map(name) })
        case .update(.unbound, _, _): return action
        case .update(let entity, let changes, let bindings):
            return .update(
                try name(entity), changes: changes,
                bindings: try bindings.map { b throws(UnknownEntity) in try b.map(name) })
        case .delete(let entity): return .delete(try name(entity))
        case .createLink(let link): return .createLink(try renamed(link))
        case .updateLink(let link): return .updateLink(try renamed(link))
        case .deleteLink(let link): return .deleteLink(try renamed(link))
        }
    }

    private func renamed(_ call: ActionCall) throws(UnknownEntity) -> ActionCall {
        var call = call
        switch call.binding {
        case .entity(let entity): call.binding = .entity(try name(entity))
        case .property(let property, of: let entity): call.binding = .property(property, of: try name(entity))
        case .set, nil: break
        }
        for index in call.arguments.indices {
            switch call.arguments[index].content {
            case .value: break
            case .entity(let entity): call.arguments[index].content = .entity(try renamed(entity))
            case .entities(let entities): call.arguments[index].content = .entities(try entities.map(renamed))
            }
        }
        return call
    }

    private func renamed(_ entity: ActionCall.Entity) throws(UnknownEntity) -> ActionCall.Entity {
        guard case .reference(let id) = entity else { return entity }
        return .reference(try name(id))
    }

    private func renamed(_ link: Link) throws(UnknownEntity) -> Link {
        Link(from: try name(link.from), navigation: link.navigation, to: try name(link.to))
    }
}
