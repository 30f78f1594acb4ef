import CSQLite
import EDM
import SyncCore

/// One connection to a SQLite file: prepared statements, kept by their text, and typed values in and out.
///
/// Not `Sendable`: it belongs to whoever opened it, one call at a time.
package final class Connection {
    /// nil once it is closed.
    private var handle: OpaquePointer?
    /// By their texts.
    private var statements: [String: Statement] = [:]
    /// The others that are prepared now.
    private var kept: [Statement] = []
    private let tableUses = TableUseRecorder()
    private let buffer = BindingBuffer()
    private let beginReading = Statement("BEGIN")
    private let endReading = Statement("COMMIT")
    /// The tables that statements have read, and written, since they were last taken.
    private var readTables: Set<String> = []
    private var writtenTables: Set<String> = []
    /// Counts the takings, so that a statement adds its tables once between two of them.
    private var takings = 1
    /// Hears of each statement that runs, while somebody looks.
    var trace: StatementTrace?
    /// Keeps the objects alive that registered functions and collations call.
    var registrations: [AnyObject] = []
    /// Nil where the file is not encrypted.
    private(set) var sealed: SealedVFS?

    /// Whether something in the file was found not to be as it was written: a page, or a table that is not there.
    package private(set) var hasMetDamage = false

    /// Opens the file, and makes it where it does not exist and `readOnly` is false. `:memory:` is a database in memory. The
    /// pages of a file are checked when they are read; see ``PageChecks``.
    ///
    /// - Parameters:
    ///   - key: encrypts the file, and every other one that SQLite makes of it; see ``SealedDatabase``.
    ///   - isUnchanging: whether nobody writes the file meanwhile, so that no other file is made beside it. What the write-ahead
    ///     log holds is not seen then.
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
        // Both hold for a file that is new only.
        var reserved = Int32(sealed == nil ? PageChecks.reservedBytes : PageSeal.overhead)
        sqlite3_file_control(handle, "main", SQLITE_FCNTL_RESERVE_BYTES, &reserved)
        _ = tidelog_sqlite3_defend(handle)
        try execute(
            "PRAGMA page_size = \(PageChecks.pageSize); PRAGMA cell_size_check = ON; PRAGMA trusted_schema = OFF")
        guard let database = sealed?.database else { return }
        try execute("PRAGMA temp_store = MEMORY")
        if isUnchanging { try checkClosed(database) }
    }

    /// How many milliseconds a writer waits for a lock that another process holds.
    private static let patience: Int32 = 5_000

    /// Makes a write-ahead log the journal, and keeps the file locked until the connection is closed. SQLite then takes its
    /// locks once instead of for each statement.
    ///
    /// If another process is reading the file, the locks are taken for each statement.
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

    /// The path as a URI that tells SQLite so.
    private static func unchanging(_ path: String) -> String {
        let kept = Set("/-._~".utf8).union(0x30...0x39).union(0x41...0x5A).union(0x61...0x7A)
        let digits = Array("0123456789ABCDEF".utf8)
        let escaped = path.utf8.flatMap { byte in
            kept.contains(byte) ? [byte] : [0x25, digits[Int(byte >> 4)], digits[Int(byte & 15)]]
        }
        return "file:" + String(decoding: escaped, as: UTF8.self) + "?immutable=1"
    }

    /// The tables that statements have read since the last call, by their names.
    package func takeReadTables() -> Set<String> {
        takings += 1
        defer { readTables = [] }
        return readTables
    }

    /// The tables that statements have written since the last call, whatever became of the transaction.
    package func takeWrittenTables() -> Set<String> {
        takings += 1
        defer { writtenTables = [] }
        return writtenTables
    }

    deinit { close() }

    /// Gives the file free. Whatever is asked of the connection afterwards is an error.
    package func close() {
        forgetStatements()
        sqlite3_close_v2(handle)
        handle = nil
        sealed = nil
    }

    /// Runs `body` without telling whoever looks which statements run: what they ask for is no part of an answer.
    func untraced<T, Failure: Error>(_ body: () throws(Failure) -> T) throws(Failure) -> T {
        guard let trace else { return try body() }
        self.trace = nil
        defer { self.trace = trace }
        return try body()
    }

    var rawHandle: OpaquePointer? { handle }

    /// Runs statements that return nothing and take no values.
    package func execute(_ sql: String) throws(SQLiteError) {
        let code = sqlite3_exec(try open(sql), sql, nil, nil, nil)
        if code != SQLITE_OK { throw failure(code, sql) }
    }

    package func run(_ sql: String, _ values: [SQLValue] = []) throws(SQLiteError) {
        try query(sql, values) { _ in }
    }

    /// Calls `body` for each row. The row is valid during the call only.
    package func query(
        _ sql: String, _ values: [SQLValue] = [], _ body: (Row) throws(SQLiteError) -> Void
    ) throws(SQLiteError) {
        do {
            try each(sql, values, body)
        } catch {
            // Neither of the two throws anything else.
            throw error as? SQLiteError ?? SQLiteError(code: SQLITE_ERROR, message: "\(error)", sql: sql)
        }
    }

    /// The same for a body with errors of its own, which end the query and are thrown on.
    package func each(
        _ sql: String, _ values: [SQLValue] = [], _ body: (Row) throws -> Void
    ) throws {
        let statement = try prepare(sql)
        trace?.note(sql, values)
        defer {
            sqlite3_reset(statement)
            sqlite3_clear_bindings(statement)
        }
        var binding = Binding(statement)
        for value in values { binding.value(value) }
        if binding.failure != SQLITE_OK { throw failure(binding.failure, sql) }
        while try step(statement, sql) { try body(Row(statement: statement)) }
    }

    /// The first row's columns, or nil where there is no row.
    package func first(_ sql: String, _ values: [SQLValue] = []) throws(SQLiteError) -> [SQLValue]? {
        var found: [SQLValue]?
        try query(sql, values) { row in
            if found == nil { found = (0..<row.count).map { row[$0] } }
        }
        return found
    }

    /// Runs queries as one read: without it SQLite takes and gives up its locks for each of them. Inside of a transaction
    /// it is that transaction's.
    package func reading<T>(_ body: () throws -> T) throws -> T {
        guard let handle, sqlite3_get_autocommit(handle) != 0 else { return try body() }
        try untraced { () throws(SQLiteError) in try run(beginReading) { _ in } }
        // Nothing was written, so there is nothing to keep; and some errors have rolled back already.
        defer {
            if sqlite3_get_autocommit(handle) == 0 {
                try? untraced { () throws(SQLiteError) in try run(endReading) { _ in } }
            }
        }
        return try body()
    }

    /// Runs `body` in a transaction that is undone if it throws.
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

    func begin() throws(SQLiteError) { try execute("BEGIN IMMEDIATE") }

    func commit() throws(SQLiteError) { try execute("COMMIT") }

    func rollBack() {
        // Some errors have rolled back already.
        if let handle, sqlite3_get_autocommit(handle) == 0 { try? execute("ROLLBACK") }
    }

    /// Forgets prepared statements, as the schema is about to change.
    package func forgetStatements() {
        for statement in kept + statements.values {
            sqlite3_finalize(statement.prepared)
            statement.prepared = nil
        }
        statements = [:]
        kept = []
    }

    /// The row that the last `INSERT` made.
    var lastInsertedRow: Int64 { sqlite3_last_insert_rowid(handle) }

    /// Whether a transaction is open; without one each statement is one of its own.
    var isInTransaction: Bool { handle.map { sqlite3_get_autocommit($0) == 0 } ?? false }

    // MARK: Statements of the fold

    /// Runs the statement, which returns nothing that is wanted, with the values that `bind` gives it.
    ///
    /// - Parameter inPlace: whether it is given values that lie elsewhere only as long as this call runs. Then it forgets them
    ///   all, and those that are not given are null.
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

    /// Calls `body` for each row, which is valid during the call only.
    func each(
        _ statement: Statement, _ bind: (inout Binding) -> Void, _ body: (Row) throws -> Void
    ) throws {
        let prepared = try prepare(statement, bind)
        defer { sqlite3_reset(prepared) }
        while try step(prepared, statement.sql) { try body(Row(statement: prepared)) }
    }

    /// The first row's first column as a number; nil where there is no row.
    func firstInteger(_ statement: Statement, _ bind: (inout Binding) -> Void) throws(SQLiteError) -> Int64? {
        let prepared = try prepare(statement, bind)
        defer { sqlite3_reset(prepared) }
        return try step(prepared, statement.sql) ? sqlite3_column_int64(prepared, 0) : nil
    }

    /// Whether there is a further row.
    @inline(__always)
    private func step(_ prepared: OpaquePointer, _ sql: String) throws(SQLiteError) -> Bool {
        switch sqlite3_step(prepared) {
        case SQLITE_ROW: return true
        case SQLITE_DONE: return false
        case let code: throw failure(code, sql)
        }
    }

    /// The statement with its values.
    ///
    /// - Parameter buffer: for a statement that has run before anything else binds.
    @inline(__always)
    private func prepare(
        _ statement: Statement, _ bind: (inout Binding) -> Void, in buffer: BindingBuffer? = nil
    ) throws(SQLiteError) -> OpaquePointer {
        let prepared = try prepare(statement)
        var binding = Binding(prepared, buffer)
        bind(&binding)
        guard binding.failure == SQLITE_OK else {
            // Some may lie where nothing is any more at the next run.
            sqlite3_clear_bindings(prepared)
            throw failure(binding.failure, statement.sql)
        }
        return prepared
    }

    /// The same for a body that throws nothing.
    func eachRow(
        _ statement: Statement, _ bind: (inout Binding) -> Void, _ body: (Row) -> Void
    ) throws(SQLiteError) {
        let prepared = try prepare(statement, bind)
        defer { sqlite3_reset(prepared) }
        while try step(prepared, statement.sql) { body(Row(statement: prepared)) }
    }

    /// The first row's first column as a text; nil where there is no row.
    func firstText(_ statement: Statement, _ bind: (inout Binding) -> Void) throws(SQLiteError) -> String? {
        var found: String?
        try eachRow(statement, bind) { row in if found == nil { found = row.text(0) } }
        return found
    }

    @inline(__always)
    private func prepare(_ statement: Statement) throws(SQLiteError) -> OpaquePointer {
        trace?.note(statement.sql, [])
        if let prepared = statement.prepared {
            if statement.taking != takings { noteTables(of: statement) }
            return prepared
        }
        let prepared = try make(statement)
        kept.append(statement)
        return prepared
    }

    /// Those that nobody is in the middle of: a row's body may ask further queries.
    private func forgetIdleStatements() {
        for (sql, statement) in statements where sqlite3_stmt_busy(statement.prepared) == 0 {
            sqlite3_finalize(statement.prepared)
            statements[sql] = nil
        }
    }

    /// So many parameters at most in a statement: for tests, since builds of SQLite differ in how many they take.
    package func limitParameters(to count: Int32) {
        if let handle { sqlite3_limit(handle, SQLITE_LIMIT_VARIABLE_NUMBER, count) }
    }

    private func open(_ sql: String) throws(SQLiteError) -> OpaquePointer {
        guard let handle else { throw SQLiteError(code: SQLITE_MISUSE, message: "the file was closed", sql: sql) }
        return handle
    }

    private func prepare(_ sql: String) throws(SQLiteError) -> OpaquePointer {
        if let statement = statements[sql], let prepared = statement.prepared {
            if statement.taking != takings { noteTables(of: statement) }
            return prepared
        }
        // Queries made by an app have endless texts; those of the fold are few.
        if statements.count > 400 { forgetIdleStatements() }
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
        noteTables(of: statement)
        return pointer
    }

    private func noteTables(of statement: Statement) {
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
                code: SQLITE_CORRUPT, message: "a page of the file is not as it was written", sql: sql)
        }
        return SQLiteError(code: code & 0xFF, message: message, sql: sql)
    }
}

/// The current row of a query.
package struct Row {
    fileprivate let statement: OpaquePointer

    package var count: Int { Int(sqlite3_column_count(statement)) }

    package subscript(_ column: Int) -> SQLValue {
        let index = Int32(column)
        switch sqlite3_column_type(statement, index) {
        case SQLITE_INTEGER: return .integer(sqlite3_column_int64(statement, index))
        case SQLITE_FLOAT: return .real(sqlite3_column_double(statement, index))
        case SQLITE_TEXT: return .text(text(column) ?? "")
        case SQLITE_BLOB: return .blob(blob(column))
        default: return .null
        }
    }

    package func isNull(_ column: Int) -> Bool { sqlite3_column_type(statement, Int32(column)) == SQLITE_NULL }

    package func integer(_ column: Int) -> Int64 { sqlite3_column_int64(statement, Int32(column)) }

    package func text(_ column: Int) -> String? {
        guard let pointer = sqlite3_column_text(statement, Int32(column)) else { return nil }
        let length = Int(sqlite3_column_bytes(statement, Int32(column)))
        return String(decoding: UnsafeBufferPointer(start: pointer, count: length), as: UTF8.self)
    }

    /// A text that comes again and again.
    func text(_ column: Int, _ names: NameTable) -> String? {
        guard let pointer = sqlite3_column_text(statement, Int32(column)) else { return nil }
        let length = Int(sqlite3_column_bytes(statement, Int32(column)))
        return names.string(UnsafeRawBufferPointer(start: pointer, count: length)) ?? text(column)
    }

    /// The bytes where SQLite has them, as long as `body` runs.
    func withBlob<T>(_ column: Int, _ body: (UnsafeRawBufferPointer) throws(StateError) -> T) throws(StateError) -> T {
        let pointer = sqlite3_column_blob(statement, Int32(column))
        let length = pointer == nil ? 0 : Int(sqlite3_column_bytes(statement, Int32(column)))
        return try body(UnsafeRawBufferPointer(start: pointer, count: length))
    }

    package func blob(_ column: Int) -> [UInt8] {
        guard let pointer = sqlite3_column_blob(statement, Int32(column)) else { return [] }
        let length = Int(sqlite3_column_bytes(statement, Int32(column)))
        return Array(UnsafeRawBufferPointer(start: pointer, count: length))
    }
}
