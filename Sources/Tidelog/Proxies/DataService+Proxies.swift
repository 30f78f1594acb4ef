import EDM
public import ODataWire
import SyncCore
public import SyncEngine

/// What the functions of generated services are made of.
extension DataService {
    /// The entities of a set that the query asks for, as objects of that class; all of them, whatever size pages have. A URL in
    /// the query goes before the set.
    ///
    /// Throws `refused(.unknownEntitySet)` where the service has no such set, and `invalidRequest` where the query leads to
    /// entities of another class.
    public func entities<Entity: EntityValue>(
        _ type: Entity.Type, in set: String, _ query: DataQuery = DataQuery()
    ) async throws(TidelogError) -> [Entity] {
        _ = try await provider.model()
        let set = try entitySet(withName: set)
        var entities: [Entity] = []
        var next: DataQuery? = query.from(set)
        while let page = next {
            let result = try await executeQuery(page)
            for found in result.entities {
                guard let entity = found as? Entity else {
                    throw TidelogError(
                        .invalidRequest,
                        "The query leads to an entity of type \(found.entityType.name), not to a \(type).")
                }
                entities.append(entity)
            }
            next = result.nextQuery
        }
        return entities
    }

    /// The entity of a set that has the key, as an object of that class. It may be of a derived class.
    ///
    /// - Parameter query: what to select and expand.
    ///
    /// Throws `refused(.unknownEntitySet)` where the service has no such set, and `invalidRequest` where the entity is of
    /// another class.
    public func entity<Entity: EntityValue>(
        _ type: Entity.Type, in set: String, key: KeyPredicate, _ query: DataQuery = DataQuery()
    ) async throws(TidelogError) -> Entity {
        let model = try await provider.model()
        guard let set = model.findEntitySet(set) else {
            throw TidelogError(.refused(.unknownEntitySet), "There is no entity set \(set).")
        }
        let snapshot = try await provider.load(
            .key(set: set.name, key), options: query.resolvedOptions(set.entityType), headers: .empty)
        let found = factory(model).entity(snapshot)
        guard let entity = found as? Entity else {
            throw TidelogError(
                .invalidRequest, "The key leads to an entity of type \(snapshot.type), not to a \(type).")
        }
        return entity
    }

    /// The entity of a singleton, as an object of that class. Throws `notFound` where there is none.
    public func singleton<Entity: EntityValue>(
        _ type: Entity.Type, named name: String, _ query: DataQuery = DataQuery()
    ) async throws(TidelogError) -> Entity {
        guard let entity = try await entities(type, in: name, query).first else {
            throw TidelogError(.notFound, "The singleton \(name) holds no entity.")
        }
        return entity
    }

    /// The first of the entities that ``entities(_:in:_:)`` would find. Throws `notFound` where there is none.
    public func firstEntity<Entity: EntityValue>(
        _ type: Entity.Type, in set: String, _ query: DataQuery = DataQuery()
    ) async throws(TidelogError) -> Entity {
        guard let first = try await entities(type, in: set, query.top(1)).first else {
            throw TidelogError(.notFound, "The query found no entity in \(set).")
        }
        return first
    }
}
