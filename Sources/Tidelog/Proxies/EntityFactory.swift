import EDM
import SyncEngine

/// Makes entity objects of what was read, each of the class that the service has for its type.
struct EntityFactory {
    let model: EntityDataModel
    let classes: [String: EntityValue.Type]

    /// Nil where the model has no such type.
    func entity(_ snapshot: EntitySnapshot) -> EntityValue? {
        guard let type = model.findEntityType(snapshot.type) ?? QueueModel.model.findEntityType(snapshot.type) else {
            return nil
        }
        let entity = entityClass(of: type).init(type, withDefaults: false)
        entity.apply(snapshot, self)
        return entity
    }

    private func entityClass(of type: EntityType) -> EntityValue.Type {
        if classes.isEmpty { return EntityValue.self }
        let names = [type.name] + model.baseTypes(of: type).map(\.name)
        return names.lazy.compactMap { classes[$0] }.first ?? EntityValue.self
    }
}
