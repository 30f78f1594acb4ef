import Gateway
import GatewayCore
import SeededRandom
import Synchronization
import TestSupport
import Testing

/// The contract of all storages of feeds.
struct FeedStorageTests {
    enum Storage: String, CaseIterable, CustomTestStringConvertible {
        case memory, sqlite, postgres
        /// SQLite with a portion for each row.
        case portions
        static var allCases: [Storage] {
            [.memory, .sqlite, .portions] + (PostgresServer.isInstalled ? [.postgres] : [])
        }
        var testDescription: String { rawValue }
    }

    private let directory = TemporaryDirectory()
    private let identity = FeedIdentity(endpoint: "shop", query: "Orders?$filter=A%20eq%20'ä'", shape: "1")
    private let description = FeedDescription(context: "c", version: "4.0", isLegacy: true)

    private func make(_ storage: Storage, _ now: @escaping @Sendable () -> Int64) async throws -> any FeedStorage {
        switch storage {
        case .memory: MemoryFeedStorage(now: now)
        case .sqlite: try SQLiteFeedStorage(path: directory.path + "/feeds.db", now: now)
        case .portions:
            try SQLiteFeedStorage(path: directory.path + "/feeds.db", now: now, limits: FeedPortions.Limits(rows: 1))
        case .postgres: try await PostgresFeedStorage(PostgresServer.fresh(), now: now)
        }
    }

    private final class Time: Sendable {
        let value = Mutex<Int64>(1_000_000)
        func advance(_ milliseconds: Int64) { value.withLock { $0 += milliseconds } }
        var now: @Sendable () -> Int64 { { self.value.withLock { $0 } } }
    }

    private func row(_ key: String, _ value: UInt8) -> FeedChange {
        .row(FeedRow(key: key, digest: RowDigest([value, 1, 2]), body: [value]))
    }

    @discardableResult
    private func publish(
        _ storage: any FeedStorage, _ feed: Int64, _ changes: [FeedChange]
    ) async throws -> FeedHead {
        let lease = try #require(try await storage.claim(feed, node: "a").lease)
        return try #require(try await storage.publish(lease, changes, description))
    }

    @Test(arguments: Storage.allCases)
    func `a generation is visible as a whole, and the head describes it`(_ kind: Storage) async throws {
        let time = Time()
        let storage = try await make(kind, time.now)
        let created = try await storage.feed(identity)
        #expect(created.generation == 0 && created.readBegan == nil && created.salt.count == 16)
        let lease = try #require(try await storage.claim(created.id, node: "a").lease)
        time.advance(5)
        let head = try #require(
            try await storage.publish(lease, [row("(1)", 1), row("(2)", 2)], description))
        #expect(head.generation == 1 && head.rows == 2 && head.readBegan == 1_000_000 && head.tokensFrom == 1)
        #expect(head.description == description && head.salt == created.salt)
        #expect(try await storage.feed(identity) == head)
        #expect(try await storage.head(head.id) == head)
        #expect(try await storage.list().map(\.identity) == [identity])
        #expect(try await storage.digests(head.id) == ["(1)": RowDigest([1, 1, 2]), "(2)": RowDigest([2, 1, 2])])
        let unchanged = try await publish(storage, head.id, [])
        #expect(unchanged.generation == 1 && unchanged.readBegan == 1_000_005)
        let next = try await publish(
            storage, head.id, [.removed(key: "(1)", .deleted), row("(3)", 3), row("(2)", 9)])
        #expect(next.generation == 2 && next.rows == 2)
    }

    @Test(arguments: Storage.allCases)
    func `the first reading of an empty query makes a generation`(_ kind: Storage) async throws {
        let storage = try await make(kind, Time().now)
        let feed = try await storage.feed(identity)
        #expect(try await publish(storage, feed.id, []).generation == 1)
        #expect(try await storage.rows(feed.id, at: 1, after: nil, limit: 10) == [])
    }

    @Test(arguments: Storage.allCases)
    func `a reading that was overtaken publishes nothing`(_ kind: Storage) async throws {
        let storage = try await make(kind, Time().now)
        let feed = try await storage.feed(identity)
        let old = try #require(try await storage.claim(feed.id, node: "a").lease)
        let new = try #require(try await storage.claim(feed.id, node: "a").lease)
        #expect(try await storage.publish(old, [row("(1)", 1)], description) == nil)
        try await storage.refuse(old, "old")
        #expect(try await storage.head(feed.id)?.trouble == nil)
        try await storage.refuse(new, "new")
        #expect(try await storage.head(feed.id)?.trouble == "new")
        #expect(try await storage.publish(new, [], description)?.trouble == nil)
        #expect(try await storage.claim(feed.id + 100, node: "a") == .missing)
    }

    @Test(arguments: Storage.allCases)
    func `one node reads a feed at a time, until it publishes or its lease is over`(_ kind: Storage) async throws {
        let time = Time()
        let storage = try await make(kind, time.now)
        let feed = try await storage.feed(identity)
        let first = try #require(try await storage.claim(feed.id, node: "a").lease)
        #expect(try await storage.claim(feed.id, node: "b") == .busy)
        time.advance(FeedLease.milliseconds - 1)
        #expect(try await storage.renew(first))
        time.advance(FeedLease.milliseconds - 1)
        #expect(try await storage.claim(feed.id, node: "b") == .busy)
        time.advance(1)
        let second = try #require(try await storage.claim(feed.id, node: "b").lease)
        #expect(try await !storage.renew(first))
        try await storage.release(first)
        #expect(try await storage.publish(first, [row("(1)", 1)], description) == nil)
        #expect(try await storage.claim(feed.id, node: "c") == .busy)
        #expect(try await storage.publish(second, [row("(2)", 1)], description)?.generation == 1)
        let third = try #require(try await storage.claim(feed.id, node: "c").lease)
        try await storage.refuse(third, "trouble")
        let fourth = try #require(try await storage.claim(feed.id, node: "a").lease)
        try await storage.release(fourth)
        #expect(try await storage.claim(feed.id, node: "b").lease != nil)
        #expect(try await storage.digests(feed.id).keys.sorted() == ["(2)"])
    }

    @Test(arguments: Storage.allCases)
    func `a feed of another shape begins anew, and does not accept tokens of its predecessor`(
        _ kind: Storage
    ) async throws {
        let storage = try await make(kind, Time().now)
        let feed = try await storage.feed(identity)
        let head = try await publish(storage, feed.id, [row("(1)", 1)])
        let token = FeedToken(feed: head.id, salt: head.salt, generation: 1, place: .delta)
        #expect(token.isValid(for: head))
        var other = identity
        other.shape = "2"
        let anew = try await storage.feed(other)
        #expect(anew.generation == 0)
        let published = try await publish(storage, anew.id, [])
        #expect(!token.isValid(for: published))
        #expect(try await storage.list().count == 1)
        #expect(try await storage.digests(anew.id) == [:])
    }

    @Test(arguments: Storage.allCases)
    func `old generations are forgotten after the lifetime of delta links`(_ kind: Storage) async throws {
        let time = Time()
        let storage = try await make(kind, time.now)
        let feed = try await storage.feed(identity)
        for value in 1...3 {
            try await publish(storage, feed.id, [row("(1)", UInt8(value)), row("(\(value + 1))", 0)])
            time.advance(100)
        }
        try await publish(storage, feed.id, [.removed(key: "(2)", .changed)])
        try await storage.forget(feed.id, lifetime: 150)
        #expect(try await storage.head(feed.id)?.tokensFrom == 2)
        #expect(
            try await storage.changes(feed.id, from: 2, to: 4, after: nil, limit: 10).map(\.key) == [
                "(1)", "(4)", "(2)",
            ])
        #expect(try await storage.rows(feed.id, at: 4, after: nil, limit: 10).map(\.key) == ["(1)", "(3)", "(4)"])
        time.advance(1_000)
        try await storage.forget(feed.id, lifetime: 150)
        #expect(try await storage.head(feed.id)?.tokensFrom == 4)
        #expect(
            try await storage.changes(feed.id, from: 0, to: 4, after: nil, limit: 10).map(\.key) == [
                "(3)", "(1)", "(4)",
            ])
    }

    @Test(arguments: Storage.allCases)
    func `a feed is removed with its rows, unless it was read since or is being read`(_ kind: Storage) async throws {
        let time = Time()
        let storage = try await make(kind, time.now)
        let feed = try await storage.feed(identity)
        let other = try await storage.feed(FeedIdentity(endpoint: "shop", query: "Items", shape: "1"))
        try await publish(storage, feed.id, [row("(1)", 1), row("(2)", 2)])
        try await publish(storage, other.id, [row("(1)", 1)])
        #expect(try await storage.remove(feed.id, notReadSince: 999_999) == false)
        #expect(try await storage.rows(feed.id, at: 1, after: nil, limit: 9).count == 2)
        time.advance(10)
        let lease = try #require(try await storage.claim(feed.id, node: "a").lease)
        #expect(try await storage.remove(feed.id, notReadSince: 1_000_000) == false)
        try await storage.release(lease)
        #expect(try await storage.remove(feed.id, notReadSince: 1_000_000))
        #expect(try await storage.remove(feed.id, notReadSince: 1_000_000) == false)
        #expect(try await storage.list().map(\.head.id) == [other.id])
        #expect(try await storage.head(feed.id) == nil)
        #expect(try await storage.rows(feed.id, at: 1, after: nil, limit: 9) == [])
        #expect(try await storage.claim(feed.id, node: "a") == .missing)
        #expect(try await storage.publish(lease, [row("(3)", 3)], description) == nil)
        #expect(try await storage.rows(other.id, at: 1, after: nil, limit: 9).count == 1)
        let again = try await storage.feed(identity)
        #expect(again.id != feed.id && again.salt != feed.salt && again.generation == 0)
        // It was never published.
        #expect(try await storage.remove(again.id, notReadSince: 0))
    }

    @Test(arguments: Storage.allCases)
    func `the last change of a user is known, and forgotten after a day`(_ kind: Storage) async throws {
        let time = Time()
        let storage = try await make(kind, time.now)
        let feed = try await storage.feed(identity)
        try await storage.markWrite(endpoint: "shop", user: [1])
        time.advance(10)
        try await storage.markWrite(endpoint: "shop", user: [1])
        #expect(try await storage.lastWrite(endpoint: "shop", user: [1]) == 1_000_010)
        #expect(try await storage.lastWrite(endpoint: "shop", user: [2]) == nil)
        #expect(try await storage.lastWrite(endpoint: "other", user: [1]) == nil)
        time.advance(FeedFreshness.maximumAge + 1)
        try await storage.forget(feed.id, lifetime: 1)
        #expect(try await storage.lastWrite(endpoint: "shop", user: [1]) == nil)
    }

    @Test(arguments: Storage.allCases)
    func `the operator accepts removals for one reading`(_ kind: Storage) async throws {
        let storage = try await make(kind, Time().now)
        let feed = try await storage.feed(identity)
        #expect(try await storage.acceptRemovals(endpoint: "shop", query: identity.query))
        #expect(try await storage.acceptRemovals(endpoint: "shop", query: "other") == false)
        #expect(try await storage.head(feed.id)?.acceptsRemovals == true)
        #expect(try await publish(storage, feed.id, []).acceptsRemovals == false)
    }

    @Test func `feeds in SQLite remain after they were opened again`() async throws {
        var storage: (any FeedStorage)? = try await make(.sqlite, Time().now)
        let feed = try #require(try await storage?.feed(identity))
        let head = try await publish(try #require(storage), feed.id, [row("(1)", 1)])
        storage = nil
        let again = try await make(.sqlite, Time().now)
        #expect(try await again.feed(identity) == head)
        #expect(try await again.rows(head.id, at: 1, after: nil, limit: 9).map(\.change) == [row("(1)", 1)])
    }

    /// The value ``VersionedRows`` defines the meaning.
    @Test(arguments: Storage.allCases)
    func `random histories are read like those of the model`(_ kind: Storage) async throws {
        let seed = UInt64.testSeed()
        var state = seed
        func random(_ count: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(state >> 33) % count
        }
        let storage = try await make(kind, Time().now)
        let feed = try await storage.feed(identity).id
        var model = VersionedRows()
        for generation in 1...Int64(30) {
            var changes: [String: FeedChange] = [:]
            for _ in 0...random(5) {
                let key = ["('a')", "('B')", "('ä')", "(10)", "(2)", "('𝄞')", "('\u{FFFD}')"][random(7)]
                changes[key] = random(3) == 0 ? .removed(key: key, .deleted) : row(key, UInt8(random(5)))
            }
            let list = changes.values.sorted { $0.key < $1.key }
            try await publish(storage, feed, list)
            model.publish(list, generation: generation)
            #expect(try await storage.digests(feed) == model.digests, "seed \(seed)")
            #expect(try await storage.head(feed)?.rows == Int64(model.digests.count), "seed \(seed)")
            let (start, end, limit) = (Int64(random(Int(generation))), generation - Int64(random(2)), 1 + random(4))
            var after: String?
            var position: FeedPosition?
            for _ in 0..<10 {
                let rows = try await storage.rows(feed, at: end, after: after, limit: limit)
                #expect(rows == model.rows(at: end, after: after, limit: limit), "seed \(seed)")
                after = rows.last?.key ?? after
                let found = try await storage.changes(feed, from: start, to: end, after: position, limit: limit)
                #expect(found == model.changes(from: start, to: end, after: position, limit: limit), "seed \(seed)")
                position = found.last.map { FeedPosition(since: $0.since, key: $0.key) } ?? position
            }
        }
    }
}
