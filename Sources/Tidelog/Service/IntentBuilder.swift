import EDM
import ODataWire
import SyncCore
import SyncEngine

/// Turns what an app does with its entity objects into intents that hold values only.
struct IntentBuilder {
    let model: EntityDataModel
    /// The new entities of the call by the number of their draft.
    private(set) var entities: [Int: EntityValue] = [:]
    private var numbers: [ObjectIdentifier: Int] = [:]

    init(model: EntityDataModel) { self.model = model }

    /// One as a rule; none for an update that changes nothing, and more where relations were changed as well.
    mutating func intents(_ operation: ChangeSet.Operation) throws(TidelogError) -> [Intent] {
        guard case .update(let entity) = operation.kind else {
            return [try intent(operation)].compactMap { $0 }
        }
        // Links are taken off first: what is linked anew may have been the target of one that goes.
        var intents = try removals(entity)
        if let update = try intent(operation) { intents.append(update) }
        return operation.isFlat ? intents : intents + (try additions(entity))
    }

    private mutating func intent(_ operation: ChangeSet.Operation) throws(TidelogError) -> Intent? {
        switch operation.kind {
        case .create(let entity, let parent):
            let address: Intent.Parent?
            if let (parentEntity, property) = parent {
                address = Intent.Parent(entity: try self.address(of: parentEntity), navigation: property.name)
                if entity.entitySet == nil { entity.entitySet = target(of: parentEntity, property) }
            } else {
                address = nil
            }
            return .create(
                try draft(entity, path: [], scope: operation.isFlat ? .single(except: operation.later) : .all),
                in: address)
        case .update(let entity): return try update(entity, evenIfEmpty: operation.options.sendEmptyUpdate)
        case .delete(let entity): return .delete(try address(of: entity))
        case .createLink(let from, let property, let to):
            return .createLink(from: try address(of: from), navigation: property.name, to: try address(of: to))
        case .updateLink(let from, let property, let to):
            guard !property.isCollection else { throw TidelogError(.singleValuedOnly(property)) }
            return .updateLink(from: try address(of: from), navigation: property.name, to: try address(of: to))
        case .deleteLink(let from, let property, let to):
            var target: EntityAddress?
            if let to { target = try address(of: to) }
            // On the wire this would be the removal of every link.
            guard to != nil || !property.isCollection else { throw TidelogError(.targetNeeded(property)) }
            return .deleteLink(from: try address(of: from), navigation: property.name, to: target)
        }
    }

    private mutating func update(
        _ entity: EntityValue, evenIfEmpty: Bool
    ) throws(TidelogError) -> Intent? {
        let address = try address(of: entity)
        var bindings = try bindings(of: entity)
        let inline = try inline(of: entity, &bindings, path: [], scope: .update)
        let changes = entity.changedValues
        if changes.isEmpty, bindings.isEmpty, inline.isEmpty, !evenIfEmpty { return nil }
        return .update(address, changes: changes, bindings: bindings, inline: inline)
    }

    // MARK: Relations

    /// The links that are to go: of a single-valued property that was set to nil, and of what was taken out of a collection.
    private func removals(_ entity: EntityValue) throws(TidelogError) -> [Intent] {
        var intents: [Intent] = []
        for (name, related) in entity.changedRelations() where entity.state != .unsaved {
            guard let property = entity.entityType.findProperty(name) else { continue }
            if !property.isCollection {
                guard related.list.isEmpty, related.targetID == nil, try isLinked(entity, property, related) else {
                    continue
                }
                intents.append(.deleteLink(from: try address(of: entity), navigation: name, to: nil))
            } else if related.edit == .changed {
                for target in related.changes.removed {
                    intents.append(
                        .deleteLink(from: try address(of: entity), navigation: name, to: try address(of: target)))
                }
            }
        }
        return intents
    }

    /// Whether there is anything to remove. A service is asked to remove whatever there is.
    private func isLinked(
        _ entity: EntityValue, _ property: Property, _ related: RelatedEntities
    ) throws(TidelogError) -> Bool {
        if let base = related.base { return !base.isEmpty }
        guard entity.entityID != nil else { return true }
        return try !entity.readRelationIDs(property).isEmpty
    }

    /// What came into collections of an entity that is there: new entities are created in them, others linked.
    private mutating func additions(_ entity: EntityValue) throws(TidelogError) -> [Intent] {
        var intents: [Intent] = []
        for (name, related) in entity.changedRelations() where related.edit == .changed && entity.isCollection(name) {
            for child in related.changes.added {
                if isKnown(child) {
                    intents.append(
                        .createLink(from: try address(of: entity), navigation: name, to: try address(of: child)))
                } else {
                    if child.entitySet == nil, let property = entity.entityType.findProperty(name) {
                        child.entitySet = target(of: entity, property)
                    }
                    let parent = Intent.Parent(entity: try address(of: entity), navigation: name)
                    intents.append(.create(try draft(child, path: []), in: parent))
                }
            }
        }
        return intents
    }

    // MARK: Drafts

    /// A new entity on the way into a deep insert, with the name that leads to it: its set's, then navigation properties.
    private struct Step {
        let entity: ObjectIdentifier
        let name: String
    }

    private mutating func draft(
        _ entity: EntityValue, path: [Step], name: String? = nil, scope: RelationScope = .all
    ) throws(TidelogError) -> EntityDraft {
        let identifier = ObjectIdentifier(entity)
        if let start = path.firstIndex(where: { $0.entity == identifier }) {
            let set = try self.set(of: entity).name
            let names = [set] + path[path.index(after: start)...].map(\.name) + (name.map { [$0] } ?? [])
            throw TidelogError(
                .refused(.notAllowed), "A deep insert leads in a circle: \(names.joined(separator: "/")).",
                recovery: "Link the entities in a change set instead.")
        }
        let number = entities.count + 1
        entities[number] = entity
        let set = try set(of: entity)
        var bindings = try bindings(of: entity)
        let step = Step(entity: identifier, name: name ?? set.name)
        let inline = try inline(of: entity, &bindings, path: path + [step], scope: scope)
        numbers[identifier] = number
        return EntityDraft(
            number: number, set: set.name, type: entity.entityType.name, values: entity.values, bindings: bindings,
            inline: inline)
    }

    private func bindings(of entity: EntityValue) throws(TidelogError) -> [BindingDraft] {
        var drafts: [BindingDraft] = []
        for (property, target) in entity.bindings {
            let address = try address(of: target)
            if let index = drafts.firstIndex(where: { $0.navigation == property.name }) {
                drafts[index].targets.append(address)
            } else {
                drafts.append(BindingDraft(navigation: property.name, targets: [address]))
            }
        }
        return drafts
    }

    /// What the app set as value of navigation properties: new entities are created with this one, existing ones bound.
    private mutating func inline(
        of entity: EntityValue, _ bindings: inout [BindingDraft], path: [Step], scope: RelationScope
    ) throws(TidelogError) -> [InlineDraft] {
        var drafts: [InlineDraft] = []
        for (name, related) in entity.changedRelations(scope) {
            if let id = related.targetID { bindings.append(BindingDraft(navigation: name, targets: [.id(id)])) }
            var new: [EntityDraft] = []
            for child in related.targetID == nil ? related.list : [] {
                if isKnown(child) {
                    bindings.append(BindingDraft(navigation: name, targets: [try address(of: child)]))
                } else {
                    if child.entitySet == nil, let property = entity.entityType.findProperty(name) {
                        child.entitySet = target(of: entity, property)
                    }
                    new.append(try draft(child, path: path, name: name))
                }
            }
            if !new.isEmpty { drafts.append(InlineDraft(navigation: name, entities: new)) }
        }
        return drafts
    }

    // MARK: Addresses

    private func isKnown(_ entity: EntityValue) -> Bool {
        entity.readLink != nil || entity.editLink != nil || numbers[ObjectIdentifier(entity)] != nil
    }

    func address(of entity: EntityValue, forReading: Bool = false) throws(TidelogError) -> EntityAddress {
        let link = forReading ? entity.readLink ?? entity.editLink : entity.editLink ?? entity.readLink
        if let link { return .link(link) }
        if let number = numbers[ObjectIdentifier(entity)] { return .draft(number) }
        if let key = entity.key, forReading || entity.state != .unsaved {
            return .key(set: try set(of: entity).name, key)
        }
        throw TidelogError(
            .refused(.entityNotFound),
            "An entity of type \(entity.entityType.name) is referred to that is neither saved nor created before in the change set.",
            recovery: "Create it first, in the same change set or before.")
    }

    private func set(of entity: EntityValue) throws(TidelogError) -> EntitySet {
        if let set = entity.entitySet { return set }
        let sets = model.entitySets.filter { model.isType(entity.entityType.name, derivedFrom: $0.entityType.name) }
        guard let set = sets.first, sets.count == 1 else {
            throw TidelogError(
                .refused(.unknownEntitySet),
                sets.isEmpty
                    ? "No entity set holds entities of type \(entity.entityType.name)."
                    : "Several entity sets hold entities of type \(entity.entityType.name): \(sets.map(\.name).joined(separator: ", ")).",
                recovery: sets.isEmpty ? nil : "Set entitySet of the entity.")
        }
        return set
    }

    private func target(of entity: EntityValue, _ property: Property) -> EntitySet? {
        guard let set = try? set(of: entity) else { return nil }
        return model.target(of: property, in: set)
    }
}

/// Which changed relations a request carries.
private enum RelationScope {
    /// A new entity with all that is to be around it.
    case all
    /// Single-valued ones: collections follow as operations of their own.
    case single(except: Set<String>)
    /// Single-valued ones, and collections that were set as a whole. What came into others and went from them is operations of
    /// its own.
    case update
}

extension EntityValue {
    /// The relations that the app has changed, in the order of their names.
    fileprivate func changedRelations(_ scope: RelationScope = .all) -> [(name: String, related: RelatedEntities)] {
        guard !related.isEmpty else { return [] }
        return related.filter { name, related in
            guard related.edit != .none else { return false }
            return switch scope {
            case .all: true
            case .single(let later): !isCollection(name) && !later.contains(name)
            case .update: related.edit == .replaced || !isCollection(name)
            }
        }.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }

    fileprivate func isCollection(_ navigation: String) -> Bool {
        entityType.findProperty(navigation)?.isCollection ?? false
    }
}
