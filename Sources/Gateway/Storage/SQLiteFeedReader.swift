internal import GatewayCore
internal import Views

/// A connection that reads the feeds in SQLite, and waits for no writer: it sees the last commit.
actor SQLiteFeedReader {
    private nonisolated let executor = StorageQueue(label: "tidelog.gateway.feeds.reading")
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    private let connection: Connection

    /// Opens a file that ``SQLiteFeedSchema`` has prepared.
    init(path: String) throws(SQLiteError) {
        connection = try Connection(path: path)
        try connection.execute("PRAGMA query_only = ON")
    }

    func head(_ feed: Int64) throws(LedgerStorageError) -> FeedHead? {
        try reading { () throws(SQLiteError) in
            try SQLiteFeedStorage.heads(connection, "feed = ?", [.integer(feed)]).first?.head
        }
    }

    func list() throws(LedgerStorageError) -> [(identity: FeedIdentity, head: FeedHead)] {
        try reading { () throws(SQLiteError) in
            try SQLiteFeedStorage.heads(connection, "1 = 1 ORDER BY feed", [])
        }
    }

    /// Returns the digests of the rows of a generation whose keys follow `after`, sorted by the bytes of the keys.
    func digests(
        _ feed: Int64, at generation: Int64, after: String, limit: Int
    ) throws(LedgerStorageError) -> [(key: String, digest: RowDigest)] {
        try reading { () throws(SQLiteError) in
            var found: [(String, RowDigest)] = []
            try connection.query(
                """
                SELECT key, digest FROM item
                WHERE feed = ?1 AND since <= ?2 AND until > ?2 AND key > ?3 AND digest IS NOT NULL ORDER BY key LIMIT ?4
                """, [.integer(feed), .integer(generation), .text(after), .integer(Int64(limit))]
            ) { row in
                if let key = row.text(0) { found.append((key, RowDigest(row.blob(1)))) }
            }
            return found
        }
    }

    func rows(
        _ feed: Int64, at generation: Int64, after: String?, limit: Int
    ) throws(LedgerStorageError) -> [FeedItem] {
        try items(
            """
            feed = ?1 AND since <= ?2 AND until > ?2 AND key > ?3 AND digest IS NOT NULL ORDER BY key LIMIT ?4
            """, [.integer(feed), .integer(generation), .text(after ?? ""), .integer(Int64(limit))])
    }

    func changes(
        _ feed: Int64, from start: Int64, to end: Int64, after: FeedPosition?, limit: Int
    ) throws(LedgerStorageError) -> [FeedItem] {
        let position = after ?? FeedPosition(since: start, key: "\u{10FFFF}")
        return try items(
            """
            feed = ?1 AND since > ?2 AND since <= ?3 AND until > ?3 AND (since, key) > (?4, ?5)
            ORDER BY since, key LIMIT ?6
            """,
            [
                .integer(feed), .integer(start), .integer(end), .integer(position.since), .text(position.key),
                .integer(Int64(limit)),
            ])
    }

    private func items(_ condition: String, _ values: [SQLValue]) throws(LedgerStorageError) -> [FeedItem] {
        try reading { () throws(SQLiteError) in
            var found: [FeedItem] = []
            try connection.query("SELECT key, since, digest, reason, body FROM item WHERE \(condition)", values) {
                row in
                guard let key = row.text(0) else { return }
                let change: FeedChange
                if row.isNull(2) {
                    change = .removed(key: key, RemovalReason(rawValue: row.integer(3)) ?? .changed)
                } else {
                    change = .row(FeedRow(key: key, digest: RowDigest(row.blob(2)), body: row.blob(4)))
                }
                found.append(FeedItem(since: row.integer(1), change: change))
            }
            return found
        }
    }

    private func reading<T>(_ body: () throws(SQLiteError) -> T) throws(LedgerStorageError) -> T {
        do throws(SQLiteError) { return try body() } catch { throw SQLiteFeedStorage.unusable(error) }
    }
}
