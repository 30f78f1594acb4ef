/// The code of an error of PostgreSQL, five characters (SQLSTATE).
package struct SQLState: Sendable, Hashable, CustomStringConvertible {
    package let code: String

    package init(_ code: String) { self.code = code }

    package var description: String { code }

    package static let serializationFailure = SQLState("40001")
    package static let deadlockDetected = SQLState("40P01")
    package static let queryCanceled = SQLState("57014")
    package static let insufficientPrivilege = SQLState("42501")
    package static let undefinedTable = SQLState("42P01")

    /// Whether the server ends the connection: a connection exception, a shutdown, a crash, or a start that is not
    /// complete.
    package var endsConnection: Bool {
        code.hasPrefix("08") || ["57P01", "57P02", "57P03", "57P05", "25P03"].contains(code)
    }

    /// Whether the same transaction may succeed if it is executed again: concurrency, a server that is starting, a
    /// server with too many connections, or one that is read-only after a failover.
    package var isTransient: Bool {
        endsConnection || self == .serializationFailure || self == .deadlockDetected || code == "53300"
            || code == "25006"
    }
}

/// The reason why PostgreSQL cannot be used, or why it has refused a statement.
package enum PostgresError: Error, Sendable, Hashable, CustomStringConvertible {
    /// libpq cannot be loaded.
    case library(String)
    /// There is no connection, or it was lost.
    case connection(String)
    /// The server did not answer in time.
    case timeout
    /// The server has refused a statement.
    case server(SQLState, String)
    /// A result has not the form that this version expects.
    case unexpectedResult(String)
    /// Too many requests wait for a connection.
    case busy

    /// The connection cannot be used any more.
    var endsConnection: Bool {
        switch self {
        case .connection, .timeout: true
        case .server(let state, _): state.endsConnection
        case .library, .unexpectedResult, .busy: false
        }
    }

    /// Whether the same transaction may succeed if it is executed again.
    var isTransient: Bool {
        switch self {
        case .connection, .timeout: true
        case .server(let state, _): state.isTransient
        case .library, .unexpectedResult, .busy: false
        }
    }

    package var description: String {
        switch self {
        case .library(let text), .connection(let text), .unexpectedResult(let text): text
        case .timeout: "PostgreSQL did not answer in time"
        case .server(let state, let text): "\(text) (SQLSTATE \(state))"
        case .busy: "too many requests wait for a connection to PostgreSQL"
        }
    }
}
