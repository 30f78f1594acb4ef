import Foundation
import Gateway
import GatewayCore
import TestSupport
import Testing

/// Shared feeds of two nodes in this process with one database.
@Suite(.enabled(if: PostgresServer.isInstalled, "skipped: PostgreSQL is not installed"))
struct SharedFeedNodesTests {
    /// Two nodes, and a service that counts its requests.
    private struct Nodes {
        let origin: FeedOrigin
        let first: GatewayUnderTest
        let second: GatewayUnderTest
        let storage: PostgresFeedStorage
        let time: FeedWorld.Time

        /// Sends a request to a node; links name the node that has made them.
        func get(_ node: GatewayUnderTest, _ url: String, _ user: String? = nil) async throws -> FeedWorld.Answer {
            let path = url.hasPrefix("http") ? url.components(separatedBy: "/odata/").last ?? "" : "shop/" + url
            return try await FeedWorld.get(node.root + path, user)
        }
    }

    private func withNodes(patience: Int64 = 5_000, _ body: (Nodes) async throws -> Void) async throws {
        let origin = FeedOrigin()
        origin.change { $0.rows = [1: "a", 2: "b", 3: "c", 4: "d", 5: "e"] }
        try await withServer(origin.answer) { server in
            var feed = FeedSettings(name: "orders", query: try #require(CanonicalQuery("Orders")))
            feed.refreshMilliseconds = 60_000
            let time = FeedWorld.Time()
            let settings = try PostgresServer.fresh()
            let ledger = try await PostgresLedgerStorage(settings, now: time.now)
            var nodes: [GatewayUnderTest] = []
            for _ in 0..<2 {
                nodes.append(
                    try await GatewayUnderTest(
                        ["shop": server.base + "/svc/"], storage: ledger, timeout: 5_000,
                        feedStorage: try await PostgresFeedStorage(settings, now: time.now), feeds: [feed],
                        feedPatience: patience))
            }
            let world = Nodes(
                origin: origin, first: nodes[0], second: nodes[1],
                storage: try await PostgresFeedStorage(settings, now: time.now), time: time)
            let result: Result<Void, any Error>
            do { result = .success(try await body(world)) } catch { result = .failure(error) }
            for node in nodes {
                await node.stop()
                await node.service.end()
            }
            try result.get()
        }
    }

    @Test func `the service is read once for the clients of both nodes`() async throws {
        try await withNodes { nodes in
            nodes.origin.change { $0.delay = 0.05 }
            for round in 0..<3 {
                let answers = try await withThrowingTaskGroup(of: FeedWorld.Answer.self) { group in
                    for user in 0..<20 {
                        group.addTask {
                            try await nodes.get(
                                user.isMultiple(of: 2) ? nodes.first : nodes.second, "Orders", "Bearer \(user)")
                        }
                    }
                    return try await group.reduce(into: []) { $0.append($1) }
                }
                #expect(answers.allSatisfy { $0.notes.count == 5 && $0.delta != nil })
                #expect(nodes.origin.readings == 3 * (round + 1))
                nodes.time.advance(60_000)
            }
        }
    }

    @Test func `a delta link of one node is understood by the other one, also if it is newer`() async throws {
        try await withNodes { nodes in
            let old = try await nodes.get(nodes.second, "Orders", "Bearer y")
            nodes.origin.change { $0.rows[6] = "f" }
            nodes.time.advance(10)
            try await FeedWorld.change(nodes.first, "Bearer x")
            nodes.time.advance(10)
            let new = try await nodes.get(nodes.first, try #require(old.delta), "Bearer x")
            #expect(new.notes == ["f"])
            // The second node has not noticed the new generation, and its own is fresh.
            let again = try await nodes.get(nodes.second, try #require(new.delta), "Bearer y")
            #expect(again.status == 200 && again.notes == [])
            #expect(try await nodes.get(nodes.second, try #require(old.delta), "Bearer y").notes == ["f"])
            #expect(nodes.origin.readings == 6)
        }
    }

    @Test func `a change through one node is in the next answer of the other one`() async throws {
        try await withNodes { nodes in
            let link = try #require(try await nodes.get(nodes.second, "Orders", "Bearer x").delta)
            #expect(try await nodes.get(nodes.first, link, "Bearer x").notes == [])
            nodes.time.advance(10)
            nodes.origin.change { $0.rows[1] = "A" }
            try await FeedWorld.change(nodes.first, "Bearer x")
            nodes.time.advance(10)
            #expect(try await nodes.get(nodes.second, link, "Basic b3RoZXI6eA==").notes == [])
            #expect(try await nodes.get(nodes.second, link, "Bearer x").notes == ["A"])
        }
    }

    @Test func `a reading of a node that died is repeated after its lease`() async throws {
        try await withNodes { nodes in
            _ = try await nodes.get(nodes.first, "Orders")
            nodes.origin.change { $0.rows[1] = "A" }
            nodes.time.advance(60_000)
            let feed = try #require(try await nodes.storage.list().first?.head.id)
            let dead = try #require(try await nodes.storage.claim(feed, node: "dead").lease)
            let answer = Task { try await nodes.get(nodes.second, "Orders") }
            try await Task.sleep(for: .milliseconds(700))
            #expect(nodes.origin.readings == 3, "the lease is valid")
            nodes.time.advance(FeedLease.milliseconds)
            #expect(try await answer.value.notes == ["A", "b", "c", "d", "e"])
            #expect(try await nodes.storage.publish(dead, [], FeedDescription()) == nil)
        }
    }

    @Test func `a node that stops releases the feed that it is reading`() async throws {
        try await withNodes(patience: 300) { nodes in
            nodes.origin.change { $0.delay = 3 }
            let answer = Task { try await nodes.get(nodes.first, "Orders") }
            while nodes.origin.readings == 0 { try await Task.sleep(for: .milliseconds(10)) }
            let feed = try #require(try await nodes.storage.list().first?.head.id)
            #expect(try await nodes.storage.claim(feed, node: "other") == .busy)
            await nodes.first.service.end()
            #expect(try await nodes.storage.claim(feed, node: "other").lease != nil)
            _ = try? await answer.value
        }
    }
}
