package import Operations

/// A set of entity IDs. Near IDs share a bit map of 64 bits, because most IDs are counted up.
package struct EntityIDSet: Sendable {
    /// The bit maps, by the upper bits of the IDs.
    private var words = IDTable<UInt64>()
    /// The number of entities.
    package private(set) var count = 0

    /// Creates an empty set.
    package init() {}

    /// A Boolean value that indicates whether the set contains no entity.
    package var isEmpty: Bool { count == 0 }

    /// Returns whether the set contains the entity.
    package func contains(_ id: EntityID) -> Bool {
        guard let place = words.place(of: id.rawValue >> 6) else { return false }
        return words[at: place] & Self.bit(id) != 0
    }

    /// The entities in ascending order.
    package func sorted() -> [EntityID] {
        var found: [EntityID] = []
        found.reserveCapacity(count)
        forEachInOrder { found.append($0) }
        return found
    }

    /// Calls `body` with each entity, in ascending order.
    func forEachInOrder(_ body: (EntityID) -> Void) {
        // Most sets have one bit map.
        if words.count == 1 { return Self.forEach(in: words.values[0], words.ids[0], body) }
        for upper in words.ids.sorted() { Self.forEach(in: words[upper] ?? 0, upper, body) }
    }

    private static func forEach(in word: UInt64, _ upper: UInt64, _ body: (EntityID) -> Void) {
        var word = word
        while word != 0 {
            body(EntityID(rawValue: upper << 6 | UInt64(word.trailingZeroBitCount)))
            word &= word - 1
        }
    }

    mutating func insert(_ id: EntityID) {
        let place = words.place(of: id.rawValue >> 6, inserting: 0)
        let bit = Self.bit(id)
        guard words[at: place] & bit == 0 else { return }
        words[at: place] |= bit
        count += 1
    }

    /// Removes the entity. Returns whether the set contained it.
    mutating func remove(_ id: EntityID) -> Bool {
        let (upper, bit) = (id.rawValue >> 6, Self.bit(id))
        guard let place = words.place(of: upper), words[at: place] & bit != 0 else { return false }
        words[at: place] &= ~bit
        // Otherwise a set that is reused would grow with each ID that it ever contained.
        if words[at: place] == 0 { words.removeValue(for: upper) }
        count -= 1
        return true
    }

    mutating func formUnion(_ other: EntityIDSet) {
        for (upper, word) in zip(other.words.ids, other.words.values) {
            let place = words.place(of: upper, inserting: 0)
            count += (word & ~words[at: place]).nonzeroBitCount
            words[at: place] |= word
        }
    }

    private static func bit(_ id: EntityID) -> UInt64 { 1 << (id.rawValue & 63) }
}

extension EntityIDSet: Equatable {
    package static func == (a: EntityIDSet, b: EntityIDSet) -> Bool {
        a.count == b.count && zip(a.words.ids, a.words.values).allSatisfy { (b.words[$0] ?? 0) == $1 }
    }
}

extension EntityIDSet: ExpressibleByArrayLiteral {
    package init(arrayLiteral elements: EntityID...) {
        self.init()
        for id in elements { insert(id) }
    }
}
