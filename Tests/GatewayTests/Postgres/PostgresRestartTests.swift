import Foundation
import GatewayCore
import Synchronization
import Testing

@testable import Gateway

/// The storages while PostgreSQL stops, crashes and starts.
@Suite(
    .enabled(if: PostgresServer.isInstalled, "skipped: PostgreSQL is not installed"), .serialized,
    .timeLimit(.minutes(5)))
struct PostgresRestartTests {
    private let rules = LedgerRules(days: 14, leaseMilliseconds: 60_000)

    private func claim(_ name: String) -> LedgerClaim {
        let day = Int32(Date().timeIntervalSince1970 / 86_400)
        return LedgerClaim(
            keys: [LedgerKey(endpoint: "shop", dialect: .oasis, client: "c", request: name, day: day)],
            principal: [1], fingerprint: [2])
    }

    @Test func `a row is durable when its claim returns, and its outcome is recorded after a restart`() async throws {
        let server = try PostgresServer()
        let storage = try await PostgresLedgerStorage(server.settings(schema: "gateway"))
        let secret = try await storage.secret()
        #expect(try await storage.claim([claim("a"), claim("b")], rules) == [.send(attempt: 1), .send(attempt: 1)])
        server.stop()
        let recording = Task {
            try await storage.complete(
                [LedgerCompletion(keys: claim("a").keys, attempt: 1, end: .done([1, 2]))], rules)
        }
        try await Task.sleep(for: .milliseconds(300))
        await #expect(throws: LedgerStorageError.self) { _ = try await storage.openRows() }
        try server.start()
        #expect(try await recording.value == [true])
        let again = try await PostgresLedgerStorage(server.settings(schema: "gateway"))
        #expect(try await again.secret() == secret)
        #expect(try await again.claim([claim("a")], rules) == [.replay([1, 2])])
        guard case .wait = try await again.claim([claim("b")], rules).first else {
            Issue.record("the row of b is lost")
            return
        }
    }

    @Test func `claims are refused while the server is down, and nothing is sent`() async throws {
        let server = try PostgresServer()
        let storage = try await PostgresLedgerStorage(server.settings(schema: "gateway"))
        server.stop()
        let start = ContinuousClock.now
        await #expect(throws: LedgerStorageError.self) { _ = try await storage.claim([claim("a")], rules) }
        #expect(start.duration(to: .now) < .seconds(15))
        try server.start()
        #expect(try await storage.claim([claim("a")], rules) == [.send(attempt: 1)])
    }

    @Test func `many claims and outcomes during crashes of the server end once or not at all`() async throws {
        let server = try PostgresServer()
        let storages = [
            try await PostgresLedgerStorage(server.settings(schema: "gateway")),
            try await PostgresLedgerStorage(server.settings(schema: "gateway")),
        ]
        let sent = Locked<[String: Int]>([:])
        let isOver = Locked(false)
        let work = Task {
            await withTaskGroup(of: Void.self) { group in
                for worker in 0..<6 {
                    group.addTask {
                        var number = 0
                        while !isOver.withLock({ $0 }) {
                            // Two workers of different nodes send the same requests.
                            let claim = claim("\(worker / 2)-\(number)")
                            number += 1
                            let storage = storages[worker % 2]
                            guard let verdict = try? await storage.claim([claim], rules).first,
                                case .send(let attempt) = verdict
                            else { continue }
                            sent.withLock { $0[claim.keys[0].request, default: 0] += 1 }
                            _ = try? await storage.complete(
                                [LedgerCompletion(keys: claim.keys, attempt: attempt, end: .done([1]))], rules)
                        }
                    }
                }
            }
        }
        for _ in 0..<2 {
            try await Task.sleep(for: .milliseconds(700))
            try server.crash()
        }
        try await Task.sleep(for: .milliseconds(700))
        isOver.withLock { $0 = true }
        await work.value
        let counts = sent.withLock { $0 }
        #expect(counts.values.allSatisfy { $0 == 1 }, "\(counts.filter { $0.value > 1 })")
        #expect(counts.count > 20, "\(counts.count) requests")
        let open = try await storages[0].openRows()
        #expect(open[.doubt] == nil && (open[.sending] ?? 0) <= 20, "\(open)")
        let unknown = open[.sending] ?? 0
        print("gateway ledger in PostgreSQL: \(counts.count) requests, 2 crashes, \(unknown) without outcome")
    }

    @Test func `generations of other nodes are noticed, also after the connection was cut`() async throws {
        let settings = try PostgresServer.fresh()
        let (watching, publishing) = (try await PostgresFeedStorage(settings), try await PostgresFeedStorage(settings))
        let feed = try await publishing.feed(FeedIdentity(endpoint: "e", query: "q", shape: "s"))
        let seen = Locked<Int64>(0)
        let watch = Task {
            await watching.watch {
                let generation = try? await watching.head(feed.id)?.generation
                seen.withLock { $0 = max($0, generation ?? 0) }
            }
        }
        func publish(_ generation: Int64, within: Duration) async throws {
            let lease = try #require(try await publishing.claim(feed.id, node: "p").lease)
            let row = FeedRow(key: "(\(generation))", digest: RowDigest([1]), body: [2])
            #expect(
                try await publishing.publish(lease, [.row(row)], FeedDescription())?.generation == generation)
            let start = ContinuousClock.now
            while seen.withLock({ $0 }) < generation, start.duration(to: .now) < within {
                try await Task.sleep(for: .milliseconds(5))
            }
            #expect(seen.withLock { $0 } == generation)
        }
        // Noticed at the latest when the node looks at the heads, after which its connection listens.
        try await publish(1, within: .seconds(60))
        // Sooner than the node looks again.
        try await publish(2, within: .milliseconds(1_500))
        let connection = try PostgresConnection(settings)
        try connection.run(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'LISTEN \"\(settings.schema)%'")
        try await publish(3, within: .seconds(60))
        try await publish(4, within: .seconds(60))
        watch.cancel()
        await watch.value
    }
}
