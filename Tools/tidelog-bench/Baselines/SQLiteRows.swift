internal import CSQLite

/// The rows of ``OrderPages`` in a table of SQLite with the same columns as the views, and the indexes that a developer
/// would create: on the key and on the customer. In WAL mode and not synced, like the views.
final class SQLiteRows {
    private let connection: SQLiteConnection
    private let insert: OpaquePointer
    private let valid: OpaquePointer

    init(path: String) throws {
        connection = try SQLiteConnection(path: path)
        try connection.run("PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF; PRAGMA cache_size = -32768")
        try connection.run(
            """
            CREATE TABLE orders (
                id INTEGER PRIMARY KEY, customer INTEGER, status TEXT, note TEXT, amount TEXT, weight REAL,
                ordered_at TEXT, quantity INTEGER, priority INTEGER, reference TEXT);
            CREATE INDEX orders_of_customer ON orders (customer)
            """)
        insert = try connection.prepare("INSERT INTO orders VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")
        valid = try connection.prepare("SELECT json_valid(?)")
    }

    /// The bound values of a row, prepared before the measurement, which then includes only SQLite.
    struct Bound {
        let id, customer, quantity, priority: Int64
        let status, note, amount, orderedAt, reference: ContiguousArray<CChar>
        let weight: Double

        init(_ row: OrderPages.Row) {
            let order = row.order
            id = Int64(order.id)
            customer = Int64(order.customer)
            quantity = Int64(order.quantity)
            priority = order.isPriority ? 1 : 0
            status = Self.text(order.status)
            note = Self.text(order.note)
            amount = Self.text(order.amountText)
            orderedAt = Self.text(row.orderedAt)
            reference = Self.text(row.reference)
            weight = row.weight
        }

        private static func text(_ text: String) -> ContiguousArray<CChar> {
            ContiguousArray(text.utf8.map(CChar.init))
        }
    }

    /// Writes rows in one transaction.
    func write(_ rows: some Sequence<Bound>) throws {
        try connection.run("BEGIN")
        for row in rows {
            sqlite3_bind_int64(insert, 1, row.id)
            sqlite3_bind_int64(insert, 2, row.customer)
            bind(3, row.status)
            bind(4, row.note)
            bind(5, row.amount)
            sqlite3_bind_double(insert, 6, row.weight)
            bind(7, row.orderedAt)
            sqlite3_bind_int64(insert, 8, row.quantity)
            sqlite3_bind_int64(insert, 9, row.priority)
            bind(10, row.reference)
            try connection.step(insert)
        }
        try connection.run("COMMIT")
    }

    /// Parses JSON with SQLite's own parser, in C, which reads the whole text without a result.
    func parse(_ json: [UInt8]) throws {
        let isValid = json.withUnsafeBytes { bytes in
            bytes.withMemoryRebound(to: CChar.self) { text -> Bool in
                sqlite3_bind_text(valid, 1, text.baseAddress, Int32(text.count), nil)
                defer {
                    sqlite3_reset(valid)
                    sqlite3_clear_bindings(valid)
                }
                return sqlite3_step(valid) == SQLITE_ROW && sqlite3_column_int(valid, 0) == 1
            }
        }
        guard isValid else { throw Failure("SQLite rejects a page as invalid JSON.") }
    }

    private func bind(_ place: Int32, _ text: ContiguousArray<CChar>) {
        text.withUnsafeBufferPointer { connection.bind(insert, place, $0) }
    }
}
