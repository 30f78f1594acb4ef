import EDM
package import SyncCore

/// Indexes that are no part of the schema: what defining queries and the app ask for. They are not in the log, and views
/// that are made again get them again.
extension SQLiteState {
    /// Makes those of the indexes that are not there, and drops those that nobody asks for any more. What has no column (a
    /// collection, a property that no type of the set has), or is the beginning of another index, gets none.
    ///
    /// Returns how many were made and dropped. Cost: that of sorting the set once for each that is made.
    @discardableResult
    package func arrange(_ indexes: [EntityIndex]) throws -> (made: Int, dropped: Int) {
        guard let model else { return (0, 0) }
        var wanted: [String: String] = [:]
        for index in indexes {
            for set in index.sets(in: model) {
                guard let layout = layouts[set.name], let columns = layout.indexColumns(index),
                    !isSchemas(columns, layout)
                else { continue }
                let name = TableLayout.quoted(Self.prefix + layout.unquotedTable + " " + columns)
                wanted[name] = "CREATE INDEX \(name) ON \(layout.table) (\(columns))"
            }
        }
        let present = try list(
            "SELECT name FROM sqlite_master WHERE type = 'index' AND substr(name, 1, ?) = ?",
            [.integer(Int64(Self.prefix.count)), .text(Self.prefix)]
        ) { TableLayout.quoted($0.text(0) ?? "") }
        let dropped = Set(present).subtracting(wanted.keys)
        let made = Set(wanted.keys).subtracting(present)
        guard !dropped.isEmpty || !made.isEmpty else { return (0, 0) }
        // Among them explanations, which SQLite would repeat as they were.
        connection.forgetStatements()
        try transaction {
            for name in dropped.sorted() { try run("DROP INDEX \(name)") }
            for name in made.sorted() { if let statement = wanted[name] { try run(statement) } }
        }
        return (made.count, dropped.count)
    }

    private static let prefix = "asked for: "

    /// Whether one of the schema's own indexes begins with these columns.
    private func isSchemas(_ columns: String, _ layout: TableLayout) -> Bool {
        guard
            let statements = try? list(
                "SELECT sql FROM sqlite_master WHERE type = 'index' AND tbl_name = ? AND name LIKE 'index~_%' ESCAPE '~'",
                [.text(layout.unquotedTable)], { $0.text(0) ?? "" })
        else { return false }
        return statements.contains { $0.hasSuffix("(\(columns))") || $0.contains("(\(columns), ") }
    }
}

extension TableLayout {
    /// What stands between the brackets of `CREATE INDEX`; nil where a term has no column.
    ///
    /// Dates, times and durations are compared and sorted by their sort key, since their texts have another order, so an index
    /// over them is one over that.
    func indexColumns(_ index: EntityIndex) -> String? {
        var columns: [String] = []
        for term in index.terms {
            guard let column = column(term.path), let kind = StoredKind(column.type) else { return nil }
            let name = kind.needsSortKey ? "tl_sortkey(\(kind.rawValue), \(column.name))" : column.name
            columns.append(name + (term.isDescending ? " DESC" : ""))
        }
        return columns.isEmpty ? nil : columns.joined(separator: ", ")
    }
}
