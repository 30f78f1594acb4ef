import EDM
package import SyncCore

/// Indexes outside the schema, for defining queries and for the app. The log does not contain them; rebuilt views get
/// them again.
extension SQLiteState {
    /// Creates the missing ones of the indexes, and drops those that are not requested any more. Omits an index if one
    /// of its terms has no column (a collection, or a property that no type of the set has), or if an index of the
    /// schema starts with its columns.
    ///
    /// - Returns: The numbers of created and dropped indexes. Cost: the set is sorted once for each created index.
    @discardableResult
    package func arrange(_ indexes: [EntityIndex]) throws -> (made: Int, dropped: Int) {
        let changes = try IndexChanges(indexes, rowTables)
        guard !changes.dropped.isEmpty || !changes.made.isEmpty else { return (0, 0) }
        // Some statements are explanations, which SQLite would repeat unchanged.
        connection.forgetStatements()
        try transaction { for statement in changes.dropped + changes.made { try run(statement) } }
        return (changes.made.count, changes.dropped.count)
    }
}

/// The statements that create missing indexes and drop those that are not requested any more.
private struct IndexChanges: StatementRunner {
    let connection: Connection
    private(set) var dropped: [String] = []
    private(set) var made: [String] = []

    init(_ indexes: [EntityIndex], _ tables: RowTables) throws(StateError) {
        connection = tables.connection
        guard let model = tables.model else { return }
        var wanted: [String: String] = [:]
        for index in indexes {
            for set in index.sets(in: model) {
                guard let layout = tables.layouts[set.name], let columns = layout.indexColumns(index),
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
        dropped = Set(present).subtracting(wanted.keys).sorted().map { "DROP INDEX \($0)" }
        made = Set(wanted.keys).subtracting(present).sorted().compactMap { wanted[$0] }
    }

    private static let prefix = "asked for: "

    /// Whether one of the schema's indexes starts with these columns.
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
    /// Returns the list of columns for `CREATE INDEX`, or nil if a term has no column.
    ///
    /// Dates, times and durations are compared and sorted by a sort key, because their texts have another order. The
    /// index contains the sort key.
    ///
    /// The last term is ascending, and those before it are reversed with it: SQLite reads an index in both
    /// directions, and its entries end with the entity ID in ascending order, as those of `$orderby` do.
    func indexColumns(_ index: EntityIndex) -> String? {
        var columns: [String] = []
        let isReversed = index.terms.last?.isDescending == true
        for term in index.terms {
            guard let column = column(term.path), let kind = StoredKind(column.type) else { return nil }
            let name = kind.needsSortKey ? "tl_sortkey(\(kind.rawValue), \(column.name))" : column.name
            columns.append(name + (term.isDescending != isReversed ? " DESC" : ""))
        }
        return columns.isEmpty ? nil : columns.joined(separator: ", ")
    }
}
