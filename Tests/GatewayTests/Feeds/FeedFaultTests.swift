import Foundation
import Gateway
import GatewayCore
import TestSupport
import Testing

/// Services that answer wrongly, slowly or not at all: a feed then serves its last generation, and removes nothing.
struct FeedFaultTests {
    private static let rows = [1: "a", 2: "b", 3: "c", 4: "d", 5: "e"]

    @Test(arguments: [
        ("500 Error", "Content-Type: application/json\r\n", "{}"), ("302 Found", "Location: /login\r\n", ""),
        ("200 OK", "Content-Type: text/html\r\n", "<html>login</html>"),
        ("200 OK", "Content-Type: application/json\r\n", "{\"value\":[{\"ID\":1,\"Note\":\"x\"}"),
        ("200 OK", "Content-Type: application/json\r\n", "{\"value\":[{\"ID\":1,\"Note\":\"x\"}],\"error\":{}}"),
        ("200 OK", "Content-Type: application/json\r\n", "{\"value\":[{\"Note\":\"x\"}]}"),
        ("200 OK", "Content-Type: application/json\r\n", "{\"value\":[1]}"),
        ("200 OK", "Content-Type: application/json\r\n", "{\"value\":[],\"@odata.nextLink\":\"Orders\"}"),
        ("200 OK", "Content-Type: application/json\r\n", "{\"value\":[],\"@odata.nextLink\":\"http://evil.example/\"}"),
        ("200 OK", "Content-Type: application/json\r\n", "{\"value\":[],\"@odata.nextLink\":\"../../x\"}"),
        (
            "200 OK", "Content-Type: application/json\r\n",
            "{\"value\":[{\"ID\":1,\"Items\":[],\"Items@odata.nextLink\":\"x\"}]}"
        ),
        ("429 Wait", "Retry-After: 30\r\n", ""),
    ])
    func `a reading that is not understood publishes nothing`(
        _ status: String, _ headers: String, _ body: String
    ) async throws {
        let origin = FeedOrigin()
        origin.change { $0.rows = Self.rows }
        try await withFeed(origin) { world in
            let link = try #require(try await world.get("Orders").delta)
            origin.change { $0.fault = (status, headers, body) }
            world.time.advance(60_000)
            let stale = try await world.get(link)
            #expect(stale.status == 200 && stale.notes == [] && !stale.body.contains("deleted"))
            #expect(try await world.storage.list()[0].head.trouble != nil)
            origin.change {
                $0.fault = nil
                $0.rows[1] = "A"
            }
            world.time.advance(60_000)
            #expect(try await world.get(link).notes == ["A"])
            #expect(try await world.storage.list()[0].head.trouble == nil)
        }
    }

    @Test func `a query that cannot be read the first time passes through without a delta link`() async throws {
        let origin = FeedOrigin()
        origin.change {
            $0.rows = Self.rows
            $0.fault = ("200 OK", "Content-Type: application/json\r\n", "{\"value\":[{\"Note\":\"x\"}]}")
        }
        try await withFeed(origin) { world in
            let answer = try await world.get("Orders")
            #expect(answer.body == "{\"value\":[{\"Note\":\"x\"}]}")
        }
    }

    @Test func `a row that a page has missed is not removed`() async throws {
        let origin = FeedOrigin()
        origin.change { $0.rows = Self.rows }
        try await withFeed(origin) { world in
            let link = try #require(try await world.get("Orders").delta)
            origin.change { $0.hidden = [2, 4] }
            world.time.advance(60_000)
            #expect(try await world.get(link).body.contains("deleted") == false)
            #expect(origin.checks.sorted() == ["/svc/Orders(2)", "/svc/Orders(4)"])
        }
    }

    @Test func `if a row cannot be checked alone, it is removed only after two readings without it`() async throws {
        let origin = FeedOrigin()
        origin.change { $0.rows = Self.rows }
        try await withFeed(origin, query: "Orders?x=1") { world in
            let link = try #require(try await world.get("Orders?x=1").delta)
            origin.change {
                $0.hidden = [2]
                $0.rows[5] = nil
                $0.afterFirstPage = { origin.change { $0.hidden = [] } }
            }
            world.time.advance(60_000)
            let answer = try await world.get(link)
            #expect(answer.body.contains("Orders(5)") && !answer.body.contains("Orders(2)"), "\(answer.body)")
            #expect(answer.body.contains("\"reason\":\"changed\""))
        }
    }

    @Test func `the removal of most rows needs the operator`() async throws {
        let origin = FeedOrigin()
        origin.change { $0.rows = Dictionary(uniqueKeysWithValues: (0..<50).map { ($0, "n\($0)") }) }
        try await withFeed(origin) { world in
            let link = try #require(try await world.get("Orders").delta)
            origin.change { $0.rows = [7: "n7"] }
            world.time.advance(60_000)
            #expect(try await world.get(link).body.contains("deleted") == false)
            let trouble = try await world.storage.list()[0].head.trouble
            #expect(trouble?.contains("49 of 50 rows are missing") == true)
            #expect(await Self.ends(world) == ["published", "removals"])
            _ = try await world.storage.acceptRemovals(endpoint: "shop", query: "Orders")
            world.time.advance(3_600_000)
            #expect(try await world.get(link).body.components(separatedBy: "$deletedEntity").count == 50)
        }
    }

    @Test func `a slow service delays a client only for a while`() async throws {
        let origin = FeedOrigin()
        origin.change { $0.rows = Self.rows }
        try await withFeed(origin, patience: 200) { world in
            let link = try #require(try await world.get("Orders").delta)
            origin.change { $0.delay = 6 }
            world.time.advance(60_000)
            let start = ContinuousClock.now
            #expect(try await world.get(link).status == 200)
            #expect(start.duration(to: .now) < .seconds(5))
        }
    }

    @Test func `clients that wait for a slow refresh do not stop other requests`() async throws {
        var limits = GatewayLimits()
        limits.requestsPerEndpoint = 2
        let origin = FeedOrigin()
        origin.change { $0.rows = Self.rows }
        try await withFeed(origin, limits: limits) { world in
            for user in 0..<6 { _ = try await world.get("Orders", "Bearer \(user)") }
            origin.change { $0.delay = 6 }
            world.time.advance(60_000)
            let start = ContinuousClock.now
            try await withThrowingTaskGroup(of: Int.self) { group in
                for user in 0..<6 { group.addTask { try await world.get("Orders", "Bearer \(user)").notes.count } }
                try await Task.sleep(for: .milliseconds(100))
                let other = try await world.get("Orders(1)")
                #expect(other.status == 200)
                #expect(start.duration(to: .now) < .seconds(5))
                for try await count in group { #expect(count == 5) }
            }
        }
    }

    @Test func `a feed with more rows than allowed is not served`() async throws {
        var limits = GatewayLimits()
        limits.feedRows = 4
        let origin = FeedOrigin()
        origin.change { $0.rows = Self.rows }
        try await withFeed(origin, limits: limits) { world in
            let answer = try await world.get("Orders")
            #expect(answer.delta == nil)
            let trouble = try await world.storage.list()[0].head.trouble
            #expect(trouble?.hasPrefix("The feed orders has more than 4 rows. Raise feed_rows in [gateway]") == true)
        }
    }

    @Test func `a reading whose changed rows need more memory than allowed publishes nothing`() async throws {
        var limits = GatewayLimits()
        limits.feedBytes = 2_000
        let origin = FeedOrigin()
        origin.change { $0.rows = Self.rows }
        try await withFeed(origin, limits: limits) { world in
            let link = try #require(try await world.get("Orders").delta)
            origin.change { $0.rows[5] = String(repeating: "x", count: 2_000) }
            world.time.advance(60_000)
            #expect(try await world.get(link).notes == [])
            let trouble = try await world.storage.list()[0].head.trouble
            #expect(trouble?.contains("orders need more than 2000 bytes of memory. Raise feed_bytes") == true)
            #expect(await Self.ends(world) == ["limit", "published"])
        }
    }

    /// The ends of refreshes that the metrics count.
    private static func ends(_ world: FeedWorld) async -> [String] {
        let lines = await world.gateway.service.metricsText().split(separator: "\n")
        let start = "gateway_feed_refreshes_total{feed=\"orders\",end=\""
        return lines.filter { $0.hasPrefix(start) }.map { String($0.dropFirst(start.count).prefix { $0 != "\"" }) }
    }

    @Test func `metrics distinguish a service that fails from a response that is not understood`() async throws {
        let origin = FeedOrigin()
        origin.change { $0.rows = Self.rows }
        try await withFeed(origin) { world in
            let link = try #require(try await world.get("Orders").delta)
            origin.change { $0.fault = ("500 Error", "", "") }
            world.time.advance(90_000)
            _ = try await world.get(link)
            #expect(await Self.ends(world) == ["failed", "published"])
            #expect(await world.gateway.service.metricsText().contains("_head_age_seconds{feed=\"orders\"} 90\n"))
            origin.change { $0.fault = ("200 OK", "Content-Type: application/json\r\n", "[1]") }
            world.time.advance(90_000)
            _ = try await world.get(link)
            #expect(await Self.ends(world) == ["failed", "published", "refused"])
            origin.change { $0.fault = nil }
            world.time.advance(90_000)
            _ = try await world.get(link)
            #expect(await Self.ends(world) == ["failed", "published", "refused", "unchanged"])
            #expect(await world.gateway.service.metricsText().contains("_head_age_seconds{feed=\"orders\"} 0\n"))
        }
    }
}
