import Operations
package import SyncCore

/// What of the views an answer comes from, and what a transaction has changed: as tables, so that what the two have in
/// common tells whether the answer may be another one.
extension SQLiteState {
    /// The tables that were read since the last call, but for those that tell of no entity by themselves. What entities have
    /// pending counts as a change of their own table; see ``takeChangedTables()``.
    package func takeReadTables() -> Set<String> {
        defer { readsLastDownload = false }
        let tables = connection.takeReadTables().subtracting(Self.bookkeeping)
        return readsLastDownload ? tables.union([Self.lastDownload]) : tables
    }

    /// Stands among the tables for which download was the last. It is in `header`, which all answers come from and nearly all
    /// transactions write, so that whoever begins a download says that it has changed.
    package static let lastDownload = "last_download"

    /// The tables that were written since the last call, and those of the entities on which something else is pending now,
    /// if ``notesStandings`` says so.
    package func takeChangedTables() throws(StateError) -> Set<String> {
        var tables = connection.takeWrittenTables()
        let entities = queue.takeChangedStandings()
        // Of so many, one of each set is likely.
        guard entities.count <= 1_000 else { return tables.union(layouts.values.map(\.unquotedTable)) }
        for id in entities {
            if let set = try set(of: id), let table = layouts[set]?.unquotedTable { tables.insert(table) }
        }
        return tables
    }

    /// The table of an entity set, as the other functions name it; nil where the set has none.
    package func tableName(ofSet set: String) -> String? { layouts[set]?.unquotedTable }

    /// Written by almost every transaction, or, as the names of values, never written again. The names of relationships and sets
    /// are not among them: before there is one, nothing else is read, and the first link or key makes it.
    private static let bookkeeping: Set<String> = [
        "header", "entities", "pending", "effects", "shapes", "json_each", "sqlite_master",
    ]

    /// Whether it is noted whose pending operations change; see ``takeChangedTables()``.
    package var notesStandings: Bool {
        get { queue.notesStandings }
        set { queue.notesStandings = newValue }
    }
}
