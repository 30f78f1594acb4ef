import EDM
import Operations

/// A hash of a whole state, including the counters: equal states have equal digests on any machine and in any build.
///
/// The digest is the sum of the mixed 64-bit FNV-1a hashes of the items of the state's snapshot. Therefore it can be
/// updated from record to record (``WorkingSet/digest``). It detects differences, but does not protect against forgery.
package struct StateDigest: Sendable, Hashable, CustomStringConvertible {
    package let value: UInt64

    package init(value: UInt64) { self.value = value }

    /// Computes the digest of a state. Cost: one pass over the whole state.

    package init<Storage: StateReader>(of storage: Storage) throws(StateError) {
        var hash = StateHash()
        do {
            try StateSnapshot.forEachItem(of: storage) { hash.add($0) }
        } catch {
            throw error as? StateError ?? StateError(.unavailable, "The state cannot be read: \(error)")
        }
        value = hash.value
    }

    /// Creates a digest from sixteen hexadecimal digits, as in ``description``.
    package init?(_ description: String) {
        guard description.utf8.count == 16, let value = UInt64(description, radix: 16) else { return nil }
        self.value = value
    }

    /// The digest as sixteen hexadecimal digits.
    package var description: String { FNV1a.text(value) }
}

/// The digest of a state, updated as items are added and removed.
struct StateHash {
    private(set) var value: UInt64 = 0
    private var queries: UInt64 = 0

    /// Adds the items of a snapshot, in its order.
    mutating func add(_ item: SnapshotItem) {
        guard case .query = item else { return value &+= Self.hash(item) }
        value &+= Self.hash(item, at: queries)
        queries += 1
    }

    /// Adds an item that was read, with its bytes, so that the most frequent kinds need not be encoded again.
    mutating func add(_ item: SnapshotItem, _ kind: SnapshotCodec.ItemKind, _ payload: ArraySlice<UInt8>) {
        switch kind {
        case .entity, .key, .link, .coverage:
            var hash = FNV1a()
            hash.add(UInt64(kind.rawValue))
            payload.withUnsafeBytes { hash.add(bytes: $0) }
            hash.end()
            value &+= Self.mixed(hash.value)
        default: add(item)
        }
    }

    /// Returns the contribution of an item to the digest.
    ///
    /// - Parameter place: The position among the items of the same case, if their order is significant, as for queries.
    static func hash(_ item: SnapshotItem, at place: UInt64? = nil) -> UInt64 {
        var hash = FNV1a()
        hash.add(item)
        if let place { hash.add(place) }
        return mixed(hash.value)
    }

    /// The finalizer of MurmurHash3. Without it, the low bits of FNV-1a hashes would hardly affect the sum.
    private static func mixed(_ value: UInt64) -> UInt64 {
        var value = value
        value = (value ^ (value >> 33)) &* 0xff51_afd7_ed55_8ccd
        value = (value ^ (value >> 33)) &* 0xc4ce_b9fe_1a85_ec53
        return value ^ (value >> 33)
    }
}

extension FNV1a {
    /// Adds the whole item. The order in which an entity got its values does not matter.
    mutating func add(_ item: SnapshotItem) {
        switch item {
        case .row(let row): add(row)
        case .base(let id, .row(let row)):
            add(UInt64(SnapshotCodec.ItemKind.base.rawValue))
            add(id.rawValue)
            add(row)
        case .ancestor(let mergeBase):
            add(UInt64(SnapshotCodec.ItemKind.ancestor.rawValue))
            add(mergeBase.row)
            var frame = mergeBase
            frame.row.values = [:]
            add(SnapshotCodec.encode(.ancestor(frame)).payload)
        default:
            let (kind, payload) = SnapshotCodec.encode(item)
            add(UInt64(kind.rawValue))
            add(payload)
        }
    }

    private mutating func add(_ row: EntityRow) {
        var frame = row
        frame.values = [:]
        var writer = ByteWriter(minimumCapacity: 96)
        writer.row(frame)
        add(UInt64(SnapshotCodec.ItemKind.row.rawValue))
        add(writer.bytes)
        add(Self.sum(of: row.values))
    }

    /// Returns the sum of the hashes of the values, each encoded as the values of an entity with only this property.
    private static func sum(of values: PropertyValues) -> UInt64 {
        var sum: UInt64 = 0
        let isPacked = values.forEachPacked { name, value in
            var property = FNV1a()
            property.add(byte: 1)
            property.add(bytes: name)
            property.add(bytes: value)
            property.end()
            sum &+= property.value
        }
        if isPacked { return sum }
        var writer = ByteWriter()
        for (name, value) in values {
            writer.bytes.removeAll(keepingCapacity: true)
            writer.count(1)
            writer.string(name)
            writer.value(value)
            var property = FNV1a()
            property.add(writer.bytes)
            sum &+= property.value
        }
        return sum
    }
}
