import Operations

/// The rows that were last read from the backing within a transaction, because the rules and the fold read the same
/// few entities several times for each operation.
///
/// A row in the working set has precedence. The owner discards the cache whenever the backing may change. A read that
/// the cache answers is not among the tables that SQLite reports as read.
struct CleanRowCache {
    private static let capacity = 8

    private var ids: [EntityID] = []
    private var rows: [EntityRow?] = []
    private var next = 0

    /// Returns the row, or `read()` if it is not cached.
    mutating func row(
        _ id: EntityID, _ read: () throws(StateError) -> EntityRow?
    ) throws(StateError) -> EntityRow? {
        if let place = ids.firstIndex(of: id) { return rows[place] }
        let row = try read()
        if ids.count < Self.capacity {
            ids.append(id)
            rows.append(row)
        } else {
            (ids[next], rows[next]) = (id, row)
            next = (next + 1) % Self.capacity
        }
        return row
    }

    mutating func removeAll() {
        guard !ids.isEmpty else { return }
        ids.removeAll(keepingCapacity: true)
        rows.removeAll(keepingCapacity: true)
        next = 0
    }
}
