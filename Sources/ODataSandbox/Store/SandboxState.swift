internal import EDM
internal import HashTreeCollections
internal import ODataQuery

/// An entity's identity within the sandbox, which clients never see. Keys may be reused; this identity is not.
struct RowID: Sendable, Hashable, Comparable {
    let set: String
    /// A number that is assigned over all sets, so that its order is the order of creation.
    let number: Int

    static func < (a: RowID, b: RowID) -> Bool { a.number < b.number }
}

/// An entity as the sandbox stores it.
struct Row: Sendable, Hashable {
    let id: RowID
    var key: KeyPredicate
    /// All structural properties of the type, including key and dependent properties and excluding stream properties.
    var values: PropertyValues
    /// The number of transactions that changed the entity or its links, which determines the ETag.
    var version: Int
    var media: Media?
    /// The contents of stream properties, by property.
    var streams: [String: Media] = [:]
    /// The entity that contains it, or nil for an entity in a set of the container.
    var container: RowID?

    struct Media: Sendable, Hashable {
        var contentType: String
        var bytes: [UInt8]

        /// The stream's own ETag, which is independent of the entity's. Equal bytes have equal ETags.
        var etag: String {
            var hash: UInt64 = 0xCBF2_9CE4_8422_2325
            for byte in bytes + Array(contentType.utf8) { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
            return "\"m\(String(hash, radix: 16))\""
        }
    }
}

/// The complete state of the service: entities, links, and the counters of generated keys.
///
/// The state is a value: a transaction works on a copy, and a rollback discards the copy. Copies share the parts that
/// they have in common, so that a transaction costs the same in a large service.
public struct SandboxState: Sendable, Hashable {
    struct Table: Sendable, Hashable {
        var rows: TreeDictionary<RowID, Row> = [:]
        var index: TreeDictionary<KeyPredicate, RowID> = [:]
        /// The former keys of entities.
        var formerKeys: TreeDictionary<KeyPredicate, RowID> = [:]
        /// The last generated key.
        var counter: Int64 = 0
    }

    var tables: [String: Table] = [:]
    /// The links by the name of the relationship.
    var links: [String: LinkTable] = [:]
    var lastRow = 0

    init() {}

    subscript(id: RowID) -> Row? { tables[id.set]?.rows[id] }

    func find(_ set: String, _ key: KeyPredicate) -> RowID? { tables[set]?.index[key] }

    /// Returns the entity of a contained set below the given container. Keys are unique only within the container.
    func find(_ set: EntitySet, _ key: KeyPredicate?, in container: RowID) -> RowID? {
        guard let navigation = set.containment?.navigation.navigation else { return nil }
        return targets(of: container, through: navigation).first { id in
            id.set == set.name && (key == nil || self[id]?.key == key)
        }
    }

    /// Returns the entity with the key, which may be a former key.
    func follow(_ set: String, _ key: KeyPredicate) -> RowID? {
        find(set, key) ?? tables[set]?.formerKeys[key].flatMap { self[$0] == nil ? nil : $0 }
    }

    /// Returns the set's entities in the order of their creation.
    func rows(of set: String) -> [Row] {
        (tables[set]?.rows.values).map { $0.sorted { $0.id < $1.id } } ?? []
    }

    /// Returns the targets of `row` through the navigation property, in the order of their creation.
    func targets(of row: RowID, through navigation: Navigation) -> [RowID] {
        guard let table = links[navigation.relationship.name] else { return [] }
        return table.partners(of: row, fromFirst: navigation.relationship.isForward).sorted()
    }
}

/// The links of one relationship, indexed from both ends. A link is stored once, from the first end to the second one.
struct LinkTable: Sendable, Hashable {
    private var seconds: TreeDictionary<RowID, Set<RowID>> = [:]
    private var firsts: TreeDictionary<RowID, Set<RowID>> = [:]
    /// The number of times that each link was added or removed, by its first end. Contains removed links, too.
    private var changes: TreeDictionary<RowID, [RowID: Int]> = [:]

    func partners(of row: RowID, fromFirst: Bool) -> Set<RowID> { (fromFirst ? seconds[row] : firsts[row]) ?? [] }

    func contains(_ first: RowID, _ second: RowID) -> Bool { seconds[first]?.contains(second) ?? false }

    /// Returns the partners whose link with `row` was added or removed since `former`, even if it is now as it was then.
    func changedPartners(of row: RowID, fromFirst: Bool, since former: LinkTable) -> Set<RowID> {
        if fromFirst {
            let before = former.changes[row] ?? [:]
            return Set((changes[row] ?? [:]).filter { before[$0.key] != $0.value }.keys)
        }
        return Set(changes.filter { $0.value[row] != former.changes[$0.key]?[row] }.keys)
    }

    mutating func insert(_ first: RowID, _ second: RowID) {
        changes[first, default: [:]][second, default: 0] += 1
        seconds[first, default: []].insert(second)
        firsts[second, default: []].insert(first)
    }

    mutating func remove(_ first: RowID, _ second: RowID) {
        changes[first, default: [:]][second, default: 0] += 1
        Self.remove(second, under: first, in: &seconds)
        Self.remove(first, under: second, in: &firsts)
    }

    /// Removes a member. Empty sets are not kept.
    private static func remove(_ member: RowID, under key: RowID, in table: inout TreeDictionary<RowID, Set<RowID>>) {
        table[key]?.remove(member)
        if table[key]?.isEmpty == true { table[key] = nil }
    }
}

extension SandboxState {
    /// Gives entities the properties of a model, and removes values of undeclared ones.
    mutating func convert(to model: EntityDataModel, _ values: PropertyValues) {
        for set in tables.keys.sorted() {
            guard let type = model.findEntitySet(set)?.entityType else { continue }
            for id in tables[set]?.rows.keys.sorted() ?? [] {
                guard var row = tables[set]?.rows[id] else { continue }
                var converted = PropertyValues()
                for property in type.properties where property.type.primitive != .stream {
                    converted[property.name] = row.values[property.name] ?? values[property.name] ?? .null
                }
                row.values = converted
                tables[set]?.rows[id] = row
            }
        }
    }
}
