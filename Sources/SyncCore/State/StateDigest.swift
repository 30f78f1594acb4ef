import EDM
import Operations

/// A hash over everything that a state says: equal states give equal digests, on any machine and in any build.
///
/// FNV-1a with 64 bits over the binary form of rows, links, pending operations and queries. It finds differences; it is no
/// protection against forgery.
public struct StateDigest: Sendable, Hashable, CustomStringConvertible {
    public let value: UInt64

    public init(of storage: some StateStorage) throws(StateError) {
        var hash = FNV1a()
        for row in try storage.allRows() {
            hash.add(row.id.rawValue)
            hash.add(row.set)
            hash.add(row.type)
            // Order is how values came, not what they are.
            for name in row.values.names.sorted() {
                hash.add(ValueCodec.encode([name: row.values[name] ?? .null]))
            }
            hash.add(row.etag ?? "")
            hash.add(UInt64(row.origin.rawValue))
        }
        for link in try storage.allLinks() {
            hash.add(link.relationship)
            hash.add(link.first.rawValue)
            hash.add(link.second.rawValue)
            hash.add((link.inBase ? 1 : 0) | (link.inLocal ? 2 : 0))
        }
        for pending in try storage.pendingOperations() {
            hash.add(pending.sequence)
            hash.add(ValueCodec.encode(pending.operation))
            hash.add(String(describing: pending.status))
        }
        for query in try storage.queries() {
            hash.add(query.query.name)
            hash.add(query.query.query)
        }
        value = hash.value
    }

    /// Sixteen hexadecimal digits.
    public var description: String {
        let digits = String(value, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}

private struct FNV1a {
    private(set) var value: UInt64 = 0xcbf2_9ce4_8422_2325

    mutating func add(_ bytes: some Sequence<UInt8>) {
        for byte in bytes {
            value ^= UInt64(byte)
            value = value &* 0x100_0000_01b3
        }
        // Ends each item, so that neighbours cannot flow into each other.
        value = (value ^ 0xFF) &* 0x100_0000_01b3
    }

    mutating func add(_ text: String) { add(text.utf8) }

    mutating func add(_ number: UInt64) {
        add((0..<8).map { UInt8(truncatingIfNeeded: number >> UInt64(8 * $0)) })
    }
}
