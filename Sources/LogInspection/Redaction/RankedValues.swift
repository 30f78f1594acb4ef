/// Distinct values that are replaced by their ranks, which preserves equality and order.
///
/// Values are collected first, each with the capacity of its location. Locations with too little capacity for all
/// values have separate ranks.
struct RankedValues<Key: Hashable> {
    private var values: [Int: Set<Key>] = [:]
    private var common: [Key: Int] = [:]
    private var apart: [Int: [Key: Int]] = [:]

    mutating func collect(_ key: Key, room: Int = .max) { values[room, default: []].insert(key) }

    /// Assigns a rank to each value, from 0.
    ///
    /// Memory: one entry for each distinct value.
    mutating func rank(by areInOrder: (Key, Key) -> Bool) {
        var rest = values
        var union = values.values.reduce(into: Set<Key>()) { $0.formUnion($1) }
        for room in values.keys.sorted() where room < union.count {
            guard let own = rest.removeValue(forKey: room) else { continue }
            apart[room] = Self.ranks(own, areInOrder)
            union = rest.values.reduce(into: []) { $0.formUnion($1) }
        }
        common = Self.ranks(union, areInOrder)
        values = [:]
    }

    private static func ranks(_ keys: Set<Key>, _ areInOrder: (Key, Key) -> Bool) -> [Key: Int] {
        var ranks: [Key: Int] = [:]
        ranks.reserveCapacity(keys.count)
        for (rank, key) in keys.sorted(by: areInOrder).enumerated() { ranks[key] = rank }
        return ranks
    }

    /// Returns the rank and the number of ranks, or nil for a value that was not collected. Without a capacity, the
    /// value may be from any location.
    func rank(of key: Key, room: Int? = nil) -> (rank: Int, count: Int)? {
        if let room, let own = apart[room] { return own[key].map { ($0, own.count) } }
        if let rank = common[key] { return (rank, common.count) }
        for own in apart.values { if let rank = own[key] { return (rank, own.count) } }
        return nil
    }

    /// The number of values for each capacity with separate ranks, and for all other capacities together.
    var counts: [(room: Int, count: Int)] {
        apart.map { ($0.key, $0.value.count) } + [(.max, common.count)]
    }
}
