import EDM
import SyncCore

/// The statements by which the rows of one entity set are read and written.
///
/// Not `Sendable`: they belong to the state's connection.
final class SetTable {
    let layout: TableLayout
    let upsert: Statement
    let select: Statement
    let delete: Statement
    /// Finds rows by the values of these properties. Few, and always the same: keys and the properties of constraints.
    private var finds: [(properties: [String], statement: Statement)] = []
    /// For the names of the rows that were written last: the rows of a set are much alike.
    private var plans: [ColumnPlan] = []
    private static let planLimit = 8
    /// For texts that are made while a row is written.
    private let memory: UnsafeMutableBufferPointer<UInt8>

    init(_ layout: TableLayout) {
        self.layout = layout
        upsert = Statement(layout.upsert)
        select = Statement("SELECT \(SQLiteState.rowColumns) FROM \(layout.table) WHERE entity = ?")
        delete = Statement("DELETE FROM \(layout.table) WHERE entity = ?")
        memory = .allocate(capacity: layout.columns.count * ShortText.capacity)
    }

    deinit { memory.deallocate() }

    /// The plan for rows with these names; `number` says theirs in the views.
    func plan(
        _ names: PropertyNames, number: (PropertyNames) throws(StateError) -> Int64
    ) throws(StateError) -> ColumnPlan {
        for plan in plans where plan.names === names { return plan }
        let plan = ColumnPlan(names, shape: try number(names), layout)
        if plans.count >= Self.planLimit { plans.removeFirst() }
        plans.append(plan)
        return plan
    }

    /// The numbers may be those of other names now.
    func forgetPlans() { plans = [] }

    /// Gives encoded values to the columns; see ``ColumnPlan/bind(_:_:memory:)``.
    func bind(_ bytes: UnsafeRawBufferPointer, by plan: ColumnPlan, _ binding: inout Binding) {
        plan.bind(bytes, &binding, memory: memory)
    }

    /// Finds the rows with given values of the properties, in ascending order of entity ID; nil where one has no column.
    func find(_ properties: [String]) -> Statement? {
        if let known = finds.first(where: { $0.properties == properties }) { return known.statement }
        let columns = properties.compactMap { layout.column([$0])?.name }
        guard columns.count == properties.count else { return nil }
        let conditions = columns.map { "\($0) = ?" }.joined(separator: " AND ")
        let statement = Statement("SELECT entity FROM \(layout.table) WHERE \(conditions) ORDER BY entity")
        finds.append((properties, statement))
        return statement
    }
}

/// The fold's other statements.
struct FoldStatements {
    let setOf = Statement("SELECT set_name FROM entities WHERE id = ?")
    let register = Statement("INSERT OR IGNORE INTO entities VALUES (?, ?)")
    let entityOfKey = Statement("SELECT entity FROM keys WHERE set_name = ? AND key = ?")
    let assignKey = Statement("INSERT OR REPLACE INTO keys VALUES (?, ?, ?)")
    let base = Statement("SELECT \(SQLiteState.baseColumns) FROM bases WHERE entity = ?")
    let linksOfFirst = Statement(linkQuery + "first = ?")
    /// Without its name SQLite takes the primary key, and reads the whole relationship.
    let linksOfSecond = Statement(
        "SELECT \(SQLiteState.linkColumns) FROM links INDEXED BY links_by_second "
            + "WHERE relationship = ? AND second = ? ORDER BY first")
    let link = Statement(linkQuery + "first = ? AND second = ?")
    let putLink = Statement("INSERT OR REPLACE INTO links VALUES (?, ?, ?, ?, ?)")
    let cover = Statement("INSERT OR REPLACE INTO coverage VALUES (?, ?, ?)")
    let hasPendingChange = Statement("SELECT 1 FROM touched WHERE entity = ? AND changes = 1 LIMIT 1")

    private static let linkQuery = "SELECT \(SQLiteState.linkColumns) FROM links WHERE relationship = ? AND "
}
