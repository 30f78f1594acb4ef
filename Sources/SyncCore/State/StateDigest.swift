import EDM
import Operations

/// A hash over everything that a state says, the counters included: equal states give equal digests, on any machine and in
/// any build.
///
/// FNV-1a with 64 bits over the items of the state's snapshot. It finds differences; it is no protection against forgery.
public struct StateDigest: Sendable, Hashable, CustomStringConvertible {
    public let value: UInt64

    package init(value: UInt64) { self.value = value }

    /// Cost: one pass over the whole state.
    public init(of storage: some StateStorage) throws(StateError) {
        var hash = StateHash()
        do {
            try StateSnapshot.forEachItem(of: storage) { hash.add($0) }
        } catch {
            throw error as? StateError ?? StateError(.unavailable, "The state cannot be read: \(error)")
        }
        value = hash.value
    }

    /// Sixteen hexadecimal digits.
    public var description: String {
        let digits = String(value, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}

/// The digest of a state while its items come in.
struct StateHash {
    private var hash = FNV1a()

    var value: UInt64 { hash.value }

    mutating func add(_ item: SnapshotItem) {
        switch item {
        case .row(let row): add(row)
        case .base(let id, .row(let row)):
            hash.add(UInt64(SnapshotCodec.Kind.base.rawValue))
            hash.add(id.rawValue)
            add(row)
        case .ancestor(let ancestor):
            hash.add(UInt64(SnapshotCodec.Kind.ancestor.rawValue))
            add(ancestor.row)
            var frame = ancestor
            frame.row.values = [:]
            hash.add(SnapshotCodec.encode(.ancestor(frame)).payload)
        default:
            let (kind, payload) = SnapshotCodec.encode(item)
            hash.add(UInt64(kind.rawValue))
            hash.add(payload)
        }
    }

    private mutating func add(_ row: EntityRow) {
        var frame = row
        frame.values = [:]
        let (kind, payload) = SnapshotCodec.encode(.row(frame))
        hash.add(UInt64(kind.rawValue))
        hash.add(payload)
        // Order is how values came, not what they are.
        var sum: UInt64 = 0
        for (name, value) in row.values {
            var property = FNV1a()
            property.add(ValueCodec.encode([name: value]))
            sum &+= property.value
        }
        hash.add(sum)
    }
}
