import EDM
import ODataWire
import Operations

/// Entities by the keys and names that a service gave them, before the storage knows of it.
struct AssignedKeys {
    /// By set, of which a page has few.
    private var sets: [(name: String, keys: [ExactText: EntityID])] = []

    subscript(set: String, key: String) -> EntityID? {
        get { sets.firstIndex { $0.name == set }.flatMap { sets[$0].keys[ExactText(key)] } }
        set {
            if let place = sets.firstIndex(where: { $0.name == set }) {
                sets[place].keys[ExactText(key)] = newValue
            } else if let newValue {
                sets.append((set, [ExactText(key): newValue]))
            }
        }
    }

    /// All of them, in no order.
    var ends: [WaitingLinks.End] {
        sets.flatMap { set in set.keys.keys.map { WaitingLinks.End(set: set.name, key: $0.text) } }
    }
}

/// What a storage says of entities, kept as long as nothing changes in it.
struct LearnedEntities {
    /// Of a set: who has the key, or had it last; nil within where nobody does.
    fileprivate var set: String?
    fileprivate var keys: [ExactText: EntityID?] = [:]
    /// As the service last said; nil within where it does not have it.
    fileprivate var rows: [EntityID: EntityRow?] = [:]
    /// Whether no row of the set has one of the keys, by what its columns hold.
    fileprivate var hasNoRows = false
}

extension ImageBuilder {
    /// Asks once for all that the items' entities of a set are compared with, where each is going to be asked for alone
    /// otherwise. Those that name another set are.
    mutating func learn(_ items: [DeltaItem], in set: EntitySet) throws(StateError) {
        learned = LearnedEntities(set: set.name)
        // These are asked for below the entities that contain them.
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
            guard learned.keys[ExactText(key)] == nil else { continue }
            let id = try storage.entity(set: set.name, key: key)
            learned.keys[ExactText(key)] = .some(id)
            if let id { ids.append(id) }
        }
        // As a rule the pages of a first download come in the order of the keys, and none of these is there.
        if areNumbers, let number, let numbers {
            learned.hasNoRows = try !storage.mayHaveRows(set: set.name, where: number, in: numbers)
        }
        guard !ids.isEmpty else { return }
        for entity in try storage.serviceEntities(ids) { learned.rows[entity.id] = .some(entity.row) }
    }

    /// The rows that have the key now, whatever the key map says.
    func rows(_ set: EntitySet, key: String, _ type: EntityType, _ values: PropertyValues) throws(StateError)
        -> [EntityID]
    {
        if learned.hasNoRows, learned.set == set.name, learned.keys[ExactText(key)] != nil { return [] }
        guard let predicate = KeyPredicate(of: type, in: values) else { return [] }
        return try storage.findRows(set: set.name, where: predicate.located(in: type))
    }

    /// Who has the key, or had it last.
    func entity(_ set: EntitySet, key: String) throws(StateError) -> EntityID? {
        if learned.set == set.name, let known = learned.keys[ExactText(key)] { return known }
        return try storage.entity(set: set.name, key: key)
    }

    /// The entity as the service last said, whatever is pending on it.
    func serviceRow(_ id: EntityID) throws(StateError) -> EntityRow? {
        if let known = learned.rows[id] { return known }
        return try storage.serviceRow(id)
    }
}
