import EDM
import Operations
import SyncCore

/// The migration of the tables to other metadata.
extension RowTables {
    /// Changes the tables to those of a model. A table whose statements are unchanged stays as it is.
    ///
    /// Rows of sets that the model does not have are dropped; the log still contains them. The rows of large changed
    /// tables are copied a few hundred at a time, to limit the memory.
    func install(_ model: EntityDataModel) throws(StateError) {
        connection.forgetStatements()
        let formerLayouts = layouts
        let formerStatements = formerLayouts.mapValues(\.createStatements)
        adopt(model)
        let newStatements = layouts.mapValues(\.createStatements)
        var renamed: [(set: String, table: String)] = []
        var few: [EntityRow] = []
        for (number, (set, layout)) in formerLayouts.sorted(by: { $0.key < $1.key }).enumerated()
        where formerStatements[set] != newStatements[set] {
            let rows = layouts[set] == nil ? [] : try rows(of: set, in: layout.table, after: -1, limit: Self.fewRows)
            // A renaming parses the whole schema, which takes longer than to write a few rows.
            guard rows.count == Self.fewRows else {
                try run("DROP TABLE \(layout.table)")
                few += rows
                continue
            }
            // The indexes of the new table have the same names.
            for index in try indexes(of: layout) { try run("DROP INDEX \(index)") }
            // No table of a set has such a name.
            let table = "former_\(number)"
            try run("ALTER TABLE \(layout.table) RENAME TO \(table)")
            renamed.append((set, table))
        }
        for (set, statements) in newStatements.sorted(by: { $0.key < $1.key }) where formerStatements[set] != statements
        {
            for statement in statements { try run(statement) }
        }
        connection.forgetStatements()
        for row in few { try putRow(row) }
        for (set, table) in renamed {
            try copyRows(of: set, from: table)
            connection.forgetStatements()
            try run("DROP TABLE \(table)")
        }
        connection.forgetStatements()
    }

    /// Returns the quoted names of the indexes that were created by a statement.
    private func indexes(of layout: TableLayout) throws(StateError) -> [String] {
        try list(
            "SELECT name FROM sqlite_master WHERE type = 'index' AND tbl_name = ? AND sql IS NOT NULL",
            [.text(layout.unquotedTable)]
        ) { TableLayout.quoted($0.text(0) ?? "") }
    }

    private func copyRows(of set: String, from table: String) throws(StateError) {
        var last: Int64 = -1
        while true {
            let rows = try rows(of: set, in: table, after: last, limit: Self.copiedAtOnce)
            for row in rows { try putRow(row) }
            guard rows.count == Self.copiedAtOnce, let end = rows.last?.id.rawValue else { return }
            last = Int64(bitPattern: end)
        }
    }

    private func rows(
        of set: String, in table: String, after last: Int64, limit: Int
    ) throws(StateError) -> [EntityRow] {
        try list(
            "SELECT \(Self.columns) FROM \(table) WHERE entity > ? ORDER BY entity LIMIT ?",
            [.integer(last), .integer(Int64(limit))]
        ) { row throws(StateError) in try entityRow(row, set: set) }
    }

    private static var copiedAtOnce: Int { 256 }

    /// The number of rows from which a changed table is renamed and its rows are copied.
    private static var fewRows: Int { 32 }
}
