public import EDM
import Operations
public import SyncCore

/// Going over to other metadata: each set gets the table that they make of it.
extension SQLiteState {
    /// Rows of sets that the new model no longer has are dropped; the log still has them. The others are written anew, a few
    /// hundred at a time, so that memory does not hold what the disk does.
    public func install(_ model: EntityDataModel) throws(StateError) {
        connection.forgetStatements()
        var former: [(set: String, table: String)] = []
        for (number, (set, layout)) in layouts.sorted(by: { $0.key < $1.key }).enumerated() {
            guard model.findEntitySet(set) != nil else {
                try run("DROP TABLE \(layout.table)")
                continue
            }
            // The new table's indexes have the same names.
            for index in try indexes(of: layout) { try run("DROP INDEX \(index)") }
            // Tables of sets begin in another way.
            let table = "former_\(number)"
            try run("ALTER TABLE \(layout.table) RENAME TO \(table)")
            former.append((set, table))
        }
        adopt(model)
        try createTables(model)
        connection.forgetStatements()
        for (set, table) in former {
            try copyRows(of: set, from: table)
            connection.forgetStatements()
            try run("DROP TABLE \(table)")
        }
        connection.forgetStatements()
    }

    /// Those that were made by a statement, quoted.
    private func indexes(of layout: TableLayout) throws(StateError) -> [String] {
        try list(
            "SELECT name FROM sqlite_master WHERE type = 'index' AND tbl_name = ? AND sql IS NOT NULL",
            [.text(layout.unquotedTable)]
        ) { TableLayout.quoted($0.text(0) ?? "") }
    }

    private func copyRows(of set: String, from table: String) throws(StateError) {
        var last: Int64 = -1
        while true {
            let rows = try list(
                "SELECT \(Self.rowColumns) FROM \(table) WHERE entity > ? ORDER BY entity LIMIT ?",
                [.integer(last), .integer(Int64(Self.copiedAtOnce))]
            ) { row throws(StateError) in try entityRow(row, set: set) }
            for row in rows { try putRow(row) }
            guard rows.count == Self.copiedAtOnce, let end = rows.last?.id.rawValue else { return }
            last = Int64(bitPattern: end)
        }
    }

    private static var copiedAtOnce: Int { 256 }
}
