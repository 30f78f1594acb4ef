package import GatewayCore

/// Feeds in memory, for tests and simulations.
package actor MemoryFeedStorage: FeedStorage {
    private struct Feed {
        var identity: FeedIdentity
        var head: FeedHead
        var rows = VersionedRows()
        var made: [(generation: Int64, time: Int64)] = []
        var fence: Int64 = 0
    }

    private struct Writer: Hashable {
        let endpoint: String
        let user: [UInt8]
    }

    private var feeds: [Int64: Feed] = [:]
    private var leases = FeedLeases()
    private var writes: [Writer: Int64] = [:]
    private var next: Int64 = 1
    private let now: @Sendable () -> Int64
    private let salt: @Sendable () -> [UInt8]
    package nonisolated let isShared: Bool

    /// - Parameters:
    ///   - isShared: Whether several gateways of this process use the storage.
    ///   - salt: Returns the 16 random bytes of a new feed.
    package init(
        isShared: Bool = false, now: @escaping @Sendable () -> Int64 = WallClock.milliseconds,
        salt: @escaping @Sendable () -> [UInt8] = { (0..<16).map { _ in UInt8.random(in: 0...255) } }
    ) {
        self.isShared = isShared
        self.now = now
        self.salt = salt
    }

    package func feed(_ identity: FeedIdentity) async throws(LedgerStorageError) -> FeedHead {
        let known = feeds.values.first {
            $0.identity.endpoint == identity.endpoint && $0.identity.query == identity.query
        }
        if let known, known.identity == identity { return known.head }
        if let known { feeds[known.head.id] = nil }
        let head = FeedHead(id: next, salt: salt())
        feeds[next] = Feed(identity: identity, head: head)
        next += 1
        return head
    }

    package func head(_ feed: Int64) async throws(LedgerStorageError) -> FeedHead? { feeds[feed]?.head }

    package func claim(_ feed: Int64, node: String) async throws(LedgerStorageError) -> FeedClaim {
        let time = now()
        guard var found = feeds[feed] else { return .missing }
        if leases.isBusy(feed, node: node, now: time) { return .busy }
        found.fence += 1
        feeds[feed] = found
        let lease = FeedLease(feed: feed, fence: found.fence, began: time)
        leases.grant(lease, node: node, now: time)
        return .granted(lease)
    }

    package func renew(_ lease: FeedLease) async throws(LedgerStorageError) -> Bool {
        leases.renew(lease, now: now())
    }

    package func release(_ lease: FeedLease) async throws(LedgerStorageError) { leases.end(lease) }

    package func digests(_ feed: Int64) async throws(LedgerStorageError) -> [String: RowDigest] {
        feeds[feed]?.rows.digests ?? [:]
    }

    package func publish(
        _ lease: FeedLease, _ changes: [FeedChange], _ description: FeedDescription
    ) async throws(LedgerStorageError) -> FeedHead? {
        guard var feed = feeds[lease.feed], feed.fence == lease.fence else { return nil }
        if !changes.isEmpty || feed.head.generation == 0 {
            feed.head.generation += 1
            feed.rows.publish(changes, generation: feed.head.generation)
            feed.made.append((feed.head.generation, now()))
            feed.head.rows = Int64(feed.rows.digests.count)
            if feed.made.count == 1 { feed.head.tokensFrom = feed.head.generation }
        }
        feed.head.readBegan = lease.began
        feed.head.description = description
        feed.head.trouble = nil
        feed.head.acceptsRemovals = false
        feeds[lease.feed] = feed
        leases.end(lease)
        return feed.head
    }

    package func refuse(_ lease: FeedLease, _ trouble: String) async throws(LedgerStorageError) {
        guard feeds[lease.feed]?.fence == lease.fence else { return }
        leases.end(lease)
        feeds[lease.feed]?.head.trouble = trouble
    }

    package func rows(
        _ feed: Int64, at generation: Int64, after: String?, limit: Int
    ) async throws(LedgerStorageError) -> [FeedItem] {
        feeds[feed]?.rows.rows(at: generation, after: after, limit: limit) ?? []
    }

    package func changes(
        _ feed: Int64, from start: Int64, to end: Int64, after: FeedPosition?, limit: Int
    ) async throws(LedgerStorageError) -> [FeedItem] {
        feeds[feed]?.rows.changes(from: start, to: end, after: after, limit: limit) ?? []
    }

    package func forget(_ feed: Int64, lifetime: Int64) async throws(LedgerStorageError) {
        guard var found = feeds[feed] else { return }
        let oldest = FeedRetention.oldest(found.made, cutoff: now() - lifetime)
        found.head.tokensFrom = max(found.head.tokensFrom, oldest)
        found.rows.forget(before: found.head.tokensFrom)
        found.made.removeAll { $0.generation < found.head.tokensFrom }
        feeds[feed] = found
        writes = writes.filter { $0.value > now() - FeedFreshness.maximumAge }
    }

    package func remove(_ feed: Int64, notReadSince time: Int64) async throws(LedgerStorageError) -> Bool {
        guard let found = feeds[feed], found.head.readBegan ?? .min <= time, !leases.isHeld(feed, now: now()) else {
            return false
        }
        feeds[feed] = nil
        return true
    }

    package func markWrite(endpoint: String, user: [UInt8]) async throws(LedgerStorageError) {
        writes[Writer(endpoint: endpoint, user: user)] = now()
    }

    package func lastWrite(endpoint: String, user: [UInt8]) async throws(LedgerStorageError) -> Int64? {
        writes[Writer(endpoint: endpoint, user: user)]
    }

    package func acceptRemovals(endpoint: String, query: String) async throws(LedgerStorageError) -> Bool {
        guard
            let id = feeds.first(where: { $0.value.identity.endpoint == endpoint && $0.value.identity.query == query })?
                .key
        else { return false }
        feeds[id]?.head.acceptsRemovals = true
        return true
    }

    package func list() async throws(LedgerStorageError) -> [(identity: FeedIdentity, head: FeedHead)] {
        feeds.values.map { ($0.identity, $0.head) }.sorted { $0.head.id < $1.head.id }
    }

    package func time() async -> Int64 { now() }
}
