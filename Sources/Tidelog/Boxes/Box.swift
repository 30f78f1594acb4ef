import EDM
public import ODataQuery
public import OfflineStore
public import Operations

/// The objects of one class in a store: `service.box(for: Order.self)`.
///
/// A box saves objects by ordinary operations in the log, one change set for each call. They are validated, undone
/// and uploaded like all other operations. A box does not cache objects: each read creates new ones.
public struct Box<Entity: EntityValue>: Sendable {
    let service: DataService
    let place: EntitySource

    /// The entity set and entity type of the class.
    struct EntitySource: Sendable {
        let set: EntitySet
        let type: EntityType

        /// Whether the class's type is derived from the type of the set, so that the set can contain entities of
        /// other classes.
        var isDerived: Bool { self.set.entityType != type }
    }

    // MARK: Reading

    /// Returns the entity with the given ID, or `nil` if the store has no such entity or the entity has another
    /// class.
    ///
    /// - Throws: `noStore` if the store is not open.
    public func get(_ id: EntityID) async throws(TidelogError) -> Entity? { try await entity(.id(id)) }

    /// Returns the entity with the given key, or `nil` if the store has no such entity or the entity has another
    /// class.
    ///
    /// - Throws: `noStore` if the store is not open; `invalidRequest` if the key is incomplete.
    public func get(_ key: KeyPredicate) async throws(TidelogError) -> Entity? {
        try await entity(.key(set: place.set.name, key))
    }

    /// Returns the entities with the given IDs, in the order of the IDs. Contains `nil` for each ID that is not
    /// found.
    ///
    /// - Throws: `noStore` if the store is not open.
    public func get(_ ids: [EntityID]) async throws(TidelogError) -> [Entity?] {
        var entities: [Entity?] = []
        for id in ids { entities.append(try await get(id)) }
        return entities
    }

    /// All entities of the class, including those of derived classes, in the order of their IDs.
    ///
    /// - Throws: Like ``BoxQuery/find()``.
    public var all: [Entity] {
        get async throws(TidelogError) { try await BoxQuery(box: self, conditions: []).find() }
    }

    /// The number of entities. Reads no entities.
    ///
    /// - Throws: Like ``BoxQuery/count()``.
    public var count: Int {
        get async throws(TidelogError) { try await BoxQuery(box: self, conditions: []).count() }
    }

    /// A Boolean value that indicates whether there are no entities. Reads no entities.
    ///
    /// - Throws: Like ``BoxQuery/count()``.
    public var isEmpty: Bool { get async throws(TidelogError) { try await count == 0 } }

    /// Returns a query for the entities that satisfy the condition: `box.query { Order.total > 10 }`.
    ///
    /// The query reads nothing before ``BoxQuery/find()``, ``BoxQuery/first()`` or ``BoxQuery/count()``.
    public func query(_ condition: () -> QueryFilter) -> BoxQuery<Entity> {
        BoxQuery(box: self, conditions: [condition()])
    }

    /// Returns a query for all entities, to be sorted or limited.
    public func query() -> BoxQuery<Entity> { BoxQuery(box: self, conditions: []) }

    private func entity(_ address: EntityAddress) async throws(TidelogError) -> Entity? {
        do throws(TidelogError) {
            let model = try await service.backend.model()
            let snapshot = try await service.backend.load(address, options: QueryOptions(), headers: .empty)
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

    /// Saves an object: creates it if it is new, otherwise updates the properties that have changed.
    ///
    /// The relations of the object are saved with it. Each new target is created. For an existing target only the
    /// link is saved, not the changes of the target itself. All operations are one change set; if nothing has
    /// changed, nothing is logged.
    ///
    /// - Returns: The permanent ID of the entity in the store.
    /// - Throws: `refused` if the metadata forbids the change, `noStore` if the store is not open, `unsupported` for a
    ///   historical store: nothing is saved then. `notFound` if the entity was deleted after it was saved.
    @discardableResult
    public func put(_ entity: Entity) async throws(TidelogError) -> EntityID { try await put([entity])[0] }

    /// Saves several objects in one change set: all or none.
    ///
    /// If several of the objects lead to the same new object, it is created once.
    ///
    /// - Throws: `refused` if the metadata forbids one of the changes, `noStore` if the store is not open, `unsupported`
    ///   for a historical store: nothing is saved then. `notFound` if an entity was deleted after it was saved.
    @discardableResult
    public func put(_ entities: [Entity]) async throws(TidelogError) -> [EntityID] {
        var plan = PutPlan(count: entities.count)
        let placement = EntityPlacement(place.set, nil)
        for entity in entities {
            if entity.isNew, entity.entitySet == nil { entity.move(to: placement) }
            plan.put(entity)
        }
        let model = try await service.backend.model()
        try await plan.perform(service.factory(model), model)
        var ids: [EntityID] = []
        ids.reserveCapacity(entities.count)
        for entity in entities {
            if let id = entity.entityID {
                ids.append(id)
                continue
            }
            guard let id = try await id(of: entity) else {
                throw TidelogError(.notFound, "The entity is no longer in the store.", place: entity.readLink)
            }
            ids.append(id)
        }
        return ids
    }

    /// Returns the ID of a saved entity whose object has only a link.
    private func id(of entity: Entity) async throws(TidelogError) -> EntityID? {
        guard let link = entity.readLink ?? entity.editLink else { return nil }
        return try await service.backend.load(.link(link), options: QueryOptions(), headers: .empty).entityID
    }

    // MARK: Removing

    /// Deletes an entity. Linked entities are kept, unless the metadata defines a cascade (`OnDelete`).
    ///
    /// - Throws: `refused(.entityNotFound)` if the entity is not in the store; another `refused` if the metadata
    ///   forbids the deletion, for example because the entity is the mandatory partner of another one; `noStore` if the
    ///   store is not open; `unsupported` for a historical store.
    public func remove(_ entity: Entity) async throws(TidelogError) { try await remove([entity]) }

    /// Deletes entities in one change set: all or none.
    ///
    /// - Throws: `refused`, like ``remove(_:)-(Entity)``. Nothing is deleted then.
    public func remove(_ entities: [Entity]) async throws(TidelogError) {
        guard !entities.isEmpty else { return }
        let changes = ChangeSet()
        for entity in entities { changes.deleteEntity(entity) }
        try await service.applyChanges(changes)
    }

    /// Deletes the entity with the given ID.
    ///
    /// - Returns: `true` if there was such an entity.
    /// - Throws: `refused` if the metadata forbids the deletion; `noStore` if the store is not open; `unsupported` for a
    ///   historical store.
    @discardableResult
    public func remove(_ id: EntityID) async throws(TidelogError) -> Bool {
        guard let entity = try await get(id) else { return false }
        try await remove(entity)
        return true
    }

    /// Deletes all entities of the class in one change set.
    ///
    /// - Returns: The number of deleted entities.
    /// - Throws: `refused` if the metadata forbids the deletion of one of them; nothing is deleted then. `noStore` if
    ///   the store is not open.
    @discardableResult
    public func removeAll() async throws(TidelogError) -> Int {
        let entities = try await all
        try await remove(entities)
        return entities.count
    }
}

extension DataService {
    /// Returns the objects of a class in the store.
    ///
    /// - Parameter set: the entity set; needed if several sets contain entities of the class.
    /// - Throws: `unsupported` if the provider is not a store; `refused(.unknownEntitySet)` if no set, or more than
    ///   one, contains entities of the class; `noStore` if the provider has not been opened.
    public func box<Entity: EntityValue>(
        for type: Entity.Type, in set: String? = nil
    ) throws(TidelogError) -> Box<Entity> {
        guard backend is OfflineODataProvider || backend is HistoricalODataProvider else {
            throw TidelogError(
                .unsupported, "A box belongs to a store, not to a service.", recovery: "Use an OfflineODataProvider.")
        }
        return Box(service: self, place: try place(of: type, in: set))
    }

    private func place<Entity: EntityValue>(
        of type: Entity.Type, in name: String?
    ) throws(TidelogError) -> Box<Entity>.EntitySource {
        let model = try metadata
        guard let known = entityClasses.first(where: { $0.value == type }), let own = model.findEntityType(known.key)
        else {
            throw TidelogError(
                .invalidRequest, "The class \(type) does not belong to an entity type.",
                recovery: "Use a class that entityClasses of the service contains.")
        }
        let holding = model.entitySets(holding: own.name)
        if let name {
            let set = model.findEntitySet(name)
            guard let set, model.isType(own.name, derivedFrom: set.entityType.name) else {
                throw TidelogError(
                    .refused(.unknownEntitySet), "There is no entity set \(name) with entities of type \(own.name).")
            }
            return Box.EntitySource(set: set, type: own)
        }
        // A set of the type itself has precedence over a set of a base type.
        let exact = holding.filter { $0.entityType == own }
        let sets = exact.isEmpty ? holding : exact
        guard let set = sets.first, sets.count == 1 else {
            throw TidelogError(
                .refused(.unknownEntitySet),
                sets.isEmpty
                    ? "No entity set contains entities of type \(own.name)."
                    : "Several entity sets contain entities of type \(own.name): \(sets.map(\.name).joined(separator: ", ")).",
                recovery: sets.isEmpty ? nil : "Name the set: box(for:in:).")
        }
        return Box.EntitySource(set: set, type: own)
    }
}
