import Gateway
import GatewayCore
import TestSupport
import Testing
import Views

/// Polls that find nothing new.
struct EmptyPollTests {
    @Test func `an empty poll executes no statement`() async throws {
        let origin = FeedOrigin()
        origin.change { $0.rows = [1: "a", 2: "b"] }
        let path = TemporaryDirectory()
        let time = FeedWorld.Time()
        try await withServer(origin.answer) { server in
            var feed = FeedSettings(name: "orders", query: try #require(CanonicalQuery("Orders")))
            feed.refreshMilliseconds = 60_000
            let gateway = try await GatewayUnderTest(
                ["shop": server.base + "/svc/"],
                feedStorage: try SQLiteFeedStorage(path: path.path + "/feeds.db", now: time.now), feeds: [feed])
            let delta = try #require(try await FeedWorld.get(gateway.root + "shop/Orders", "Bearer x").delta)
            // Every statement fails from now on.
            let connection = try Connection(path: path.path + "/feeds.db")
            for table in ["feed", "item", "generation"] { try connection.execute("DROP TABLE \(table)") }
            try Connection(path: path.path + "/feeds.db-marks").execute("DROP TABLE write_mark")
            for _ in 0..<5 {
                let answer = try await FeedWorld.get(delta, "Bearer x")
                #expect(answer.status == 200 && answer.notes == [] && answer.delta != nil)
            }
            #expect(try await FeedWorld.get(gateway.root + "shop/Orders", "Bearer x").status == 503)
            await gateway.stop()
        }
    }

    @Test(.enabled(if: PostgresServer.isInstalled, "skipped: PostgreSQL is not installed"))
    func `an empty poll at PostgreSQL looks only for changes of the user, and finds those of another node`()
        async throws
    {
        let origin = FeedOrigin()
        origin.change { $0.rows = [1: "a", 2: "b"] }
        let time = FeedWorld.Time()
        let settings = try PostgresServer.fresh()
        try await withServer(origin.answer) { server in
            var feed = FeedSettings(name: "orders", query: try #require(CanonicalQuery("Orders")))
            feed.refreshMilliseconds = 60_000
            let ledger = try await PostgresLedgerStorage(settings)
            let gateway = try await GatewayUnderTest(
                ["shop": server.base + "/svc/"], storage: ledger,
                feedStorage: try await PostgresFeedStorage(settings, now: time.now), feeds: [feed])
            let other = try await GatewayUnderTest(
                ["shop": server.base + "/svc/"], storage: ledger,
                feedStorage: try await PostgresFeedStorage(settings, now: time.now), feeds: [feed])
            let delta = try #require(try await FeedWorld.get(gateway.root + "shop/Orders", "Bearer x").delta)
            let before = try await Self.acquisitions(gateway)
            for _ in 0..<10 { #expect(try await FeedWorld.get(delta, "Bearer x").status == 200) }
            #expect(try await Self.acquisitions(gateway) - before == 10)
            let readings = origin.readings
            time.advance(10)
            try await FeedWorld.change(other, "Bearer x")
            time.advance(10)
            #expect(try await FeedWorld.get(delta, "Bearer x").status == 200)
            #expect(origin.readings > readings)
            await gateway.stop()
            await other.stop()
        }
    }

    private static func acquisitions(_ gateway: GatewayUnderTest) async throws -> Int {
        let text = await gateway.service.metricsText()
        let name = "gateway_pool_acquisitions_total{storage=\"feeds\"} "
        let line = try #require(text.split(separator: "\n").first { $0.hasPrefix(name) })
        return try #require(Int(line.dropFirst(name.count)))
    }
}
