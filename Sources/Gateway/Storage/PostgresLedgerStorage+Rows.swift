internal import GatewayCore

/// Rows are read and written by one statement for all rows of a request, in the order of their keys, so that two nodes
/// do not wait for each other. Only ``end(_:_:)`` locks in any order: PostgreSQL ends a deadlock, and the transaction is
/// repeated.
extension PostgresLedgerStorage {
    private static func values(_ keys: [LedgerKey]) -> [PostgresValue] {
        [
            .texts(keys.map(\.endpoint)), .texts(keys.map(\.identifier.rawValue)), .texts(keys.map(\.client)),
            .texts(keys.map(\.request)), .integers(keys.map { Int64($0.day) }),
        ]
    }

    private static func values(_ rows: [LedgerRow]) -> [PostgresValue] {
        values(rows.map(\.key)) + [
            .byteStrings(rows.map(\.principal)), .byteStrings(rows.map(\.fingerprint)),
            .integers(rows.map(\.state.rawValue)), .integers(rows.map(\.attempt)), .integers(rows.map(\.leaseEnd)),
            .byteStrings(rows.map(\.outcome)),
        ]
    }

    private static func sorted(_ rows: [LedgerRow]) -> [LedgerRow] { rows.sorted { precedes($0.key, $1.key) } }

    private static func precedes(_ a: LedgerKey, _ b: LedgerKey) -> Bool {
        func differ(_ left: String, _ right: String) -> Bool { !left.utf8.elementsEqual(right.utf8) }
        func precedes(_ left: String, _ right: String) -> Bool { left.utf8.lexicographicallyPrecedes(right.utf8) }
        if differ(a.endpoint, b.endpoint) { return precedes(a.endpoint, b.endpoint) }
        if a.identifier != b.identifier { return precedes(a.identifier.rawValue, b.identifier.rawValue) }
        if differ(a.client, b.client) { return precedes(a.client, b.client) }
        if differ(a.request, b.request) { return precedes(a.request, b.request) }
        return a.day < b.day
    }

    /// Returns the rows that exist, and locks them until the end of the transaction.
    func rows(
        of keys: [LedgerKey], _ transaction: PostgresTransaction
    ) throws(PostgresError) -> [LedgerKey: LedgerRow] {
        let found = try transaction.query(
            """
            SELECT l.endpoint, l.dialect, l.client, l.request, l.day, l.principal, l.fingerprint, l.state, l.attempt,
              l.lease_end, l.outcome
            FROM ledger l JOIN unnest($1, $2, $3, $4, $5) AS k (endpoint, dialect, client, request, day)
              ON l.endpoint = k.endpoint AND l.dialect = k.dialect AND l.client = k.client AND l.request = k.request
                AND l.day = k.day
            ORDER BY l.endpoint, l.dialect, l.client, l.request, l.day FOR UPDATE OF l
            """, Self.values(Array(Set(keys))))
        var rows: [LedgerKey: LedgerRow] = [:]
        for index in 0..<found.count {
            guard let row = Self.row(found, index) else {
                throw .unexpectedResult("a row of the ledger was written by another version")
            }
            rows[row.key] = row
        }
        return rows
    }

    /// Reads a row. Returns `nil` if it contains values that this version does not write.
    static func row(_ rows: PostgresRows, _ index: Int) -> LedgerRow? {
        guard let endpoint = rows.text(index, 0),
            let dialect = rows.text(index, 1).flatMap(RepeatabilityIdentifier.Dialect.init),
            let client = rows.text(index, 2), let request = rows.text(index, 3), let day = rows.integer(index, 4),
            let principal = rows.blob(index, 5), let fingerprint = rows.blob(index, 6),
            let state = rows.integer(index, 7).flatMap(LedgerRow.UnitState.init),
            let attempt = rows.integer(index, 8), let leaseEnd = rows.integer(index, 9)
        else { return nil }
        return LedgerRow(
            key: LedgerKey(
                endpoint: endpoint, dialect: dialect, client: client, request: request, day: Int32(clamping: day)),
            principal: principal, fingerprint: fingerprint, state: state, attempt: attempt, leaseEnd: leaseEnd,
            outcome: rows.blob(index, 10))
    }

    /// Inserts rows, unless they exist.
    ///
    /// - Returns: The number of inserted rows.
    func insert(_ rows: [LedgerRow], _ transaction: PostgresTransaction) throws(PostgresError) -> Int {
        if rows.isEmpty { return 0 }
        return try transaction.query(
            """
            INSERT INTO ledger (endpoint, dialect, client, request, day, principal, fingerprint, state, attempt, lease_end,
              outcome)
            SELECT * FROM unnest($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) ON CONFLICT DO NOTHING
            """, Self.values(Self.sorted(rows))
        ).affected
    }

    /// Replaces the state of rows that the transaction has locked.
    func write(_ rows: [LedgerRow], _ transaction: PostgresTransaction) throws(PostgresError) {
        if rows.isEmpty { return }
        try transaction.query(
            """
            UPDATE ledger l SET principal = r.principal, fingerprint = r.fingerprint, state = r.state,
              attempt = r.attempt, lease_end = r.lease_end, outcome = r.outcome
            FROM unnest($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
              AS r (endpoint, dialect, client, request, day, principal, fingerprint, state, attempt, lease_end, outcome)
            WHERE l.endpoint = r.endpoint AND l.dialect = r.dialect AND l.client = r.client AND l.request = r.request
              AND l.day = r.day
            """, Self.values(Self.sorted(rows)))
    }

    /// Changes the state of rows that are still of the same attempt, and in which it has not ended.
    ///
    /// - Returns: The number of changed rows.
    func end(_ rows: [LedgerRow], _ transaction: PostgresTransaction) throws(PostgresError) -> Int {
        if rows.isEmpty { return 0 }
        let rows = Self.sorted(rows)
        return try transaction.query(
            """
            UPDATE ledger l SET state = r.state, outcome = r.outcome
            FROM unnest($1, $2, $3, $4, $5, $6, $7, $8)
              AS r (endpoint, dialect, client, request, day, state, attempt, outcome)
            WHERE l.endpoint = r.endpoint AND l.dialect = r.dialect AND l.client = r.client AND l.request = r.request
              AND l.day = r.day AND l.attempt = r.attempt AND l.state = \(LedgerRow.UnitState.sending.rawValue)
            """,
            Self.values(rows.map(\.key)) + [
                .integers(rows.map(\.state.rawValue)), .integers(rows.map(\.attempt)),
                .byteStrings(rows.map(\.outcome)),
            ]
        ).affected
    }

    func delete(_ keys: [LedgerKey], _ transaction: PostgresTransaction) throws(PostgresError) {
        if keys.isEmpty { return }
        try transaction.query(
            """
            DELETE FROM ledger l USING unnest($1, $2, $3, $4, $5) AS k (endpoint, dialect, client, request, day)
            WHERE l.endpoint = k.endpoint AND l.dialect = k.dialect AND l.client = k.client AND l.request = k.request
              AND l.day = k.day
            """, Self.values(keys))
    }
}
