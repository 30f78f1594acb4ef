package import GatewayCore
internal import Views

/// The feeds in a SQLite file of their own, for one node, so that a large transaction does not delay the ledger's.
///
/// The file may be deleted, unlike the ledger's. Each transaction is synced, because delta links refer to generations.
package actor SQLiteFeedStorage: FeedStorage {
    package static let schemaVersion: Int64 = 1

    private nonisolated let executor = StorageQueue(label: "tidelog.gateway.feeds")
    package nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    let connection: Connection
    let now: @Sendable () -> Int64
    var leases = FeedLeases()

    /// Opens the file, and creates it with its tables if it does not exist.
    package init(
        path: String, now: @escaping @Sendable () -> Int64 = WallClock.milliseconds
    ) throws(LedgerStorageError) {
        self.now = now
        do {
            let connection = try Connection(path: path)
            try connection.execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL")
            try Self.migrate(connection)
            self.connection = connection
        } catch {
            throw LedgerStorageError(
                "The feeds in \(path) cannot be opened: \(error). Check that the folder exists and is writable; the file may be deleted."
            )
        }
    }

    private static func migrate(_ connection: Connection) throws {
        let version = try connection.first("PRAGMA user_version")?[0].integer ?? 0
        if version == schemaVersion { return }
        // Feeds of another version are read anew.
        try connection.transaction { () throws(SQLiteError) in
            try connection.execute(
                """
                DROP TABLE IF EXISTS item; DROP TABLE IF EXISTS generation; DROP TABLE IF EXISTS feed;
                DROP TABLE IF EXISTS write_mark;
                CREATE TABLE feed (
                  feed INTEGER PRIMARY KEY AUTOINCREMENT, endpoint TEXT NOT NULL, query TEXT NOT NULL,
                  shape TEXT NOT NULL, salt BLOB NOT NULL, head INTEGER NOT NULL, head_read INTEGER,
                  tokens_from INTEGER NOT NULL, live_count INTEGER NOT NULL, fence INTEGER NOT NULL, context TEXT,
                  version TEXT, legacy INTEGER NOT NULL, trouble TEXT, accepts INTEGER NOT NULL,
                  UNIQUE (endpoint, query)) STRICT;
                CREATE TABLE generation (
                  feed INTEGER NOT NULL, generation INTEGER NOT NULL, made INTEGER NOT NULL,
                  PRIMARY KEY (feed, generation)) STRICT, WITHOUT ROWID;
                CREATE TABLE item (
                  feed INTEGER NOT NULL, key TEXT NOT NULL, since INTEGER NOT NULL, until INTEGER NOT NULL,
                  digest BLOB, reason INTEGER, body BLOB,
                  PRIMARY KEY (feed, key, since)) STRICT, WITHOUT ROWID;
                CREATE INDEX item_since ON item (feed, since, key);
                CREATE INDEX item_removed ON item (feed, since) WHERE digest IS NULL;
                CREATE INDEX item_until ON item (feed, until) WHERE until < 9223372036854775807;
                CREATE TABLE write_mark (
                  endpoint TEXT NOT NULL, user BLOB NOT NULL, written INTEGER NOT NULL,
                  PRIMARY KEY (endpoint, user)) STRICT, WITHOUT ROWID;
                PRAGMA user_version = \(schemaVersion)
                """)
        }
    }

    func transaction<T>(_ body: () throws(SQLiteError) -> T) throws(LedgerStorageError) -> T {
        do {
            return try connection.transaction(body)
        } catch {
            throw LedgerStorageError("The feeds cannot be used: \(error).")
        }
    }

    // MARK: Feeds

    package func feed(_ identity: FeedIdentity) async throws(LedgerStorageError) -> FeedHead {
        try transaction { () throws(SQLiteError) in
            let values: [SQLValue] = [.text(identity.endpoint), .text(identity.query)]
            if let known = try heads("endpoint = ? AND query = ?", values).first {
                if known.identity.shape == identity.shape { return known.head }
                for table in ["item", "generation", "feed"] {
                    try connection.run("DELETE FROM \(table) WHERE feed = ?", [.integer(known.head.id)])
                }
            }
            let salt = (0..<16).map { _ in UInt8.random(in: 0...255) }
            try connection.run(
                """
                INSERT INTO feed (endpoint, query, shape, salt, head, tokens_from, live_count, fence, legacy, accepts)
                VALUES (?, ?, ?, ?, 0, 0, 0, 0, 0, 0)
                """, values + [.text(identity.shape), .blob(salt)])
            guard let made = try heads("endpoint = ? AND query = ?", values).first else {
                return FeedHead(id: 0, salt: [])
            }
            return made.head
        }
    }

    package func head(_ feed: Int64) async throws(LedgerStorageError) -> FeedHead? {
        try transaction { () throws(SQLiteError) in try heads("feed = ?", [.integer(feed)]).first?.head }
    }

    package func list() async throws(LedgerStorageError) -> [(identity: FeedIdentity, head: FeedHead)] {
        try transaction { () throws(SQLiteError) in try heads("1 = 1 ORDER BY feed", []) }
    }

    func heads(
        _ condition: String, _ values: [SQLValue]
    ) throws(SQLiteError) -> [(identity: FeedIdentity, head: FeedHead)] {
        var found: [(identity: FeedIdentity, head: FeedHead)] = []
        try connection.query(
            """
            SELECT feed, endpoint, query, shape, salt, head, head_read, tokens_from, live_count, context, version, legacy,
              trouble, accepts FROM feed WHERE \(condition)
            """, values
        ) { row in
            var head = FeedHead(id: row.integer(0), salt: row.blob(4))
            head.generation = row.integer(5)
            head.readBegan = row.isNull(6) ? nil : row.integer(6)
            head.tokensFrom = row.integer(7)
            head.rows = row.integer(8)
            head.description = FeedDescription(
                context: row.text(9), version: row.text(10), isLegacy: row.integer(11) != 0)
            head.trouble = row.text(12)
            head.acceptsRemovals = row.integer(13) != 0
            let identity = FeedIdentity(
                endpoint: row.text(1) ?? "", query: row.text(2) ?? "", shape: row.text(3) ?? "")
            found.append((identity, head))
        }
        return found
    }

    package func acceptRemovals(endpoint: String, query: String) async throws(LedgerStorageError) -> Bool {
        try transaction { () throws(SQLiteError) in
            let values: [SQLValue] = [.text(endpoint), .text(query)]
            try connection.run("UPDATE feed SET accepts = 1 WHERE endpoint = ? AND query = ?", values)
            return try !heads("endpoint = ? AND query = ?", values).isEmpty
        }
    }

    // MARK: Changes of users

    package func markWrite(endpoint: String, user: [UInt8]) async throws(LedgerStorageError) {
        let time = now()
        try transaction { () throws(SQLiteError) in
            try connection.run(
                "INSERT OR REPLACE INTO write_mark (endpoint, user, written) VALUES (?, ?, ?)",
                [.text(endpoint), .blob(user), .integer(time)])
        }
    }

    package func lastWrite(endpoint: String, user: [UInt8]) async throws(LedgerStorageError) -> Int64? {
        try transaction { () throws(SQLiteError) in
            try connection.first(
                "SELECT written FROM write_mark WHERE endpoint = ? AND user = ?", [.text(endpoint), .blob(user)])?[0]
                .integer
        }
    }

    package nonisolated func time() async -> Int64 { now() }
}
