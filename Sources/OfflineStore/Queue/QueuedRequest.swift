import EDM
import ODataWire
import Operations
import SyncCore
import Views

/// An operation as a single request with the store's own links, for display in the queue.
///
/// The request that is really sent contains real keys and may have another form; see the upload plan.
struct QueuedRequest {
    let state: WorkingSet
    let model: EntityDataModel
    let root: String
    let options: ServiceOptions

    /// Returns the request, or nil if the metadata no longer contain an element that the operation uses.
    func request(_ operation: Operation) throws -> WireRequest? {
        guard let action = try action(operation) else { return nil }
        let headers = HTTPHeaders(operation.headers.map { ($0.name, $0.value) })
        return RequestEncoder(version: model.version, model: model, serviceRoot: root, options: options).encode(
            DataModification(action, ifMatch: operation.baseETag, headers: headers))
    }

    private func action(_ operation: Operation) throws -> DataModification.Action? {
        if let call = operation.call {
            let found = try EntityResolver(storage: state, model: model).invocation(call, in: operation) {
                id throws(StateError) in .url("\(try state.set(of: id) ?? "")(\(id))")
            }
            guard case .success(let invocation) = found else { return nil }
            return .invoke(invocation)
        }
        switch operation.action {
        case .create(let creation, let parent):
            guard let set = model.findEntitySet(creation.set), let body = try body(creation, declared: set.entityType)
            else { return nil }
            guard let parent else { return .create(in: set, body) }
            guard let navigation = try navigation(parent.navigation, of: parent.entity) else { return nil }
            return .createRelated(in: try reference(parent.entity), navigation: navigation, body)
        case .update(let entity, let changes, let bindings):
            guard let set = try set(of: entity) else { return nil }
            let type = try type(of: entity) ?? set.entityType
            let body = EntityBody(
                type: type, declaredType: set.entityType, values: changes, bindings: try self.bindings(bindings, type))
            return .update(try reference(entity), body, replaces: !options.supportsPatch)
        case .delete(let entity): return .delete(try reference(entity))
        case .createLink(let link), .updateLink(let link):
            guard let navigation = try navigation(link.navigation, of: link.from) else { return nil }
            return .link(from: try reference(link.from), navigation: navigation, to: try reference(link.to))
        case .deleteLink(let link):
            guard let navigation = try navigation(link.navigation, of: link.from) else { return nil }
            return .unlink(
                from: try reference(link.from), navigation: navigation,
                to: navigation.isCollection ? try reference(link.to) : nil)
        }
    }

    private func body(_ creation: Creation, declared: EntityType) throws -> EntityBody? {
        guard let type = model.findEntityType(creation.type) else { return nil }
        var body = EntityBody(
            type: type, declaredType: declared, values: creation.values,
            bindings: try bindings(creation.bindings, type))
        for level in creation.inline {
            guard let navigation = type.findProperty(level.navigation),
                let target = navigation.navigation.flatMap({ model.findEntityType($0.targetType) })
            else { return nil }
            body.inline.append(
                .init(
                    navigation: navigation,
                    entities: try level.entities.compactMap { try self.body($0, declared: target) }))
        }
        return body
    }

    private func bindings(_ bindings: [Binding], _ type: EntityType) throws -> [EntityBody.Binding] {
        try bindings.compactMap { binding in
            guard let navigation = type.findProperty(binding.navigation) else { return nil }
            return EntityBody.Binding(navigation: navigation, targets: try binding.targets.map { try reference($0) })
        }
    }

    private func reference(_ id: EntityID) throws -> ResourceReference {
        .url("\(try state.set(of: id) ?? "")(\(id))")
    }

    private func set(of id: EntityID) throws -> EntitySet? { try state.set(of: id).flatMap { model.findEntitySet($0) } }

    private func type(of id: EntityID) throws -> EntityType? {
        try state.row(id).flatMap { model.findEntityType($0.type) }
    }

    private func navigation(_ name: String, of id: EntityID) throws -> Property? {
        try (type(of: id) ?? set(of: id)?.entityType)?.findProperty(name)
    }
}
