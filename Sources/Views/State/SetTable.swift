import EDM
import Operations
import SyncCore

/// The statements that read and write the rows of one entity set.
///
/// Not `Sendable`: they belong to the state's connection.
final class SetTable {
    let set: String
    let layout: TableLayout
    let upsert: Statement
    /// The statement for a row that ``upsert`` did not write.
    let replace: Statement
    let select: Statement
    let delete: Statement
    /// The insertion of new rows; nil if the table has too many columns for a block.
    private(set) lazy var insertion = layout.blockInsertion
    /// Returns the last entity of the table, or null if the table is empty.
    private(set) lazy var lastEntity = Statement("SELECT max(entity) FROM \(layout.table)")
    /// The searches by values of properties. They are few: for keys and for the properties of constraints.
    private var finds: [RowLookup] = []
    /// Whether a search may have a cached result.
    private var mayHaveResults = false
    /// The plans for the names of the last rows that were written, because the rows of a set are similar.
    private var plans: [ColumnPlan] = []
    private static let planLimit = 8
    /// Memory for texts that are created while a row is written.
    private let memory: UnsafeMutableBufferPointer<UInt8>

    init(_ layout: TableLayout, of set: String) {
        self.set = set
        self.layout = layout
        upsert = Statement(layout.upsert)
        replace = Statement(layout.replace)
        select = Statement("SELECT \(RowTables.columns) FROM \(layout.table) WHERE entity = ?")
        delete = Statement("DELETE FROM \(layout.table) WHERE entity = ?")
        memory = .allocate(capacity: layout.columns.count * ShortText.capacity)
    }

    deinit { memory.deallocate() }

    /// Returns the plan for rows with these names; `number` returns the number of the names in the views.
    func plan(
        _ names: PropertyNames, number: (PropertyNames) throws(StateError) -> Int64
    ) throws(StateError) -> ColumnPlan {
        for plan in plans where plan.names === names { return plan }
        let plan = ColumnPlan(names, shape: try number(names), layout)
        if plans.count >= Self.planLimit { plans.removeFirst() }
        plans.append(plan)
        return plan
    }

    /// Discards the plans, because their numbers may belong to other names after a rollback.
    func forgetPlans() { plans = [] }

    /// Binds encoded values to the columns; see ``ColumnPlan/bind(_:_:memory:)``.
    func bind(_ bytes: UnsafeRawBufferPointer, by plan: ColumnPlan, _ binding: inout Binding) {
        plan.bind(bytes, &binding, memory: memory)
    }

    /// Returns the search by the given properties, in ascending order of entity ID, or nil if one of them has no
    /// column, or values of another kind.
    func find(_ values: [(property: String, value: Value)]) -> RowLookup? {
        mayHaveResults = true
        for find in finds where find.isSearch(by: values) { return find.compares(values) ? find : nil }
        let columns = values.compactMap { layout.column(at: $0.property) }
        guard columns.count == values.count else { return nil }
        let conditions = columns.map { "\($0.name) = ?" }.joined(separator: " AND ")
        let statement = Statement("SELECT entity FROM \(layout.table) WHERE \(conditions) ORDER BY entity")
        let find = RowLookup(values.map(\.property), columns.map { StoredKind($0.type) }, statement)
        finds.append(find)
        return find.compares(values) ? find : nil
    }

    /// Discards the cached results after a row was written, or after a rollback.
    func invalidateLookups() {
        guard mayHaveResults else { return }
        mayHaveResults = false
        for find in finds { find.invalidate() }
    }
}

/// A search for the rows of a set by the values of some properties.
final class RowLookup {
    private let properties: [String]
    /// The kinds of the columns.
    private let kinds: [StoredKind?]
    let statement: Statement
    private var results = Results()
    private static let limit = 16_384

    init(_ properties: [String], _ kinds: [StoredKind?], _ statement: Statement) {
        self.properties = properties
        self.kinds = kinds
        self.statement = statement
    }

    // By index, because `zip` and `elementsEqual` copy each value.

    /// Returns whether the search is by the properties of these values.
    func isSearch(by values: [(property: String, value: Value)]) -> Bool {
        properties.count == values.count
            && properties.indices.allSatisfy { properties[$0] == values[$0].property }
    }

    /// Returns whether SQLite compares these values of the properties as `Value` does. It finds 1 in a column of
    /// decimals, which for `Value` is another value than the decimal 1.
    func compares(_ values: [(property: String, value: Value)]) -> Bool {
        kinds.count == values.count && kinds.indices.allSatisfy { kinds[$0] == StoredKind(values[$0].value) }
    }

    /// Returns the cached result, or nil if there is none.
    func found(_ values: [(property: String, value: Value)]) -> [EntityID]? {
        if results.isEmpty || values.count != 1 { return nil }
        return results.entities(values[0].value)
    }

    func remember(_ entities: [EntityID], for values: [(property: String, value: Value)]) {
        guard values.count == 1, !entities.isEmpty else { return }
        if results.count >= Self.limit { invalidate() }
        results.remember(entities, for: values[0].value)
    }

    func invalidate() { if !results.isEmpty { results.removeAll() } }

    /// The cached results by value, because a page of a download refers to the same few partners repeatedly.
    ///
    /// Not copyable, so that a search does not retain the dictionaries.
    private struct Results: ~Copyable {
        private var byNumber: [Int64: [EntityID]] = [:]
        private var byText: [String: [EntityID]] = [:]

        var isEmpty: Bool { byNumber.isEmpty && byText.isEmpty }
        var count: Int { byNumber.count + byText.count }

        func entities(_ value: Value) -> [EntityID]? {
            switch SQLValue(value) {
            case .integer(let number): byNumber[number]
            case .text(let text) where Self.isPlain(text): byText[text]
            default: nil
            }
        }

        mutating func remember(_ entities: [EntityID], for value: Value) {
            switch SQLValue(value) {
            case .integer(let number): byNumber[number] = entities
            case .text(let text) where Self.isPlain(text): byText[text] = entities
            default: break
            }
        }

        mutating func removeAll() {
            byNumber.removeAll(keepingCapacity: true)
            byText.removeAll(keepingCapacity: true)
        }

        /// Returns whether the text is ASCII. Other strings may be equal and differ in the composition of their
        /// characters, which SQLite distinguishes.
        private static func isPlain(_ text: String) -> Bool { text.utf8.allSatisfy { $0 < 0x80 } }
    }
}

/// The other statements of the fold.
struct FoldStatements {
    let assignKey = Statement(
        """
        INSERT INTO keys VALUES (?, ?, ?) ON CONFLICT (set_number, key) DO UPDATE SET entity = excluded.entity
        WHERE entity <> excluded.entity
        """)
    let insertKeys = BlockInsertion(into: "keys", columns: 3)
    let base = Statement("SELECT \(SQLiteState.baseColumns) FROM bases WHERE entity = ?")
    let putBase = Statement("INSERT OR REPLACE INTO bases VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")
    let removeBase = Statement("DELETE FROM bases WHERE entity = ?")
    let putAbsentBase = Statement("INSERT OR REPLACE INTO bases (entity) VALUES (?)")
}
