/// A map from names to values that does not change, with fast lookups.
///
/// Metadata are looked up by name several times for each operation and each row. The hash reads eight bytes at a time,
/// where a dictionary normalizes and hashes each character. Names are equal as strings are, by canonical equivalence.
package struct NameMap<Value> {
    private let names: [String]
    private let values: [Value]
    /// Indexes into ``names``, or -1 for none. The count is a power of two.
    private let slots: [Int32]
    /// All values, if a name has other characters than those of ASCII and may have several encodings.
    private let equivalent: [String: Value]?

    /// Creates a map. If a name occurs several times, its first value is used.
    package init(_ pairs: some Collection<(String, Value)>) {
        var size = 8
        while size < pairs.count * 2 { size *= 2 }
        var slots = [Int32](repeating: -1, count: size)
        var names: [String] = []
        var values: [Value] = []
        for (name, value) in pairs {
            var slot = Self.home(of: name, size)
            while slots[slot] >= 0, !names[Int(slots[slot])].isExactly(name) { slot = (slot + 1) & (size - 1) }
            if slots[slot] >= 0 { continue }
            slots[slot] = Int32(names.count)
            names.append(name)
            values.append(value)
        }
        (self.names, self.values, self.slots) = (names, values, slots)
        equivalent =
            names.allSatisfy(Self.isASCII) ? nil : Dictionary(pairs.map { $0 }, uniquingKeysWith: { first, _ in first })
    }

    /// The number of different names.
    package var count: Int { equivalent?.count ?? names.count }

    /// The value of the name, or nil if it has none.
    package subscript(name: String) -> Value? {
        if let equivalent { return equivalent[name] }
        var slot = Self.home(of: name, slots.count)
        while true {
            let place = Int(slots[slot])
            if place < 0 { break }
            if names[place].isExactly(name) { return values[place] }
            slot = (slot + 1) & (slots.count - 1)
        }
        // Few other characters are equivalent to one of ASCII, such as the sign for Kelvin to K.
        return Self.isASCII(name) ? nil : names.firstIndex(of: name).map { values[$0] }
    }

    private static func isASCII(_ name: String) -> Bool { name.utf8.allSatisfy { $0 < 0x80 } }

    private static func home(of name: String, _ size: Int) -> Int {
        let hash = name.utf8.withContiguousStorageIfAvailable { NameHash.hash(UnsafeRawBufferPointer($0)) }
        return Int(truncatingIfNeeded: hash ?? NameHash.hash(copying: name)) & (size - 1)
    }
}

extension NameMap: Sendable where Value: Sendable {}

/// The hash of names.
private enum NameHash {
    /// Differs in each process, like the seed of the standard library, so that no document can contain many names with
    /// the same hash.
    private static let seed = UInt64(truncatingIfNeeded: Hasher().finalize())

    /// Returns the hash of a name without contiguous storage, such as one of Foundation on macOS.
    static func hash(copying name: String) -> UInt64 { Array(name.utf8).withUnsafeBytes { hash($0) } }

    static func hash(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
        var hash = seed ^ UInt64(bytes.count)
        var place = 0
        while place + 8 <= bytes.count {
            hash = mixed(hash ^ bytes.loadUnaligned(fromByteOffset: place, as: UInt64.self))
            place += 8
        }
        var rest: UInt64 = 0
        while place < bytes.count {
            rest = rest << 8 | UInt64(bytes[place])
            place += 1
        }
        return mixed(hash ^ rest)
    }

    private static func mixed(_ value: UInt64) -> UInt64 {
        let (high, low) = value.multipliedFullWidth(by: 0x9E37_79B9_7F4A_7C15)
        return high ^ low
    }
}
