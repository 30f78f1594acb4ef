internal import EDM
internal import ODataWire

/// An entity's identity within the sandbox, never shown to clients: keys may be reused, this is not.
struct RowID: Sendable, Hashable, Comparable {
    let set: String
    /// Counted up over all sets, so that order is the order of creation.
    let number: Int

    static func < (a: RowID, b: RowID) -> Bool { a.number < b.number }
}

/// One entity as the sandbox holds it.
struct Row: Sendable, Hashable {
    let id: RowID
    var key: KeyPredicate
    /// Every structural property of the type, key and dependent properties included; stream properties excluded.
    var values: PropertyValues
    /// Counts the transactions that changed the entity or its links; what the ETag says.
    var version: Int
    var media: Media?
    /// The entity that contains it; nil for those of a set of the container.
    var container: RowID?

    struct Media: Sendable, Hashable {
        var contentType: String
        var bytes: [UInt8]

        /// Of the stream, which the entity's says nothing of: the same bytes have the same.
        var etag: String {
            var hash: UInt64 = 0xCBF2_9CE4_8422_2325
            for byte in bytes + Array(contentType.utf8) { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
            return "\"m\(String(hash, radix: 16))\""
        }
    }
}

/// Everything that the service remembers: entities, links, and what the generated keys have reached.
///
/// A value: a transaction works on a copy and a rollback is forgetting it.
public struct SandboxState: Sendable, Hashable {
    struct Table: Sendable, Hashable {
        var rows: [RowID: Row] = [:]
        var index: [KeyPredicate: RowID] = [:]
        /// Keys that entities had before.
        var formerKeys: [KeyPredicate: RowID] = [:]
        /// The last generated key.
        var counter: Int64 = 0
    }

    var tables: [String: Table] = [:]
    /// By the relationship's name.
    var links: [String: LinkTable] = [:]
    var lastRow = 0

    init() {}

    subscript(id: RowID) -> Row? { tables[id.set]?.rows[id] }

    func find(_ set: String, _ key: KeyPredicate) -> RowID? { tables[set]?.index[key] }

    /// The entity of a contained set that another one contains. Keys are unique only below that one.
    func find(_ set: EntitySet, _ key: KeyPredicate?, in container: RowID) -> RowID? {
        guard let navigation = set.containment?.navigation.navigation else { return nil }
        return targets(of: container, through: navigation).first { id in
            id.set == set.name && (key == nil || self[id]?.key == key)
        }
    }

    /// Also by a key that the entity had before.
    func follow(_ set: String, _ key: KeyPredicate) -> RowID? {
        find(set, key) ?? tables[set]?.formerKeys[key].flatMap { self[$0] == nil ? nil : $0 }
    }

    /// The set's entities in the order of their creation.
    func rows(of set: String) -> [Row] {
        (tables[set]?.rows.values).map { $0.sorted { $0.id < $1.id } } ?? []
    }

    /// What `row` is linked to through the navigation property, in the order of their creation.
    func targets(of row: RowID, through navigation: Navigation) -> [RowID] {
        guard let table = links[navigation.relationship.name] else { return [] }
        return table.partners(of: row, fromFirst: navigation.relationship.isForward).sorted()
    }
}

/// The links of one relationship, findable from both ends. A link is held once, from the first end to the second.
struct LinkTable: Sendable, Hashable {
    private var seconds: [RowID: Set<RowID>] = [:]
    private var firsts: [RowID: Set<RowID>] = [:]

    func partners(of row: RowID, fromFirst: Bool) -> Set<RowID> { (fromFirst ? seconds[row] : firsts[row]) ?? [] }

    func contains(_ first: RowID, _ second: RowID) -> Bool { seconds[first]?.contains(second) ?? false }

    mutating func insert(_ first: RowID, _ second: RowID) {
        seconds[first, default: []].insert(second)
        firsts[second, default: []].insert(first)
    }

    mutating func remove(_ first: RowID, _ second: RowID) {
        Self.remove(second, under: first, in: &seconds)
        Self.remove(first, under: second, in: &firsts)
    }

    /// An empty set is not kept: two states with the same links must be equal.
    private static func remove(_ member: RowID, under key: RowID, in table: inout [RowID: Set<RowID>]) {
        table[key]?.remove(member)
        if table[key]?.isEmpty == true { table[key] = nil }
    }
}
