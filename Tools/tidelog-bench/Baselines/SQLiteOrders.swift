internal import CSQLite

/// Orders in a table of SQLite with typed columns, in WAL mode.
final class SQLiteOrders {
    enum Synchronous: String {
        case full = "FULL"
        case normal = "NORMAL"
    }

    private let connection: SQLiteConnection
    private let insert: OpaquePointer
    private let begin: OpaquePointer
    private let commit: OpaquePointer

    init(path: String, synchronous: Synchronous) throws {
        connection = try SQLiteConnection(path: path)
        try connection.run("PRAGMA journal_mode = WAL; PRAGMA synchronous = \(synchronous.rawValue)")
        try connection.run(
            """
            CREATE TABLE orders (
                id INTEGER PRIMARY KEY, customer INTEGER NOT NULL, status TEXT NOT NULL, note TEXT NOT NULL,
                amount REAL NOT NULL, time INTEGER NOT NULL, quantity INTEGER NOT NULL, priority INTEGER NOT NULL)
            """)
        insert = try connection.prepare("INSERT INTO orders VALUES (?, ?, ?, ?, ?, ?, ?, ?)")
        begin = try connection.prepare("BEGIN")
        commit = try connection.prepare("COMMIT")
    }

    /// Writes orders in one transaction.
    func write(_ orders: ArraySlice<Order>) throws {
        try connection.step(begin)
        for order in orders {
            sqlite3_bind_int64(insert, 1, Int64(order.id))
            sqlite3_bind_int64(insert, 2, Int64(order.customer))
            bind(3, order.status)
            bind(4, order.note)
            sqlite3_bind_double(insert, 5, Double(order.amount) / 100)
            sqlite3_bind_int64(insert, 6, order.time)
            sqlite3_bind_int64(insert, 7, Int64(order.quantity))
            sqlite3_bind_int(insert, 8, order.isPriority ? 1 : 0)
            try connection.step(insert)
        }
        try connection.step(commit)
    }

    func checkpoint() throws { try connection.checkpoint() }

    /// Returns the number of rows, after reading all columns.
    func scan() throws -> Int {
        let all = try connection.prepare("SELECT * FROM orders ORDER BY id")
        defer { sqlite3_reset(all) }
        var count = 0
        var bytes = 0
        while sqlite3_step(all) == SQLITE_ROW {
            for column in [Int32(0), 1, 5, 6, 7] { bytes &+= Int(sqlite3_column_int64(all, column)) }
            for column in [Int32(2), 3] { bytes &+= Int(sqlite3_column_bytes(all, column)) }
            bytes &+= Int(sqlite3_column_double(all, 4))
            count += 1
        }
        return bytes == .min ? 0 : count
    }

    private func bind(_ place: Int32, _ text: String) {
        var text = text
        text.withUTF8 { bytes in
            bytes.withMemoryRebound(to: CChar.self) { connection.bind(insert, place, $0) }
        }
    }
}
