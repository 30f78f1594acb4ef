import EDM
import Logging
import SyncEngine

/// Makes entity objects of what was read, each of the class that the service has for its type. The objects keep it, and read
/// their relations by it.
final class EntityFactory: Sendable {
    let model: EntityDataModel
    let classes: [String: EntityValue.Type]
    let provider: any DataServiceProvider
    /// Told of relations that could not be read.
    let logger: Logger

    init(
        model: EntityDataModel, classes: [String: EntityValue.Type], provider: any DataServiceProvider, logger: Logger
    ) {
        self.model = model
        self.classes = classes
        self.provider = provider
        self.logger = logger
    }

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
        if model.findEntityType(type.name) == nil { return QueueClasses.all[type.name] ?? EntityValue.self }
        if classes.isEmpty { return EntityValue.self }
        if let own = classes[type.name] { return own }
        return model.baseTypes(of: type).lazy.compactMap { self.classes[$0.name] }.first ?? EntityValue.self
    }
}
