import EDM
import SyncEngine

/// The operations that save objects with all that is new around them: each new entity by an operation of its own, behind
/// those that it refers to, then the links.
struct PutPlan {
    private(set) var operations: [ChangeSet.Operation] = []
    private var seen: Set<ObjectIdentifier> = []
    /// New entities that are created by ``operations``.
    private var created: Set<ObjectIdentifier> = []

    init() {}

    /// Saves an object once, however often it is met.
    ///
    /// - Parameter parent: what a new entity is created in.
    mutating func put(_ entity: EntityValue, in parent: (EntityValue, Property)? = nil) {
        guard seen.insert(ObjectIdentifier(entity)).inserted else { return }
        let isNew = entity.state == .unsaved
        var later: [(property: Property, target: EntityValue)] = []
        for (property, related) in entity.changedRelations where !property.isCollection {
            guard let target = related.list.first, target.state == .unsaved else { continue }
            put(target)
            // Two new entities that refer to each other: one link has to wait until both are there.
            if !created.contains(ObjectIdentifier(target)) { later.append((property, target)) }
        }
        let kind: ChangeSet.Operation.Kind = isNew ? .create(entity, parent: parent) : .update(entity)
        var operation = ChangeSet.Operation(kind, .empty, .none)
        operation.isFlat = true
        operation.later = Set(later.map(\.property.name))
        operations.append(operation)
        if isNew { created.insert(ObjectIdentifier(entity)) }
        for (property, target) in later where !target.leads(to: entity, by: property.navigation?.partner) {
            waiting.append((entity, property, target))
        }
        for (property, related) in entity.changedRelations where property.isCollection {
            link(isNew ? related.list : related.changes.added, entity, property)
        }
        linkWhatWaited()
    }

    /// Links whose target is not created yet.
    private var waiting: [(from: EntityValue, property: Property, to: EntityValue)] = []

    private mutating func linkWhatWaited() {
        guard !waiting.isEmpty else { return }
        for link in waiting where created.contains(ObjectIdentifier(link.to)) {
            append(.updateLink(link.from, link.property, link.to))
        }
        waiting.removeAll { created.contains(ObjectIdentifier($0.to)) }
    }

    /// Links entities with their host, new ones by creating them there.
    mutating func link(_ entities: [EntityValue], _ host: EntityValue, _ property: Property, isBackwards: Bool = false)
    {
        let partner = isBackwards ? property.name : property.navigation?.partner
        for entity in entities {
            // It says so itself, and one of the two is enough.
            let says = entity.leads(to: host, by: partner)
            let isNew = entity.state == .unsaved && !seen.contains(ObjectIdentifier(entity))
            switch (isNew, isBackwards) {
            case (true, true):
                if !says { entity.bindEntity(host, to: property) }
                put(entity)
            case (true, false): put(entity, in: says ? nil : (host, property))
            case (false, _) where says && created.contains(ObjectIdentifier(entity)): break
            case (false, true): append(.createLink(entity, property, host))
            case (false, false): append(.createLink(host, property, entity))
            }
        }
    }

    mutating func unlink(
        _ entities: [EntityValue], _ host: EntityValue, _ property: Property, isBackwards: Bool = false
    ) {
        for entity in entities {
            append(isBackwards ? .deleteLink(entity, property, host) : .deleteLink(host, property, entity))
        }
    }

    private mutating func append(_ kind: ChangeSet.Operation.Kind) {
        operations.append(ChangeSet.Operation(kind, .empty, .none))
    }

    /// Logs the operations as one change set.
    func perform(_ factory: EntityFactory) async throws(TidelogError) {
        let call = try ModificationCall(operations, model: try await factory.provider.model())
        guard !call.intents.isEmpty else { return }
        call.apply(try await factory.provider.perform(call.intents, asChangeSet: true), factory)
    }
}

extension EntityValue {
    /// The relations that the app has changed and that the type declares, in the order of their names.
    fileprivate var changedRelations: [(property: Property, related: RelatedEntities)] {
        guard !related.isEmpty else { return [] }
        return related.filter { $0.value.edit != .none }.sorted { $0.key < $1.key }.compactMap { name, related in
            entityType.findProperty(name).map { ($0, related) }
        }
    }

    /// Whether the app has set a navigation property to that entity.
    fileprivate func leads(to target: EntityValue, by property: String?) -> Bool {
        guard let property, let related = related[property], related.edit != .none else { return false }
        if let id = related.targetID { return id == target.entityID }
        return related.list.contains { $0 === target }
    }
}
