import EDM
import Operations
import SyncCore

/// The migration of the tables to other metadata.
extension RowTables {
    /// Changes the tables to those of a model. A table whose statements are unchanged stays as it is.
    ///
    /// Rows of sets that the model does not have are dropped; the log still contains them. The rows of changed tables
    /// are copied a few hundred at a time, to limit the memory.
    func install(_ model: EntityDataModel) throws(StateError) {
        connection.forgetStatements()
        let formerStatements = self.model.map(statements) ?? [:]
        let formerLayouts = layouts
        adopt(model)
        let newStatements = statements(model)
        var renamed: [(set: String, table: String)] = []
        for (number, (set, layout)) in formerLayouts.sorted(by: { $0.key < $1.key }).enumerated()
        where formerStatements[set] != newStatements[set] {
            // A renaming parses the whole schema, so an empty table is created anew.
            guard layouts[set] != nil, try hasRows(layout) else {
                try run("DROP TABLE \(layout.table)")
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
        for (set, table) in renamed {
            try copyRows(of: set, from: table)
            connection.forgetStatements()
            try run("DROP TABLE \(table)")
        }
        connection.forgetStatements()
    }

    /// Returns the statements that create the tables of a model and their indexes, by set. ``adopt(_:)`` has to be
    /// called with the model before.
    private func statements(_ model: EntityDataModel) -> [String: [String]] {
        let index = RelationshipIndex(model)
        var found: [String: [String]] = [:]
        for set in model.allSets where found[set.name] == nil {
            guard let layout = layouts[set.name] else { continue }
            var searched = [set.entityType.keyParts.map(\.path)]
            searched += index.constraints(ofDependentsIn: set.name).map { $0.pairs.map(\.dependent) }
            searched += index.constraints(ofPrincipalsIn: set.name).map { $0.pairs.map(\.principal) }
            var indexed: Set<[String]> = []
            var statements = layout.createStatements
            for properties in searched where indexed.insert(properties).inserted {
                if let statement = layout.createIndex(over: properties, number: indexed.count) {
                    statements.append(statement)
                }
            }
            found[set.name] = statements
        }
        return found
    }

    private func hasRows(_ layout: TableLayout) throws(StateError) -> Bool {
        try !list("SELECT 1 FROM \(layout.table) LIMIT 1", []) { _ in true }.isEmpty
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
            let rows = try list(
                "SELECT \(Self.columns) FROM \(table) WHERE entity > ? ORDER BY entity LIMIT ?",
                [.integer(last), .integer(Int64(Self.copiedAtOnce))]
            ) { row throws(StateError) in try entityRow(row, set: set) }
            for row in rows { try putRow(row) }
            guard rows.count == Self.copiedAtOnce, let end = rows.last?.id.rawValue else { return }
            last = Int64(bitPattern: end)
        }
    }

    private static var copiedAtOnce: Int { 256 }
}
