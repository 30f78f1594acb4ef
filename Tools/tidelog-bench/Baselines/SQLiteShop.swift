internal import CSQLite

/// Orders and their customers in SQLite, written by hand for this purpose: typed columns, an index on the link,
/// prepared statements, rows as Swift values.
final class SQLiteShop {
    struct Row {
        var order: Order
        var customer: String?
    }

    private let connection: OpaquePointer
    private var statements: [String: OpaquePointer] = [:]

    enum Synchronous: String {
        case off = "OFF"
        case full = "FULL"
    }

    /// - Parameter synchronous: Off, as for the views, or a setting with which each transaction is durable.
    init(path: String, synchronous: Synchronous = .off) throws {
        var opened: OpaquePointer?
        guard sqlite3_open(path, &opened) == SQLITE_OK, let opened else { throw Failure("\(path) cannot be opened.") }
        connection = opened
        try run("PRAGMA journal_mode = WAL; PRAGMA synchronous = \(synchronous.rawValue); PRAGMA cache_size = -32768")
        try run("PRAGMA mmap_size = 268435456")
        try run("CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT NOT NULL)")
        try run(
            """
            CREATE TABLE orders (id INTEGER PRIMARY KEY, customer INTEGER NOT NULL, status TEXT NOT NULL,
              note TEXT NOT NULL, amount TEXT NOT NULL, time TEXT NOT NULL, quantity INTEGER NOT NULL,
              priority INTEGER NOT NULL)
            """)
        try run("CREATE INDEX orders_of_customer ON orders (customer)")
    }

    deinit {
        for statement in statements.values { sqlite3_finalize(statement) }
        sqlite3_close(connection)
    }

    func run(_ text: String) throws {
        guard sqlite3_exec(connection, text, nil, nil, nil) == SQLITE_OK else { throw failure(text) }
    }

    /// Inserts orders in one transaction.
    func insert(_ orders: some Sequence<Order>) throws {
        try step(prepared("BEGIN"))
        let statement = try prepared("INSERT INTO orders VALUES (?, ?, ?, ?, ?, ?, ?, ?)")
        for order in orders {
            for (place, number) in [(1, order.id), (2, order.customer), (7, order.quantity)] {
                sqlite3_bind_int64(statement, Int32(place), Int64(number))
            }
            for (place, text) in [(3, order.status), (4, order.note), (5, order.amountText), (6, "\(order.time)")] {
                sqlite3_bind_text(
                    statement, Int32(place), text, -1, unsafeBitCast(-1, to: sqlite3_destructor_type.self))
            }
            sqlite3_bind_int(statement, 8, order.isPriority ? 1 : 0)
            try step(statement)
        }
        try step(prepared("COMMIT"))
    }

    /// Runs a statement without rows.
    private func step(_ statement: OpaquePointer) throws {
        guard sqlite3_step(statement) == SQLITE_DONE else { throw failure("step") }
        sqlite3_reset(statement)
    }

    static let columns = "o.id, o.customer, o.status, o.note, o.amount, o.time, o.quantity, o.priority"

    /// - Parameter sql: A statement that selects ``columns``, optionally followed by the name of a customer.
    func rows(_ sql: String, _ value: Int? = nil) throws -> [Row] {
        let statement = try prepared(sql)
        defer { sqlite3_reset(statement) }
        if let value { sqlite3_bind_int64(statement, 1, Int64(value)) }
        let hasCustomer = sqlite3_column_count(statement) > 8
        var rows: [Row] = []
        while true {
            switch sqlite3_step(statement) {
            case SQLITE_ROW:
                func number(_ column: Int32) -> Int { Int(sqlite3_column_int64(statement, column)) }
                func text(_ column: Int32) -> String {
                    let bytes = UnsafeBufferPointer(
                        start: sqlite3_column_text(statement, column),
                        count: Int(sqlite3_column_bytes(statement, column)))
                    return String(decoding: bytes, as: UTF8.self)
                }
                let order = Order(
                    id: number(0), customer: number(1), status: text(2), note: text(3), amount: number(4),
                    time: Int64(number(5)), quantity: number(6), isPriority: number(7) != 0)
                rows.append(Row(order: order, customer: hasCustomer ? text(8) : nil))
            case SQLITE_DONE: return rows
            default: throw failure(sql)
            }
        }
    }

    private func prepared(_ sql: String) throws -> OpaquePointer {
        if let known = statements[sql] { return known }
        var statement: OpaquePointer?
        guard sqlite3_prepare_v3(connection, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &statement, nil) == SQLITE_OK,
            let statement
        else { throw failure(sql) }
        statements[sql] = statement
        return statement
    }

    private func failure(_ what: String) -> Failure {
        Failure("SQLite: \(what): \(String(cString: sqlite3_errmsg(connection))).")
    }
}
