import EDM
public import ODataWire
public import Operations
public import SyncEngine

/// The objects of one class in a store: `service.box(for: Order.self)`.
///
/// What a box saves are ordinary operations in the log, one change set for each call: validated as everywhere, undone and
/// uploaded as everything else. A box keeps no objects: each read makes new ones.
public struct Box<Entity: EntityValue> {
    let service: DataService
    let place: Place

    /// Where the entities of the class are.
    struct Place {
        let set: EntitySet
        let type: EntityType

        /// Whether the set holds other entities as well.
        var isDerived: Bool { self.set.entityType != type }
    }

    // MARK: Reading

    /// The entity of that ID; nil where the store has none of that ID, or it is of another class.
    public func get(_ id: EntityID) async throws(TidelogError) -> Entity? { try await entity(.id(id)) }

    /// The entity of that key; nil where the store has none.
    public func get(_ key: KeyPredicate) async throws(TidelogError) -> Entity? {
        try await entity(.key(set: place.set.name, key))
    }

    /// The entities of those IDs, in their order; nil for those that are not there.
    public func get(_ ids: [EntityID]) async throws(TidelogError) -> [Entity?] {
        var entities: [Entity?] = []
        for id in ids { entities.append(try await get(id)) }
        return entities
    }

    /// All entities of the class, those of derived classes among them, in the order of their IDs.
    public var all: [Entity] {
        get async throws(TidelogError) { try await BoxQuery(box: self, conditions: []).find() }
    }

    /// How many there are. Reads no entities.
    public var count: Int {
        get async throws(TidelogError) { try await BoxQuery(box: self, conditions: []).count() }
    }

    public var isEmpty: Bool { get async throws(TidelogError) { try await count == 0 } }

    /// Entities for which the condition is true: `box.query { Order.total > 10 }`. Nothing is read before
    /// ``BoxQuery/find()`` or one of its like.
    public func query(_ condition: () -> QueryFilter) -> BoxQuery<Entity> {
        BoxQuery(box: self, conditions: [condition()])
    }

    /// All entities, to be ordered or cut.
    public func query() -> BoxQuery<Entity> { BoxQuery(box: self, conditions: []) }

    private func entity(_ address: EntityAddress) async throws(TidelogError) -> Entity? {
        do throws(TidelogError) {
            let model = try await service.provider.model()
            let snapshot = try await service.provider.load(address, options: QueryOptions(), headers: .empty)
            guard model.isType(snapshot.type, derivedFrom: place.type.name) else { return nil }
            return service.factory(model).entity(snapshot) as? Entity
        } catch {
            switch error.code {
            case .notFound, .refused(.entityNotFound): return nil
            default: throw error
            }
        }
    }

    // MARK: Saving

    /// Saves an object: a new one is created, one that was read or saved before is updated by what has changed. Its relations
    /// are saved with it. What they lead to is created where it is new; where it exists only the link is made, and what was
    /// changed in it is not saved. One change set, or nothing where nothing has changed.
    ///
    /// - Returns: the store's permanent ID of the entity.
    /// - Throws: `refused` where the metadata forbid it, and nothing is saved then.
    @discardableResult
    public func put(_ entity: Entity) async throws(TidelogError) -> EntityID { try await put([entity])[0] }

    /// Saves several objects in one change set: all or none. An object that several of them lead to is created once.
    @discardableResult
    public func put(_ entities: [Entity]) async throws(TidelogError) -> [EntityID] {
        var plan = PutPlan()
        for entity in entities {
            if entity.isNew, entity.entitySet == nil { entity.entitySet = place.set }
            plan.put(entity)
        }
        try await plan.perform(service.factory(try await service.provider.model()))
        var ids: [EntityID] = []
        ids.reserveCapacity(entities.count)
        for entity in entities {
            guard let id = try await id(of: entity) else {
                throw TidelogError(.notFound, "The entity is not in the store any more.", place: entity.readLink)
            }
            ids.append(id)
        }
        return ids
    }

    /// Also of an object that has nothing but a link.
    private func id(of entity: Entity) async throws(TidelogError) -> EntityID? {
        if let id = entity.entityID { return id }
        guard let link = entity.readLink ?? entity.editLink else { return nil }
        return try await service.provider.load(.link(link), options: QueryOptions(), headers: .empty).entityID
    }

    // MARK: Removing

    /// Deletes an entity. What is linked to it stays, unless the metadata say otherwise (`OnDelete`).
    public func remove(_ entity: Entity) async throws(TidelogError) { try await remove([entity]) }

    /// Deletes entities in one change set: all or none.
    public func remove(_ entities: [Entity]) async throws(TidelogError) {
        guard !entities.isEmpty else { return }
        let changes = ChangeSet()
        for entity in entities { changes.deleteEntity(entity) }
        try await service.applyChanges(changes)
    }

    /// Deletes the entity of that ID. Returns whether there was one.
    @discardableResult
    public func remove(_ id: EntityID) async throws(TidelogError) -> Bool {
        guard let entity = try await get(id) else { return false }
        try await remove(entity)
        return true
    }

    /// Deletes all entities of the class in one change set. Returns how many there were.
    @discardableResult
    public func removeAll() async throws(TidelogError) -> Int {
        let entities = try await all
        try await remove(entities)
        return entities.count
    }
}

extension DataService {
    /// The objects of a class in the store.
    ///
    /// - Parameter set: the entity set, where several have entities of that class.
    /// - Throws: `unsupported` where the provider is no store; `refused(.unknownEntitySet)` where no set, or several, hold
    ///   entities of the class; `noStore` before the provider was opened.
    public func box<Entity: EntityValue>(
        for type: Entity.Type, in set: String? = nil
    ) throws(TidelogError) -> Box<Entity> {
        guard provider is OfflineODataProvider || provider is PastODataProvider else {
            throw TidelogError(
                .unsupported, "Boxes are of stores, not of services.", recovery: "Use an OfflineODataProvider.")
        }
        return Box(service: self, place: try place(of: type, in: set))
    }

    private func place<Entity: EntityValue>(
        of type: Entity.Type, in name: String?
    ) throws(TidelogError) -> Box<Entity>.Place {
        let model = try metadata
        guard let known = entityClasses.first(where: { $0.value == type }), let own = model.findEntityType(known.key)
        else {
            throw TidelogError(
                .invalidRequest, "No entity type has the class \(type).",
                recovery: "Use a class that the service's entityClasses name.")
        }
        let holding = model.entitySets.filter { model.isType(own.name, derivedFrom: $0.entityType.name) }
        if let name {
            guard let set = holding.first(where: { $0.name == name }) else {
                throw TidelogError(
                    .refused(.unknownEntitySet), "There is no entity set \(name) with entities of type \(own.name).")
            }
            return Box.Place(set: set, type: own)
        }
        // A set of the type itself goes before one of a base type.
        let exact = holding.filter { $0.entityType == own }
        let sets = exact.isEmpty ? holding : exact
        guard let set = sets.first, sets.count == 1 else {
            throw TidelogError(
                .refused(.unknownEntitySet),
                sets.isEmpty
                    ? "No entity set holds entities of type \(own.name)."
                    : "Several entity sets hold entities of type \(own.name): \(sets.map(\.name).joined(separator: ", ")).",
                recovery: sets.isEmpty ? nil : "Name the set: box(for:in:).")
        }
        return Box.Place(set: set, type: own)
    }
}
