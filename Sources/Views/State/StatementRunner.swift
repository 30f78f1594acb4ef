import Operations
import SyncCore

/// A component of the views that executes statements. Errors are converted to ``StateError``, and rows are read one
/// after the other.
protocol StatementRunner {
    var connection: Connection { get }
}

extension StatementRunner {
    func run(_ sql: String, _ values: [SQLValue] = []) throws(StateError) {
        do throws(SQLiteError) { try connection.run(sql, values) } catch { throw StateError(error) }
    }

    /// - Parameter inPlace: Whether values are bound in place, so that the bindings have to be cleared after the run.
    func run(_ statement: Statement, inPlace: Bool = false, _ bind: (inout Binding) -> Void) throws(StateError) {
        do throws(SQLiteError) { try connection.run(statement, inPlace: inPlace, bind) } catch {
            throw StateError(error)
        }
    }

    /// Returns the result of `body`, with its errors converted.
    func mapped<T>(_ body: () throws(SQLiteError) -> T) throws(StateError) -> T {
        do throws(SQLiteError) { return try body() } catch { throw StateError(error) }
    }

    func firstInteger(_ statement: Statement, _ bind: (inout Binding) -> Void) throws(StateError) -> Int64? {
        do throws(SQLiteError) { return try connection.firstInteger(statement, bind) } catch {
            throw StateError(error)
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
            throw StateError(
                error as? SQLiteError ?? SQLiteError(code: 1, message: "\(error)", sql: statement.sql))
        }
    }

    func first(_ sql: String, _ values: [SQLValue] = []) throws(StateError) -> [SQLValue]? {
        do throws(SQLiteError) { return try connection.first(sql, values) } catch { throw StateError(error) }
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
            throw StateError(error as? SQLiteError ?? SQLiteError(code: 1, message: "\(error)", sql: sql))
        }
    }

    /// Calls `body`, which may throw any error, for each row, which is valid only during the call.
    func eachRow(_ sql: String, _ body: (Row) throws -> Void) throws {
        do {
            try connection.each(sql, [], body)
        } catch let error as SQLiteError {
            throw StateError(error)
        }
    }
}

// Entity IDs and sequence numbers are counted up from 1 and never reach the sign bit.
extension SQLValue {
    init(_ number: UInt64) { self = .integer(Int64(bitPattern: number)) }
    init(_ id: EntityID) { self.init(id.rawValue) }
}

extension Binding {
    mutating func id(_ id: EntityID) { integer(Int64(bitPattern: id.rawValue)) }
}

extension Row {
    func unsigned(_ column: Int) -> UInt64 { UInt64(bitPattern: integer(column)) }
    func entity(_ column: Int) -> EntityID { EntityID(rawValue: unsigned(column)) }
}
