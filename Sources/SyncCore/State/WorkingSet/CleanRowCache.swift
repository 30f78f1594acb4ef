import EDM
import Operations

/// The rows that were read from the backing within a transaction, because the rules and the fold read the same entities
/// several times for each operation, and many operations refer to the same few entities.
///
/// A row in the working set has precedence. The owner removes the rows that it writes to the backing, and discards the
/// cache whenever the backing may change otherwise. A read that the cache answers is not among the tables that SQLite
/// reports as read.
struct CleanRowCache {
    /// The approximate size of an entry without its values, in bytes.
    private static let entrySize = 192

    /// The maximum number of entries whose memory is kept for the next transaction.
    private static let keptEntries = 1_024

    struct Entry {
        let row: EntityRow?
        /// The kind of the row, separately because a look into an optional row copies all of it. Empty without a row.
        let kind: EntityKind

        init(_ row: EntityRow?) {
            self.row = row
            kind = EntityKind(set: row?.set ?? "", type: row?.type ?? "")
        }
    }

    private(set) var rows = IDTable<Entry>()
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
        if let place = rows.place(of: id) { return rows[at: place].row }
        let row = try read()
        // The size of values that are not encoded is unknown.
        guard let size = Self.size(of: row), size <= capacity / 8 else { return row }
        if self.size + size > capacity { removeAll() }
        self.size += size
        rows.updateValue(Entry(row), for: id)
        return row
    }

    /// Returns the set and type of a cached row, or nil if no row is cached. Does not copy the row.
    func kind(of id: EntityID) -> EntityKind? {
        guard let place = rows.place(of: id), !rows[at: place].kind.set.isEmpty else { return nil }
        return rows[at: place].kind
    }

    private static func size(of row: EntityRow?) -> Int? {
        guard let row else { return entrySize }
        let texts = entrySize + (row.etag?.utf8.count ?? 0) + (row.editLink?.utf8.count ?? 0)
        if row.values.isEmpty { return texts }
        return row.values.packed.map { texts + $0.byteCount }
    }

    /// Removes the rows of these entities.
    mutating func remove(_ ids: some Sequence<EntityID>) {
        if rows.isEmpty { return }
        for id in ids { if let entry = rows.removeValue(for: id) { size -= Self.size(of: entry.row) ?? 0 } }
    }

    /// Removes all rows. Releases their memory if it is large.
    mutating func removeAll() {
        if rows.values.capacity > Self.keptEntries { rows = IDTable() } else if !rows.isEmpty { rows.removeAll() }
        size = 0
    }
}
