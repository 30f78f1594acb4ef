package import GatewayCore
internal import Views

/// The versions of the rows: a version is valid from generation `since` until the one that replaced it.
extension SQLiteFeedStorage {
    package func claim(_ feed: Int64, node: String) async throws(LedgerStorageError) -> FeedClaim {
        let time = now()
        let isBusy = leases.isBusy(feed, node: node, now: time)
        let claim = try transaction { () throws(SQLiteError) -> FeedClaim in
            guard try fence(feed) != nil else { return .missing }
            if isBusy { return .busy }
            try connection.run("UPDATE feed SET fence = fence + 1 WHERE feed = ?", [.integer(feed)])
            return .granted(FeedLease(feed: feed, fence: try fence(feed) ?? 0, began: time))
        }
        if let lease = claim.lease { leases.grant(lease, node: node, now: time) }
        return claim
    }

    package func renew(_ lease: FeedLease) async throws(LedgerStorageError) -> Bool {
        leases.renew(lease, now: now())
    }

    package func release(_ lease: FeedLease) async throws(LedgerStorageError) { leases.end(lease) }

    private func fence(_ feed: Int64) throws(SQLiteError) -> Int64? {
        try connection.first("SELECT fence FROM feed WHERE feed = ?", [.integer(feed)])?[0].integer
    }

    package func digests(_ feed: Int64) async throws(LedgerStorageError) -> [String: RowDigest] {
        try transaction { () throws(SQLiteError) in
            var found: [String: RowDigest] = [:]
            try connection.query(
                "SELECT key, digest FROM item WHERE feed = ? AND until = \(Int64.max) AND digest IS NOT NULL",
                [.integer(feed)]
            ) { row in
                if let key = row.text(0) { found[key] = RowDigest(row.blob(1)) }
            }
            return found
        }
    }

    package func publish(
        _ lease: FeedLease, _ changes: [FeedChange], _ description: FeedDescription
    ) async throws(LedgerStorageError) -> FeedHead? {
        let time = now()
        defer { leases.end(lease) }
        return try transaction { () throws(SQLiteError) in
            guard try fence(lease.feed) == lease.fence,
                let head = try heads("feed = ?", [.integer(lease.feed)]).first?.head
            else { return nil }
            var generation = head.generation
            var rows = head.rows
            if !changes.isEmpty || generation == 0 {
                generation += 1
                for change in changes { rows += try write(change, lease.feed, generation) }
                try connection.run(
                    "INSERT INTO generation (feed, generation, made) VALUES (?, ?, ?)",
                    [.integer(lease.feed), .integer(generation), .integer(time)])
            }
            try connection.run(
                """
                UPDATE feed SET head = ?, head_read = ?, live_count = ?, context = ?, version = ?, legacy = ?,
                  tokens_from = max(tokens_from, 1), trouble = NULL, accepts = 0 WHERE feed = ?
                """,
                [
                    .integer(generation), .integer(lease.began), .integer(rows),
                    description.context.map { .text($0) } ?? .null, description.version.map { .text($0) } ?? .null,
                    .integer(description.isLegacy ? 1 : 0), .integer(lease.feed),
                ])
            return try heads("feed = ?", [.integer(lease.feed)]).first?.head
        }
    }

    /// Closes the version before, and inserts the new one.
    ///
    /// - Returns: The change of the number of rows.
    private func write(_ change: FeedChange, _ feed: Int64, _ generation: Int64) throws(SQLiteError) -> Int64 {
        let isKnown = try connection.first(
            "SELECT digest IS NOT NULL FROM item WHERE feed = ? AND key = ? AND until = \(Int64.max)",
            [.integer(feed), .text(change.key)])?[0].integer
        if isKnown != nil {
            try connection.run(
                "UPDATE item SET until = ? WHERE feed = ? AND key = ? AND until = \(Int64.max)",
                [.integer(generation), .integer(feed), .text(change.key)])
        }
        let was: Int64 = isKnown == 1 ? 1 : 0
        let head: [SQLValue] = [.integer(feed), .text(change.key), .integer(generation), .integer(.max)]
        let rest: [SQLValue]
        switch change {
        case .row(let row): rest = [.blob(row.digest.bytes), .null, .blob(row.body)]
        case .removed(_, let reason): rest = [.null, .integer(reason.rawValue), .null]
        }
        try connection.run(
            "INSERT INTO item (feed, key, since, until, digest, reason, body) VALUES (?, ?, ?, ?, ?, ?, ?)",
            head + rest)
        if case .row = change { return 1 - was }
        return -was
    }

    package func refuse(_ lease: FeedLease, _ trouble: String) async throws(LedgerStorageError) {
        leases.end(lease)
        try transaction { () throws(SQLiteError) in
            try connection.run(
                "UPDATE feed SET trouble = ? WHERE feed = ? AND fence = ?",
                [.text(trouble), .integer(lease.feed), .integer(lease.fence)])
        }
    }

    package func rows(
        _ feed: Int64, at generation: Int64, after: String?, limit: Int
    ) async throws(LedgerStorageError) -> [FeedItem] {
        try items(
            """
            feed = ?1 AND since <= ?2 AND until > ?2 AND key > ?3 AND digest IS NOT NULL ORDER BY key LIMIT ?4
            """, [.integer(feed), .integer(generation), .text(after ?? ""), .integer(Int64(limit))])
    }

    package func changes(
        _ feed: Int64, from start: Int64, to end: Int64, after: FeedPosition?, limit: Int
    ) async throws(LedgerStorageError) -> [FeedItem] {
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
        try transaction { () throws(SQLiteError) in
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

    package func forget(_ feed: Int64, lifetime: Int64) async throws(LedgerStorageError) {
        let time = now()
        try transaction { () throws(SQLiteError) in
            var made: [(generation: Int64, time: Int64)] = []
            try connection.query(
                "SELECT generation, made FROM generation WHERE feed = ? ORDER BY generation", [.integer(feed)]
            ) { made.append(($0.integer(0), $0.integer(1))) }
            let oldest = FeedRetention.oldest(made, cutoff: time - lifetime)
            try connection.run(
                "DELETE FROM write_mark WHERE written <= ?", [.integer(time - FeedFreshness.maximumAge)])
            guard let head = try heads("feed = ?", [.integer(feed)]).first?.head, oldest > head.tokensFrom else {
                return
            }
            let values: [SQLValue] = [.integer(feed), .integer(oldest)]
            try connection.run("UPDATE feed SET tokens_from = ?2 WHERE feed = ?1", values)
            try connection.run("DELETE FROM generation WHERE feed = ?1 AND generation < ?2", values)
            try connection.run(
                "DELETE FROM item WHERE feed = ?1 AND until <= ?2 AND until < \(Int64.max)", values)
            try connection.run("DELETE FROM item WHERE feed = ?1 AND since <= ?2 AND digest IS NULL", values)
        }
    }
}
