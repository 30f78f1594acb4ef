import Operations
package import SyncCore

/// What the state's digest does not cover: that the file is one that SQLite has written, and that columns and tables by which
/// rows are found say the same as the rows.
extension SQLiteState {
    /// Throws `damaged` with the first thing that is wrong. Cost: several passes over the whole file.
    package func verify() throws(StateError) {
        if let fault = try first("PRAGMA integrity_check(1)")?.first?.text, fault != "ok" {
            throw StateError(.damaged, "SQLite finds a fault in the views: \(fault)")
        }
        for set in layouts.keys.sorted() { try verifyColumns(of: set) }
    }

    /// Whether another version of the library wrote the file.
    package func isOfAnotherVersion() throws(StateError) -> Bool {
        try first("PRAGMA user_version")?.first?.integer != Schema.version
    }

    /// A query finds an entity by the columns, and takes its values from elsewhere in the row.
    private func verifyColumns(of set: String) throws(StateError) {
        let layout = try layout(set)
        guard !layout.columns.isEmpty else { return }
        let names = layout.columns.map(\.name).joined(separator: ", ")
        let own = TableLayout.ownColumns.count
        let rows = try list("SELECT \(Self.rowColumns), \(names) FROM \(layout.table)") { row throws(StateError) in
            let expected = layout.columnValues(try entityRow(row, set: set).values)
            let differing = expected.indices.filter { row[own + $0] != expected[$0] }
            return differing.isEmpty ? nil : (row.integer(0), differing.map { ($0, expected[$0]) })
        }
        for case (let entity, let columns)? in rows {
            // A column may hold a value in another form than it was given.
            for (column, value) in columns {
                let column = layout.columns[column]
                let sql = "SELECT 1 FROM \(layout.table) WHERE entity = ? AND \(column.name) IS NOT ?"
                guard try first(sql, [.integer(entity), value]) != nil else { continue }
                throw StateError(
                    .damaged,
                    "Entity \(entity) of \(set) is found by another \(column.path.joined(separator: "/")) than it has.")
            }
        }
    }
}
