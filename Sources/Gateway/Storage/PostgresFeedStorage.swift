internal import Crypto
package import GatewayCore
internal import Synchronization

/// The feeds in PostgreSQL, for several nodes: any of them reads a feed, one at a time.
///
/// A node that publishes sends a notification. Each node also looks at the heads at regular intervals. Times are those of
/// the server.
package final class PostgresFeedStorage: FeedStorage {
    let pool: PostgresPool
    let fixedTime: (@Sendable () -> Int64)?
    let writes: GroupedLookup<Writer, Int64>
    /// The server's clock less the clock of this process, when it was read last.
    private let clock = Mutex<(offset: Int64, read: ContinuousClock.Instant)?>(nil)

    static let patience: Duration = .seconds(3)
    private static let clockLifetime: Duration = .seconds(30)

    package var isShared: Bool { true }
    package var poolUse: PoolUse? { pool.use }

    /// The channel of notifications about new generations.
    var channel: String { "\(pool.settings.schema)_head" }

    /// Opens the feeds, and creates or updates the tables.
    ///
    /// - Parameter now: The time, for tests. By default the clock of the server.
    package init(_ settings: PostgresSettings, now: (@Sendable () -> Int64)? = nil) async throws(LedgerStorageError) {
        pool = PostgresPool(settings)
        fixedTime = now
        writes = Self.writes(pool)
        try await pool.open()
    }

    /// The time at the beginning of the transaction.
    func time(_ transaction: PostgresTransaction) -> Int64 { fixedTime?() ?? transaction.began }

    /// - Parameter isLong: Whether the transaction may change all rows of a feed.
    func run<T: Sendable>(
        isLong: Bool = false, isRepeatable: Bool = true,
        _ body: @escaping @Sendable (PostgresTransaction) throws(PostgresError) -> T
    ) async throws(LedgerStorageError) -> T {
        let timeout = isLong ? max(600_000, pool.settings.timeoutMilliseconds) : nil
        do throws(PostgresError) {
            return try await pool.transaction(
                patience: Self.patience, timeout: timeout, isRepeatable: isRepeatable, body)
        } catch {
            throw Self.unusable(error)
        }
    }

    static func unusable(_ error: PostgresError) -> LedgerStorageError {
        LedgerStorageError("The feeds cannot be used: \(error).")
    }

    /// Executes a statement that reads.
    func read<T: Sendable>(
        _ body: @escaping @Sendable (PostgresConnection) throws(PostgresError) -> T
    ) async throws(LedgerStorageError) -> T {
        do throws(PostgresError) {
            return try await pool.perform(patience: Self.patience, body)
        } catch {
            throw Self.unusable(error)
        }
    }

    // MARK: Feeds

    package func feed(_ identity: FeedIdentity) async throws(LedgerStorageError) -> FeedHead {
        let salt = (0..<16).map { _ in UInt8.random(in: 0...255) }
        return try await run(isLong: true) { (transaction) throws(PostgresError) in
            let digest = Self.digest(identity.query)
            let condition = "endpoint = $1 AND query_digest = $2"
            let values: [PostgresValue] = [.text(identity.endpoint), .bytes(digest)]
            if let known = try Self.heads(transaction.connection, condition + " FOR UPDATE", values).first {
                if known.identity.shape == identity.shape { return known.head }
                for table in ["item", "generation", "feed"] {
                    try transaction.query("DELETE FROM \(table) WHERE feed = $1", [.integer(known.head.id)])
                }
            }
            // Another node may insert the same feed meanwhile.
            try transaction.query(
                """
                INSERT INTO feed (endpoint, query_digest, query, shape, salt) VALUES ($1, $2, $3, $4, $5)
                ON CONFLICT DO NOTHING
                """, values + [.text(identity.query), .text(identity.shape), .bytes(salt)])
            guard let made = try Self.heads(transaction.connection, condition, values).first,
                made.identity.shape == identity.shape
            else { throw .server(.serializationFailure, "another node has inserted the feed") }
            return made.head
        }
    }

    private static func digest(_ query: String) -> [UInt8] { Array(SHA256.hash(data: Array(query.utf8))) }

    package func head(_ feed: Int64) async throws(LedgerStorageError) -> FeedHead? {
        try await read { (connection) throws(PostgresError) in
            try Self.heads(connection, "feed = $1", [.integer(feed)]).first?.head
        }
    }

    package func list() async throws(LedgerStorageError) -> [(identity: FeedIdentity, head: FeedHead)] {
        try await read { (connection) throws(PostgresError) in
            try Self.heads(connection, "true ORDER BY feed", [])
        }
    }

    static func heads(
        _ connection: PostgresConnection, _ condition: String, _ values: [PostgresValue]
    ) throws(PostgresError) -> [(identity: FeedIdentity, head: FeedHead)] {
        let rows = try connection.query(
            """
            SELECT feed, endpoint, query, shape, salt, head, head_read, tokens_from, live_count, context, version, legacy,
              trouble, accepts FROM feed WHERE \(condition)
            """, values)
        return (0..<rows.count).map { row in
            var head = FeedHead(id: rows.integer(row, 0) ?? 0, salt: rows.blob(row, 4) ?? [])
            head.generation = rows.integer(row, 5) ?? 0
            head.readBegan = rows.integer(row, 6)
            head.tokensFrom = rows.integer(row, 7) ?? 0
            head.rows = rows.integer(row, 8) ?? 0
            head.description = FeedDescription(
                context: rows.text(row, 9), version: rows.text(row, 10), isLegacy: rows.integer(row, 11) == 1)
            head.trouble = rows.text(row, 12)
            head.acceptsRemovals = rows.integer(row, 13) == 1
            let identity = FeedIdentity(
                endpoint: rows.text(row, 1) ?? "", query: rows.text(row, 2) ?? "", shape: rows.text(row, 3) ?? "")
            return (identity, head)
        }
    }

    package func acceptRemovals(endpoint: String, query: String) async throws(LedgerStorageError) -> Bool {
        try await run { (transaction) throws(PostgresError) in
            try transaction.query(
                "UPDATE feed SET accepts = true WHERE endpoint = $1 AND query_digest = $2",
                [.text(endpoint), .bytes(Self.digest(query))]
            ).affected > 0
        }
    }

    // MARK: Readings

    package func claim(_ feed: Int64, node: String) async throws(LedgerStorageError) -> FeedClaim {
        try await run { [self] (transaction) throws(PostgresError) in
            let time = time(transaction)
            let rows = try transaction.query(
                """
                UPDATE feed SET fence = fence + 1, lease_node = $2, lease_end = $3 WHERE feed = (
                  SELECT feed FROM feed WHERE feed = $1 AND (lease_node IS NULL OR lease_node = $2 OR lease_end <= $4)
                  FOR UPDATE SKIP LOCKED)
                RETURNING fence
                """,
                [.integer(feed), .text(node), .integer(time + FeedLease.milliseconds), .integer(time)])
            if let fence = rows.integer(0, 0) {
                return .granted(FeedLease(feed: feed, fence: fence, began: time))
            }
            let exists = try transaction.query("SELECT 1 FROM feed WHERE feed = $1", [.integer(feed)]).count > 0
            return exists ? .busy : .missing
        }
    }

    package func renew(_ lease: FeedLease) async throws(LedgerStorageError) -> Bool {
        try await run { [self] (transaction) throws(PostgresError) in
            try transaction.query(
                "UPDATE feed SET lease_end = $3 WHERE feed = $1 AND fence = $2 AND lease_node IS NOT NULL",
                [
                    .integer(lease.feed), .integer(lease.fence),
                    .integer(time(transaction) + FeedLease.milliseconds),
                ]
            ).affected > 0
        }
    }

    package func release(_ lease: FeedLease) async throws(LedgerStorageError) {
        try await run { (transaction) throws(PostgresError) in
            _ = try transaction.query(
                "UPDATE feed SET lease_node = NULL WHERE feed = $1 AND fence = $2",
                [.integer(lease.feed), .integer(lease.fence)])
        }
    }

    package func refuse(_ lease: FeedLease, _ trouble: String) async throws(LedgerStorageError) {
        try await run { [channel] (transaction) throws(PostgresError) in
            try transaction.query(
                "UPDATE feed SET trouble = $3, lease_node = NULL WHERE feed = $1 AND fence = $2",
                [.integer(lease.feed), .integer(lease.fence), .text(trouble)])
            try transaction.query("SELECT pg_notify($1, '')", [.text(channel)])
        }
    }

    package func watch(_ changed: @escaping @Sendable () async -> Void) async {
        let (changes, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let listener = PostgresListener(pool.settings, channel: channel) { continuation.yield() }
        await withTaskCancellationHandler {
            for await _ in changes { await changed() }
        } onCancel: {
            continuation.finish()
        }
        listener.stop()
    }

    // MARK: Time

    /// The estimate is never behind the server's clock, so that the age of a reading is not negative.
    package func time() async -> Int64 {
        if let fixedTime { return fixedTime() }
        if let known = clock.withLock({ $0 }), known.read.duration(to: .now) < Self.clockLifetime {
            return Self.milliseconds(of: .now) + known.offset
        }
        let start = ContinuousClock.now
        let read = try? await pool.perform(patience: .seconds(1)) { (connection) throws(PostgresError) in
            try connection.query("SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint").integer(0, 0)
        }
        if let read = read ?? nil {
            let offset = read + 1 - Self.milliseconds(of: start)
            clock.withLock { $0 = (offset, .now) }
            return Self.milliseconds(of: .now) + offset
        }
        return clock.withLock { $0.map { Self.milliseconds(of: .now) + $0.offset } } ?? WallClock.milliseconds()
    }

    private static let origin = ContinuousClock.now

    private static func milliseconds(of instant: ContinuousClock.Instant) -> Int64 {
        let (seconds, attoseconds) = origin.duration(to: instant).components
        return seconds * 1_000 + attoseconds / 1_000_000_000_000_000
    }
}
