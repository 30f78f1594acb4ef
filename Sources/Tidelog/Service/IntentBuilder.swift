import EDM
import OfflineStore
import SyncCore

/// Converts modifications of entity objects into intents, which contain only values.
struct IntentBuilder {
    let model: EntityDataModel
    /// The destination of the intents; `nil` if the origin of entities is not checked.
    private let provider: (any ServiceBackend)?
    /// The new entities of the call in the order of their draft numbers, which start at 1.
    private(set) var entities: [EntityValue] = []
    private var numbers: [ObjectIdentifier: Int] = [:]
    /// The last draft number of the previous operation.
    private var lastNumber = 0
    /// Links that intents remove.
    private var removed: Set<LinkIdentity> = []

    /// - Parameter count: The number of operations, if known.
    init(model: EntityDataModel, provider: (any ServiceBackend)? = nil, count: Int = 0) {
        self.model = model
        self.provider = provider
        // For one operation, the first insertions reserve as much.
        guard count > 1 else { return }
        entities.reserveCapacity(count)
        numbers.reserveCapacity(count)
    }

    /// Returns the intent of an operation, or `nil` for an update without changes.
    mutating func intent(_ operation: ChangeSet.Operation) throws(TidelogError) -> Intent? {
        lastNumber = entities.count
        switch operation.kind {
        case .create(let entity, let parent):
            if numbers[ObjectIdentifier(entity)] != nil { return try linkOfCreated(entity, parent) }
            let address: Intent.Parent?
            if let (parentEntity, property) = parent {
                address = Intent.Parent(entity: try self.address(of: parentEntity), navigation: property.name)
                if entity.entitySet == nil { entity.entitySet = target(of: parentEntity, property) }
            } else {
                address = nil
            }
            return .create(
                try draft(
                    entity, path: [], scope: operation.isFlat ? .single(except: operation.later) : .all,
                    bound: operation.bound),
                in: address)
        case .update(let entity):
            return try update(
                entity, operation.options,
                scope: operation.isFlat ? .single(except: operation.later) : .update)
        case .delete(let entity): return .delete(try address(of: entity))
        case .createLink(let from, let property, let to):
            return .createLink(from: try address(of: from), navigation: property.name, to: try address(of: to))
        case .updateLink(let from, let property, let to):
            guard !property.isCollection else { throw TidelogError(.singleValuedOnly(property)) }
            return .updateLink(from: try address(of: from), navigation: property.name, to: try address(of: to))
        case .deleteLink(let from, let property, let to):
            var target: EntityAddress?
            if let to { target = try address(of: to) }
            // In a request this would remove every link.
            guard to != nil || !property.isCollection else { throw TidelogError(.targetNeeded(property)) }
            return .deleteLink(from: try address(of: from), navigation: property.name, to: target)
        case .invoke(let call): return try intent(call)
        }
    }

    /// Creates a link to an object that the call has already created, for example as part of a collection.
    private func linkOfCreated(
        _ entity: EntityValue, _ parent: (entity: EntityValue, property: Property)?
    ) throws(TidelogError) -> Intent? {
        guard let (parent, property) = parent else { return nil }
        let (from, to) = (try address(of: parent), try address(of: entity))
        return property.isCollection
            ? .createLink(from: from, navigation: property.name, to: to)
            : .updateLink(from: from, navigation: property.name, to: to)
    }

    private mutating func update(
        _ entity: EntityValue, _ options: RequestOptions, scope: RelationScope
    ) throws(TidelogError) -> Intent? {
        let address = try address(of: entity)
        var bindings = try bindings(entity.bindings)
        let inline = try inline(of: entity, &bindings, path: [], scope: scope)
        let changes = options.updateMode == .replace ? try entity.replacingValues() : entity.changedValues
        if changes.isEmpty, bindings.isEmpty, inline.isEmpty, !options.sendEmptyUpdate { return nil }
        return .update(address, changes: changes, bindings: bindings, inline: inline)
    }

    // MARK: Relations

    /// Returns the removals of links: from single-valued properties that were set to `nil`, and from collections. A
    /// link that both ends remove is removed once.
    ///
    /// - Parameter onlyLinked: whether to omit links that the store does not have any more.
    mutating func removals(_ entity: EntityValue, onlyLinked: Bool = false) throws(TidelogError) -> [Intent] {
        guard entity.state != .unsaved else { return [] }
        var intents: [Intent] = []
        for relation in entity.related.changed {
            let (name, related) = (relation.name, relation.targets)
            // Otherwise the missing removals would go unnoticed.
            if let obstacle = related.obstacle { throw obstacle }
            guard let property = relation.property else { continue }
            if !property.isCollection {
                guard related.list.isEmpty, related.targetID == nil else { continue }
                // A service is asked to remove any existing link.
                if let linked = entity.storedIDs(property) {
                    guard let target = linked.first, removed.insert(LinkIdentity(entity, property, target)).inserted
                    else {
                        continue
                    }
                } else if related.base?.isEmpty == true {
                    continue
                }
                intents.append(.deleteLink(from: try address(of: entity), navigation: name, to: nil))
            } else if related.edit == .changed {
                let gone = related.removed
                let linked = onlyLinked && !gone.isEmpty ? entity.storedIDs(property) : nil
                for target in gone {
                    if let linked, let id = target.entityID, !linked.contains(id) { continue }
                    guard removed.insert(LinkIdentity(entity, property, target)).inserted else { continue }
                    intents.append(
                        .deleteLink(from: try address(of: entity), navigation: name, to: try address(of: target)))
                }
            }
        }
        return intents
    }

    /// Returns the additions to collections of an existing entity: new entities are created in them, existing ones
    /// linked.
    ///
    /// - Parameter onlyMissing: whether to omit links that the store already has.
    mutating func additions(_ entity: EntityValue, onlyMissing: Bool) throws(TidelogError) -> [Intent] {
        var intents: [Intent] = []
        for relation in entity.related.changed where relation.targets.edit == .changed {
            guard let property = relation.property, property.isCollection else { continue }
            let (name, added) = (relation.name, relation.targets.added)
            let isAsked = onlyMissing && added.contains { $0.entityID != nil }
            let linked = isAsked ? entity.storedIDs(property) : nil
            for child in added {
                if let id = child.entityID, child.store == entity.store, linked?.contains(id) == true { continue }
                if isKnown(child) {
                    intents.append(
                        .createLink(from: try address(of: entity), navigation: name, to: try address(of: child)))
                } else {
                    if child.entitySet == nil { child.entitySet = target(of: entity, property) }
                    let parent = Intent.Parent(entity: try address(of: entity), navigation: name)
                    intents.append(.create(try draft(child, path: []), in: parent))
                }
            }
        }
        return intents
    }

    // MARK: Drafts

    /// A new entity in the path of a deep insert, with the name of its set or of the navigation property that leads
    /// to it.
    private struct Step {
        let entity: ObjectIdentifier
        let name: String
    }

    private mutating func draft(
        _ entity: EntityValue, path: [Step], name: String? = nil, scope: RelationScope = .all,
        bound: (property: Property, entity: EntityValue)? = nil
    ) throws(TidelogError) -> EntityDraft {
        let identifier = ObjectIdentifier(entity)
        guard path.count < OperationRefused.deepestInsert else { throw TidelogError(OperationRefused.nestedTooDeeply) }
        if let start = path.firstIndex(where: { $0.entity == identifier }) {
            let set = try self.set(of: entity).name
            let names = [set] + path[path.index(after: start)...].map(\.name) + (name.map { [$0] } ?? [])
            throw TidelogError(
                .refused(.notAllowed), "The deep insert contains a cycle: \(names.joined(separator: "/")).",
                recovery: "Link the entities in a change set instead.")
        }
        let number = entities.count + 1
        entities.append(entity)
        let set = try set(of: entity)
        var bindings = try bindings(bound.map { entity.bindings + [$0] } ?? entity.bindings)
        let step = Step(entity: identifier, name: name ?? set.name)
        let inline = try inline(of: entity, &bindings, path: path, step, scope: scope)
        numbers[identifier] = number
        return EntityDraft(
            number: number, set: set.name, type: entity.entityType.name, values: entity.values, bindings: bindings,
            inline: inline)
    }

    func bindings(
        _ bound: [(property: Property, entity: EntityValue)]
    ) throws(TidelogError) -> [BindingDraft] {
        var drafts: [BindingDraft] = []
        for (property, target) in bound {
            let address = try address(of: target)
            if let index = drafts.firstIndex(where: { $0.navigation == property.name }) {
                drafts[index].targets.append(address)
            } else {
                drafts.append(BindingDraft(navigation: property.name, targets: [address]))
            }
        }
        return drafts
    }

    /// Returns the drafts of new targets of navigation properties. Existing targets are added to the bindings.
    ///
    /// - Parameter step: the entity itself, if it is new.
    private mutating func inline(
        of entity: EntityValue, _ bindings: inout [BindingDraft], path: [Step], _ step: Step? = nil,
        scope: RelationScope
    ) throws(TidelogError) -> [InlineDraft] {
        var drafts: [InlineDraft] = []
        for relation in entity.related.changed where scope.contains(relation) {
            let (name, related) = (relation.name, relation.targets)
            if case .single = scope, entity.isLinked(relation) { continue }
            if let id = related.targetID { bindings.append(BindingDraft(navigation: name, targets: [.id(id)])) }
            var new: [EntityDraft] = []
            for child in related.targetID == nil ? related.distinctTargets : [] {
                if numbers[ObjectIdentifier(child)] ?? 0 > lastNumber {
                    throw TidelogError(
                        .refused(.notAllowed),
                        "The deep insert contains the same new \(child.entityType.name) twice, the second time in \(name).",
                        recovery: "Put the entities with a Box, or create and link them in a change set.")
                }
                if isKnown(child) {
                    bindings.append(BindingDraft(navigation: name, targets: [try address(of: child)]))
                } else {
                    if child.entitySet == nil, let property = relation.property {
                        child.entitySet = target(of: entity, property)
                    }
                    new.append(try draft(child, path: path + [step].compactMap { $0 }, name: name))
                }
            }
            if !new.isEmpty { drafts.append(InlineDraft(navigation: name, entities: new)) }
        }
        return drafts
    }

    // MARK: Addresses

    func isKnown(_ entity: EntityValue) -> Bool { entity.hasLink || numbers[ObjectIdentifier(entity)] != nil }

    func address(of entity: EntityValue, forReading: Bool = false) throws(TidelogError) -> EntityAddress {
        let link = forReading ? entity.readLink ?? entity.editLink : entity.editLink ?? entity.readLink
        if let link {
            guard !entity.isNumbered(link, elsewhereThan: provider) else {
                throw TidelogError(
                    .refused(.entityNotFound), "\(link) belongs to another store.",
                    recovery: "Upload the entity from that store first, and refer to it by the key that it receives.")
            }
            return .link(link)
        }
        if let number = numbers[ObjectIdentifier(entity)] { return .draft(number) }
        if let key = entity.key, forReading || entity.state != .unsaved {
            return .key(set: try set(of: entity).name, key)
        }
        throw TidelogError(
            .refused(.entityNotFound),
            "The call refers to an entity of type \(entity.entityType.name) that is neither saved nor created earlier in the change set.",
            recovery: "Create the entity first, in the same change set or before it.")
    }

    private func set(of entity: EntityValue) throws(TidelogError) -> EntitySet {
        if let set = entity.entitySet { return set }
        let sets = model.entitySets(holding: entity.entityType.name)
        guard let set = sets.first, sets.count == 1 else {
            throw TidelogError(
                .refused(.unknownEntitySet),
                sets.isEmpty
                    ? "No entity set contains entities of type \(entity.entityType.name)."
                    : "Several entity sets contain entities of type \(entity.entityType.name): \(sets.map(\.name).joined(separator: ", ")).",
                recovery: sets.isEmpty ? nil : "Set the entitySet of the entity.")
        }
        return set
    }

    private func target(of entity: EntityValue, _ property: Property) -> EntitySet? {
        guard let set = try? set(of: entity) else { return nil }
        return model.target(of: property, in: set, from: entity.entityType)
    }
}

/// The changed relations that a request contains.
private enum RelationScope {
    /// All relations, for a new entity.
    case all
    /// Single-valued relations; collections follow in separate operations.
    case single(except: [String])
    /// Single-valued relations, and collections that were set as a whole. Additions to and removals from other
    /// collections are separate operations.
    case update

    /// Returns whether a request contains a changed relation.
    func contains(_ relation: KnownRelation) -> Bool {
        let isCollection = relation.property?.isCollection ?? false
        return switch self {
        case .all: true
        case .single(let later): !isCollection && !later.contains(relation.name)
        case .update: relation.targets.edit == .replaced || !isCollection
        }
    }
}

extension EntityValue {
    /// Whether the store already has the target that was set for a single-valued relation.
    fileprivate func isLinked(_ relation: KnownRelation) -> Bool {
        guard state != .unsaved, let property = relation.property else { return false }
        let related = relation.targets
        let target = related.list.first
        guard let id = related.targetID ?? target?.entityID, target == nil || target?.store == store else {
            return false
        }
        return storedIDs(property) == [id]
    }

    /// Whether the link contains an entity ID of another store, which may identify another entity here. A historical
    /// store uses the IDs of its store.
    fileprivate func isNumbered(_ link: String, elsewhereThan provider: (any ServiceBackend)?) -> Bool {
        guard let own = factory?.provider, own !== provider, own is OfflineODataProvider,
            provider is OfflineODataProvider
        else { return false }
        return link.contains("(~")
    }
}
