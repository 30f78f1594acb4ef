import Gateway
import GatewayCore
import Synchronization
import TestSupport
import Testing

/// The removal of feeds that are no longer configured.
struct FeedSweepTests {
    private static let start: Int64 = 1_000_000_000_000

    /// A gateway with the feeds `Orders` and `Items` of the endpoint `shop`, and a storage with two more.
    private func sweep(
        afterDays days: Int64, lifetime: Int64, _ more: @Sendable (MemoryFeedStorage) async throws -> Void = { _ in }
    ) async throws -> [String] {
        let time = Mutex(Self.start)
        let storage = MemoryFeedStorage(now: { time.withLock { $0 } })
        for (endpoint, query) in [("shop", "Orders"), ("shop", "Old"), ("other", "Orders")] {
            let feed = try await storage.feed(FeedIdentity(endpoint: endpoint, query: query, shape: "s"))
            let lease = try #require(try await storage.claim(feed.id, node: "a").lease)
            _ = try await storage.publish(lease, [], FeedDescription())
        }
        time.withLock { $0 += days * 24 * 3_600_000 }
        try await more(storage)
        var endpoint = GatewayConfiguration.Endpoint(
            name: "shop", root: try #require(ServiceRoot("http://127.0.0.1:1/svc/")))
        for name in ["Orders", "Items"] {
            var feed = FeedSettings(name: name, query: try #require(CanonicalQuery(name)))
            feed.tokenMilliseconds = lifetime
            endpoint.feeds.append(feed)
        }
        let configuration = GatewayConfiguration(
            listen: .tcp(host: "127.0.0.1", port: 0),
            publicRoot: try #require(ServiceRoot("http://127.0.0.1/odata/")), storage: .memory, endpoints: [endpoint])
        var environment = GatewayEnvironment()
        // The task is cancelled between two sweeps.
        environment.sleep = { _ in withUnsafeCurrentTask { $0?.cancel() } }
        let service = GatewayService(
            configuration, storage: MemoryLedgerStorage(), feedStorage: storage, secret: [1], environment: environment)
        await Task { await service.sweep() }.value
        return try await storage.list().map { "\($0.identity.endpoint)/\($0.identity.query)" }
    }

    @Test func `a feed that no endpoint has is removed after 30 days without a reading`() async throws {
        #expect(try await sweep(afterDays: 29, lifetime: 1) == ["shop/Orders", "shop/Old", "other/Orders"])
        #expect(try await sweep(afterDays: 30, lifetime: 1) == ["shop/Orders"])
    }

    @Test func `a feed is kept as long as a delta link may be valid`() async throws {
        let lifetime: Int64 = 50 * 24 * 3_600_000
        #expect(try await sweep(afterDays: 49, lifetime: lifetime).count == 3)
        #expect(try await sweep(afterDays: 50, lifetime: lifetime) == ["shop/Orders"])
    }

    @Test func `a feed that another node still reads is kept`() async throws {
        let kept = try await sweep(afterDays: 90, lifetime: 1) { storage in
            let all = try await storage.list()
            let old = try #require(all.first { $0.identity.query == "Old" }).head.id
            let lease = try #require(try await storage.claim(old, node: "b").lease)
            _ = try await storage.publish(lease, [], FeedDescription())
            let other = try #require(all.first { $0.identity.endpoint == "other" }).head.id
            _ = try await storage.claim(other, node: "b")
        }
        #expect(kept == ["shop/Orders", "shop/Old", "other/Orders"])
    }
}
