import EDM
import OfflineStore

/// The operations that save objects together with the new objects that they refer to: each new entity by one
/// operation, after its principals, followed by the links.
struct PutPlan {
    private(set) var operations: [ChangeSet.Operation] = []
    private var seen: Set<ObjectIdentifier> = []
    /// New entities that ``operations`` create.
    private var created: Set<ObjectIdentifier> = []
    /// Links that ``operations`` create.
    private var links: Set<LinkIdentity> = []
    /// Bindings of new entities that are not set in the entities themselves.
    private var bound: [ObjectIdentifier: (property: Property, entity: EntityValue)] = [:]
    /// Links of which one end has not been created yet.
    private var waiting: [(from: EntityValue, property: Property, to: EntityValue)] = []
    /// The remaining steps, the next one last. An explicit stack instead of recursion, because the length of object
    /// chains is not bounded.
    private var steps: [Step] = []

    /// - Parameter count: The number of objects to save, if known.
    init(count: Int = 0) {
        // For one object, the first insertions reserve as much.
        guard count > 1 else { return }
        operations.reserveCapacity(count)
        seen.reserveCapacity(count)
        created.reserveCapacity(count)
        links.reserveCapacity(count)
    }

    private enum Step {
        /// Saves the entity after the entities that it refers to.
        case put(EntityValue, parent: (EntityValue, Property)?)
        /// Saves the entity, whose relations have the given changes.
        case save(EntityValue, parent: (EntityValue, Property)?, [KnownRelation])
        case link(EntityValue, EntityValue, Property, isBackwards: Bool)
        case linkWhatWaited
    }

    /// Saves an object once, even if it is reached several times.
    mutating func put(_ entity: EntityValue) {
        put(entity, in: nil)
        run()
    }

    /// Links entities to their host. New entities are created in the host.
    mutating func link(_ entities: [EntityValue], _ host: EntityValue, _ property: Property, isBackwards: Bool = false)
    {
        addLinks(notLinked(entities, host, property, isBackwards: isBackwards), host, property, isBackwards)
        run()
    }

    /// Adds the steps that link the entities, in this order.
    private mutating func addLinks(
        _ entities: [EntityValue], _ host: EntityValue, _ property: Property, _ isBackwards: Bool
    ) {
        for entity in entities.reversed() { steps.append(.link(entity, host, property, isBackwards: isBackwards)) }
    }

    private mutating func run() {
        while let step = steps.popLast() {
            switch step {
            case .put(let entity, let parent): put(entity, in: parent)
            case .save(let entity, let parent, let changed): save(entity, in: parent, changed)
            case .link(let entity, let host, let property, let isBackwards):
                link(entity, host, property, isBackwards: isBackwards)
            case .linkWhatWaited: linkWhatWaited()
            }
        }
    }

    private mutating func put(_ entity: EntityValue, in parent: (EntityValue, Property)?) {
        guard seen.insert(ObjectIdentifier(entity)).inserted else { return }
        let changed = entity.related.changed
        steps.append(.save(entity, parent: parent, changed))
        for relation in changed.reversed() {
            if let target = relation.newTarget { steps.append(.put(target, parent: nil)) }
        }
    }

    /// - Parameters:
    ///   - parent: the entity in which a new entity is created.
    ///   - changed: the changed relations of the entity.
    private mutating func save(
        _ entity: EntityValue, in parent: (EntityValue, Property)?, _ changed: [KnownRelation]
    ) {
        let isNew = entity.isNew
        var later: [String] = []
        for relation in changed {
            guard let property = relation.property, !property.isCollection, let target = relation.targets.list.first
            else { continue }
            if target.isNew, !created.contains(ObjectIdentifier(target)) {
                // If two new entities refer to each other, one link waits until both exist.
                later.append(property.name)
                if !target.leads(to: entity, by: property.otherSide) { waiting.append((entity, property, target)) }
            } else if !isNew, links.contains(LinkIdentity(entity, property, target)) {
                // Do not create a link twice that the other end has already created.
                later.append(property.name)
            }
        }
        steps.append(.linkWhatWaited)
        for relation in changed.reversed() {
            guard let property = relation.property else { continue }
            let related = relation.targets
            if property.isCollection {
                addLinks(isNew ? related.list : notLinked(related.added, entity, property), entity, property, false)
            } else if let target = related.list.first, !later.contains(property.name) {
                links.insert(LinkIdentity(entity, property, target))
            }
        }
        let bound = bound.isEmpty ? nil : bound.removeValue(forKey: ObjectIdentifier(entity))
        operations.append(
            ChangeSet.Operation(
                flat: isNew ? .create(entity, parent: parent) : .update(entity), bound: bound, later: later))
        if isNew { created.insert(ObjectIdentifier(entity)) }
    }

    /// Returns the entities that are not linked in the store now. The targets may have changed since the entities
    /// were added.
    private func notLinked(
        _ entities: [EntityValue], _ host: EntityValue, _ property: Property, isBackwards: Bool = false
    ) -> [EntityValue] {
        guard entities.contains(where: { $0.entityID != nil }),
            let linked = host.storedIDs(property, isBackwards: isBackwards)
        else { return entities }
        return entities.filter { entity in
            guard let id = entity.entityID, entity.store == host.store else { return true }
            return !linked.contains(id)
        }
    }

    private mutating func linkWhatWaited() {
        guard !waiting.isEmpty else { return }
        let links = waiting
        waiting = []
        for link in links {
            if isThere(link.from), isThere(link.to) {
                self.link(link.from, link.property, link.to)
            } else {
                waiting.append(link)
            }
        }
    }

    private func isThere(_ entity: EntityValue) -> Bool {
        !entity.isNew || created.contains(ObjectIdentifier(entity))
    }

    private mutating func link(
        _ entity: EntityValue, _ host: EntityValue, _ property: Property, isBackwards: Bool
    ) {
        let (from, to) = isBackwards ? (entity, host) : (host, entity)
        guard !links.contains(LinkIdentity(from, property, to)) else { return }
        if isThere(entity) { return link(from, property, to) }
        // A link by a single-valued property of a new entity is part of its creation.
        let saysSo = entity.isSingle(isBackwards ? property.name : property.otherSide, to: host)
        if seen.contains(ObjectIdentifier(entity)) {
            if !saysSo { waiting.append((from, property, to)) }
            return
        }
        if saysSo { return put(entity, in: nil) }
        links.insert(LinkIdentity(from, property, to))
        if isBackwards { bound[ObjectIdentifier(entity)] = (property, host) }
        put(entity, in: isBackwards ? nil : (host, property))
    }

    /// Adds the link, unless it was already created from the other end.
    private mutating func link(_ from: EntityValue, _ property: Property, _ to: EntityValue) {
        guard links.insert(LinkIdentity(from, property, to)).inserted else { return }
        append(property.isCollection ? .createLink(from, property, to) : .updateLink(from, property, to))
    }

    mutating func unlink(
        _ entities: [EntityValue], _ host: EntityValue, _ property: Property, isBackwards: Bool = false
    ) {
        let linked = isBackwards ? nil : host.storedIDs(property)
        for entity in entities {
            let (from, to) = isBackwards ? (entity, host) : (host, entity)
            // The link has already been removed meanwhile.
            if let linked = linked ?? from.storedIDs(property), let id = to.entityID, !linked.contains(id) { continue }
            append(.deleteLink(from, property, to))
        }
    }

    private mutating func append(_ kind: ChangeSet.Operation.Modification) {
        operations.append(ChangeSet.Operation(kind, .empty, .none))
    }

    /// Logs the operations as one change set.
    ///
    /// - Parameter model: The current model of the provider.
    func perform(_ factory: EntityFactory, _ model: EntityDataModel) async throws(TidelogError) {
        let provider = factory.provider
        let call = try ModificationCall(operations, model: model, provider: provider)
        guard !call.intents.isEmpty else { return call.apply([], factory) }
        call.apply(try await provider.perform(call.intents, asChangeSet: true), factory)
    }
}

extension Property {
    /// The partner property; `nil` also for a property that is its own partner, because its links from both entities
    /// are separate.
    fileprivate var otherSide: String? {
        guard let partner = navigation?.partner else { return nil }
        return partner == name && navigation?.targetType == declaringType ? nil : partner
    }
}

extension KnownRelation {
    /// The new entity that the app has set as the target of a single-valued relation.
    fileprivate var newTarget: EntityValue? {
        guard property?.isCollection == false, let target = targets.list.first, target.isNew else { return nil }
        return target
    }
}

extension EntityValue {
    /// Whether the app has set a single-valued navigation property to the entity.
    fileprivate func isSingle(_ property: String?, to target: EntityValue) -> Bool {
        guard let property, entityType.findProperty(property)?.isCollection == false else { return false }
        return leads(to: target, by: property)
    }

    /// Whether the app has set a navigation property to the entity.
    fileprivate func leads(to target: EntityValue, by property: String?) -> Bool {
        guard let property, let related = related[property], related.edit != .none else { return false }
        if let id = related.targetID { return id == target.entityID }
        return related.list.contains { $0 === target }
    }
}
