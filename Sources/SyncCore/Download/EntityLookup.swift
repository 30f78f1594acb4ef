import EDM
import ODataQuery
import ODataWire
import Operations

/// Looks entities up in a storage that does not change meanwhile, with a cache for the items of a page.
struct EntityLookup {
    private let storage: WorkingSet
    private let model: EntityDataModel
    /// The current or last owner of each key of the set; nil for keys without an owner.
    private var set: String?
    private var keys: [ExactText: EntityID?] = [:]
    /// The base states; nil for entities that the service does not have.
    private var rows: [EntityID: EntityRow?] = [:]
    /// Whether the columns of the set contain none of the keys.
    private var hasNoRows = false

    init(_ storage: WorkingSet, _ model: EntityDataModel) {
        self.storage = storage
        self.model = model
    }

    /// Loads all entities of a set that the items are compared with in one lookup. Items of other sets are still looked
    /// up individually.
    mutating func prefetch(_ items: [DeltaItem], in set: EntitySet) throws(StateError) {
        (self.set, keys, rows, hasNoRows) = (set.name, [:], [:], false)
        // Contained entities are looked up below their containers.
        guard !set.isContained else { return }
        let parts = set.entityType.keyParts
        let number = parts.count == 1 && !parts[0].isNested ? parts[0].path : nil
        var numbers: ClosedRange<Int64>?
        var areNumbers = number != nil
        var ids: [EntityID] = []
        for item in items {
            guard case .entity(let payload) = item, payload.set == nil else { continue }
            let type = payload.type.flatMap(model.findEntityType) ?? set.entityType
            guard let key = KeyText.of(payload.values, type: type) else {
                areNumbers = false
                continue
            }
            if areNumbers, let number, case .integer(let value)? = payload.values[number] {
                numbers = min(numbers?.lowerBound ?? value, value)...max(numbers?.upperBound ?? value, value)
            } else {
                areNumbers = false
            }
            guard keys[ExactText(key)] == nil else { continue }
            let id = try storage.entity(set: set.name, key: key)
            keys[ExactText(key)] = .some(id)
            if let id { ids.append(id) }
        }
        // The pages of a first download usually arrive in key order, and none of the keys exists yet.
        if areNumbers, let number, let numbers {
            hasNoRows = try !storage.mayHaveRows(set: set.name, where: number, in: numbers)
        }
        guard !ids.isEmpty else { return }
        for entity in try storage.serviceEntities(ids) { rows[entity.id] = .some(entity.row) }
    }

    /// Returns the rows that have the key now, regardless of the key map.
    func rows(_ set: EntitySet, key: String, _ type: EntityType, _ values: PropertyValues) throws(StateError)
        -> [EntityID]
    {
        if hasNoRows, self.set == set.name, keys[ExactText(key)] != nil { return [] }
        guard let predicate = KeyPredicate(of: type, in: values) else { return [] }
        return try storage.findRows(set: set.name, where: predicate.located(in: type))
    }

    /// Returns the current or last owner of the key.
    func entity(_ set: EntitySet, key: String) throws(StateError) -> EntityID? {
        if self.set == set.name, let known = keys[ExactText(key)] { return known }
        return try storage.entity(set: set.name, key: key)
    }

    /// Returns the base state of the entity, regardless of pending operations.
    func serviceRow(_ id: EntityID) throws(StateError) -> EntityRow? {
        if let known = rows[id] { return known }
        return try storage.serviceRow(id)
    }
}
