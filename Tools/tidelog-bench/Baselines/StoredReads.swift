internal import CSQLite
internal import EDM
internal import Foundation
internal import Views

/// The statements of queries, to run them again without the engine: the limit for every engine that answers the queries
/// from these tables.
///
/// All columns of the rows are read, and the stored values are checked and copied as the store does. No entities are
/// made of them.
final class StoredReads {
    static let name = "the statements and rows alone"

    /// A statement of a query, with its parameters.
    struct Read {
        let sql: String
        /// The types of the parameters.
        let parameters: [String]
        /// The number in the query's condition, or the entity whose links are followed.
        let number: Int64
        /// The maximum number of rows; -1 for none.
        let top: Int64
        /// Whether the statement is for the entities of the one before, as a list.
        let isForFound: Bool
        /// Whether the statement is for the entities of the one before, as a range.
        let isForRange: Bool
        let hasLimit: Bool

        init(_ statement: QueryExplanation.Statement, number: Int, top: Int = -1) {
            self.init(statement.sql, statement.parameters, number: number, top: top)
        }

        /// Returns the statements that read the rows with these numbers by a property with an index.
        static func rows(of table: String, by property: String, _ numbers: ClosedRange<Int>) -> [Read] {
            let columns = TableLayout.ownColumns.joined(separator: ", ")
            let sql = "SELECT \(columns) FROM \"\(table)\" WHERE \"\(property)\" = ?"
            return numbers.map { Read(sql, ["integer"], number: $0, top: -1) }
        }

        private init(_ sql: String, _ parameters: [String], number: Int, top: Int) {
            self.sql = sql
            self.parameters = parameters
            self.number = Int64(number)
            self.top = Int64(top)
            isForFound = sql.contains("json_each(?)")
            isForRange = sql.contains("BETWEEN ? AND ?")
            hasLimit = sql.contains("LIMIT ? OFFSET ?")
        }
    }

    private struct Prepared {
        let statement: OpaquePointer
        let columns: Int32
        /// The columns with the values of an entity and the number of their names, if the statement reads them.
        let values: (bytes: Int32, shape: Int32)?

        init(_ statement: OpaquePointer) {
            self.statement = statement
            columns = sqlite3_column_count(statement)
            let names = (0..<columns).map { String(cString: sqlite3_column_name(statement, $0)) }
            if let bytes = names.firstIndex(of: "property_values"), let shape = names.firstIndex(of: "shape") {
                values = (Int32(bytes), Int32(shape))
            } else {
                values = nil
            }
        }
    }

    private let state: SQLiteState
    private var statements: [String: Prepared] = [:]
    private var last: (sql: String, prepared: Prepared)?
    /// The names of the values, by their numbers.
    private let names: [Int64: PropertyNames]
    private let relationship: String
    /// The entities that the last statement returned.
    private var found: [Int64] = []

    /// Copies the views of a closed store.
    init(_ views: String, in directory: Directory) throws {
        let path = try directory.fresh("reads-\(UUID().uuidString.prefix(8)).sqlite")
        try FileManager.default.copyItem(atPath: views, toPath: path)
        state = try StoredViews.open(path)
        relationship = try StoredViews.texts("SELECT name FROM relationships", in: state.connection).first ?? ""
        var names: [Int64: PropertyNames] = [:]
        try state.connection.query("SELECT id, names FROM shapes") { row in
            names[row.integer(0)] = row.blob(1).withUnsafeBytes(PropertyNames.init(encoded:))
        }
        self.names = names
    }

    deinit { for prepared in statements.values { sqlite3_finalize(prepared.statement) } }

    /// Returns the entities of a table, in ascending order.
    func entities(of table: String) throws -> [Int] {
        var entities: [Int] = []
        try state.connection.query("SELECT entity FROM \"\(table)\" ORDER BY entity") {
            entities.append(Int($0.integer(0)))
        }
        return entities
    }

    /// Runs the statements. Returns the number of their rows.
    func rows(_ reads: [Read]) throws -> Int {
        var count = 0
        for read in reads {
            let prepared = try prepared(read.sql)
            try bind(read, to: prepared.statement)
            count += try step(prepared)
        }
        return count
    }

    /// Runs `body` as one read transaction, as the store does for the queries of one call.
    func reading<T>(_ body: () throws -> T) throws -> T { try state.reading(body) }

    private func prepared(_ sql: String) throws -> Prepared {
        // Successive statements usually are the same string, whose comparison takes no time.
        if let last, last.sql == sql { return last.prepared }
        let prepared = try statements[sql] ?? Prepared(try StoredViews.prepare(sql, state))
        statements[sql] = prepared
        last = (sql, prepared)
        return prepared
    }

    private func bind(_ read: Read, to statement: OpaquePointer) throws {
        // The entities come before the relationship, if the statement has both.
        var texts = read.isForFound ? ["[" + found.map { "\($0)" }.joined(separator: ",") + "]"] : []
        if read.parameters.count(where: { $0 == "text" }) > texts.count { texts.insert(relationship, at: 0) }
        var integers = read.hasLimit ? [0, read.top] : []
        if read.isForRange, let first = found.first, let last = found.last { integers = [last, first, first] }
        for index in read.parameters.indices.reversed() {
            let place = Int32(index + 1)
            switch read.parameters[index] {
            case "integer":
                sqlite3_bind_int64(statement, place, integers.isEmpty ? read.number : integers.removeFirst())
            case "text" where !texts.isEmpty:
                sqlite3_bind_text(
                    statement, place, texts.removeFirst(), -1, unsafeBitCast(-1, to: sqlite3_destructor_type.self))
            default: throw Failure("The bench has no value for a parameter of \(read.sql)")
            }
        }
    }

    private func step(_ prepared: Prepared) throws -> Int {
        let statement = prepared.statement
        defer { sqlite3_reset(statement) }
        found.removeAll(keepingCapacity: true)
        var page = PackedPage()
        while true {
            switch sqlite3_step(statement) {
            case SQLITE_ROW:
                found.append(sqlite3_column_int64(statement, 0))
                for column in 1..<max(1, prepared.columns) where column != prepared.values?.bytes {
                    _ = sqlite3_column_type(statement, column)
                }
                guard let (column, shape) = prepared.values else { continue }
                let bytes = UnsafeRawBufferPointer(
                    start: sqlite3_column_blob(statement, column), count: Int(sqlite3_column_bytes(statement, column)))
                guard let names = names[sqlite3_column_int64(statement, shape)], page.copy(bytes, named: names) != nil
                else { throw Failure("The views contain values that cannot be read.") }
            case SQLITE_DONE: return found.count
            case let result: throw Failure("SQLite does not read a row: error \(result).")
            }
        }
    }
}
