package import GatewayCore

/// The versions of the rows. Keys are stored as bytes, so that their order is that of the other storages.
extension PostgresFeedStorage {
    /// The rows of one statement.
    private static let digestsPerStatement = 50_000
    private static let changesPerStatement = FeedPortions.Limits(rows: 2_000, bytes: 8 << 20)
    /// The changes of a publication from which the statistics of the server are updated with it.
    private static let changesForStatistics = 10_000

    package func digests(_ feed: Int64) async throws(LedgerStorageError) -> [String: RowDigest] {
        var found: [String: RowDigest] = [:]
        var after: [UInt8] = []
        // Only the reading that calls this publishes meanwhile, so the rows are those of one generation.
        while true {
            let position = after
            let page = try await read { (connection) throws(PostgresError) in
                let rows = try connection.query(
                    """
                    SELECT key, digest FROM item
                    WHERE feed = $1 AND until = \(Int64.max) AND digest IS NOT NULL AND key > $2 ORDER BY key LIMIT $3
                    """, [.integer(feed), .bytes(position), .integer(Int64(Self.digestsPerStatement))])
                return (0..<rows.count).map { (rows.blob($0, 0) ?? [], RowDigest(rows.blob($0, 1) ?? [])) }
            }
            for (key, digest) in page { found[String(decoding: key, as: UTF8.self)] = digest }
            guard page.count == Self.digestsPerStatement, let last = page.last else { return found }
            after = last.0
        }
    }

    package func publish(
        _ lease: FeedLease, _ changes: [FeedChange], _ description: FeedDescription
    ) async throws(LedgerStorageError) -> FeedHead? {
        // A publication that may have been committed is not repeated: it would make another generation.
        try await run(isLong: true, isRepeatable: false) { [self] (transaction) throws(PostgresError) in
            let values: [PostgresValue] = [.integer(lease.feed), .integer(lease.fence)]
            guard
                let head = try Self.heads(transaction.connection, "feed = $1 AND fence = $2 FOR UPDATE", values).first?
                    .head
            else { return nil }
            var generation = head.generation
            var rows = head.rows
            if !changes.isEmpty || generation == 0 {
                generation += 1
                for part in FeedPortions(changes, Self.changesPerStatement) {
                    rows += try Self.write(part, lease.feed, generation, transaction)
                }
                // Otherwise the server would sort all rows of the feed for each page, until it updates its statistics.
                if changes.count >= Self.changesForStatistics { try transaction.query("ANALYZE item") }
                try transaction.query(
                    "INSERT INTO generation (feed, generation, made) VALUES ($1, $2, $3)",
                    [.integer(lease.feed), .integer(generation), .integer(time(transaction))])
            }
            try transaction.query(
                """
                UPDATE feed SET head = $2, head_read = $3, live_count = $4, context = $5, version = $6, legacy = $7,
                  tokens_from = greatest(tokens_from, 1), trouble = NULL, accepts = false, lease_node = NULL
                WHERE feed = $1
                """,
                [
                    .integer(lease.feed), .integer(generation), .integer(lease.began), .integer(rows),
                    .text(description.context), .text(description.version), .flag(description.isLegacy),
                ])
            try transaction.query("SELECT pg_notify($1, '')", [.text(channel)])
            return try Self.heads(transaction.connection, "feed = $1", [.integer(lease.feed)]).first?.head
        }
    }

    /// Closes the versions before, and inserts the new ones.
    ///
    /// - Returns: The change of the number of rows.
    private static func write(
        _ changes: ArraySlice<FeedChange>, _ feed: Int64, _ generation: Int64, _ transaction: PostgresTransaction
    ) throws(PostgresError) -> Int64 {
        var keys: [[UInt8]?] = []
        var digests: [[UInt8]?] = []
        var reasons: [Int64?] = []
        var bodies: [[UInt8]?] = []
        for change in changes {
            keys.append(Array(change.key.utf8))
            switch change {
            case .row(let row):
                digests.append(row.digest.bytes)
                reasons.append(nil)
                bodies.append(row.body)
            case .removed(_, let reason):
                digests.append(nil)
                reasons.append(reason.rawValue)
                bodies.append(nil)
            }
        }
        // Not a join: the statistics of the server do not know the rows that the transaction has written, and a join in
        // the wrong order reads all of them for each statement.
        let closed = try transaction.query(
            """
            WITH closed AS (
              UPDATE item i SET until = $2 WHERE i.ctid = ANY (ARRAY(
                SELECT (SELECT o.ctid FROM item o WHERE o.feed = $1 AND o.key = c.key AND o.until = \(Int64.max))
                FROM unnest($3) AS c (key)))
              RETURNING i.digest IS NOT NULL AS live)
            SELECT count(*) FROM closed WHERE live
            """, [.integer(feed), .integer(generation), .byteStrings(keys)])
        try transaction.query(
            """
            INSERT INTO item (feed, key, since, until, digest, reason, body)
            SELECT $1, c.key, $2, \(Int64.max), c.digest, c.reason, c.body
            FROM unnest($3, $4, $5, $6) AS c (key, digest, reason, body)
            """,
            [
                .integer(feed), .integer(generation), .byteStrings(keys), .byteStrings(digests), .integers(reasons),
                .byteStrings(bodies),
            ])
        let live = digests.reduce(0) { $0 + ($1 == nil ? 0 : 1) }
        return Int64(live) - (closed.integer(0, 0) ?? 0)
    }

    package func rows(
        _ feed: Int64, at generation: Int64, after: String?, limit: Int
    ) async throws(LedgerStorageError) -> [FeedItem] {
        try await items(
            """
            feed = $1 AND since <= $2 AND until > $2 AND key > $3 AND digest IS NOT NULL ORDER BY key LIMIT $4
            """,
            [.integer(feed), .integer(generation), .bytes(Array((after ?? "").utf8)), .integer(Int64(limit))])
    }

    package func changes(
        _ feed: Int64, from start: Int64, to end: Int64, after: FeedPosition?, limit: Int
    ) async throws(LedgerStorageError) -> [FeedItem] {
        let position = after ?? FeedPosition(since: start, key: "\u{10FFFF}")
        return try await items(
            """
            feed = $1 AND since > $2 AND since <= $3 AND until > $3 AND (since, key) > ($4, $5)
            ORDER BY since, key LIMIT $6
            """,
            [
                .integer(feed), .integer(start), .integer(end), .integer(position.since),
                .bytes(Array(position.key.utf8)), .integer(Int64(limit)),
            ])
    }

    private func items(
        _ condition: String, _ values: [PostgresValue]
    ) async throws(LedgerStorageError) -> [FeedItem] {
        try await read { (connection) throws(PostgresError) in
            let rows = try connection.query(
                "SELECT key, since, digest, reason, body FROM item WHERE \(condition)", values)
            return (0..<rows.count).map { row in
                let key = rows.text(row, 0) ?? ""
                let change: FeedChange
                if let digest = rows.blob(row, 2) {
                    change = .row(FeedRow(key: key, digest: RowDigest(digest), body: rows.blob(row, 4) ?? []))
                } else {
                    change = .removed(key: key, rows.integer(row, 3).flatMap(RemovalReason.init) ?? .changed)
                }
                return FeedItem(since: rows.integer(row, 1) ?? 0, change: change)
            }
        }
    }

    package func forget(_ feed: Int64, lifetime: Int64) async throws(LedgerStorageError) {
        try await run(isLong: true) { [self] (transaction) throws(PostgresError) in
            let time = time(transaction)
            try transaction.query(
                """
                DELETE FROM write_mark WHERE ctid = ANY (ARRAY(
                  SELECT ctid FROM write_mark WHERE written <= $1 FOR UPDATE SKIP LOCKED))
                """, [.integer(time - FeedFreshness.maximumAge)])
            let made = try transaction.query(
                "SELECT generation, made FROM generation WHERE feed = $1 ORDER BY generation", [.integer(feed)])
            let oldest = FeedRetention.oldest(
                (0..<made.count).map { (made.integer($0, 0) ?? 0, made.integer($0, 1) ?? 0) }, cutoff: time - lifetime)
            let values: [PostgresValue] = [.integer(feed), .integer(oldest)]
            guard
                try transaction.query(
                    "UPDATE feed SET tokens_from = $2 WHERE feed = $1 AND tokens_from < $2", values
                ).affected > 0
            else { return }
            try transaction.query("DELETE FROM generation WHERE feed = $1 AND generation < $2", values)
            try transaction.query(
                "DELETE FROM item WHERE feed = $1 AND until <= $2 AND until < \(Int64.max)", values)
            try transaction.query("DELETE FROM item WHERE feed = $1 AND since <= $2 AND digest IS NULL", values)
        }
    }

    package func remove(_ feed: Int64, notReadSince time: Int64) async throws(LedgerStorageError) -> Bool {
        try await run(isLong: true) { [self] (transaction) throws(PostgresError) in
            // A lease that has ended is an earlier reading, which need not have been published.
            let removed = try transaction.query(
                """
                DELETE FROM feed WHERE feed = $1 AND (head_read IS NULL OR head_read <= $2)
                  AND (lease_node IS NULL OR lease_end <= $3)
                """, [.integer(feed), .integer(time), .integer(self.time(transaction))]
            ).affected
            guard removed > 0 else { return false }
            for table in ["item", "generation"] {
                try transaction.query("DELETE FROM \(table) WHERE feed = $1", [.integer(feed)])
            }
            return true
        }
    }
}
