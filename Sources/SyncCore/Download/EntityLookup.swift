import EDM
import ODataQuery
import ODataWire
import Operations

/// Looks entities up in a storage that does not change meanwhile, with a cache for the items of a page.
struct EntityLookup {
    private let storage: WorkingSet
    private let model: EntityDataModel
    /// The keys of the items, in their order; nil for items that were not looked up.
    private var keys: [Key?] = []
    /// The base states; nil for entities that the service does not have.
    private var rows = IDTable<EntityRow?>()
    /// Whether the columns of the set contain none of the keys.
    private var hasNoRows = false

    /// The key of an item.
    struct Key {
        let text: String
        /// The current or last owner of the key, or nil if it has none.
        let owner: EntityID?
    }

    init(_ storage: WorkingSet, _ model: EntityDataModel) {
        self.storage = storage
        self.model = model
    }

    /// Loads all entities of a set that the items are compared with in one lookup. Items of other sets are still looked
    /// up individually.
    mutating func prefetch(_ items: [DeltaItem], in set: EntitySet) throws(StateError) {
        (keys, rows, hasNoRows) = ([], IDTable(), false)
        // Contained entities are looked up below their containers, and the values of a singleton contain no key.
        guard !set.isContained, !set.isSingleton else { return }
        let parts = set.entityType.keyParts
        let number = parts.count == 1 && !parts[0].isNested ? parts[0].path : nil
        var numbers: ClosedRange<Int64>?
        var areNumbers = number != nil
        var ids: [EntityID] = []
        keys.reserveCapacity(items.count)
        // A span, because a loop over the elements and a subscript of an array copy each item. Of a slice, because that
        // of an array needs macOS 26.
        let slice = items[...]
        let items = slice.span
        for place in items.indices {
            guard let item = items[place].ownContent else {
                keys.append(nil)
                continue
            }
            let type = item.type.flatMap(model.findEntityType) ?? set.entityType
            guard let key = KeyText.of(item.values, type: type) else {
                areNumbers = false
                keys.append(nil)
                continue
            }
            let id = try storage.entity(set: set.name, key: key)
            keys.append(Key(text: key, owner: id))
            if let id { ids.append(id) }
            // The row of an owner has its key.
            if id == nil, areNumbers, let number, case .integer(let value)? = item.values[number] {
                numbers = min(numbers?.lowerBound ?? value, value)...max(numbers?.upperBound ?? value, value)
            } else {
                areNumbers = false
            }
        }
        // The pages of a first download usually arrive in key order, and none of the keys exists yet.
        if areNumbers, let number, let numbers {
            hasNoRows = try !storage.mayHaveRows(set: set.name, where: number, in: numbers)
        }
        guard !ids.isEmpty else { return }
        rows = IDTable(minimumCapacity: ids.count)
        for entity in try storage.serviceEntities(ids) { rows.updateValue(entity.row, for: entity.id) }
    }

    /// Returns the key of an item; nil if it was not looked up.
    func key(ofItemAt index: Int) -> Key? { keys.indices.contains(index) ? keys[index] : nil }

    /// Returns the rows that have the key now, regardless of the key map.
    ///
    /// - Parameter isOfItem: Whether the values are those of an item with a ``Key``.
    func rows(
        _ set: EntitySet, _ type: EntityType, _ values: PropertyValues, isOfItem: Bool = false
    ) throws(StateError) -> [EntityID] {
        if isOfItem, hasNoRows { return [] }
        guard let predicate = KeyPredicate(of: type, in: values) else { return [] }
        return try storage.findRows(set: set.name, where: predicate.located(in: type))
    }

    /// Returns whether the base state of an entity has this type, and the values in the same encoding. False for an
    /// entity that was not looked up. Does not copy the base state.
    func hasBase(_ id: EntityID, _ type: String, _ values: PropertyValues) -> Bool {
        guard let place = rows.place(of: id) else { return false }
        return rows.values[place]?.type == type && rows.values[place]?.values.hasSameEncoding(as: values) == true
    }

    /// Returns the base state of the entity, regardless of pending operations.
    func serviceRow(_ id: EntityID) throws(StateError) -> EntityRow? {
        if let place = rows.place(of: id) { return rows[at: place] }
        return try storage.serviceRow(id)
    }
}
