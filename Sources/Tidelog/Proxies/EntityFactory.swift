import EDM
import Logging
import OfflineStore

/// Creates entity objects from snapshots, with the class that the service declares for each type. The objects retain
/// the factory to read their relations.
final class EntityFactory: Sendable {
    let model: EntityDataModel
    let classes: [String: EntityValue.Type]
    let provider: any ServiceBackend
    /// Logs relations that could not be read.
    let logger: Logger

    init(
        model: EntityDataModel, classes: [String: EntityValue.Type], provider: any ServiceBackend, logger: Logger
    ) {
        self.model = model
        self.classes = classes
        self.provider = provider
        self.logger = logger
    }

    /// Returns a factory with other metadata of the same provider.
    func with(_ model: EntityDataModel) -> EntityFactory {
        EntityFactory(model: model, classes: classes, provider: provider, logger: logger)
    }

    /// Returns the entity object, or `nil` if the model does not contain the type.
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
