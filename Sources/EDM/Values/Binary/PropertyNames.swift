/// The names of properties in the order in which their values come. Made once for all the rows that have them.
package final class PropertyNames: Sendable {
    package let names: [String]
    /// Each name with its length in front, one behind the other.
    package let encoded: [UInt8]
    /// Where each one ends in ``encoded``.
    package let ends: [Int]
    private let places: [String: Int]

    /// Longer lists come rarely, and are not to fill the memory of those who keep lists.
    private static let lengthLimit = 16_384

    /// Nil for names that are too many to be kept for others, or not all different.
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

    /// What ``encoded`` is, read again.
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

    /// Short texts are compared more quickly than they are hashed, and in a short list.
    package func place(of name: String) -> Int? { count <= 8 ? names.firstIndex(of: name) : places[name] }
}

extension [String] {
    /// Equal texts need not have the same bytes: letters with marks can be written in several ways.
    func hasSameBytes(as other: [String]) -> Bool {
        self == other && zip(self, other).allSatisfy { $0.utf8.elementsEqual($1.utf8) }
    }

    /// Quadratic, which is best for the few that there are.
    var areDistinct: Bool {
        count <= 64
            ? indices.allSatisfy { index in !self[..<index].contains(self[index]) } : Set(self).count == count
    }
}
