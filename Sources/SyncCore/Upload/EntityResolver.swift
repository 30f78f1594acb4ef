package import EDM
import ODataQuery
package import ODataWire
package import Operations

/// A lookup of entities for the planner: whether the service has an entity, and how requests refer to it.
package struct EntityResolver<Storage: StateReader> {
    let storage: Storage
    let model: EntityDataModel
    private let known: RowCache?

    package init(storage: Storage, model: EntityDataModel) {
        self.storage = storage
        self.model = model
        known = nil
    }

    /// Creates a resolver that caches each lookup. The storage must not change meanwhile.
    init(remembering storage: Storage, model: EntityDataModel) {
        self.storage = storage
        self.model = model
        known = RowCache()
    }

    /// Returns the base state of the entity, regardless of pending operations.
    package func serviceRow(_ id: EntityID) throws(StateError) -> EntityRow? {
        try known == nil ? storage.serviceRow(id) : sharedServiceRow(id)?.row
    }

    /// Returns the base state of the entity without copying it.
    func sharedServiceRow(_ id: EntityID) throws(StateError) -> SharedRow? {
        if let known, let place = known.service.place(of: id) { return known.service[at: place] }
        let row = try storage.serviceRow(id).map(SharedRow.init)
        known?.service.updateValue(row, for: id)
        return row
    }

    /// Loads the entities of these operations into the cache with one lookup, if the resolver has a cache.
    func prefetch(_ operations: [PendingOperation]) throws(StateError) {
        guard let known else { return }
        // Moved, because each access to a table of the class would be checked.
        var (service, asked): (IDTable<SharedRow?>, [EntityID]) = (IDTable(), [])
        swap(&service, &known.service)
        defer { swap(&service, &known.service) }
        for pending in operations {
            pending.operation.forEachTouched { id in
                guard !service.contains(id) else { return }
                // Absent until the result is known, so that no entity is requested twice.
                service.updateValue(nil, for: id)
                asked.append(id)
            }
        }
        guard !asked.isEmpty else { return }
        // Sorted, because the views read entities in order.
        for entity in try storage.serviceEntities(asked.sorted()) {
            service.updateValue(entity.row.map(SharedRow.init), for: entity.id)
            known.sets.updateValue(entity.set, for: entity.id)
        }
    }

    /// Returns the base state of the entity, or its current state if the service does not have it.
    func anyRow(_ id: EntityID) throws(StateError) -> EntityRow? {
        if let row = try serviceRow(id) { return row }
        if let row = known?.local[id] { return row }
        let row = try storage.row(id)
        known?.local.updateValue(row, for: id)
        return row
    }

    func set(of id: EntityID) throws(StateError) -> String? {
        if let set = known?.sets[id] { return set }
        let set = try storage.set(of: id)
        known?.sets.updateValue(set, for: id)
        return set
    }

    /// Returns the footprint of an operation.
    ///
    /// - Parameter tracker: The links before the operation. It is updated with the operation.
    func footprint(
        _ operation: Operation, _ tracker: inout LinkTracker<Storage>
    ) throws(StateError) -> OperationFootprint {
        let (footprint, _) = try follow(operation, &tracker)
        return footprint
    }

    /// Returns the operation's footprint, and the links that it ends.
    func follow(
        _ operation: Operation, _ tracker: inout LinkTracker<Storage>
    ) throws(StateError) -> (footprint: OperationFootprint, ended: [EndedLink]) {
        let owners = try tracker.formerOwners(operation)
        var footprint = OperationFootprint()
        try footprint.add(
            operation,
            navigation: { entity, name throws(StateError) in
                try navigation(name, of: entity, in: operation)?.navigation
            }, owners: owners,
            named: { entity, values throws(StateError) in try namedTargets(of: entity, values, in: operation) },
            partners: { entity, relationship throws(StateError) in
                try tracker.partners(of: entity, by: relationship)
            }, deleted: { entity throws(StateError) in try tracker.deleted(with: entity) })
        let ended = try tracker.follow(operation, footprint)
        return (consume footprint, ended)
    }

    /// Returns the navigation properties whose targets the new values determine by referential constraints.
    func namedTargets(
        of entity: EntityID, _ values: PropertyValues, in operation: Operation
    ) throws(StateError) -> [OperationFootprint.NamedTarget] {
        guard !values.isEmpty, let type = try entityType(of: entity, in: operation) else { return [] }
        var found: [OperationFootprint.NamedTarget] = []
        for property in type.dependentNavigationProperties {
            guard let pairs = property.navigation?.constraints, pairs.contains(where: { values[$0.dependent] != nil }),
                let set = try set(of: entity).flatMap({ model.findEntitySet($0) }),
                let target = model.principalSet(of: property, in: set, from: type)
            else { continue }
            let known = try sharedServiceRow(entity)?.row.values
            let named = pairs.map { ($0.principal, values[$0.dependent] ?? known?[$0.dependent] ?? .null) }
            if named.contains(where: { $0.1 == .null }) {
                found.append(.init(navigation: property.name, target: nil))
            } else if let principal = try principal(PropertyValues(named), in: target) {
                found.append(.init(navigation: property.name, target: principal))
            }
        }
        return found
    }

    /// Returns the entity with these values. If they are its key, a locally deleted entity is found too.
    func principal(_ values: PropertyValues, in set: EntitySet) throws(StateError) -> EntityID? {
        let named = values.map { (property: $0.name, value: $0.value) }
        if let id = try storage.findRows(set: set.name, where: named).first { return id }
        guard values.count == set.entityType.keyParts.count,
            let key = KeyText.of(values, type: set.entityType)
        else { return nil }
        return try storage.entity(set: set.name, key: key)
    }

    package func navigation(
        _ name: String, of entity: EntityID, in operation: Operation
    ) throws(StateError) -> Property? {
        try entityType(of: entity, in: operation)?.findProperty(name)
    }

    /// Returns the type of an entity. An entity that was created and deleted since has no row, so the type is derived
    /// from its operations.
    func entityType(of entity: EntityID, in operation: Operation) throws(StateError) -> EntityType? {
        if let type = known?.types[entity] { return type }
        let type = try findEntityType(of: entity, in: operation)
        if let type { known?.types.updateValue(type, for: entity) }
        return type
    }

    private func findEntityType(of entity: EntityID, in operation: Operation) throws(StateError) -> EntityType? {
        if let known = try sharedServiceRow(entity) { return model.findEntityType(known.row.type) }
        // An entity that exists only locally has the type of its creation.
        if case .create(let creation, _) = operation.action {
            // The outermost creation is not copied.
            let type = creation.entity == entity ? creation.type : creation.find(entity)?.type
            if let type { return model.findEntityType(type) }
        }
        if let row = try anyRow(entity) { return model.findEntityType(row.type) }
        guard let set = try set(of: entity) else { return nil }
        return model.findEntitySet(set)?.entityType
    }

    /// Returns the constraint of a binding whose dependent properties also have values in the same operation.
    func constraint(
        of binding: Binding, beside values: PropertyValues, _ type: EntityType
    ) -> [ReferentialConstraint]? {
        guard binding.targets.count == 1,
            let pairs = type.findProperty(binding.navigation)?.navigation?.constraints, !pairs.isEmpty,
            pairs.allSatisfy({ (values[$0.dependent] ?? .null) != .null })
        else { return nil }
        return pairs
    }

    /// Returns the entities that an operation refers to by values of a constraint. All V2 services support these, but
    /// not all support bindings.
    func namedEntities(_ operation: Operation, _ service: ServiceOptions) throws(StateError) -> Set<EntityID> {
        guard namesEntities(service) else { return [] }
        switch operation.action {
        case .create(let creation, _): return namedEntities(creation, service)
        case .update(let entity, let changes, let bindings):
            guard !bindings.isEmpty, let type = try entityType(of: entity, in: operation) else { return [] }
            return Set(bindings.filter { isNamed($0, beside: changes, type, service) }.flatMap(\.targets))
        default: return []
        }
    }

    /// Whether operations refer to entities by values of a constraint.
    func namesEntities(_ service: ServiceOptions) -> Bool { model.version.isLegacy || !service.supportsBind }

    private func namedEntities(_ creation: Creation, _ service: ServiceOptions) -> Set<EntityID> {
        guard let type = model.findEntityType(creation.type) else { return [] }
        let own = creation.bindings.filter { isNamed($0, beside: creation.values, type, service) }
        return creation.inline.flatMap(\.entities).reduce(into: Set(own.flatMap(\.targets))) {
            $0.formUnion(namedEntities($1, service))
        }
    }

    private func isNamed(
        _ binding: Binding, beside values: PropertyValues, _ type: EntityType, _ service: ServiceOptions
    ) -> Bool {
        if !service.supportsBind {
            return type.findProperty(binding.navigation)?.navigation?.constraints.isEmpty == false
        }
        return constraint(of: binding, beside: values, type) != nil
    }

    /// Returns whether the service has properties of the entity that were never read, for example because a query
    /// selects. A PUT would reset them.
    func lacksProperties(_ row: EntityRow) -> Bool {
        guard let type = model.findEntityType(row.type) else { return false }
        return type.properties.contains {
            !$0.isClientOnly && $0.isWritable && $0.type.primitive != .stream && row.values[$0.name] == nil
        }
    }

    /// Returns the reason why a PUT would reset a property whose value is unknown, or nil if it would not.
    func obstacleToReplacement(_ row: EntityRow) -> String? {
        guard let name = model.findEntityType(row.type)?.unusableProperties.min() else { return nil }
        return "a PUT would reset \(row.set)/\(name), whose declaration in the metadata cannot be used"
    }

    /// Returns the reference to an entity in requests, or nil if the service does not have it or its key is unknown.
    package func reference(_ row: EntityRow) throws(StateError) -> ResourceReference? {
        try reference(row, depth: 0)
    }

    /// Returns the reference to an entity in requests, or nil if the service does not have it or its key is unknown.
    func reference(to id: EntityID) throws(StateError) -> ResourceReference? {
        if let reference = known?.references[id] { return reference }
        guard let found = try sharedServiceRow(id) else { return nil }
        let reference = try reference(found.row)
        known?.references.updateValue(reference, for: id)
        return reference
    }

    /// The largest depth of nested containment.
    static var deepestContainment: Int { 64 }

    private func reference(_ row: EntityRow, depth: Int) throws(StateError) -> ResourceReference? {
        if let editLink = row.editLink, EntityLinks.isAddress(editLink) { return .url(editLink) }
        guard let set = model.findEntitySet(row.set), let type = model.findEntityType(row.type) else { return nil }
        if let containment = set.containment {
            guard depth < Self.deepestContainment, let id = try storage.container(of: row.id, in: set),
                let parentRow = try serviceRow(id), let parent = try reference(parentRow, depth: depth + 1)
            else { return nil }
            let owner = containment.cast.map { .cast(parent, to: $0) } ?? parent
            guard containment.navigation.isCollection else {
                return .contained(in: owner, by: containment.navigation, key: nil)
            }
            return KeyPredicate(of: type, in: row.values).map {
                .contained(in: owner, by: containment.navigation, key: $0)
            }
        }
        if set.isSingleton { return .entity(set: set, key: KeyPredicate([])) }
        return KeyPredicate(of: type, in: row.values).map { .entity(set: set, key: $0) }
    }
}

/// The row of an entity. A class, because a row is a large value, and most lookups need one of its properties.
final class SharedRow {
    let row: EntityRow

    init(_ row: EntityRow) { self.row = row }
}

/// The cached lookups of a resolver.
private final class RowCache {
    var service = IDTable<SharedRow?>()
    var local = IDTable<EntityRow?>()
    var sets = IDTable<String?>()
    var types = IDTable<EntityType>()
    var references = IDTable<ResourceReference?>()
}

extension Creation {
    /// Returns the creation of the entity, at any level.
    func find(_ id: EntityID) -> Creation? {
        if entity == id { return self }
        for inline in self.inline {
            for child in inline.entities {
                if let found = child.find(id) { return found }
            }
        }
        return nil
    }
}
