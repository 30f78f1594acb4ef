package import SyncCore

/// The execution of statements: errors are converted to ``StateError``, and rows are read one after the other.
extension SQLiteState {
    /// Returns whether the error shows damage of the views, and not a request that the views cannot execute.
    package func isFault(_ error: StateError) -> Bool {
        error.code == .damaged && (connection.hasMetDamage || !error.message.hasPrefix(Self.unreadable))
    }

    /// The error for views that another process has locked.
    package static let inUse = StateError(.unavailable, "The views are open in another process.")

    /// The error for views that are not encrypted with the given key.
    package static let ofAnotherKey = StateError(
        .damaged, "The views are not encrypted with the newest key of the store.")

    private static let unreadable = "The views cannot be read: "

    static func stateError(_ error: SQLiteError) -> StateError {
        // 11 is SQLITE_CORRUPT, 26 SQLITE_NOTADB, 1 SQLITE_ERROR (a table is missing), 19 SQLITE_CONSTRAINT (a row
        // exists that should not), 5 SQLITE_BUSY, 23 SQLITE_AUTH.
        switch error.code {
        case 5: inUse
        case 23: ofAnotherKey
        case 1, 11, 19, 26: StateError(.damaged, unreadable + "\(error)")
        default: StateError(.unavailable, "The views are not available: \(error)")
        }
    }

    func run(_ sql: String, _ values: [SQLValue] = []) throws(StateError) {
        do throws(SQLiteError) { try connection.run(sql, values) } catch { throw Self.stateError(error) }
    }

    /// - Parameter inPlace: Whether values are bound in place, so that the bindings have to be cleared after the run.
    func run(_ statement: Statement, inPlace: Bool = false, _ bind: (inout Binding) -> Void) throws(StateError) {
        do throws(SQLiteError) { try connection.run(statement, inPlace: inPlace, bind) } catch {
            throw Self.stateError(error)
        }
    }

    /// Returns the result of `body`, with its errors converted.
    func mapped<T>(_ body: () throws(SQLiteError) -> T) throws(StateError) -> T {
        do throws(SQLiteError) { return try body() } catch { throw Self.stateError(error) }
    }

    func firstInteger(_ statement: Statement, _ bind: (inout Binding) -> Void) throws(StateError) -> Int64? {
        do throws(SQLiteError) { return try connection.firstInteger(statement, bind) } catch {
            throw Self.stateError(error)
        }
    }

    func list<T>(
        _ statement: Statement, _ bind: (inout Binding) -> Void, _ read: (Row) throws(StateError) -> T
    ) throws(StateError) -> [T] {
        var found: [T] = []
        try each(statement, bind) { row throws(StateError) in found.append(try read(row)) }
        return found
    }

    /// Returns the result of `read` for the first row, or nil if there is no row.
    func one<T>(
        _ statement: Statement, _ bind: (inout Binding) -> Void, _ read: (Row) throws(StateError) -> T
    ) throws(StateError) -> T? {
        var found: T?
        try each(statement, bind) { row throws(StateError) in
            if found == nil { found = try read(row) }
        }
        return found
    }

    private func each(
        _ statement: Statement, _ bind: (inout Binding) -> Void, _ body: (Row) throws(StateError) -> Void
    ) throws(StateError) {
        do {
            try connection.each(statement, bind, body)
        } catch let error as StateError {
            throw error
        } catch {
            throw Self.stateError(
                error as? SQLiteError ?? SQLiteError(code: 1, message: "\(error)", sql: statement.sql))
        }
    }

    func first(_ sql: String, _ values: [SQLValue] = []) throws(StateError) -> [SQLValue]? {
        do throws(SQLiteError) { return try connection.first(sql, values) } catch { throw Self.stateError(error) }
    }

    /// Returns the result of `read` for the first row, or nil if there is no row.
    func one<T>(
        _ sql: String, _ values: [SQLValue], _ read: (Row) throws(StateError) -> T
    ) throws(StateError) -> T? {
        var found: T?
        try each(sql, values) { row throws(StateError) in
            if found == nil { found = try read(row) }
        }
        return found
    }

    func list<T>(
        _ sql: String, _ values: [SQLValue] = [], _ read: (Row) throws(StateError) -> T
    ) throws(StateError) -> [T] {
        var found: [T] = []
        try each(sql, values) { row throws(StateError) in found.append(try read(row)) }
        return found
    }

    /// Calls `body` for each row, which is valid only during the call.
    func each(
        _ sql: String, _ values: [SQLValue], _ body: (Row) throws(StateError) -> Void
    ) throws(StateError) {
        do {
            try connection.each(sql, values, body)
        } catch let error as StateError {
            throw error
        } catch {
            throw Self.stateError(error as? SQLiteError ?? SQLiteError(code: 1, message: "\(error)", sql: sql))
        }
    }
}
