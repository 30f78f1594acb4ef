internal import GatewayCore
internal import Views

/// The times of the last changes of users, in a file and on a queue of their own: an upload waits for them.
actor SQLiteWriteMarks {
    private nonisolated let executor = StorageQueue(label: "tidelog.gateway.feeds.marks")
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    private let connection: Connection
    private let now: @Sendable () -> Int64

    /// Opens a file that ``SQLiteFeedSchema`` has prepared.
    init(path: String, now: @escaping @Sendable () -> Int64) throws(SQLiteError) {
        self.now = now
        connection = try SQLiteFeedSchema.open(path)
    }

    /// Records a change at this moment. It is durable when the call returns.
    func mark(endpoint: String, user: [UInt8]) throws(LedgerStorageError) {
        try run(
            "INSERT OR REPLACE INTO write_mark (endpoint, user, written) VALUES (?, ?, ?)",
            [.text(endpoint), .blob(user), .integer(now())])
    }

    /// Returns the time of the last change of a user, if it is known.
    func last(endpoint: String, user: [UInt8]) throws(LedgerStorageError) -> Int64? {
        do throws(SQLiteError) {
            return try connection.first(
                "SELECT written FROM write_mark WHERE endpoint = ? AND user = ?", [.text(endpoint), .blob(user)])?[0]
                .integer
        } catch {
            throw SQLiteFeedStorage.unusable(error)
        }
    }

    /// Deletes the changes that no reading of a feed is older than.
    func forget() throws(LedgerStorageError) {
        try run("DELETE FROM write_mark WHERE written <= ?", [.integer(now() - FeedFreshness.maximumAge)])
    }

    private func run(_ sql: String, _ values: [SQLValue]) throws(LedgerStorageError) {
        do throws(SQLiteError) { try connection.run(sql, values) } catch { throw SQLiteFeedStorage.unusable(error) }
    }
}
