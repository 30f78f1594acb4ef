import EDM
import Operations
import SyncCore

/// The migration of the tables to other metadata.
extension RowTables {
    /// Recreates the tables for a model. Rows of sets that the model does not have are dropped; the log still contains
    /// them. The other rows are copied a few hundred at a time, to limit the memory.
    func install(_ model: EntityDataModel) throws(StateError) {
        connection.forgetStatements()
        var former: [(set: String, table: String)] = []
        for (number, (set, layout)) in layouts.sorted(by: { $0.key < $1.key }).enumerated() {
            guard model.findEntitySet(set) != nil else {
                try run("DROP TABLE \(layout.table)")
                continue
            }
            // The indexes of the new table have the same names.
            for index in try indexes(of: layout) { try run("DROP INDEX \(index)") }
            // No table of a set has such a name.
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

    private func createTables(_ model: EntityDataModel) throws(StateError) {
        let index = RelationshipIndex(model)
        for set in model.allSets {
            guard let layout = layouts[set.name] else { continue }
            for statement in layout.createStatements { try run(statement) }
            var searched = [set.entityType.keyParts.map(\.path)]
            searched += index.constraints(ofDependentsIn: set.name).map { $0.pairs.map(\.dependent) }
            searched += index.constraints(ofPrincipalsIn: set.name).map { $0.pairs.map(\.principal) }
            var indexed: Set<[String]> = []
            for properties in searched where indexed.insert(properties).inserted {
                if let statement = layout.createIndex(over: properties, number: indexed.count) { try run(statement) }
            }
        }
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
