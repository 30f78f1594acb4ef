import Operations
package import SyncCore

/// The verification of content that the state's digest does not cover: the integrity of the SQLite file, and the
/// consistency of the columns and tables for lookups with the rows.
package struct ViewsVerification: StatementRunner {
    private let rowTables: RowTables
    package var connection: Connection { rowTables.connection }

    package init(_ state: SQLiteState) { rowTables = state.rowTables }

    /// Verifies the views. Throws `damaged` with the first defect. Cost: several passes over the whole file.
    package func verify() throws(StateError) {
        if let fault = try first("PRAGMA integrity_check(1)")?.first?.text, fault != "ok" {
            throw StateError(.damaged, "SQLite reports a fault in the views: \(fault)")
        }
        for set in rowTables.layouts.keys.sorted() { try verifyColumns(of: set) }
    }

    /// Returns whether another version of the library wrote the file.
    package func isOfAnotherVersion() throws(StateError) -> Bool {
        try first("PRAGMA user_version")?.first?.integer != Schema.version
    }

    /// Verifies that the columns, by which queries find entities, have the values of the rows.
    private func verifyColumns(of set: String) throws(StateError) {
        let layout = try rowTables.layout(set)
        guard !layout.columns.isEmpty else { return }
        let names = layout.columns.map(\.name).joined(separator: ", ")
        let own = TableLayout.ownColumns.count
        let rows = try list("SELECT \(RowTables.columns), \(names) FROM \(layout.table)") { row throws(StateError) in
            let expected = layout.columnValues(try rowTables.entityRow(row, set: set).values)
            let differing = expected.indices.filter { row[own + $0] != expected[$0] }
            return differing.isEmpty ? nil : (row.integer(0), differing.map { ($0, expected[$0]) })
        }
        for case (let entity, let columns)? in rows {
            // A column may contain a value in another representation than the written one.
            for (column, value) in columns {
                let column = layout.columns[column]
                let sql = "SELECT 1 FROM \(layout.table) WHERE entity = ? AND \(column.name) IS NOT ?"
                guard try first(sql, [.integer(entity), value]) != nil else { continue }
                throw StateError(
                    .damaged,
                    "The index of \(column.path.joined(separator: "/")) contains another value for entity \(entity) of \(set) than the entity."
                )
            }
        }
    }
}
