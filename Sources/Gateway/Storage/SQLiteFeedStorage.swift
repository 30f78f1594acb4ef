package import GatewayCore
internal import Views

/// The feeds in SQLite files of their own, for one node, so that a large transaction does not delay the ledger's.
///
/// Each of three connections has a queue: this actor writes, ``SQLiteFeedReader`` reads, and ``SQLiteWriteMarks`` records
/// changes of users in a second file. A poll and an upload therefore wait for no publication. Whatever may concern all
/// rows of a feed is written in portions, each in a transaction. Each transaction is synced, because delta links refer to
/// generations.
package actor SQLiteFeedStorage: FeedStorage {
    package static let schemaVersion = SQLiteFeedSchema.version

    private nonisolated let executor = StorageQueue(label: "tidelog.gateway.feeds")
    package nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    let connection: Connection
    let now: @Sendable () -> Int64
    let limits: FeedPortions.Limits
    let pause: @Sendable () async throws(LedgerStorageError) -> Void
    var leases = FeedLeases()
    /// The removed feeds of which rows may remain.
    var orphans: Set<Int64>
    private let reader: SQLiteFeedReader
    private let marks: SQLiteWriteMarks

    /// The digests that are read at once.
    private static let digestsPerStatement = 20_000

    /// Opens the files, and creates or updates them and their tables.
    ///
    /// - Parameters:
    ///   - limits: The size of a portion.
    ///   - pause: Called between two portions, when other calls may write. If it throws, the rest is not written.
    package init(
        path: String, now: @escaping @Sendable () -> Int64 = WallClock.milliseconds,
        limits: FeedPortions.Limits = FeedPortions.Limits(),
        pause: @escaping @Sendable () async throws(LedgerStorageError) -> Void = { await Task.yield() }
    ) throws(LedgerStorageError) {
        self.now = now
        self.limits = limits
        self.pause = pause
        do {
            try SQLiteFeedSchema.prepare(path)
            let connection = try SQLiteFeedSchema.open(path)
            orphans = try SQLiteFeedSchema.orphans(connection)
            reader = try SQLiteFeedReader(path: path)
            marks = try SQLiteWriteMarks(path: SQLiteFeedSchema.marksPath(path), now: now)
            self.connection = connection
        } catch {
            throw LedgerStorageError(
                "The feeds in \(path) cannot be opened: \(error). Check that the folder exists and is writable; the file and \(SQLiteFeedSchema.marksPath(path)) may be deleted."
            )
        }
    }

    static func unusable(_ error: any Error) -> LedgerStorageError {
        LedgerStorageError("The feeds cannot be used: \(error).")
    }

    func transaction<T>(_ body: () throws(SQLiteError) -> T) throws(LedgerStorageError) -> T {
        do {
            return try connection.transaction(body)
        } catch {
            throw Self.unusable(error)
        }
    }

    // MARK: Feeds

    package func feed(_ identity: FeedIdentity) async throws(LedgerStorageError) -> FeedHead {
        var former: Int64?
        let head = try transaction { () throws(SQLiteError) -> FeedHead in
            let values: [SQLValue] = [.text(identity.endpoint), .text(identity.query)]
            if let known = try heads("endpoint = ? AND query = ?", values).first {
                if known.identity.shape == identity.shape { return known.head }
                try delete(known.head.id)
                former = known.head.id
            }
            let salt = (0..<16).map { _ in UInt8.random(in: 0...255) }
            try connection.run(
                """
                INSERT INTO feed (endpoint, query, shape, salt, head, tokens_from, live_count, fence, legacy, accepts)
                VALUES (?, ?, ?, ?, 0, 0, 0, 0, 0, 0)
                """, values + [.text(identity.shape), .blob(salt)])
            return try heads("endpoint = ? AND query = ?", values).first?.head ?? FeedHead(id: 0, salt: [])
        }
        if let former {
            orphans.insert(former)
            try await removeOrphans()
        }
        return head
    }

    /// Deletes a feed without its rows, which are then orphans.
    func delete(_ feed: Int64) throws(SQLiteError) {
        for table in ["generation", "feed"] {
            try connection.run("DELETE FROM \(table) WHERE feed = ?", [.integer(feed)])
        }
    }

    func heads(
        _ condition: String, _ values: [SQLValue]
    ) throws(SQLiteError) -> [(identity: FeedIdentity, head: FeedHead)] {
        try Self.heads(connection, condition, values)
    }

    static func heads(
        _ connection: Connection, _ condition: String, _ values: [SQLValue]
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

    // MARK: Reading

    package nonisolated func head(_ feed: Int64) async throws(LedgerStorageError) -> FeedHead? {
        try await reader.head(feed)
    }

    package nonisolated func list() async throws(LedgerStorageError) -> [(identity: FeedIdentity, head: FeedHead)] {
        try await reader.list()
    }

    package nonisolated func digests(_ feed: Int64) async throws(LedgerStorageError) -> [String: RowDigest] {
        guard let head = try await reader.head(feed) else { return [:] }
        var found: [String: RowDigest] = [:]
        found.reserveCapacity(Int(clamping: min(max(head.rows, 0), 10_000_000)))
        var after = ""
        while true {
            let page = try await reader.digests(
                feed, at: head.generation, after: after, limit: Self.digestsPerStatement)
            for (key, digest) in page { found[key] = digest }
            guard page.count == Self.digestsPerStatement, let last = page.last else { return found }
            after = last.key
        }
    }

    package nonisolated func rows(
        _ feed: Int64, at generation: Int64, after: String?, limit: Int
    ) async throws(LedgerStorageError) -> [FeedItem] {
        try await reader.rows(feed, at: generation, after: after, limit: limit)
    }

    package nonisolated func changes(
        _ feed: Int64, from start: Int64, to end: Int64, after: FeedPosition?, limit: Int
    ) async throws(LedgerStorageError) -> [FeedItem] {
        try await reader.changes(feed, from: start, to: end, after: after, limit: limit)
    }

    // MARK: Changes of users

    package nonisolated func markWrite(endpoint: String, user: [UInt8]) async throws(LedgerStorageError) {
        try await marks.mark(endpoint: endpoint, user: user)
    }

    package nonisolated func lastWrite(endpoint: String, user: [UInt8]) async throws(LedgerStorageError) -> Int64? {
        try await marks.last(endpoint: endpoint, user: user)
    }

    /// Deletes old changes.
    nonisolated func forgetWrites() async throws(LedgerStorageError) { try await marks.forget() }

    package nonisolated func time() async -> Int64 { now() }
}
