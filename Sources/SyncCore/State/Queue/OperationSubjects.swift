package import EDM
package import Operations

/// The subjects of an operation.
extension StateReader {
    /// Returns the entities that the operation changes from a user's perspective: those that it creates, updates or
    /// deletes, and those whose to-one link it sets. An entity is not a subject if another entity is only linked to it
    /// or created below it.
    ///
    /// The filters `sap.islocal()`, `sap.haspendingchanges()` and `sap.inerrorstate()` refer to the subjects.
    ///
    /// - Parameter queue: The queue with the earlier operations.
    package func subjects(
        of operation: Operation, _ model: EntityDataModel?, after queue: PendingQueue
    ) throws(StateError) -> [EntityID] {
        guard let call = operation.call else { return try declaredSubjects(of: operation, model, queue) }
        // The action may change the bound entity, whatever the declared effect is.
        let own = try declaredSubjects(of: operation, model, queue).filter { $0 != .unbound }
        return Self.unique(own + (call.boundEntity.map { [$0] } ?? []))
    }

    private func declaredSubjects(
        of operation: Operation, _ model: EntityDataModel?, _ queue: PendingQueue
    ) throws(StateError) -> [EntityID] {
        switch operation.action {
        case .create(let creation, _):
            let linked = Self.linked(by: creation.bindings, of: creation.type, creation.inline, model)
            let created = creation.inline.isEmpty ? [creation.entity] : operation.createdEntities
            return linked.isEmpty ? created : created + linked
        case .update(let entity, _, let bindings):
            var subjects = [entity]
            for binding in bindings where !binding.targets.isEmpty {
                guard try holder(of: binding.navigation, from: entity, model, queue) == .target else { continue }
                subjects += binding.targets
            }
            return Self.unique(subjects)
        case .delete(let entity): return [entity]
        case .createLink(let link), .updateLink(let link), .deleteLink(let link):
            return switch try holder(of: link.navigation, from: link.from, model, queue) {
            case .source: [link.from]
            case .target: [link.to]
            case nil: []
            }
        }
    }

    private static func unique(_ ids: [EntityID]) -> [EntityID] {
        ids.count < 2 ? ids : Array(Set(ids))
    }

    /// Returns the existing entities whose own link is set because they are bound to a collection of a new entity.
    private static func linked(
        by bindings: [Binding], of type: String, _ inline: [Creation.Inline], _ model: EntityDataModel?
    ) -> [EntityID] {
        var found: [EntityID] = []
        let type = bindings.isEmpty ? nil : model?.findEntityType(type)
        for binding in bindings where !binding.targets.isEmpty {
            if LinkHolder(type?.findProperty(binding.navigation)) == .target { found += binding.targets }
        }
        for level in inline {
            for child in level.entities { found += linked(by: child.bindings, of: child.type, child.inline, model) }
        }
        return unique(found)
    }

    private func holder(
        of navigation: String, from source: EntityID, _ model: EntityDataModel?, _ queue: PendingQueue
    ) throws(StateError) -> LinkHolder? {
        let type: EntityType?
        // While the pending operations are reverted, a new entity has no row.
        if let known = try row(source)?.type ?? queue.creation(of: source)?.type {
            type = model?.findEntityType(known)
        } else {
            type = try set(of: source).flatMap { model?.findEntitySet($0)?.entityType }
        }
        return LinkHolder(type?.findProperty(navigation))
    }
}

/// The end of a link that stores it as a value: in dependent properties, or in a to-one navigation property.
private enum LinkHolder {
    case source, target

    /// Nil if neither end does, as in a many-to-many relationship.
    init?(_ property: Property?) {
        guard let end = property?.navigation else { return nil }
        if !end.constraints.isEmpty {
            self = .source
        } else if !end.inverseConstraints.isEmpty {
            self = .target
        } else if end.multiplicity != .many {
            self = .source
        } else if end.sourceMultiplicity != .many {
            self = .target
        } else {
            return nil
        }
    }
}
