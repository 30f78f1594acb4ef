package import GatewayCore
internal import Synchronization

/// The ledger in PostgreSQL, for several nodes.
///
/// Existing rows are locked while a decision is made, so that two nodes never decide on one request at the same time.
/// Two nodes that insert the same row meet at its primary key; one of them decides again. Times are those of the
/// server.
package final class PostgresLedgerStorage: LedgerStorage {
    private let pool: PostgresPool
    private let fixedTime: (@Sendable () -> Int64)?

    private static let claimPatience: Duration = .seconds(5)
    /// A lost outcome leaves doubt, so the ledger waits for the end of a restart.
    private static let outcomePatience: Duration = .seconds(20)
    private static let readPatience: Duration = .seconds(1)

    package var poolUse: PoolUse? { pool.use }

    /// Opens the ledger, and creates or updates its tables.
    ///
    /// - Parameter now: The time, for tests. By default the clock of the server.
    package init(_ settings: PostgresSettings, now: (@Sendable () -> Int64)? = nil) async throws(LedgerStorageError) {
        pool = PostgresPool(settings)
        fixedTime = now
        try await pool.open()
    }

    /// Creates or updates the tables.
    ///
    /// - Parameter isDry: Whether the changes are rolled back.
    /// - Returns: The versions that were added.
    package static func migrate(
        _ settings: PostgresSettings, isDry: Bool
    ) async throws(LedgerStorageError) -> [Int64] {
        try await PostgresPool(settings).open(patience: .zero, isDry: isDry)
    }

    private func time(_ transaction: PostgresTransaction) -> Int64 { fixedTime?() ?? transaction.now }

    private func run<T: Sendable>(
        _ patience: Duration, isRepeatable: Bool = true,
        _ body: @escaping @Sendable (PostgresTransaction) throws(PostgresError) -> T
    ) async throws(LedgerStorageError) -> T {
        do throws(PostgresError) {
            return try await pool.transaction(patience: patience, isRepeatable: isRepeatable, body)
        } catch {
            throw LedgerStorageError("The ledger cannot be used: \(error).")
        }
    }

    // MARK: Decisions

    package func claim(
        _ claims: [LedgerClaim], _ rules: LedgerRules
    ) async throws(LedgerStorageError) -> [LedgerVerdict] {
        let isFirst = Mutex(true)
        // A claim that may have been committed is not repeated: its row would look like one of another node.
        return try await run(Self.claimPatience, isRepeatable: false) { [self] (transaction) throws(PostgresError) in
            if isFirst.withLock({ $0.take() }), let verdicts = try claimNew(claims, rules, transaction) {
                return verdicts
            }
            let known = try rows(of: claims.flatMap(\.keys), transaction)
            let now = time(transaction)
            let start = ContinuousClock.now
            let (verdicts, changed) = rules.decide(claims, rows: known, now: now)
            let (updated, inserted) = (changed.filter { known[$0.key] != nil }, changed.filter { known[$0.key] == nil })
            try write(updated, transaction)
            guard try insert(inserted, transaction) == inserted.count else {
                throw .server(.serializationFailure, "another node has inserted the row")
            }
            // An insertion waits for a node that inserts the same row. If that takes long, the lease has become
            // shorter.
            guard start.duration(to: .now) < .seconds(1) else {
                throw .server(.serializationFailure, "the insertion of a row took too long")
            }
            return verdicts
        }
    }

    /// Claims units that are all new, which is the usual case, without a look-up: the insertion shows that there was no
    /// row.
    ///
    /// - Returns: `nil` if nothing was inserted.
    /// - Throws: If some rows exist. The transaction is then rolled back, and executed again with a look-up.
    private func claimNew(
        _ claims: [LedgerClaim], _ rules: LedgerRules, _ transaction: PostgresTransaction
    ) throws(PostgresError) -> [LedgerVerdict]? {
        let start = ContinuousClock.now
        let (verdicts, new) = rules.decide(claims, rows: [:], now: time(transaction))
        guard !new.isEmpty, verdicts.allSatisfy({ if case .send = $0 { true } else { false } }) else { return nil }
        let count = try insert(new, transaction)
        if count == 0 { return nil }
        guard count == new.count, start.duration(to: .now) < .seconds(1) else {
            throw .server(.serializationFailure, "another request has inserted a row")
        }
        return verdicts
    }

    package func complete(
        _ completions: [LedgerCompletion], _ rules: LedgerRules
    ) async throws(LedgerStorageError) -> [Bool] {
        // After a deletion that may have been committed, the same attempt number may belong to another node.
        let isRepeatable = !completions.contains { $0.end == .notExecuted }
        let isFirst = Mutex(isRepeatable)
        return try await run(Self.outcomePatience, isRepeatable: isRepeatable) {
            [self] (transaction) throws(PostgresError) in
            if isFirst.withLock({ $0.take() }) {
                let count = try end(completions, transaction)
                if count == completions.reduce(0, { $0 + $1.keys.count }) { return completions.map { _ in true } }
                guard count == 0 else {
                    throw .server(.serializationFailure, "another attempt has taken over a request")
                }
            }
            var known = try rows(of: completions.flatMap(\.keys), transaction)
            var accepted: [Bool] = []
            var changed: [LedgerRow] = []
            var removed: [LedgerKey] = []
            for completion in completions {
                guard let (written, deleted) = rules.complete(completion, rows: known) else {
                    accepted.append(Self.isRecorded(completion, known))
                    continue
                }
                for row in written { known[row.key] = row }
                for key in deleted { known[key] = nil }
                changed += written
                removed += deleted
                accepted.append(true)
            }
            try write(changed, transaction)
            try delete(removed, transaction)
            return accepted
        }
    }

    /// Records the ends of attempts whose rows remain, as ``GatewayCore/LedgerRules/complete(_:rows:)`` does, without a
    /// look-up: a row changes only if it belongs to the attempt.
    ///
    /// - Returns: The number of changed rows.
    private func end(
        _ completions: [LedgerCompletion], _ transaction: PostgresTransaction
    ) throws(PostgresError) -> Int {
        let ends = completions.flatMap { completion in
            completion.keys.enumerated().map { index, key in
                let outcome: [UInt8]? = if index == 0, case .done(let bytes) = completion.end { bytes } else { nil }
                return LedgerRow(
                    key: key, principal: [], fingerprint: [], state: completion.isDone ? .done : .doubt,
                    attempt: completion.attempt, leaseEnd: 0, outcome: outcome)
            }
        }
        return try end(ends, transaction)
    }

    /// Whether the end of an attempt was recorded before, by a transaction whose response was lost.
    private static func isRecorded(_ completion: LedgerCompletion, _ rows: [LedgerKey: LedgerRow]) -> Bool {
        let known = completion.keys.compactMap { rows[$0] }
        guard known.count == completion.keys.count, known.allSatisfy({ $0.attempt == completion.attempt }) else {
            return false
        }
        switch completion.end {
        case .done(let outcome): return known.allSatisfy { $0.state == .done } && known.first?.outcome == outcome
        case .doubt: return known.allSatisfy { $0.state == .doubt }
        case .notExecuted: return false
        }
    }

    // MARK: Other requests

    package func forget(_ rules: LedgerRules, limit: Int) async throws(LedgerStorageError) -> Int {
        try await run(Self.readPatience) { [self] (transaction) throws(PostgresError) in
            let first = rules.firstDay(now: time(transaction))
            return try transaction.query(
                """
                DELETE FROM ledger WHERE ctid = ANY (ARRAY(
                  SELECT ctid FROM ledger WHERE day < $1 ORDER BY day LIMIT $2 FOR UPDATE SKIP LOCKED))
                """, [.integer(Int64(first)), .integer(Int64(limit))]
            ).affected
        }
    }

    package func rows(in state: LedgerRow.UnitState?, limit: Int) async throws(LedgerStorageError) -> [LedgerRow] {
        try await run(Self.readPatience) { (transaction) throws(PostgresError) in
            let rows = try transaction.query(
                """
                SELECT endpoint, dialect, client, request, day, principal, fingerprint, state, attempt, lease_end,
                  NULL::bytea FROM ledger WHERE $1 = 0 OR state = $1 ORDER BY day, client, request LIMIT $2
                """, [.integer(state?.rawValue ?? 0), .integer(Int64(limit))])
            return (0..<rows.count).compactMap { Self.row(rows, $0) }
        }
    }

    package func openRows() async throws(LedgerStorageError) -> [LedgerRow.UnitState: Int] {
        try await run(Self.readPatience) { (transaction) throws(PostgresError) in
            let rows = try transaction.query("SELECT state, count(*) FROM ledger WHERE state <> 3 GROUP BY state")
            var counts: [LedgerRow.UnitState: Int] = [:]
            for index in 0..<rows.count {
                guard let state = LedgerRow.UnitState(rawValue: rows.integer(index, 0) ?? 0) else { continue }
                counts[state] = Int(clamping: rows.integer(index, 1) ?? 0)
            }
            return counts
        }
    }

    package func secret() async throws(LedgerStorageError) -> [UInt8] {
        let made = (0..<32).map { _ in UInt8.random(in: 0...255) }
        return try await run(Self.claimPatience) { (transaction) throws(PostgresError) in
            try transaction.query(
                "INSERT INTO secret (only_row, value) VALUES (true, $1) ON CONFLICT DO NOTHING", [.bytes(made)])
            guard let value = try transaction.query("SELECT value FROM secret").blob(0, 0) else {
                throw .unexpectedResult("the table of the secret is empty")
            }
            return value
        }
    }

    /// Returns warnings about settings of the server with which a row can be lost.
    package func warnings() async -> [String] {
        let settings = try? await run(Self.readPatience) { (transaction) throws(PostgresError) in
            let rows = try transaction.query(
                """
                SELECT current_setting('fsync') = 'off', current_setting('full_page_writes') = 'off',
                  EXISTS (SELECT FROM pg_stat_replication)
                    AND NOT EXISTS (SELECT FROM pg_stat_replication WHERE sync_state IN ('sync', 'quorum'))
                """)
            return (0..<3).map { rows.integer(0, $0) == 1 }
        }
        guard let settings, settings.count == 3 else { return [] }
        var warnings: [String] = []
        if settings[0] { warnings.append("fsync is off: after a power failure, uploads can be executed twice.") }
        if settings[1] { warnings.append("full_page_writes is off: after a power failure, tables can be damaged.") }
        if settings[2] {
            warnings.append(
                "No standby is synchronous: after a failover, the last uploads are unknown and can be executed twice.")
        }
        return warnings
    }
}

extension Bool {
    /// Returns the value, and sets it to `false`.
    fileprivate mutating func take() -> Bool {
        defer { self = false }
        return self
    }
}
