/// The names of properties in the order of their values. One instance is shared by all rows with these names.
@usableFromInline
package final class PropertyNames: Sendable {
    package let names: [String]
    /// The names with their lengths, concatenated.
    package let encoded: [UInt8]
    /// The end of each name in ``encoded``.
    package let ends: [Int]
    private let places: [String: Int]

    /// Longer lists are rare and are not cached, to bound memory.
    private static let lengthLimit = 16_384

    /// Creates a list, or returns `nil` if the names are too long to be cached or not distinct.
    package init?(_ names: [String]) {
        var writer = ByteWriter()
        var ends: [Int] = []
        var places: [String: Int] = [:]
        ends.reserveCapacity(names.count)
        places.reserveCapacity(names.count)
        for (place, name) in names.enumerated() {
            writer.string(name)
            ends.append(writer.bytes.count)
            guard places.updateValue(place, forKey: name) == nil, writer.bytes.count <= Self.lengthLimit else {
                return nil
            }
        }
        self.names = names
        self.ends = ends
        self.places = places
        encoded = writer.bytes
    }

    /// Returns whether both lists have the same names in the same order.
    func hasSameBytes(as other: PropertyNames) -> Bool {
        encoded.withUnsafeBytes { a in other.encoded.withUnsafeBytes { a.hasSameBytes(as: $0) } }
    }

    /// Decodes a list from ``encoded``.
    package convenience init?(encoded: UnsafeRawBufferPointer) {
        guard encoded.count <= Self.lengthLimit else { return nil }
        let names = try? ByteReader.read(encoded) { reader throws(CodecError) in
            var names: [String] = []
            while reader.remaining > 0 { names.append(try reader.string()) }
            return names
        }
        guard let names else { return nil }
        self.init(names)
    }

    package var count: Int { names.count }

    /// Returns the index of a name. In a short list, comparing is faster than hashing.
    package func place(of name: String) -> Int? { count <= 16 ? names.firstIndex(of: name) : places[name] }

    /// Returns the index of a name, which is found fastest at the expected index.
    func place(of name: String, expectedAt index: Int) -> Int? {
        index < names.count && names[index] == name ? index : place(of: name)
    }
}

extension [String] {
    /// Whether the names have the same bytes. Canonically equivalent strings are equal but can have different bytes.
    func hasSameBytes(as other: [String]) -> Bool {
        count == other.count && indices.allSatisfy { self[$0].isExactly(other[$0]) }
    }

    /// Whether the names are distinct. Quadratic for short lists, where this is fastest.
    var areDistinct: Bool {
        count <= 64
            ? indices.allSatisfy { index in !self[..<index].contains(self[index]) } : Set(self).count == count
    }
}
