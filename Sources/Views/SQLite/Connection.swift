import CSQLite

/// A connection to a SQLite file, with cached prepared statements and typed values.
///
/// Not `Sendable`: it belongs to its owner, one call at a time.
package final class Connection {
    /// Nil after the connection was closed.
    private var handle: OpaquePointer?
    /// The cached statements, by text.
    private var statements: [String: Statement] = [:]
    /// The other prepared statements.
    private var kept: [Statement] = []
    private let tableUses = TableAccessRecorder()
    private let buffer = BindingBuffer()
    private let beginReading = Statement("BEGIN")
    private let beginWriting = Statement("BEGIN IMMEDIATE")
    private let end = Statement("COMMIT")
    /// The tables that statements have read since the last call of ``drainReadTables()``, and those that they have
    /// written since the last call of ``drainWrittenTables()``.
    private var readTables: Set<String> = []
    private var writtenTables: Set<String> = []
    /// The number of these calls, so that a statement adds its tables only once between two of them.
    private var takings = 1
    /// The recorder of executed statements, while a query is explained.
    var trace: StatementTrace?
    /// The objects that registered functions and collations use.
    var registrations: [AnyObject] = []
    /// The VFS of an encrypted file, or nil.
    private(set) var sealed: SealedVFS?

    /// Whether damage of the file was detected: a page with wrong content, or a missing table.
    package private(set) var hasMetDamage = false

    /// Opens the file. Creates it if it does not exist and `readOnly` is false. `:memory:` is a database in memory. The
    /// pages of a file are checked when they are read; see ``PageChecks``.
    ///
    /// - Parameters:
    ///   - key: The key that encrypts the file and its write-ahead log; see ``SealedDatabase``.
    ///   - isUnchanging: Whether no process writes the file meanwhile, so that SQLite creates no file next to it. The
    ///     content of the write-ahead log is not visible then.
    package init(
        path: String, key: ViewsKey? = nil, readOnly: Bool = false, isUnchanging: Bool = false
    ) throws(SQLiteError) {
        sealed = key.flatMap { SealedVFS(SealedDatabase($0)) }
        if key != nil, sealed == nil { throw SQLiteError(code: SQLITE_CANTOPEN, message: "no files", sql: nil) }
        var opened: OpaquePointer?
        let path = isUnchanging ? Self.unchanging(path) : path
        let flags =
            (isUnchanging ? SQLITE_OPEN_URI : 0)
            | (readOnly ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE) | SQLITE_OPEN_NOMUTEX
            | SQLITE_OPEN_EXRESCODE
        let code = sqlite3_open_v2(path, &opened, flags, sealed?.name ?? PageChecks.vfsName)
        guard code == SQLITE_OK, let opened else {
            let message = opened.map { String(cString: sqlite3_errmsg($0)) } ?? "out of memory"
            sqlite3_close_v2(opened)
            let kind = code == PageChecks.damageCode ? SQLITE_CORRUPT : code & 0xFF
            throw sealed?.database.failure ?? SQLiteError(code: kind, message: message, sql: nil)
        }
        handle = opened
        sqlite3_busy_timeout(handle, readOnly ? 0 : Self.patience)
        tableUses.register(on: handle)
        // The reserved bytes and the page size apply only to a new file.
        var reserved = Int32(sealed == nil ? PageChecks.reservedBytes : PageSeal.overhead)
        sqlite3_file_control(handle, "main", SQLITE_FCNTL_RESERVE_BYTES, &reserved)
        _ = tidelog_sqlite3_defend(handle)
        try execute(
            "PRAGMA page_size = \(PageChecks.pageSize); PRAGMA cell_size_check = ON; PRAGMA trusted_schema = OFF")
        guard let database = sealed?.database else { return }
        try execute("PRAGMA temp_store = MEMORY")
        if isUnchanging { try checkClosed(database) }
    }

    /// The time in milliseconds for which a writer waits for a lock of another process.
    private static let patience: Int32 = 5_000

    /// Sets the journal mode to a write-ahead log, and locks the file until the connection is closed. SQLite then
    /// acquires its locks once, instead of for each statement.
    ///
    /// If another process is reading the file, the locks are acquired for each statement.
    package func useWriteAheadLog() throws(SQLiteError) {
        if let sealed { return try useSealedLog(of: sealed.database) }
        sqlite3_busy_timeout(handle, 0)
        defer { sqlite3_busy_timeout(handle, Self.patience) }
        do throws(SQLiteError) {
            try execute("PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; SELECT 1 FROM sqlite_master")
        } catch {
            guard error.code == SQLITE_BUSY else { throw error }
            sqlite3_busy_timeout(handle, Self.patience)
            try execute("PRAGMA locking_mode = NORMAL; PRAGMA journal_mode = WAL")
        }
    }

    /// Returns the path as a URI that declares the file immutable.
    private static func unchanging(_ path: String) -> String {
        let kept = Set("/-._~".utf8).union(0x30...0x39).union(0x41...0x5A).union(0x61...0x7A)
        let digits = Array("0123456789ABCDEF".utf8)
        let escaped = path.utf8.flatMap { byte in
            kept.contains(byte) ? [byte] : [0x25, digits[Int(byte >> 4)], digits[Int(byte & 15)]]
        }
        return "file:" + String(decoding: escaped, as: UTF8.self) + "?immutable=1"
    }

    /// Returns the tables that statements have read since the last call, by name.
    package func drainReadTables() -> Set<String> {
        takings += 1
        defer { readTables = [] }
        return readTables
    }

    /// Returns the tables that statements have written since the last call, including changes that were rolled back.
    package func drainWrittenTables() -> Set<String> {
        takings += 1
        defer { writtenTables = [] }
        return writtenTables
    }

    deinit { close() }

    /// Closes the file. Later calls throw an error.
    package func close() {
        forgetStatements()
        sqlite3_close_v2(handle)
        handle = nil
        sealed = nil
    }

    /// Runs `body` without the trace, because its statements are no part of a result.
    func untraced<T, Failure: Error>(_ body: () throws(Failure) -> T) throws(Failure) -> T {
        guard let trace else { return try body() }
        self.trace = nil
        defer { self.trace = trace }
        return try body()
    }

    /// The usual limit of ``setCacheSize(_:)``.
    static let usualCacheSize = 32_768

    /// Limits the memory in KiB of the pages that SQLite caches.
    func setCacheSize(_ size: Int) throws(SQLiteError) { try execute("PRAGMA cache_size = -\(size)") }

    /// The connection as SQLite's functions take it; nil after it was closed.
    package var rawHandle: OpaquePointer? { handle }

    /// Runs statements without results and parameters.
    package func execute(_ sql: String) throws(SQLiteError) {
        let code = sqlite3_exec(try open(sql), sql, nil, nil, nil)
        if code != SQLITE_OK { throw failure(code, sql) }
    }

    package func run(_ sql: String, _ values: [SQLValue] = []) throws(SQLiteError) {
        try query(sql, values) { _ in }
    }

    /// Calls `body` for each row. The row is valid only during the call.
    package func query(
        _ sql: String, _ values: [SQLValue] = [], _ body: (Row) throws(SQLiteError) -> Void
    ) throws(SQLiteError) {
        do {
            try each(sql, values, body)
        } catch {
            // Neither `each` nor `body` throws another error.
            throw error as? SQLiteError ?? SQLiteError(code: SQLITE_ERROR, message: "\(error)", sql: sql)
        }
    }

    /// Calls `body` for each row. Its errors end the query and are rethrown.
    package func each(
        _ sql: String, _ values: [SQLValue] = [], _ body: (Row) throws -> Void
    ) throws {
        let statement = try prepare(sql)
        trace?.record(sql, values)
        defer {
            sqlite3_reset(statement)
            sqlite3_clear_bindings(statement)
        }
        var binding = Binding(statement)
        for value in values { binding.value(value) }
        if binding.failure != SQLITE_OK { throw failure(binding.failure, sql) }
        while try step(statement, sql) { try body(Row(statement: statement)) }
    }

    /// Returns the columns of the first row, or nil if there is no row.
    package func first(_ sql: String, _ values: [SQLValue] = []) throws(SQLiteError) -> [SQLValue]? {
        var found: [SQLValue]?
        try query(sql, values) { row in
            if found == nil { found = (0..<row.count).map { row[$0] } }
        }
        return found
    }

    /// Runs `body` as one read transaction. Otherwise SQLite acquires and releases its locks for each query. Within an
    /// open transaction `body` is part of it.
    package func reading<T>(_ body: () throws -> T) throws -> T {
        guard let handle, sqlite3_get_autocommit(handle) != 0 else { return try body() }
        try runUntraced(beginReading)
        // Nothing was written, so a failure has no effect. Some errors have already rolled back.
        defer { if sqlite3_get_autocommit(handle) == 0 { try? commit() } }
        return try body()
    }

    /// Runs `body` in a transaction that is rolled back if it throws.
    package func transaction<T, Failure: Error>(_ body: () throws(Failure) -> T) throws -> T {
        try begin()
        do {
            let result = try body()
            try commit()
            return result
        } catch {
            rollBack()
            throw error
        }
    }

    func begin() throws(SQLiteError) { try runUntraced(beginWriting) }

    func commit() throws(SQLiteError) { try runUntraced(end) }

    private func runUntraced(_ statement: Statement) throws(SQLiteError) {
        try untraced { () throws(SQLiteError) in try run(statement) { _ in } }
    }

    func rollBack() {
        // Some errors have already rolled back.
        if let handle, sqlite3_get_autocommit(handle) == 0 { try? execute("ROLLBACK") }
    }

    /// Finalizes the prepared statements, before a change of the schema.
    package func forgetStatements() {
        for statement in kept + statements.values {
            sqlite3_finalize(statement.prepared)
            statement.prepared = nil
        }
        statements = [:]
        kept = []
    }

    /// The row ID of the last `INSERT`.
    var lastInsertedRow: Int64 { sqlite3_last_insert_rowid(handle) }

    /// The number of rows that the last statement inserted, updated or deleted.
    var changedRows: Int32 { sqlite3_changes(handle) }

    /// Whether a transaction is open. Without one, each statement is a transaction.
    var isInTransaction: Bool { handle.map { sqlite3_get_autocommit($0) == 0 } ?? false }

    // MARK: Statements of the fold

    /// Runs a statement and ignores its rows. `bind` binds its values.
    ///
    /// - Parameter inPlace: Whether bound memory may be valid only during this call. All bindings are then cleared
    ///   after the run, and unbound parameters are null.
    func run(
        _ statement: Statement, inPlace: Bool = false, _ bind: (inout Binding) -> Void
    ) throws(SQLiteError) {
        let prepared = try prepare(statement, bind, in: buffer)
        defer {
            sqlite3_reset(prepared)
            if inPlace { sqlite3_clear_bindings(prepared) }
        }
        while try step(prepared, statement.sql) {}
    }

    /// Calls `body` for each row, which is valid only during the call.
    func each(
        _ statement: Statement, _ bind: (inout Binding) -> Void, _ body: (Row) throws -> Void
    ) throws {
        let prepared = try prepare(statement, bind)
        defer { sqlite3_reset(prepared) }
        while try step(prepared, statement.sql) { try body(Row(statement: prepared)) }
    }

    /// Returns the first column of the first row as a number, or nil if there is no row.
    func firstInteger(_ statement: Statement, _ bind: (inout Binding) -> Void) throws(SQLiteError) -> Int64? {
        let prepared = try prepare(statement, bind)
        defer { sqlite3_reset(prepared) }
        return try step(prepared, statement.sql) ? sqlite3_column_int64(prepared, 0) : nil
    }

    /// Executes the next step of a statement. Returns whether there is a row.
    @inline(__always)
    private func step(_ prepared: OpaquePointer, _ sql: String) throws(SQLiteError) -> Bool {
        switch sqlite3_step(prepared) {
        case SQLITE_ROW: return true
        case SQLITE_DONE: return false
        case let code: throw failure(code, sql)
        }
    }

    /// Prepares a statement and binds its values.
    ///
    /// - Parameter buffer: Memory for values, if the statement ends before the next one binds values.
    @inline(__always)
    private func prepare(
        _ statement: Statement, _ bind: (inout Binding) -> Void, in buffer: BindingBuffer? = nil
    ) throws(SQLiteError) -> OpaquePointer {
        let prepared = try prepare(statement)
        var binding = Binding(prepared, buffer)
        bind(&binding)
        guard binding.failure == SQLITE_OK else {
            // Bound memory may be invalid at the next run.
            sqlite3_clear_bindings(prepared)
            throw failure(binding.failure, statement.sql)
        }
        return prepared
    }

    /// Calls `body`, which does not throw, for each row.
    func eachRow(
        _ statement: Statement, _ bind: (inout Binding) -> Void, _ body: (Row) -> Void
    ) throws(SQLiteError) {
        let prepared = try prepare(statement, bind)
        defer { sqlite3_reset(prepared) }
        while try step(prepared, statement.sql) { body(Row(statement: prepared)) }
    }

    /// Returns the first column of the first row as a text, or nil if there is no row.
    func firstText(_ statement: Statement, _ bind: (inout Binding) -> Void) throws(SQLiteError) -> String? {
        var found: String?
        try eachRow(statement, bind) { row in if found == nil { found = row.text(0) } }
        return found
    }

    @inline(__always)
    private func prepare(_ statement: Statement) throws(SQLiteError) -> OpaquePointer {
        trace?.record(statement.sql, [])
        if let prepared = statement.prepared {
            if statement.taking != takings { recordTables(of: statement) }
            return prepared
        }
        let prepared = try make(statement)
        kept.append(statement)
        return prepared
    }

    /// Finalizes the cached statements that are not running: the body for a row may run further queries.
    private func finalizeIdleStatements() {
        for (sql, statement) in statements where sqlite3_stmt_busy(statement.prepared) == 0 {
            sqlite3_finalize(statement.prepared)
            statements[sql] = nil
        }
    }

    /// Limits the number of parameters of a statement, for tests: the limit differs between builds of SQLite.
    package func limitParameters(to count: Int32) {
        if let handle { sqlite3_limit(handle, SQLITE_LIMIT_VARIABLE_NUMBER, count) }
    }

    private func open(_ sql: String) throws(SQLiteError) -> OpaquePointer {
        guard let handle else { throw SQLiteError(code: SQLITE_MISUSE, message: "the file was closed", sql: sql) }
        return handle
    }

    private func prepare(_ sql: String) throws(SQLiteError) -> OpaquePointer {
        if let statement = statements[sql], let prepared = statement.prepared {
            if statement.taking != takings { recordTables(of: statement) }
            return prepared
        }
        // The number of different queries of an app is unlimited; the fold has only a few.
        if statements.count > 400 { finalizeIdleStatements() }
        let statement = Statement(sql)
        let prepared = try make(statement)
        statements[sql] = statement
        return prepared
    }

    private func make(_ statement: Statement) throws(SQLiteError) -> OpaquePointer {
        let handle = try open(statement.sql)
        var pointer: OpaquePointer?
        let (code, tables) = tableUses.recording {
            sqlite3_prepare_v3(handle, statement.sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &pointer, nil)
        }
        guard code == SQLITE_OK, let pointer else { throw failure(code, statement.sql) }
        statement.prepared = pointer
        statement.tables = tables
        recordTables(of: statement)
        return pointer
    }

    private func recordTables(of statement: Statement) {
        statement.taking = takings
        readTables.formUnion(statement.tables.read)
        writtenTables.formUnion(statement.tables.written)
    }

    private func failure(_ code: Int32, _ sql: String) -> SQLiteError {
        let message = String(cString: sqlite3_errmsg(handle))
        switch code & 0xFF {
        case SQLITE_CORRUPT, SQLITE_NOTADB: hasMetDamage = true
        case SQLITE_ERROR where message.hasPrefix("no such"): hasMetDamage = true
        default: if code == PageChecks.damageCode { hasMetDamage = true }
        }
        if code == PageChecks.damageCode {
            return SQLiteError(
                code: SQLITE_CORRUPT, message: "a page of the file was changed after it was written", sql: sql)
        }
        return SQLiteError(code: code & 0xFF, message: message, sql: sql)
    }
}
