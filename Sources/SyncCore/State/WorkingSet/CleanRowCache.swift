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

    private struct Entry {
        let row: EntityRow?
        /// The kind of the row, separately because a look into an optional row copies all of it. Empty without a row.
        let kind: EntityKind

        init(_ row: EntityRow?) {
            self.row = row
            kind = EntityKind(set: row?.set ?? "", type: row?.type ?? "")
        }
    }

    private var rows = IDTable<Entry>()
    private var size = 0
    private let capacity: Int

    /// Creates an empty cache.
    ///
    /// - Parameter capacity: The approximate size in bytes at which all rows are evicted.
    init(capacity: Int = 4 << 20) { self.capacity = capacity }

    /// Returns the row, or `read()` if it is not cached.
    mutating func row(
        _ id: EntityID, _ read: () throws(StateError) -> EntityRow?
    ) throws(StateError) -> EntityRow? {
        if let place = rows.place(of: id) { return rows[at: place].row }
        let row = try read()
        // The size of values that are not encoded is unknown.
        guard let size = Self.size(of: row) else { return row }
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
        guard let row, !row.values.isEmpty else { return entrySize }
        return row.values.packed.map { entrySize + $0.bytes.count }
    }

    /// Removes the rows of these entities. Their size counts until the cache is emptied.
    mutating func remove(_ ids: some Sequence<EntityID>) {
        if rows.isEmpty { return }
        for id in ids { rows.removeValue(for: id) }
    }

    mutating func removeAll() {
        guard size > 0 else { return }
        rows.removeAll()
        size = 0
    }
}
