package import EDM
package import Operations

/// Determines which pending operations do not fit new metadata of a service, on the state before their installation.
///
/// Cost: one pass over the queue.
package struct OperationCompatibility<Storage: StateReader> {
    private let storage: Storage
    private let model: EntityDataModel
    /// The migration, or nil if the state already has the metadata.
    private let migration: ModelMigration?

    /// Creates the check for new metadata.
    ///
    /// - Parameter old: The metadata of the state.
    package init(storage: Storage, from old: EntityDataModel, to new: EntityDataModel) {
        self.storage = storage
        model = new
        migration = ModelMigration(from: old, to: new, index: RelationshipIndex(new))
    }

    /// Creates the check for a state that already has these metadata.
    package init(storage: Storage, model: EntityDataModel) {
        self.storage = storage
        self.model = model
        migration = nil
    }

    /// Returns the reason why the operation does not fit, as a sentence, or nil if it fits.
    package func misfit(of operation: Operation) throws(StateError) -> String? {
        if operation.subject != .unbound, let reason = try misfit(of: operation.action) { return reason }
        if let call = operation.call { return try misfit(of: call, operation) }
        return try operation.stream.flatMap { stream throws(StateError) in
            try misfit(of: stream, operation)
        }
    }

    private func misfit(of action: Operation.Action) throws(StateError) -> String? {
        switch action {
        case .create(let creation, let parent):
            if let reason = try misfit(of: creation) { return reason }
            guard let parent else { return nil }
            return try misfit(of: Link(from: parent.entity, navigation: parent.navigation, to: creation.entity))
        case .update(let id, let changes, let bindings):
            guard let row = try row(id) else { return try misfitOfSet(of: id) }
            guard let now = migrated(row), let type = model.findEntityType(now.type) else {
                return Self.noSet(row.set)
            }
            return try misfit(of: changes, bindings, type, now)
        case .delete(let id): return try misfitOfSet(of: id)
        case .createLink(let link), .updateLink(let link), .deleteLink(let link): return try misfit(of: link)
        }
    }

    // MARK: Parts

    /// Returns the reason why a call does not fit, for an operation that fits otherwise.
    private func misfit(of call: ActionCall, _ operation: Operation) throws(StateError) -> String? {
        let resolver = EntityResolver(storage: storage, model: model)
        guard case .failure(let misfit) = try resolver.invocation(call, in: operation) else { return nil }
        return misfit.reason
    }

    /// Returns the reason why a stream write does not fit, for an operation that fits otherwise.
    private func misfit(of stream: StreamWrite, _ operation: Operation) throws(StateError) -> String? {
        var name: String?
        if case .create(let creation, _) = operation.action {
            name = creation.type
        } else if let row = try row(operation.subject) {
            name = migrated(row)?.type
        }
        guard let name, let type = model.findEntityType(name) else { return nil }
        guard let property = stream.property else {
            return type.hasStream ? nil : "Entities of type \(name) no longer have a media stream."
        }
        let isThere = type.findProperty(property)?.type.primitive == .stream
        return isThere ? nil : "\(name) no longer has a stream property \(property)."
    }

    private func misfit(of creation: Creation) throws(StateError) -> String? {
        guard let set = model.findEntitySet(creation.set) else { return Self.noSet(creation.set) }
        guard !set.isSingleton else { return "\(set.name) is now a singleton, which cannot be created." }
        guard let type = model.findEntityType(creation.type) else {
            return "The service no longer has an entity type \(creation.type)."
        }
        guard model.isType(type.name, derivedFrom: set.entityType.name) else {
            return "Entities of \(set.name) now have the type \(set.entityType.name), not \(type.name)."
        }
        let row = EntityRow(id: creation.entity, set: set.name, type: type.name, values: [:], origin: .local)
        if let reason = try misfit(of: creation.values, creation.bindings, type, row) { return reason }
        for inline in creation.inline {
            for child in inline.entities {
                let link = Link(from: creation.entity, navigation: inline.navigation, to: child.entity)
                if let reason = try misfit(of: child) { return reason }
                if let reason = try misfit(of: link, row, type, targetType: child.type) { return reason }
            }
        }
        return nil
    }

    private func misfit(
        of values: PropertyValues, _ bindings: [Binding], _ type: EntityType, _ row: EntityRow
    ) throws(StateError) -> String? {
        for (name, value) in values {
            guard let property = type.findProperty(name) else {
                if type.isOpen(to: name) { continue }
                return "\(row.set) no longer has a property \(name)."
            }
            guard !property.isNavigation else { return "\(row.set)/\(name) is now a navigation property." }
            let reason = value.mismatch(
                with: property.type, facets: property.facets, isNullable: property.isNullable, in: model)
            guard let reason else { continue }
            let isBelow = reason.hasPrefix("/") || reason.hasPrefix("[")
            return "\(row.set)/\(name)\(isBelow ? "" : " ")\(reason)."
        }
        for binding in bindings {
            for target in binding.targets {
                let link = Link(from: row.id, navigation: binding.navigation, to: target)
                if let reason = try misfit(of: link, row, type) { return reason }
            }
        }
        return nil
    }

    private func misfit(of link: Link) throws(StateError) -> String? {
        guard let row = try row(link.from) else { return try misfitOfSet(of: link.from) }
        guard let now = migrated(row), let type = model.findEntityType(now.type) else {
            return Self.noSet(row.set)
        }
        return try misfit(of: link, now, type)
    }

    /// Returns the reason why a link does not fit.
    ///
    /// - Parameter targetType: The type of the target, or nil for the type of the existing entity.
    private func misfit(
        of link: Link, _ row: EntityRow, _ type: EntityType, targetType: String? = nil
    ) throws(StateError) -> String? {
        guard let end = type.findProperty(link.navigation)?.navigation else {
            return "\(row.set) no longer has a navigation property \(link.navigation)."
        }
        if targetType == nil, let reason = try misfitOfSet(of: link.to) { return reason }
        let known = try self.row(link.to).flatMap { migrated($0) }?.type
        guard let target = targetType ?? known, !model.isType(target, derivedFrom: end.targetType) else { return nil }
        return "\(row.set)/\(link.navigation) now leads to \(end.targetType), not to \(target)."
    }

    private func misfitOfSet(of id: EntityID) throws(StateError) -> String? {
        guard let set = try storage.set(of: id), model.findEntitySet(set) == nil else { return nil }
        return Self.noSet(set)
    }

    private static func noSet(_ name: String) -> String { "The service no longer has an entity set \(name)." }

    private func migrated(_ row: EntityRow) -> EntityRow? {
        if let migration { return migration.migrated(row) }
        return model.findEntitySet(row.set) == nil ? nil : row
    }

    /// Returns the current row of the entity, or its base if it was deleted locally.
    private func row(_ id: EntityID) throws(StateError) -> EntityRow? {
        if let row = try storage.row(id) { return row }
        if case .row(let row)? = try storage.base(id) { return row }
        return nil
    }
}

extension PendingOperation.Status {
    /// Whether the operation no longer fits the metadata; see ``Refusal/isOfModel``.
    var isIncompatible: Bool {
        if case .rejected(let refusal) = self { refusal.isOfModel } else { false }
    }
}

extension PendingOperation {
    /// A Boolean value that indicates whether the operation no longer fits the metadata; see ``Refusal/isOfModel``.
    package var isIncompatible: Bool { status.isIncompatible }

    /// Returns the part of the operation that is visible in the current state: all of it, or only the part that fits
    /// the metadata. Nil if nothing is visible. The result does not depend on anything that another operation could
    /// change.
    package func visible(in storage: some StateReader, _ model: EntityDataModel) throws(StateError) -> Operation? {
        guard isIncompatible else { return operation }
        let content = CompatibleContent(storage: storage, model: model)
        var operation = operation
        switch operation.action {
        case .create(let creation, let parent):
            guard let creation = try content.creation(creation) else { return nil }
            operation.action = .create(creation, parent: parent)
        case .update(let id, let changes, let bindings):
            guard let set = try content.set(of: id) else { return nil }
            let types = model.entityTypes(derivedFrom: set.entityType)
            operation.action = .update(
                id, changes: content.values(changes, types), bindings: try content.bindings(bindings, types))
        case .delete: break
        case .createLink, .updateLink, .deleteLink: return nil
        }
        return operation
    }
}

/// The parts of an operation that fit the metadata.
private struct CompatibleContent<Storage: StateReader> {
    let storage: Storage
    let model: EntityDataModel

    func set(of id: EntityID) throws(StateError) -> EntitySet? {
        try storage.set(of: id).flatMap { model.findEntitySet($0) }
    }

    func creation(_ creation: Creation) throws(StateError) -> Creation? {
        guard let set = model.findEntitySet(creation.set), !set.isSingleton,
            let type = model.findEntityType(creation.type), model.isType(type.name, derivedFrom: set.entityType.name)
        else { return nil }
        var fitted = creation
        fitted.values = values(creation.values, [type])
        fitted.bindings = try bindings(creation.bindings, [type])
        fitted.inline = []
        for level in creation.inline {
            guard let end = type.findProperty(level.navigation)?.navigation else { continue }
            var entities: [Creation] = []
            for child in level.entities where model.isType(child.type, derivedFrom: end.targetType) {
                if let child = try self.creation(child) { entities.append(child) }
            }
            fitted.inline.append(Creation.Inline(navigation: level.navigation, entities: entities))
        }
        return fitted
    }

    /// Returns the values that fit.
    ///
    /// - Parameter types: The possible types of the entity.
    func values(_ values: PropertyValues, _ types: [EntityType]) -> PropertyValues {
        var fitted = PropertyValues()
        for (name, value) in values {
            guard
                let type = types.first(where: { $0.findProperty(name) != nil })
                    ?? types.first(where: { $0.isOpen(to: name) })
            else {
                continue
            }
            fitted.merge(PropertyValues([(name, value)]).fitted(to: type, in: model))
        }
        return fitted
    }

    func bindings(_ bindings: [Binding], _ types: [EntityType]) throws(StateError) -> [Binding] {
        var fitted: [Binding] = []
        for binding in bindings {
            let end = types.lazy.compactMap { $0.findProperty(binding.navigation)?.navigation }.first
            guard let end else { continue }
            var targets: [EntityID] = []
            for target in binding.targets {
                guard let type = try set(of: target)?.entityType.name,
                    model.isType(type, derivedFrom: end.targetType) || model.isType(end.targetType, derivedFrom: type)
                else { continue }
                targets.append(target)
            }
            // A binding without targets would remove the existing link.
            if !targets.isEmpty || binding.targets.isEmpty {
                fitted.append(Binding(navigation: binding.navigation, targets: targets))
            }
        }
        return fitted
    }
}
