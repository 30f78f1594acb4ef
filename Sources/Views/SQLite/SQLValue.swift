/// A value as SQLite stores it.
package enum SQLValue: Sendable, Hashable {
    case null
    case integer(Int64)
    case real(Double)
    case text(String)
    case blob([UInt8])

    package var integer: Int64? { if case .integer(let value) = self { value } else { nil } }
    package var text: String? { if case .text(let value) = self { value } else { nil } }
    package var blob: [UInt8]? { if case .blob(let value) = self { value } else { nil } }
}

/// An error of SQLite, with the primary result code.
package struct SQLiteError: Error, Sendable, Hashable, CustomStringConvertible {
    package let code: Int32
    package let message: String
    package let sql: String?

    package var description: String { "SQLite: \(message) (\(code))" + (sql.map { " in \($0)" } ?? "") }
}
