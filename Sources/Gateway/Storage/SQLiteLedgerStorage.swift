package import GatewayCore
internal import Views

/// The ledger in a SQLite file, for one node.
///
/// Each transaction is synced before its call returns (write-ahead log, `synchronous = FULL`).
package actor SQLiteLedgerStorage: LedgerStorage {
    package static let schemaVersion: Int64 = 1

    private nonisolated let executor = StorageQueue(label: "tidelog.gateway.ledger")
    package nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    private let connection: Connection
    private let now: @Sendable () -> Int64

    /// Opens the file, and creates it with its tables if it does not exist.
    package init(
        path: String, now: @escaping @Sendable () -> Int64 = WallClock.milliseconds
    ) throws(LedgerStorageError) {
        self.now = now
        do {
            let connection = try Connection(path: path)
            // The pages of the last uploads are written again with their outcomes: a larger cache and a longer log keep
            // them in memory until then.
            try connection.execute(
                """
                PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA cache_size = -16384;
                PRAGMA wal_autocheckpoint = 4000
                """)
            try Self.migrate(connection)
            self.connection = connection
        } catch {
            throw LedgerStorageError(
                "The ledger \(path) cannot be opened: \(error). Check that the folder exists and is writable.")
        }
    }

    private static func migrate(_ connection: Connection) throws {
        try connection.execute(
            "CREATE TABLE IF NOT EXISTS meta (name TEXT PRIMARY KEY, value BLOB NOT NULL) STRICT, WITHOUT ROWID")
        let version = try connection.first("SELECT value FROM meta WHERE name = 'schema_version'")?[0].blob
        if let version {
            guard version == Array("\(schemaVersion)".utf8) else {
                throw LedgerStorageError(
                    "its schema has version \(String(decoding: version, as: UTF8.self)), but this program needs version \(schemaVersion)"
                )
            }
            return
        }
        try connection.transaction { () throws(SQLiteError) in
            try connection.execute(
                """
                CREATE TABLE ledger (
                  endpoint TEXT NOT NULL, dialect TEXT NOT NULL, client TEXT NOT NULL, request TEXT NOT NULL,
                  day INTEGER NOT NULL, principal BLOB NOT NULL, fingerprint BLOB NOT NULL, state INTEGER NOT NULL,
                  attempt INTEGER NOT NULL, lease_end INTEGER NOT NULL, outcome BLOB,
                  PRIMARY KEY (endpoint, dialect, client, request, day)) STRICT, WITHOUT ROWID;
                CREATE INDEX ledger_day ON ledger (day);
                CREATE INDEX ledger_open ON ledger (lease_end) WHERE state <> 3
                """)
            try connection.run(
                "INSERT INTO meta (name, value) VALUES ('schema_version', ?)", [.blob(Array("\(schemaVersion)".utf8))])
        }
    }

    package func claim(
        _ claims: [LedgerClaim], _ rules: LedgerRules
    ) async throws(LedgerStorageError) -> [LedgerVerdict] {
        try transaction { () throws(SQLiteError) in
            let (verdicts, changed) = rules.decide(claims, rows: try rows(of: claims.flatMap(\.keys)), now: now())
            for row in changed { try write(row) }
            return verdicts
        }
    }

    package func complete(
        _ completions: [LedgerCompletion], _ rules: LedgerRules
    ) async throws(LedgerStorageError) -> [Bool] {
        try transaction { () throws(SQLiteError) in
            var accepted: [Bool] = []
            for completion in completions {
                guard let (written, deleted) = rules.complete(completion, rows: try rows(of: completion.keys)) else {
                    accepted.append(false)
                    continue
                }
                for row in written { try write(row) }
                for key in deleted {
                    try connection.run("DELETE FROM ledger WHERE \(Self.isKey)", Self.values(of: key))
                }
                accepted.append(true)
            }
            return accepted
        }
    }

    package func forget(_ rules: LedgerRules, limit: Int) async throws(LedgerStorageError) -> Int {
        let first = rules.firstDay(now: now())
        return try transaction { () throws(SQLiteError) in
            var keys: [LedgerKey] = []
            try connection.query(
                "SELECT \(Self.columns) FROM ledger WHERE day < ? ORDER BY day LIMIT ?",
                [.integer(Int64(first)), .integer(Int64(limit))]
            ) { if let row = Self.row($0) { keys.append(row.key) } }
            for key in keys { try connection.run("DELETE FROM ledger WHERE \(Self.isKey)", Self.values(of: key)) }
            return keys.count
        }
    }

    package func rows(in state: LedgerRow.UnitState?, limit: Int) async throws(LedgerStorageError) -> [LedgerRow] {
        try transaction { () throws(SQLiteError) in
            var rows: [LedgerRow] = []
            try connection.query(
                "SELECT \(Self.columns) FROM ledger WHERE ?1 = 0 OR state = ?1 ORDER BY day, client, request LIMIT ?2",
                [.integer(state?.rawValue ?? 0), .integer(Int64(limit))]
            ) { row in
                if var found = Self.row(row) {
                    found.outcome = nil
                    rows.append(found)
                }
            }
            return rows
        }
    }

    package func openRows() async throws(LedgerStorageError) -> [LedgerRow.UnitState: Int] {
        try transaction { () throws(SQLiteError) in
            var counts: [LedgerRow.UnitState: Int] = [:]
            try connection.query("SELECT state, count(*) FROM ledger WHERE state <> 3 GROUP BY state") { row in
                if let state = LedgerRow.UnitState(rawValue: row.integer(0)) { counts[state] = Int(row.integer(1)) }
            }
            return counts
        }
    }

    package func secret() async throws(LedgerStorageError) -> [UInt8] {
        try transaction { () throws(SQLiteError) in
            if let known = try connection.first("SELECT value FROM meta WHERE name = 'secret'")?[0].blob {
                return known
            }
            let made = (0..<32).map { _ in UInt8.random(in: 0...255) }
            try connection.run("INSERT INTO meta (name, value) VALUES ('secret', ?)", [.blob(made)])
            return made
        }
    }

    // MARK: Rows

    private func transaction<T>(_ body: () throws(SQLiteError) -> T) throws(LedgerStorageError) -> T {
        do {
            return try connection.transaction(body)
        } catch {
            throw LedgerStorageError("The ledger cannot be used: \(error).")
        }
    }

    private static let columns =
        "endpoint, dialect, client, request, day, principal, fingerprint, state, attempt, lease_end, outcome"
    private static let isKey = "endpoint = ? AND dialect = ? AND client = ? AND request = ? AND day = ?"

    private static func values(of key: LedgerKey) -> [SQLValue] {
        [
            .text(key.endpoint), .text(key.identifier.rawValue), .text(key.client), .text(key.request),
            .integer(Int64(key.day)),
        ]
    }

    private func rows(of keys: [LedgerKey]) throws(SQLiteError) -> [LedgerKey: LedgerRow] {
        var found: [LedgerKey: LedgerRow] = [:]
        for key in keys {
            try connection.query("SELECT \(Self.columns) FROM ledger WHERE \(Self.isKey)", Self.values(of: key)) {
                row in
                if let row = Self.row(row) { found[row.key] = row }
            }
        }
        return found
    }

    /// Reads a row. Returns `nil` if the file contains values that this version does not write.
    private static func row(_ row: Row) -> LedgerRow? {
        guard let endpoint = row.text(0), let dialect = row.text(1).flatMap(RepeatabilityIdentifier.Dialect.init),
            let client = row.text(2), let request = row.text(3),
            let state = LedgerRow.UnitState(rawValue: row.integer(7))
        else { return nil }
        let key = LedgerKey(
            endpoint: endpoint, dialect: dialect, client: client, request: request, day: Int32(clamping: row.integer(4))
        )
        return LedgerRow(
            key: key, principal: row.blob(5), fingerprint: row.blob(6), state: state, attempt: row.integer(8),
            leaseEnd: row.integer(9), outcome: row.isNull(10) ? nil : row.blob(10))
    }

    private func write(_ row: LedgerRow) throws(SQLiteError) {
        // Unlike a replacement, an update does not write the index of days again.
        try connection.run(
            """
            INSERT INTO ledger (\(Self.columns)) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT (endpoint, dialect, client, request, day) DO UPDATE SET principal = excluded.principal,
              fingerprint = excluded.fingerprint, state = excluded.state, attempt = excluded.attempt,
              lease_end = excluded.lease_end, outcome = excluded.outcome
            """,
            Self.values(of: row.key) + [
                .blob(row.principal), .blob(row.fingerprint), .integer(row.state.rawValue), .integer(row.attempt),
                .integer(row.leaseEnd), row.outcome.map { .blob($0) } ?? .null,
            ])
    }
}
