internal import CPostgres
internal import GatewayCore

/// A connection to PostgreSQL with cached prepared statements. Its calls block the thread, but no longer than the
/// timeout.
///
/// `@unchecked Sendable`, because it belongs to one thread at a time: the pool gives it to one call after the other.
final class PostgresConnection: @unchecked Sendable {
    private let handle: OpaquePointer
    /// The names of the prepared statements by their text. The texts are constants, so their number is bounded.
    private var prepared: [String: String] = [:]
    /// The time for the next statements, in milliseconds.
    var timeout: Int
    /// The schema of the tables, without quotation marks.
    let schema: String
    /// Whether a response is missing, so that the next one would belong to another statement.
    private var isBroken = false

    /// Connects, and prepares the session: the schema, durable commits, and bounds for time.
    init(_ settings: PostgresSettings) throws(PostgresError) {
        if let reason = cpostgres_load() { throw .library(String(cString: reason)) }
        timeout = settings.timeoutMilliseconds
        schema = settings.schema
        guard
            let handle = cpostgres_connect(
                settings.parameters, "tidelog-gateway", Int32(clamping: PostgresSettings.connectSeconds))
        else { throw .connection("libpq has no memory for a connection") }
        self.handle = handle
        guard cpostgres_is_connected(handle) != 0 else { throw lost() }
        guard cpostgres_server_version(handle) >= 150_000 else {
            throw .connection("the server is older than PostgreSQL 15: version \(cpostgres_server_version(handle))")
        }
        // A commit that is not durable when it returns would break the promise of the ledger. A server that ends
        // transactions of a lost node releases its locks.
        try run(
            """
            SET search_path TO "\(settings.schema)"; SET statement_timeout = \(timeout); SET plan_cache_mode = force_custom_plan;
            SET idle_in_transaction_session_timeout = \(timeout * 3); SET lock_timeout = \(timeout);
            SET default_transaction_isolation = 'read committed'; SET bytea_output = 'hex';
            SELECT set_config('synchronous_commit', 'on', false)
              WHERE current_setting('synchronous_commit') IN ('off', 'local')
            """)
    }

    deinit { cpostgres_close(handle) }

    /// Whether another call can use the connection.
    var isUsable: Bool { !isBroken && cpostgres_is_connected(handle) != 0 }

    private func lost() -> PostgresError {
        isBroken = true
        let text = String(cString: cpostgres_error(handle))
        let lines = text.split(whereSeparator: \.isNewline)
        return .connection(lines.isEmpty ? "the connection to PostgreSQL was lost" : lines.joined(separator: " "))
    }

    /// Executes statements without parameters, separated by semicolons. The rows of the last one are in the text
    /// format.
    @discardableResult
    func run(_ statements: String) throws(PostgresError) -> PostgresRows {
        guard cpostgres_send(handle, statements) != 0 else { throw lost() }
        return try receive()
    }

    /// Executes a statement, which is prepared at its first execution.
    @discardableResult
    func query(_ statement: String, _ values: [PostgresValue] = []) throws(PostgresError) -> PostgresRows {
        let name = try prepare(statement, values.map(\.type))
        let encoded = values.map(\.encoded)
        let lengths = encoded.map { Int32(clamping: $0?.count ?? 0) }
        // One buffer with all values, so that one pointer is valid during the call.
        var buffer: [UInt8] = [0]
        buffer.reserveCapacity(1 + encoded.reduce(0) { $0 + ($1?.count ?? 0) })
        let offsets = encoded.map { bytes -> Int? in
            guard let bytes else { return nil }
            defer { buffer += bytes }
            return buffer.count
        }
        let sent = buffer.withUnsafeBufferPointer { buffer in
            buffer.withMemoryRebound(to: CChar.self) { buffer in
                let pointers = offsets.map { offset in offset.flatMap { buffer.baseAddress?.advanced(by: $0) } }
                return cpostgres_send_execute(handle, name, Int32(values.count), pointers, lengths)
            }
        }
        guard sent != 0 else { throw lost() }
        return try receive()
    }

    private func prepare(_ statement: String, _ types: [UInt32]) throws(PostgresError) -> String {
        if let name = prepared[statement] { return name }
        let name = "s\(prepared.count)"
        guard cpostgres_send_prepare(handle, name, statement, Int32(types.count), types) != 0 else { throw lost() }
        try receive()
        prepared[statement] = name
        return name
    }

    @discardableResult
    private func receive() throws(PostgresError) -> PostgresRows {
        var timedOut: Int32 = 0
        // The server ends a statement that takes too long itself; this time is for a server that does not respond.
        guard let result = cpostgres_receive(handle, Int32(clamping: timeout + 2_000), &timedOut) else {
            guard timedOut != 0 else { throw lost() }
            isBroken = true
            throw .timeout
        }
        let rows = PostgresRows(result)
        if cpostgres_succeeded(result) != 0 { return rows }
        let message = String(cString: cpostgres_message(result))
            .split(whereSeparator: \.isNewline).joined(separator: " ")
        guard let state = cpostgres_sqlstate(result).map({ SQLState(String(cString: $0)) }) else {
            isBroken = true
            throw .connection(message)
        }
        if state.endsConnection { isBroken = true }
        throw .server(state, message)
    }

    /// Waits for notifications.
    ///
    /// - Returns: Whether there are some.
    func wait(milliseconds: Int) throws(PostgresError) -> Bool {
        let count = cpostgres_wait(handle, Int32(clamping: milliseconds))
        guard count >= 0 else { throw lost() }
        return count > 0
    }
}

/// The rows of a result, in the binary format.
final class PostgresRows {
    private let result: OpaquePointer
    let count: Int
    /// The number of rows that the statement has changed or returned.
    let affected: Int

    fileprivate init(_ result: OpaquePointer) {
        self.result = result
        count = Int(cpostgres_rows(result))
        affected = Int(clamping: cpostgres_affected(result))
    }

    deinit { cpostgres_clear(result) }

    private func bytes<T>(_ row: Int, _ column: Int, _ body: (UnsafeBufferPointer<UInt8>) -> T) -> T? {
        guard row < count, column < Int(cpostgres_columns(result)) else { return nil }
        var length: Int32 = 0
        guard let start = cpostgres_value(result, Int32(row), Int32(column), &length) else { return nil }
        return body(UnsafeBufferPointer(start: start, count: Int(length)))
    }

    func isNull(_ row: Int, _ column: Int) -> Bool { bytes(row, column) { _ in true } == nil }

    /// Returns an integer of 2, 4 or 8 bytes, or a Boolean value as 0 or 1. `nil` for null.
    func integer(_ row: Int, _ column: Int) -> Int64? {
        let value: Int64?? = bytes(row, column) { bytes in
            guard let first = bytes.first, bytes.count <= 8 else { return nil }
            // The sign, except for a Boolean value.
            let start: UInt64 = bytes.count > 1 && first >= 0x80 ? .max : 0
            return Int64(bitPattern: bytes.reduce(start) { $0 << 8 | UInt64($1) })
        }
        return value ?? nil
    }

    func text(_ row: Int, _ column: Int) -> String? { bytes(row, column) { String(decoding: $0, as: UTF8.self) } }

    func blob(_ row: Int, _ column: Int) -> [UInt8]? { bytes(row, column) { Array($0) } }
}
