package import GatewayCore
internal import Views

/// The versions of the rows: a version is valid from generation `since` until the one that replaced it.
///
/// A publication writes versions from the generation after the head, and ends versions of the head at it, which changes
/// no generation up to the head. The last portion moves the head. A publication first removes the rest of an interrupted
/// one.
extension SQLiteFeedStorage {
    // MARK: Leases

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

    package func refuse(_ lease: FeedLease, _ trouble: String) async throws(LedgerStorageError) {
        leases.end(lease)
        try transaction { () throws(SQLiteError) in
            try connection.run(
                "UPDATE feed SET trouble = ? WHERE feed = ? AND fence = ?",
                [.text(trouble), .integer(lease.feed), .integer(lease.fence)])
        }
    }

    private func fence(_ feed: Int64) throws(SQLiteError) -> Int64? {
        try connection.first("SELECT fence FROM feed WHERE feed = ?", [.integer(feed)])?[0].integer
    }

    /// Returns the head if the lease may still publish.
    private func claimed(_ lease: FeedLease) throws(SQLiteError) -> FeedHead? {
        try heads("feed = ? AND fence = ?", [.integer(lease.feed), .integer(lease.fence)]).first?.head
    }

    // MARK: Publication

    package func publish(
        _ lease: FeedLease, _ changes: [FeedChange], _ description: FeedDescription
    ) async throws(LedgerStorageError) -> FeedHead? {
        defer { leases.end(lease) }
        try await removeOrphans()
        guard let head = try await withoutLeftovers(lease) else { return nil }
        let isNew = !changes.isEmpty || head.generation == 0
        let generation = isNew ? head.generation + 1 : head.generation
        var rows = head.rows
        var portions = FeedPortions(changes, limits)
        var portion = portions.next() ?? []
        while let following = portions.next() {
            let change = try transaction { () throws(SQLiteError) -> Int64? in
                try claimed(lease) == nil ? nil : try write(portion, lease.feed, generation)
            }
            guard let change else { return nil }
            rows += change
            portion = following
            // The next publication removes the rest of this one.
            if Task.isCancelled { throw LedgerStorageError("The gateway stops.") }
            try await pause()
        }
        return try transaction { () throws(SQLiteError) in
            guard try claimed(lease) != nil else { return nil }
            rows += try write(portion, lease.feed, generation)
            if isNew {
                // A client may have received the generation before until this moment.
                try connection.run(
                    "INSERT INTO generation (feed, generation, made) VALUES (?, ?, ?)",
                    [.integer(lease.feed), .integer(generation), .integer(now())])
            }
            try move(lease, to: generation, rows: rows, description)
            return try claimed(lease)
        }
    }

    /// Moves the head, which makes the generation visible.
    private func move(
        _ lease: FeedLease, to generation: Int64, rows: Int64, _ description: FeedDescription
    ) throws(SQLiteError) {
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
    }

    /// Removes the rest of an interrupted publication: versions after the head, and ends of versions after it.
    ///
    /// - Returns: The head, or `nil` if another reading has begun.
    private func withoutLeftovers(_ lease: FeedLease) async throws(LedgerStorageError) -> FeedHead? {
        while true {
            let (head, isClean) = try transaction { () throws(SQLiteError) -> (FeedHead?, Bool) in
                guard let head = try claimed(lease) else { return (nil, true) }
                let values: [SQLValue] = [.integer(lease.feed), .integer(head.generation)]
                let made = try erase("feed = ?1 AND since > ?2", values)
                let ended = try found("feed = ?1 AND until > ?2 AND until < \(Int64.max)", values)
                for version in ended {
                    try connection.run(
                        "UPDATE item SET until = \(Int64.max) WHERE feed = ? AND key = ? AND since = ?",
                        [.integer(lease.feed)] + version)
                }
                return (head, made == 0 && ended.isEmpty)
            }
            if head == nil || isClean { return head }
            try await pause()
        }
    }

    /// Writes a portion of a publication.
    ///
    /// - Returns: The change of the number of rows.
    private func write(
        _ changes: ArraySlice<FeedChange>, _ feed: Int64, _ generation: Int64
    ) throws(SQLiteError) -> Int64 {
        var rows: Int64 = 0
        for change in changes { rows += try write(change, feed, generation) }
        return rows
    }

    /// Closes the version before, and inserts the new one.
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

    // MARK: Removal

    package func forget(_ feed: Int64, lifetime: Int64) async throws(LedgerStorageError) {
        try await forgetWrites()
        let time = now()
        let oldest = try transaction { () throws(SQLiteError) -> Int64? in
            var made: [(generation: Int64, time: Int64)] = []
            try connection.query(
                "SELECT generation, made FROM generation WHERE feed = ? ORDER BY generation", [.integer(feed)]
            ) { made.append(($0.integer(0), $0.integer(1))) }
            let oldest = FeedRetention.oldest(made, cutoff: time - lifetime)
            guard let head = try heads("feed = ?", [.integer(feed)]).first?.head, oldest > head.tokensFrom else {
                return nil
            }
            let values: [SQLValue] = [.integer(feed), .integer(oldest)]
            try connection.run("UPDATE feed SET tokens_from = ?2 WHERE feed = ?1", values)
            try connection.run("DELETE FROM generation WHERE feed = ?1 AND generation < ?2", values)
            return oldest
        }
        guard let oldest else { return }
        // If this is interrupted, the versions are deleted when the next generation is forgotten.
        let values: [SQLValue] = [.integer(feed), .integer(oldest)]
        try await eraseAll("feed = ?1 AND until <= ?2 AND until < \(Int64.max)", values)
        try await eraseAll("feed = ?1 AND since <= ?2 AND digest IS NULL", values)
    }

    package func remove(_ feed: Int64, notReadSince time: Int64) async throws(LedgerStorageError) -> Bool {
        if leases.isHeld(feed, now: now()) { return false }
        let isRemoved = try transaction { () throws(SQLiteError) in
            guard let head = try heads("feed = ?", [.integer(feed)]).first?.head, head.readBegan ?? .min <= time else {
                return false
            }
            try delete(feed)
            return true
        }
        if isRemoved { orphans.insert(feed) }
        try await removeOrphans()
        return isRemoved
    }

    /// Deletes the rows of removed feeds.
    func removeOrphans() async throws(LedgerStorageError) {
        while let feed = orphans.first {
            try await eraseAll("feed = ?1", [.integer(feed)])
            orphans.remove(feed)
        }
    }

    /// Deletes versions in portions. `values` begins with the feed.
    private func eraseAll(_ condition: String, _ values: [SQLValue]) async throws(LedgerStorageError) {
        while try transaction({ () throws(SQLiteError) in try erase(condition, values) }) > 0 { try await pause() }
    }

    /// Deletes a portion of versions. `values` begins with the feed.
    ///
    /// - Returns: The number of the deleted versions. It is 0 only if there are none.
    private func erase(_ condition: String, _ values: [SQLValue]) throws(SQLiteError) -> Int {
        let versions = try found(condition, values)
        for version in versions {
            try connection.run("DELETE FROM item WHERE feed = ? AND key = ? AND since = ?", [values[0]] + version)
        }
        return versions.count
    }

    /// Returns the keys and the first generations of a portion of versions.
    private func found(_ condition: String, _ values: [SQLValue]) throws(SQLiteError) -> [[SQLValue]] {
        var found: [[SQLValue]] = []
        var bytes = 0
        try connection.query(
            "SELECT key, since, length(body) FROM item WHERE \(condition) LIMIT \(Swift.max(limits.rows, 1))", values
        ) { row in
            if bytes < limits.bytes || found.isEmpty { found.append([row[0], row[1]]) }
            bytes += Int(row.integer(2))
        }
        return found
    }
}
