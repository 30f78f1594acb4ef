package import SyncCore

/// How the state's own files run statements: with the errors of a state, and rows read one after the other.
extension SQLiteState {
    /// Whether the error says that the views are not what was written, rather than that something was asked of them that they
    /// cannot do.
    package func isFault(_ error: StateError) -> Bool {
        error.code == .damaged && (connection.hasMetDamage || !error.message.hasPrefix(Self.unreadable))
    }

    /// The error for views that another process has locked.
    package static let inUse = StateError(.unavailable, "Another process has the views open.")

    /// The error for views that are not encrypted with the key by which they were to be opened.
    package static let ofAnotherKey = StateError(.damaged, "The views are not encrypted with the store's newest key.")

    private static let unreadable = "The views cannot be read: "

    static func stateError(_ error: SQLiteError) -> StateError {
        // 11 is SQLITE_CORRUPT, 26 SQLITE_NOTADB, 1 SQLITE_ERROR: a table that should be there is not. 19 is
        // SQLITE_CONSTRAINT: a row that should not be there is. 5 is SQLITE_BUSY, 23 SQLITE_AUTH.
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

    /// - Parameter inPlace: whether values are bound where they lie, which the statement has to forget behind the run.
    func run(_ statement: Statement, inPlace: Bool = false, _ bind: (inout Binding) -> Void) throws(StateError) {
        do throws(SQLiteError) { try connection.run(statement, inPlace: inPlace, bind) } catch {
            throw Self.stateError(error)
        }
    }

    /// What `body` returns, with the error of a state.
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

    /// What `read` makes of the first row; nil where there is none.
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

    /// What `read` makes of the first row; nil where there is none.
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

    /// Calls `body` for each row, which is valid during the call only.
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
