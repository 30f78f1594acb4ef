internal import GatewayCore

/// The times of the last changes of users.
extension PostgresFeedStorage {
    struct Writer: Hashable, Sendable {
        let endpoint: String
        let user: [UInt8]
    }

    /// The shortest time between two statements for users that poll.
    static let lookupPause: Duration = .milliseconds(5)

    package func markWrite(endpoint: String, user: [UInt8]) async throws(LedgerStorageError) {
        let time = fixedTime?()
        do throws(PostgresError) {
            // A statement by itself is a transaction, without the messages that begin and end one.
            try await pool.perform(patience: Self.patience) { (connection) throws(PostgresError) in
                _ = try connection.query(
                    """
                    INSERT INTO write_mark AS m (endpoint, writer, written)
                    VALUES ($1, $2, coalesce($3, (extract(epoch FROM clock_timestamp()) * 1000)::bigint))
                    ON CONFLICT (endpoint, writer) DO UPDATE SET written = greatest(m.written, excluded.written)
                    """, [.text(endpoint), .bytes(user), .integer(time)])
            }
        } catch {
            throw Self.unusable(error)
        }
    }

    package func lastWrite(endpoint: String, user: [UInt8]) async throws(LedgerStorageError) -> Int64? {
        try await writes.value(Writer(endpoint: endpoint, user: user))
    }

    static func writes(_ pool: PostgresPool) -> GroupedLookup<Writer, Int64> {
        GroupedLookup(pause: lookupPause) { writers in
            do throws(PostgresError) {
                return .success(
                    try await pool.perform(patience: patience) { (connection) throws(PostgresError) in
                        try find(writers, connection)
                    })
            } catch {
                return .failure(unusable(error))
            }
        }
    }

    private static func find(
        _ writers: [Writer], _ connection: PostgresConnection
    ) throws(PostgresError) -> [Writer: Int64] {
        let rows = try connection.query(
            """
            SELECT m.endpoint, m.writer, m.written FROM unnest($1, $2) AS k (endpoint, writer)
            JOIN write_mark m ON m.endpoint = k.endpoint AND m.writer = k.writer
            """, [.texts(writers.map(\.endpoint)), .byteStrings(writers.map(\.user))])
        var found: [Writer: Int64] = [:]
        for row in 0..<rows.count {
            guard let endpoint = rows.text(row, 0), let user = rows.blob(row, 1) else { continue }
            found[Writer(endpoint: endpoint, user: user)] = rows.integer(row, 2)
        }
        return found
    }
}
