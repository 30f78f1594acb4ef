import EDM
public import ODataQuery
public import ODataWire
public import OfflineStore
import SyncCore

/// Methods that generated services use.
extension DataService {
    /// Returns all entities of a set that match a query, as objects of the given class.
    ///
    /// The result includes all pages. A URL in the query has precedence over the set.
    ///
    /// - Throws: `refused(.unknownEntitySet)` if the service has no such set; `invalidRequest` if the result contains
    ///   entities of another class.
    public func entities<Entity: EntityValue>(
        _ type: Entity.Type, in set: String, _ query: DataQuery = DataQuery(), headers: HTTPHeaders = .empty
    ) async throws(TidelogError) -> [Entity] {
        _ = try await backend.model()
        let set = try entitySet(withName: set)
        var entities: [Entity] = []
        var next: DataQuery? = query.from(set)
        while let page = next {
            let result = try await executeQuery(page, headers: headers)
            for found in result.entities {
                guard let entity = found as? Entity else {
                    throw TidelogError(
                        .invalidRequest,
                        "The query returned an entity of type \(found.entityType.name), not a \(type).")
                }
                entities.append(entity)
            }
            next = result.nextQuery
        }
        return entities
    }

    /// Returns the entity of a set with the given key, as an object of the given class or a derived one.
    ///
    /// - Parameters:
    ///   - type: the class.
    ///   - set: the name of the entity set.
    ///   - key: the key of the entity.
    ///   - query: the properties to select and expand.
    /// - Throws: `refused(.unknownEntitySet)` if the service has no such set; `invalidRequest` if the entity has
    ///   another class.
    public func entity<Entity: EntityValue>(
        _ type: Entity.Type, in set: String, key: KeyPredicate, _ query: DataQuery = DataQuery(),
        headers: HTTPHeaders = .empty
    ) async throws(TidelogError) -> Entity {
        let model = try await backend.model()
        guard let set = model.findEntitySet(set) else {
            throw TidelogError(.refused(.unknownEntitySet), "There is no entity set \(set).")
        }
        let snapshot = try await backend.load(
            .key(set: set.name, key), options: query.resolvedOptions(set.entityType),
            headers: query.requestHeaders(headers))
        let found = factory(model).entity(snapshot)
        guard let entity = found as? Entity else {
            throw TidelogError(
                .invalidRequest, "The entity with the key has the type \(snapshot.type), not \(type).")
        }
        return entity
    }

    /// Returns the entity of a singleton, as an object of the given class.
    ///
    /// - Throws: `notFound` if the singleton has no entity.
    public func singleton<Entity: EntityValue>(
        _ type: Entity.Type, named name: String, _ query: DataQuery = DataQuery(), headers: HTTPHeaders = .empty
    ) async throws(TidelogError) -> Entity {
        guard let entity = try await entities(type, in: name, query, headers: headers).first else {
            throw TidelogError(.notFound, "The singleton \(name) does not exist.")
        }
        return entity
    }

    /// Returns the first entity that ``entities(_:in:_:headers:)`` would return.
    ///
    /// - Throws: `notFound` if there is none.
    public func firstEntity<Entity: EntityValue>(
        _ type: Entity.Type, in set: String, _ query: DataQuery = DataQuery(), headers: HTTPHeaders = .empty
    ) async throws(TidelogError) -> Entity {
        // A URL contains its own query options.
        let query = query.url == nil ? query.top(1) : query
        guard let first = try await entities(type, in: set, query, headers: headers).first else {
            throw TidelogError(.notFound, "The query found no entity in \(set).")
        }
        return first
    }
}
