import EDM
import Operations

/// The rows that were read from the backing within a transaction or several deferred ones, because the rules and the fold
/// read the same entities several times for each operation, and many operations refer to the same few entities.
///
/// A row in the working set has precedence. The owner removes the rows that it writes to the backing, and discards the
/// cache whenever the backing may change otherwise. A read that the cache answers is not among the tables that SQLite
/// reports as read.
struct CleanRowCache {
    /// The approximate size of an entry without its values, in bytes.
    private static let entrySize = 192

    /// The maximum number of entries whose memory is kept for the next transaction.
    private static let keptEntries = 1_024

    private(set) var rows = IDTable<EntityRow>()
    /// The entities without a row in the backing.
    private var absent = EntityIDSet()
    /// The approximate size of all entries, in bytes.
    private(set) var size = 0
    private let capacity: Int

    /// Creates an empty cache.
    ///
    /// - Parameter capacity: The approximate size in bytes at which all rows are evicted. A row larger than an eighth of
    ///   it is not cached, so that a few large rows do not evict many small ones.
    init(capacity: Int = 4 << 20) { self.capacity = capacity }

    /// Returns the row, or `read()` if it is not cached.
    mutating func row(
        _ id: EntityID, _ read: () throws(StateError) -> EntityRow?
    ) throws(StateError) -> EntityRow? {
        if let place = rows.place(of: id) { return rows[at: place] }
        if absent.contains(id) { return nil }
        guard let row = try read() else {
            reserve(Self.entrySize)
            absent.insert(id)
            return nil
        }
        // The size of values that are not encoded is unknown.
        guard let size = Self.size(of: row), size <= capacity / 8 else { return row }
        reserve(size)
        rows.updateValue(row, for: id)
        return row
    }

    /// Makes room for an entry.
    private mutating func reserve(_ size: Int) {
        if self.size + size > capacity { removeAll() }
        self.size += size
    }

    /// Returns the kind and the values of a cached row, or nil if no row is cached.
    func content(of id: EntityID) -> EntityContent? {
        rows.place(of: id).map { EntityContent(kind: rows[at: $0].kind, values: rows[at: $0].values) }
    }

    /// Returns the kind of a cached row, or nil if no row is cached.
    func kind(of id: EntityID) -> EntityKind? { rows.place(of: id).map { rows[at: $0].kind } }

    private static func size(of row: EntityRow) -> Int? {
        let texts = entrySize + (row.etag?.utf8.count ?? 0) + (row.editLink?.utf8.count ?? 0)
        if row.values.isEmpty { return texts }
        return row.values.packed.map { texts + $0.byteCount }
    }

    /// Removes the rows of these entities.
    mutating func remove(_ ids: some Sequence<EntityID>) {
        if size == 0 { return }
        for id in ids {
            if let row = rows.removeValue(for: id) {
                size -= Self.size(of: row) ?? 0
            } else if absent.remove(id) {
                size -= Self.entrySize
            }
        }
    }

    /// Removes all rows. Releases their memory if it is large.
    mutating func removeAll() {
        // Also if all rows were removed one by one, as a flush does.
        if rows.values.capacity > Self.keptEntries { rows = IDTable() } else if !rows.isEmpty { rows.removeAll() }
        if size > 0 { (absent, size) = (EntityIDSet(), 0) }
    }
}
