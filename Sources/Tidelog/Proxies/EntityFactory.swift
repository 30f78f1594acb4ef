import EDM
import Logging
import OfflineStore
import SyncCore

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

/// The entity objects of one result, most of which have the same type and set.
struct EntityObjects {
    private let factory: EntityFactory
    /// The class of the previous entity.
    private var lastClass: KnownClass?
    /// The set of the previous entity.
    private var lastSet: KnownSet?

    /// The placement of the entities of a set. A reference, so that it is not copied for each entity.
    private final class KnownSet {
        let kind: EntityKind
        /// In the set of the model or else of the queue, if there is one.
        private let placement: EntityPlacement
        private let isInModel: Bool

        init(_ kind: EntityKind, _ factory: EntityFactory) {
            self.kind = kind
            let set = factory.model.findEntitySet(kind.set)
            isInModel = set != nil
            placement = EntityPlacement(set ?? QueueModel.model.findEntitySet(kind.set), factory)
        }

        /// Returns the placement of an object: in the model's set, the object's own, which its initializer may have
        /// assigned, or the queue's.
        func placement(of entity: EntityValue) -> EntityPlacement {
            if isInModel { return placement }
            return entity.entitySet.map { EntityPlacement($0, placement.factory) } ?? placement
        }
    }

    /// The class for the entities of a type.
    private final class KnownClass {
        let kind: EntityKind
        let type: EntityType
        let entityClass: EntityValue.Type

        init(_ kind: EntityKind, _ type: EntityType, _ entityClass: EntityValue.Type) {
            self.kind = kind
            self.type = type
            self.entityClass = entityClass
        }
    }

    init(_ factory: EntityFactory) { self.factory = factory }

    /// Returns the entity object, or `nil` if the model does not contain the type. Moves the content out of the
    /// snapshot.
    mutating func entity(moving snapshot: inout EntitySnapshot) -> EntityValue? {
        guard let known = knownClass(of: &snapshot) else { return nil }
        let entity = known.entityClass.init(known.type, withDefaults: false)
        update(entity, moving: &snapshot)
        return entity
    }

    /// Updates the object, and moves the content out of the snapshot.
    mutating func update(_ entity: EntityValue, moving snapshot: inout EntitySnapshot, settled: [KnownRelation] = []) {
        entity.move(to: knownSet(of: &snapshot).placement(of: entity))
        entity.moveContent(from: &snapshot, factory, settled: settled)
    }

    // The snapshots are not changed: `inout` avoids copies.

    private mutating func knownClass(of snapshot: inout EntitySnapshot) -> KnownClass? {
        if let lastClass, lastClass.kind == snapshot.kind { return lastClass }
        guard
            let type = factory.model.findEntityType(snapshot.type) ?? QueueModel.model.findEntityType(snapshot.type)
        else { return nil }
        let known = KnownClass(snapshot.kind, type, factory.entityClass(of: type))
        lastClass = known
        return known
    }

    private mutating func knownSet(of snapshot: inout EntitySnapshot) -> KnownSet {
        if let lastSet, lastSet.kind == snapshot.kind { return lastSet }
        let known = KnownSet(snapshot.kind, factory)
        lastSet = known
        return known
    }
}
