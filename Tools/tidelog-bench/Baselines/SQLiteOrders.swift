internal import CSQLite

/// Orders in a table of SQLite with typed columns, in WAL mode.
final class SQLiteOrders {
    enum Synchronous: String {
        case full = "FULL"
        case normal = "NORMAL"
    }

    private let connection: OpaquePointer
    private let insert: OpaquePointer
    private let begin: OpaquePointer
    private let commit: OpaquePointer

    init(path: String, synchronous: Synchronous) throws {
        var opened: OpaquePointer?
        guard sqlite3_open(path, &opened) == SQLITE_OK, let opened else { throw Failure("\(path) cannot be opened.") }
        connection = opened
        try Self.run(opened, "PRAGMA journal_mode = WAL")
        try Self.run(opened, "PRAGMA synchronous = \(synchronous.rawValue)")
        try Self.run(
            opened,
            """
            CREATE TABLE orders (
                id INTEGER PRIMARY KEY, customer INTEGER NOT NULL, status TEXT NOT NULL, note TEXT NOT NULL,
                amount REAL NOT NULL, time INTEGER NOT NULL, quantity INTEGER NOT NULL, priority INTEGER NOT NULL)
            """)
        insert = try Self.prepare(opened, "INSERT INTO orders VALUES (?, ?, ?, ?, ?, ?, ?, ?)")
        begin = try Self.prepare(opened, "BEGIN")
        commit = try Self.prepare(opened, "COMMIT")
    }

    deinit {
        for statement in [insert, begin, commit] { sqlite3_finalize(statement) }
        sqlite3_close(connection)
    }

    /// One transaction.
    func write(_ orders: ArraySlice<Order>) throws {
        try step(begin)
        for order in orders {
            sqlite3_bind_int64(insert, 1, Int64(order.id))
            sqlite3_bind_int64(insert, 2, Int64(order.customer))
            bind(3, order.status)
            bind(4, order.note)
            sqlite3_bind_double(insert, 5, Double(order.amount) / 100)
            sqlite3_bind_int64(insert, 6, order.time)
            sqlite3_bind_int64(insert, 7, Int64(order.quantity))
            sqlite3_bind_int(insert, 8, order.isPriority ? 1 : 0)
            try step(insert)
        }
        try step(commit)
    }

    /// Moves the write-ahead log into the database file, so that its size can be seen.
    func checkpoint() throws {
        guard sqlite3_wal_checkpoint_v2(connection, nil, SQLITE_CHECKPOINT_TRUNCATE, nil, nil) == SQLITE_OK else {
            throw failure("checkpoint")
        }
    }

    /// How many rows there are, all columns having been read.
    func scan() throws -> Int {
        let all = try Self.prepare(connection, "SELECT * FROM orders ORDER BY id")
        defer { sqlite3_finalize(all) }
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
            // SQLITE_TRANSIENT: SQLite takes a copy.
            let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
            bytes.withMemoryRebound(to: CChar.self) { bytes in
                _ = sqlite3_bind_text(insert, place, bytes.baseAddress, Int32(bytes.count), transient)
            }
        }
    }

    private func step(_ statement: OpaquePointer) throws {
        guard sqlite3_step(statement) == SQLITE_DONE else { throw failure("step") }
        sqlite3_reset(statement)
    }

    private func failure(_ what: String) -> Failure {
        Failure("SQLite: \(what): \(String(cString: sqlite3_errmsg(connection))).")
    }

    private static func run(_ connection: OpaquePointer, _ text: String) throws {
        guard sqlite3_exec(connection, text, nil, nil, nil) == SQLITE_OK else {
            throw Failure("SQLite: \(text): \(String(cString: sqlite3_errmsg(connection))).")
        }
    }

    private static func prepare(_ connection: OpaquePointer, _ text: String) throws -> OpaquePointer {
        var statement: OpaquePointer?
        guard sqlite3_prepare_v3(connection, text, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &statement, nil) == SQLITE_OK,
            let statement
        else { throw Failure("SQLite: \(text): \(String(cString: sqlite3_errmsg(connection))).") }
        return statement
    }
}
