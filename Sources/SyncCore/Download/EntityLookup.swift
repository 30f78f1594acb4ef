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
    /// The entities that were looked up.
    private var found: [ServiceEntity] = []
    /// The index of each entity in ``found``.
    private var places = IDTable<Int32>()
    /// Whether the columns of the set contain none of the keys.
    private var hasNoRows = false

    /// The key of an item.
    struct Key {
        let text: String
        /// The current or last owner of the key, or nil if it has none.
        var owner: EntityID?
    }

    init(_ storage: WorkingSet, _ model: EntityDataModel) {
        self.storage = storage
        self.model = model
    }

    /// Loads all entities of a set that the items are compared with in one lookup. Items of other sets are still looked
    /// up individually.
    mutating func prefetch(_ items: [DeltaItem], in set: EntitySet) throws(StateError) {
        (keys, found, places, hasNoRows) = ([], [], IDTable(), false)
        // Contained entities are looked up below their containers, and the values of a singleton contain no key.
        guard !set.isContained, !set.isSingleton else { return }
        var numbers = KeyNumbers(set.entityType)
        keys.reserveCapacity(items.count)
        let ownType = set.entityType
        try DeltaItem.forEachContent(of: items) { item throws(StateError) in
            guard let item else { return keys.append(nil) }
            let type = item.type.flatMap { model.findEntityType($0, in: set) } ?? ownType
            let key = KeyText.of(item.values, type: type)
            // The keys of a first download are new, and those of a later one are not.
            if let key, keys.isEmpty, try storage.entity(set: set.name, key: key) != nil { numbers.stop() }
            numbers.add(item.values, of: key == nil ? nil : type)
            keys.append(key.map { Key(text: $0, owner: nil) })
        }
        // The pages of a first download usually arrive in key order, and none of the keys exists yet.
        if let (property, range) = numbers.found {
            hasNoRows = try !storage.mayHaveRows(set: set.name, where: property, in: range)
        }
        if let (first, last) = numbers.texts, try !storage.mayHaveKeys(set: set.name, from: first, through: last) {
            return
        }
        let owners = try owners(of: keys.compactMap { $0?.text }, in: set)
        var ids: [EntityID] = []
        ids.reserveCapacity(owners.count)
        var next = 0
        for place in keys.indices where keys[place]?.text != nil {
            if let id = owners[next] {
                keys[place]?.owner = id
                ids.append(id)
            }
            next += 1
        }
        guard !ids.isEmpty else { return }
        found = try storage.serviceEntities(ids)
        places = IDTable(minimumCapacity: found.count)
        for place in found.indices { places.updateValue(Int32(place), for: found[place].id) }
    }

    /// Returns the current or last owner of each key.
    private func owners(of keys: [String], in set: EntitySet) throws(StateError) -> [EntityID?] {
        // Pages usually are in the order of their keys.
        if let backing = storage.backing, storage.keys.isEmpty,
            keys.indices.dropFirst().allSatisfy({ !precedesInBytes(keys[$0], keys[$0 - 1]) })
        {
            return try backing.entities(set: set.name, ascendingKeys: keys)
        }
        var owners: [EntityID?] = []
        owners.reserveCapacity(keys.count)
        for key in keys { owners.append(try storage.entity(set: set.name, key: key)) }
        return owners
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

    /// Returns the type of an entity in a payload: `named`, or the stored type if it is derived from that and the payload
    /// does not determine it.
    ///
    /// That is a reference, with the key alone, from which the service may omit the type, or an entity of a type that the
    /// metadata do not declare.
    func typeName(
        _ named: String, of id: EntityID, in payload: EntityPayload, _ type: EntityType
    ) throws(StateError) -> String {
        let isReference = payload.etag == nil && payload.values.areKey(of: type)
        guard isReference || payload.type.map({ $0 != named }) ?? false,
            let stored = try serviceRow(id)?.type, model.isType(stored, derivedFrom: named)
        else { return named }
        return stored
    }

    /// Returns whether the base state of an entity has this type, and the values in the same encoding. False for an
    /// entity that was not looked up. Does not copy the base state.
    func hasBase(_ id: EntityID, _ type: String, _ values: PropertyValues) -> Bool {
        guard let place = place(of: id) else { return false }
        return found[place].row?.type == type && found[place].row?.values.hasSameEncoding(as: values) == true
    }

    /// Returns the index of the entity in ``found``, or nil if it was not looked up.
    private func place(of id: EntityID) -> Int? { places.place(of: id).map { Int(places.values[$0]) } }

    /// Compares an image with the base state of its entity.
    func finding(
        _ image: borrowing EntityImage, isNaming: Bool, by comparison: LocalComparison
    ) throws(StateError) -> LocalComparisonResult {
        guard let place = place(of: image.entity) else {
            return try comparison.finding(image, isNaming: isNaming, storage.serviceRow(image.entity))
        }
        // A span, because a subscript of the array copies the base state.
        let slice = found[place...]
        return try comparison.finding(image, isNaming: isNaming, slice.span[0].row)
    }

    /// Returns the base state of the entity, regardless of pending operations.
    func serviceRow(_ id: EntityID) throws(StateError) -> EntityRow? {
        if let place = place(of: id) { return found[place].row }
        return try storage.serviceRow(id)
    }
}

extension EntityDataModel {
    /// Returns the entity type with the name, or nil if the type of the set is derived from it: a navigation property can
    /// lead to a base type of its targets.
    func findEntityType(_ name: String, in set: EntitySet) -> EntityType? {
        let type = findEntityType(name)
        return type === set.entityType || !isType(set.entityType.name, derivedFrom: name) ? type : nil
    }

    /// Returns the type with which the store identifies an entity: that of the payload, otherwise that of the set.
    func entityType(of payload: EntityPayload, in set: EntitySet) -> EntityType {
        payload.type.flatMap { findEntityType($0, in: set) } ?? set.entityType
    }
}

/// The range of the keys of a page, if they are whole numbers.
private struct KeyNumbers {
    private let type: EntityType
    /// The only key property; nil if a key is no number.
    private var property: String?
    private var range: ClosedRange<Int64>?

    init(_ type: EntityType) {
        self.type = type
        let parts = type.keyParts
        property = parts.count == 1 && !parts[0].isNested ? parts[0].path : nil
    }

    mutating func stop() { property = nil }

    /// - Parameter type: The type of the entity, or nil if it has no key.
    mutating func add(_ values: PropertyValues, of type: EntityType?) {
        guard let property else { return }
        guard let type, type === self.type || type.keyParts.first?.name == self.type.keyParts.first?.name,
            case .integer(let value)? = values[property]
        else { return stop() }
        range = min(range?.lowerBound ?? value, value)...max(range?.upperBound ?? value, value)
    }

    /// The key property and the range, or nil if a key is no number.
    var found: (property: String, range: ClosedRange<Int64>)? {
        guard let property, let range else { return nil }
        return (property, range)
    }

    /// The first and the last key in the order of their texts; nil if the order of the numbers differs.
    var texts: (first: String, last: String)? {
        guard let (property, range) = found, range.lowerBound >= 0,
            String(range.lowerBound).utf8.count == String(range.upperBound).utf8.count,
            let first = KeyText.of([property: .integer(range.lowerBound)], type: type),
            let last = KeyText.of([property: .integer(range.upperBound)], type: type)
        else { return nil }
        return (first, last)
    }
}

extension EntityLookup {
    /// Returns the entities from which new dependent properties remove a link.
    func principals(unlinkedBy images: ArraySlice<EntityImage>) throws(StateError) -> Set<EntityID> {
        var unlinked: Set<EntityID> = []
        for image in images {
            guard let type = model.findEntityType(image.type), let row = try serviceRow(image.entity) else { continue }
            for end in type.dependentNavigationProperties.compactMap(\.navigation)
            where end.constraints.contains(where: { image.values.changes($0.dependent, of: row.values) }) {
                for link in try storage.links(of: image.entity, along: end) where link.inBase {
                    unlinked.insert(link.target(along: end))
                }
            }
        }
        return unlinked
    }
}

extension PropertyValues {
    /// Returns whether these values contain another value of a property.
    fileprivate func changes(_ name: String, of values: PropertyValues) -> Bool {
        self[name].map { $0 != values[name] } ?? false
    }
}
