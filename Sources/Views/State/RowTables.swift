import EDM
import Operations
import SyncCore

/// The tables of the entity sets: a row for each entity, with its values and a column for each that queries search.
///
/// Not `Sendable`: they belong to the state's connection.
package final class RowTables: StatementRunner {
    package let connection: Connection
    /// The names that rows and operations repeat.
    let names: NameTable
    private(set) var model: EntityDataModel?
    package private(set) var layouts: [String: TableLayout] = [:]
    /// The number of calls that set a model.
    private(set) var adoptions = 0
    /// The tables that were used, by set.
    private var tables: [String: SetTable] = [:]
    /// The two tables that were used last.
    private var recentTables: (SetTable?, SetTable?)
    /// The rows that are inserted together.
    private(set) lazy var block = RowBlock()
    /// The lists of property names of rows.
    let shapes = RowSchemas()

    init(_ connection: Connection, names: NameTable) {
        self.connection = connection
        self.names = names
    }

    /// Uses the tables of a model that was installed before.
    func adopt(_ model: EntityDataModel) {
        self.model = model
        adoptions += 1
        connection.forgetStatements()
        forgetTables()
        var ordinals: [String: Int] = [:]
        layouts = [:]
        let index = RelationshipIndex(model)
        for set in model.allSets where layouts[set.name] == nil {
            let ordinal = ordinals[set.name.lowercased(), default: 0]
            ordinals[set.name.lowercased()] = ordinal + 1
            let compared =
                index.constraints(ofDependentsIn: set.name).map { $0.pairs.map(\.dependent) }
                + index.constraints(ofPrincipalsIn: set.name).map { $0.pairs.map(\.principal) }
            layouts[set.name] = TableLayout(set, ordinal: ordinal, model: model, compared: compared)
        }
    }

    func layout(_ set: String) throws(StateError) -> TableLayout {
        guard let layout = layouts[set] else {
            throw StateError(.noModel, "The metadata has no entity set \(set), which the log uses.")
        }
        return layout
    }

    private func forgetTables() {
        tables = [:]
        recentTables = (nil, nil)
    }

    func table(_ set: String) throws(StateError) -> SetTable {
        if let recent = recentTables.0, recent.set == set { return recent }
        if let recent = recentTables.1, recent.set == set {
            recentTables = (recent, recentTables.0)
            return recent
        }
        let table = if let known = tables[set] { known } else { SetTable(try layout(set), of: set) }
        tables[set] = table
        recentTables = (table, recentTables.0)
        return table
    }

    // MARK: Rollback

    /// The tables before a transaction.
    struct SavedTables {
        fileprivate let model: EntityDataModel?
        fileprivate let layouts: [String: TableLayout]
        fileprivate let adoptions: Int
    }

    var current: SavedTables { SavedTables(model: model, layouts: layouts, adoptions: adoptions) }

    /// Discards cached tables, lookups and lists of names after a rollback.
    ///
    /// - Parameter former: The tables before the transaction, or nil if it cannot have replaced them.
    /// - Returns: Whether the transaction had replaced the tables.
    @discardableResult
    func invalidateCaches(_ former: SavedTables? = nil) -> Bool {
        shapes.removeAll()
        for table in tables.values {
            table.invalidateLookups()
            table.forgetPlans()
        }
        guard let former, former.adoptions != adoptions else { return false }
        // They refer to the tables that the rollback removed.
        forgetTables()
        connection.forgetStatements()
        (model, layouts) = (former.model, former.layouts)
        return true
    }
}
