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
    func entity(_ snapshot: consuming EntitySnapshot) -> EntityValue? {
        var objects = EntityObjects(self)
        return objects.entity(moving: &snapshot)
    }

    /// Returns the entity objects, without those of types that the model does not contain.
    func entities(_ snapshots: consuming [EntitySnapshot]) -> [EntityValue] { entities(moving: &snapshots) }

    /// Returns the entity objects, without those of types that the model does not contain. The content is moved out of
    /// the snapshots, because a copy of each would retain all of its parts.
    func entities(moving snapshots: inout [EntitySnapshot]) -> [EntityValue] {
        var objects = EntityObjects(self)
        var entities: [EntityValue] = []
        entities.reserveCapacity(snapshots.count)
        for place in snapshots.indices {
            if let entity = objects.entity(moving: &snapshots[place]) { entities.append(entity) }
        }
        return entities
    }

    fileprivate func entityClass(of type: EntityType) -> EntityValue.Type {
        if model.findEntityType(type.name) == nil { return QueueClasses.all[type.name] ?? EntityValue.self }
        if classes.isEmpty { return EntityValue.self }
        if let own = classes[type.name] { return own }
        return model.baseTypes(of: type).lazy.compactMap { self.classes[$0.name] }.first ?? EntityValue.self
    }
}

/// The entity set of the objects for snapshots of one set: the model's, the object's own, which its initializer may have
/// assigned, or the queue's.
struct ObjectEntitySet {
    let name: String
    private let modelSet: EntitySet?
    private let queueSet: EntitySet?

    init(_ name: String, _ model: EntityDataModel) {
        self.name = name
        modelSet = model.findEntitySet(name)
        queueSet = modelSet == nil ? QueueModel.model.findEntitySet(name) : nil
    }

    func assign(to entity: EntityValue) {
        if let set = modelSet ?? entity.entitySet ?? queueSet { entity.entitySet = set }
    }
}

/// The entity objects of one result, most of which have the same type and set.
struct EntityObjects {
    private let factory: EntityFactory
    /// The class of the previous entity.
    private var last: KnownClass?

    /// The class for the entities of a type and set. A reference, so that it is not copied for each entity.
    private final class KnownClass {
        let type: EntityType
        let set: ObjectEntitySet
        let entityClass: EntityValue.Type

        init(_ type: EntityType, _ set: ObjectEntitySet, _ entityClass: EntityValue.Type) {
            (self.type, self.set, self.entityClass) = (type, set, entityClass)
        }
    }

    init(_ factory: EntityFactory) { self.factory = factory }

    /// Returns the entity object, or `nil` if the model does not contain the type. Moves the content out of the
    /// snapshot.
    mutating func entity(moving snapshot: inout EntitySnapshot) -> EntityValue? {
        guard let known = knownClass(of: &snapshot) else { return nil }
        let entity = known.entityClass.init(known.type, withDefaults: false)
        known.set.assign(to: entity)
        entity.moveContent(from: &snapshot, factory)
        return entity
    }

    /// Returns the class for a snapshot. The snapshot is not changed: `inout` avoids a copy.
    private mutating func knownClass(of snapshot: inout EntitySnapshot) -> KnownClass? {
        if let last, last.type.name == snapshot.type, last.set.name == snapshot.set { return last }
        guard
            let type = factory.model.findEntityType(snapshot.type) ?? QueueModel.model.findEntityType(snapshot.type)
        else { return nil }
        let known = KnownClass(type, ObjectEntitySet(snapshot.set, factory.model), factory.entityClass(of: type))
        last = known
        return known
    }
}
