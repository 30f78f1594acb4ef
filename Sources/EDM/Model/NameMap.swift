/// A map from names to values that does not change, with fast lookups.
///
/// Metadata are looked up by name several times for each operation and each row. The hash reads eight bytes at a time,
/// where a dictionary normalizes and hashes each character. Names are equal as strings are, by canonical equivalence.
///
/// `@usableFromInline`, because otherwise other modules look values up without specialization.
@usableFromInline
package struct NameMap<Value> {
    @usableFromInline let places: NamePlaces
    /// The values of the different names, in their order.
    @usableFromInline let values: [Value]

    /// Creates a map. If a name occurs several times, its first value is used.
    package init(_ pairs: some Collection<(String, Value)>) {
        var places = NamePlaces(capacity: pairs.count)
        var values: [Value] = []
        for (name, value) in pairs where places.insert(name) { values.append(value) }
        (self.places, self.values) = (places, values)
    }

    /// The number of different names.
    package var count: Int { places.count }

    /// The value of the name, or nil if it has none.
    @inlinable
    package subscript(name: String) -> Value? { places.place(of: name).map { values[$0] } }
}

extension NameMap: Sendable where Value: Sendable {}

/// The places of names in the order in which they were inserted.
@usableFromInline
struct NamePlaces: Sendable {
    private var names: [String] = []
    /// Indexes into ``names``, or -1 for none. The count is a power of two, more than that of the names.
    private var slots: [Int32]
    /// All places, if a name has other characters than those of ASCII and may have several encodings.
    private var equivalent: [String: Int]?

    /// - Parameter capacity: The maximum number of names.
    init(capacity: Int) {
        var size = 8
        while size < capacity * 2 { size *= 2 }
        slots = [Int32](repeating: -1, count: size)
    }

    var count: Int { equivalent?.count ?? names.count }

    /// Inserts a name. Returns whether it has other bytes than all earlier ones.
    mutating func insert(_ name: String) -> Bool {
        var slot = home(of: name)
        while slots[slot] >= 0 {
            if names[Int(slots[slot])].isExactly(name) { return false }
            slot = (slot + 1) & (slots.count - 1)
        }
        if equivalent == nil, !Self.isASCII(name) {
            equivalent = Dictionary(zip(names, names.indices), uniquingKeysWith: { first, _ in first })
        }
        if equivalent != nil, equivalent?[name] == nil { equivalent?[name] = names.count }
        slots[slot] = Int32(names.count)
        names.append(name)
        return true
    }

    /// Returns the place of a name, or nil if it was not inserted.
    @usableFromInline
    func place(of name: String) -> Int? {
        if let equivalent { return equivalent[name] }
        var slot = home(of: name)
        while true {
            let place = Int(slots[slot])
            if place < 0 { break }
            if names[place].isExactly(name) { return place }
            slot = (slot + 1) & (slots.count - 1)
        }
        // Few other characters are equivalent to one of ASCII, such as the sign for Kelvin to K.
        return Self.isASCII(name) ? nil : names.firstIndex(of: name)
    }

    private static func isASCII(_ name: String) -> Bool { name.utf8.allSatisfy { $0 < 0x80 } }

    private func home(of name: String) -> Int {
        let hash = name.utf8.withContiguousStorageIfAvailable { NameHash.hash(UnsafeRawBufferPointer($0)) }
        return Int(truncatingIfNeeded: hash ?? NameHash.hash(copying: name)) & (slots.count - 1)
    }
}

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
