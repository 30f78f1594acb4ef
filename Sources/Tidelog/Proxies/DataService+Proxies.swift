import EDM
import SyncCore
public import SyncEngine

/// What the functions of generated services are made of.
extension DataService {
    /// The entities of a set that the query asks for, as objects of that class. A URL in the query goes before the set.
    ///
    /// Throws `refused(.unknownEntitySet)` where the service has no such set, and `invalidRequest` where the query leads to
    /// entities of another class.
    public func entities<Entity: EntityValue>(
        _ type: Entity.Type, in set: String, _ query: DataQuery = DataQuery()
    ) async throws(TidelogError) -> [Entity] {
        guard let set = try await provider.model().findEntitySet(set) else {
            throw TidelogError(.refused(.unknownEntitySet), "There is no entity set \(set).")
        }
        var entities: [Entity] = []
        for found in try await executeQuery(query.from(set)).entities {
            guard let entity = found as? Entity else {
                throw TidelogError(
                    .invalidRequest, "The query leads to an entity of type \(found.entityType.name), not to a \(type).")
            }
            entities.append(entity)
        }
        return entities
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
