/// A transaction that is open on a connection.
struct PostgresTransaction {
    let connection: PostgresConnection
    /// The time of the server's clock at the beginning, in milliseconds since 1970.
    let began: Int64
    private let beginning = ContinuousClock.now

    /// The end of an attempt to execute a transaction.
    enum Attempt<Value: Sendable>: Sendable {
        case committed(Value)
        /// The connection was lost during the commit: the transaction may have taken effect.
        case unknown(PostgresError)
    }

    /// The time of the server's clock, also after statements that waited for a lock. Never ahead of it.
    var now: Int64 {
        let (seconds, attoseconds) = beginning.duration(to: .now).components
        return began + seconds * 1_000 + attoseconds / 1_000_000_000_000_000
    }

    @discardableResult
    func query(_ statement: String, _ values: [PostgresValue] = []) throws(PostgresError) -> PostgresRows {
        try connection.query(statement, values)
    }

    /// Executes a transaction.
    ///
    /// - Parameter timeout: The time for each statement in milliseconds, if it differs from the connection's.
    /// - Throws: If the transaction had no effect.
    static func attempt<Value>(
        on connection: PostgresConnection, timeout: Int?,
        _ body: (PostgresTransaction) throws(PostgresError) -> Value
    ) throws(PostgresError) -> Attempt<Value> {
        let usual = connection.timeout
        defer { connection.timeout = usual }
        let limit = timeout.map { "SET LOCAL statement_timeout = \($0); SET LOCAL lock_timeout = \($0); " } ?? ""
        let clock = try connection.run("BEGIN; \(limit)SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint")
        if let timeout { connection.timeout = timeout }
        guard let began = clock.text(0, 0).flatMap({ Int64($0) }) else {
            throw .unexpectedResult("the server did not return its time")
        }
        let value: Value
        do throws(PostgresError) {
            value = try body(PostgresTransaction(connection: connection, began: began))
        } catch {
            // The connection is closed if this fails, and the server rolls back.
            if connection.isUsable { _ = try? connection.run("ROLLBACK") }
            throw error
        }
        do throws(PostgresError) {
            try connection.run("COMMIT")
        } catch {
            if error.endsConnection { return .unknown(error) }
            throw error
        }
        return .committed(value)
    }

    private init(connection: PostgresConnection, began: Int64) {
        self.connection = connection
        self.began = began
    }
}
