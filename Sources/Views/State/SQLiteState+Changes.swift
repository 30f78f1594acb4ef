import Operations
package import SyncCore

/// The tables that a result depends on, and the tables that a transaction changes. If both contain the same table, the
/// result may have changed.
extension SQLiteState {
    /// Returns the tables that were read since the last call, without the bookkeeping tables. A change of an entity's
    /// pending operations counts as a change of the entity's table; see ``drainChangedTables()``.
    package func drainReadTables() -> Set<String> {
        defer { readsLastDownload = false }
        let tables = connection.drainReadTables().subtracting(Self.bookkeeping)
        return readsLastDownload ? tables.union([Self.lastDownload]) : tables
    }

    /// The name that represents the number of the last download among the tables. The number is stored in `header`,
    /// which every result reads and almost every transaction writes. Therefore the caller that starts a download
    /// reports this change.
    package static let lastDownload = "last_download"

    /// Returns the tables that were written since the last call, and the tables of the entities whose pending
    /// operations changed, if ``tracksPendingStates`` is set.
    package func drainChangedTables() throws(StateError) -> Set<String> {
        var tables = connection.drainWrittenTables()
        let entities = queue.drainChangedPendingStates()
        // With so many entities, every set is probably affected.
        guard entities.count <= 1_000 else { return tables.union(rowTables.layouts.values.map(\.unquotedTable)) }
        for id in entities {
            if let set = try set(of: id), let table = rowTables.layouts[set]?.unquotedTable { tables.insert(table) }
        }
        return tables
    }

    /// Returns the table of an entity set, as the other functions name it, or nil if the set has none.
    package func tableName(ofSet set: String) -> String? { rowTables.layouts[set]?.unquotedTable }

    /// Tables that almost every transaction writes, or whose rows, such as lists of property names, never change. The
    /// tables of relationships and sets are not included: before they have an entry nothing else is read, and the first
    /// link or key adds it.
    private static let bookkeeping: Set<String> = [
        "header", "entities", "pending", "effects", "shapes", "json_each", "sqlite_master",
    ]

    /// Whether entities with changed pending operations are tracked; see ``drainChangedTables()``.
    package var tracksPendingStates: Bool {
        get { queue.tracksPendingStates }
        set { queue.tracksPendingStates = newValue }
    }
}
