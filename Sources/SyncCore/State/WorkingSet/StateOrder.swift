import EDM
import Operations

/// Returns the order of UTF-8 bytes, as in SQLite. The order of `String` differs for composed and decomposed accents.
package func precedesInBytes(_ a: String, _ b: String) -> Bool { a.utf8.lexicographicallyPrecedes(b.utf8) }

/// Returns the first eight bytes of a text as a number. Texts with different numbers have the order of these, which
/// costs much less than a comparison of the texts.
func leadingBytes(of text: String) -> UInt64 {
    var (number, count): (UInt64, UInt64) = (0, 0)
    for byte in text.utf8.prefix(8) {
        number = number << 8 | UInt64(byte)
        count += 1
    }
    return number << (8 * (8 - count))
}

extension LinkRow {
    /// Returns whether the first link is before the second, by relationship, first and second entity.
    static func inOrder(_ a: LinkRow, _ b: LinkRow) -> Bool {
        a.relationship == b.relationship
            ? (a.first, a.second) < (b.first, b.second) : precedesInBytes(a.relationship, b.relationship)
    }
}

extension [DirtyItems.Key: EntityID] {
    /// The keys in the order of their entities. Usually it is the order of the keys too, in which a storage writes
    /// neighbors to the same page.
    var byEntity: [(set: String, key: String, entity: EntityID)] {
        map { (set: $0.key.set, key: $0.key.key, entity: $0.value) }.sorted { $0.entity < $1.entity }
    }

    /// The keys with their entities, by the bytes of set and key.
    var inOrder: [(key: DirtyItems.Key, id: EntityID)] {
        let all = Array(self)
        let bySet = [ExactText: [Int]](grouping: all.indices) { ExactText(all[$0].key.set) }
        var found: [(key: DirtyItems.Key, id: EntityID)] = []
        found.reserveCapacity(all.count)
        for (_, places) in bySet.sorted(by: { precedesInBytes($0.key.text, $1.key.text) }) {
            let sorted = places.map { (start: leadingBytes(of: all[$0].key.key), place: $0) }.sorted { a, b in
                a.start == b.start
                    ? precedesInBytes(all[a.place].key.key, all[b.place].key.key) : a.start < b.start
            }
            for (_, place) in sorted { found.append((all[place].key, all[place].value)) }
        }
        return found
    }
}
