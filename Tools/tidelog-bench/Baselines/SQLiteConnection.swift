internal import CSQLite

/// The common part of the SQLite baselines: a connection, its statements, and errors with SQLite's messages.
final class SQLiteConnection {
    private let connection: OpaquePointer
    private var statements: [OpaquePointer] = []

    init(path: String) throws {
        var opened: OpaquePointer?
        guard sqlite3_open(path, &opened) == SQLITE_OK, let opened else { throw Failure("\(path) cannot be opened.") }
        connection = opened
    }

    deinit {
        for statement in statements { sqlite3_finalize(statement) }
        sqlite3_close(connection)
    }

    func run(_ text: String) throws {
        guard sqlite3_exec(connection, text, nil, nil, nil) == SQLITE_OK else { throw failure(text) }
    }

    /// Returns a prepared statement, which exists as long as the connection.
    func prepare(_ text: String) throws -> OpaquePointer {
        var statement: OpaquePointer?
        guard sqlite3_prepare_v3(connection, text, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &statement, nil) == SQLITE_OK,
            let statement
        else { throw failure(text) }
        statements.append(statement)
        return statement
    }

    /// Runs a statement without rows.
    func step(_ statement: OpaquePointer) throws {
        guard sqlite3_step(statement) == SQLITE_DONE else { throw failure("step") }
        sqlite3_reset(statement)
    }

    /// Binds a text, which SQLite copies.
    func bind(_ statement: OpaquePointer, _ place: Int32, _ text: UnsafeBufferPointer<CChar>) {
        let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
        sqlite3_bind_text(statement, place, text.baseAddress, Int32(text.count), transient)
    }

    /// Moves the write-ahead log into the database file, to measure its size.
    func checkpoint() throws {
        guard sqlite3_wal_checkpoint_v2(connection, nil, SQLITE_CHECKPOINT_TRUNCATE, nil, nil) == SQLITE_OK else {
            throw failure("checkpoint")
        }
    }

    private func failure(_ what: String) -> Failure {
        Failure("SQLite: \(what): \(String(cString: sqlite3_errmsg(connection))).")
    }
}
