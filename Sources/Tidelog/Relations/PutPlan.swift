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
        operations.reserveCapacity(count)
        seen.reserveCapacity(count)
        created.reserveCapacity(count)
    }

    private enum Step {
        /// Saves the entity after the entities that it refers to.
        case put(EntityValue, parent: (EntityValue, Property)?)
        case save(EntityValue, parent: (EntityValue, Property)?)
        case link(EntityValue, EntityValue, Property, isBackwards: Bool)
        case linkWhatWaited
    }

    /// Saves an object once, even if it is reached several times.
    mutating func put(_ entity: EntityValue) { run([.put(entity, parent: nil)]) }

    /// Links entities to their host. New entities are created in the host.
    mutating func link(_ entities: [EntityValue], _ host: EntityValue, _ property: Property, isBackwards: Bool = false)
    {
        run(
            notLinked(entities, host, property, isBackwards: isBackwards).map {
                .link($0, host, property, isBackwards: isBackwards)
            })
    }

    private mutating func run(_ first: [Step]) {
        steps = first.reversed()
        while let step = steps.popLast() {
            let next: [Step]
            switch step {
            case .put(let entity, let parent): next = put(entity, in: parent)
            case .save(let entity, let parent): next = save(entity, in: parent)
            case .link(let entity, let host, let property, let isBackwards):
                next = link(entity, host, property, isBackwards: isBackwards)
            case .linkWhatWaited:
                linkWhatWaited()
                next = []
            }
            steps += next.reversed()
        }
    }

    private mutating func put(_ entity: EntityValue, in parent: (EntityValue, Property)?) -> [Step] {
        guard seen.insert(ObjectIdentifier(entity)).inserted else { return [] }
        var next: [Step] = []
        for (_, target) in entity.changedTargets { next.append(.put(target, parent: nil)) }
        next.append(.save(entity, parent: parent))
        return next
    }

    /// - Parameter parent: the entity in which a new entity is created.
    private mutating func save(_ entity: EntityValue, in parent: (EntityValue, Property)?) -> [Step] {
        let isNew = entity.isNew
        // If two new entities refer to each other, one link waits until both exist.
        let later = entity.changedTargets.filter { !created.contains(ObjectIdentifier($0.target)) }
        let kind: ChangeSet.Operation.Modification = isNew ? .create(entity, parent: parent) : .update(entity)
        var operation = ChangeSet.Operation(kind, .empty, .none)
        operation.isFlat = true
        operation.bound = bound.removeValue(forKey: ObjectIdentifier(entity))
        operation.later = Set(later.map(\.property.name))
        // Do not create a link twice that the other end has already created.
        for (property, related) in isNew ? [] : entity.changedRelations where !property.isCollection {
            guard let target = related.list.first, links.contains(LinkIdentity(entity, property, target)) else {
                continue
            }
            operation.later.insert(property.name)
        }
        operations.append(operation)
        if isNew { created.insert(ObjectIdentifier(entity)) }
        for (property, target) in later where !target.leads(to: entity, by: property.otherSide) {
            waiting.append((entity, property, target))
        }
        var next: [Step] = []
        for (property, related) in entity.changedRelations {
            guard property.isCollection else {
                if let target = related.list.first, !operation.later.contains(property.name) {
                    links.insert(LinkIdentity(entity, property, target))
                }
                continue
            }
            next += (isNew ? related.list : notLinked(related.changes.added, entity, property)).map {
                .link($0, entity, property, isBackwards: false)
            }
        }
        return next + [.linkWhatWaited]
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
    ) -> [Step] {
        let (from, to) = isBackwards ? (entity, host) : (host, entity)
        guard !links.contains(LinkIdentity(from, property, to)) else { return [] }
        if isThere(entity) {
            link(from, property, to)
            return []
        }
        // A link by a single-valued property of a new entity is part of its creation.
        let saysSo = entity.isSingle(isBackwards ? property.name : property.otherSide, to: host)
        if seen.contains(ObjectIdentifier(entity)) {
            if !saysSo { waiting.append((from, property, to)) }
            return []
        }
        if saysSo { return [.put(entity, parent: nil)] }
        links.insert(LinkIdentity(from, property, to))
        if isBackwards { bound[ObjectIdentifier(entity)] = (property, host) }
        return [.put(entity, parent: isBackwards ? nil : (host, property))]
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
    func perform(_ factory: EntityFactory) async throws(TidelogError) {
        let provider = factory.provider
        let call = try ModificationCall(operations, model: try await provider.model(), provider: provider)
        let results = call.intents.isEmpty ? [] : try await provider.perform(call.intents, asChangeSet: true)
        call.apply(results, factory)
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

extension EntityValue {
    /// The declared relations that the app has changed, in the order of their names.
    fileprivate var changedRelations: [(property: Property, related: RelatedEntities)] {
        guard !related.isEmpty else { return [] }
        var changed: [(property: Property, related: RelatedEntities)] = []
        for (name, related) in related where related.edit != .none {
            if let property = entityType.findProperty(name) { changed.append((property, related)) }
        }
        if changed.count > 1 { changed.sort { $0.property.name < $1.property.name } }
        return changed
    }

    /// The new entities that the app has set as targets of single-valued relations.
    fileprivate var changedTargets: [(property: Property, target: EntityValue)] {
        var targets: [(property: Property, target: EntityValue)] = []
        for (property, related) in changedRelations where !property.isCollection {
            if let target = related.list.first, target.isNew { targets.append((property, target)) }
        }
        return targets
    }

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
