import Foundation
import Gateway
import GatewayCore
import HTTPTypes
import Synchronization
import TestSupport
import Testing
import Transport

/// A large feed with few changes. `TIDELOG_SCALE=1000000` sets the number of rows; the measurements are printed.
@Suite(.serialized, .timeLimit(.minutes(20))) struct FeedScaleTests {
    /// A service whose rows follow from their number, and the CPU time of its threads.
    private final class Origin: Sendable {
        let rows: Int
        private let changed = Mutex(0)
        private let seconds = Mutex(0.0)
        private static let pageSize = 5_000

        init(rows: Int) { self.rows = rows }

        var cpu: Double { seconds.withLock { $0 } }
        func change(_ count: Int) { changed.withLock { $0 = count } }

        func answer(_ request: LoopbackServer.Request, _ connection: LoopbackServer.Connection) -> Bool {
            let start = Self.time(CLOCK_THREAD_CPUTIME_ID)
            defer { seconds.withLock { $0 += Self.time(CLOCK_THREAD_CPUTIME_ID) - start } }
            if request.target.hasSuffix("$metadata") {
                return connection.respond(
                    "200 OK", "Content-Type: application/xml\r\n", Array(FeedOrigin().metadata.utf8))
            }
            let first = request.target.split(separator: "$skiptoken=").last.flatMap { Int($0) } ?? 0
            let end = min(first + (request.target.contains("$top=1") ? 1 : Self.pageSize), rows)
            let changed = changed.withLock { $0 }
            var body = "{\"@odata.context\":\"$metadata#Orders\",\"value\":["
            for row in first..<end {
                let mark = row % (rows / max(changed, 1)) == 0 && changed > 0 ? "changed" : "original"
                body += row > first ? "," : ""
                body +=
                    "{\"@odata.etag\":\"W/\\\"\(row)\\\"\",\"ID\":\(row),\"Note\":\"\(mark) note of the order\",\"Amount\":\(row).5,\"CustomerID\":\(row % 97),\"Created\":\"2026-01-01T00:00:00Z\",\"Open\":true}"
            }
            body +=
                end < rows && !request.target.contains("$top=1")
                ? "],\"@odata.nextLink\":\"Orders?$skiptoken=\(end)\"}" : "]}"
            return connection.respond(
                "200 OK", "Content-Type: application/json\r\nOData-Version: 4.0\r\n", Array(body.utf8))
        }

        static func time(_ clock: clockid_t) -> Double {
            var time = timespec()
            clock_gettime(clock, &time)
            return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
        }
    }

    @Test func `a refresh with a hundred changes leads to a small delta`() async throws {
        let rows = ProcessInfo.processInfo.environment["TIDELOG_SCALE"].flatMap { Int($0) } ?? 5_000
        let origin = Origin(rows: rows)
        let directory = TemporaryDirectory()
        try await withServer(origin.answer) { server in
            let time = FeedWorld.Time()
            var feed = FeedSettings(name: "orders", query: try #require(CanonicalQuery("Orders")))
            feed.refreshMilliseconds = 60_000
            let gateway = try await GatewayUnderTest(
                ["shop": server.base + "/svc/"], timeout: 600_000,
                feedStorage: try SQLiteFeedStorage(path: directory.path + "/feeds.db", now: time.now), feeds: [feed],
                feedPatience: 1_200_000)
            try await measure(gateway, origin, time)
            await gateway.stop()
        }
    }

    private func measure(_ gateway: GatewayUnderTest, _ origin: Origin, _ time: FeedWorld.Time) async throws {
        let transport = defaultTransport()
        func get(_ url: String) async throws -> String {
            var request = try #require(HTTPRequest(method: .get, url: url))
            request.headerFields[.accept] = "application/json"
            request.headerFields[try #require(HTTPField.Name("Prefer"))] = "odata.track-changes"
            let (response, body) = try await transport.send(request, body: [])
            try #require(response.status.code == 200)
            return String(decoding: body, as: UTF8.self)
        }
        func link(_ body: String, _ name: String) throws -> String {
            let start = try #require(body.range(of: "\"\(name)\":\"", options: .backwards))
            return String(body[start.upperBound...].prefix { $0 != "\"" })
        }
        func cpu() -> Double { Origin.time(CLOCK_PROCESS_CPUTIME_ID) - origin.cpu }
        var start = cpu()
        var body = try await get(gateway.root + "shop/Orders")
        print("feed scale: \(origin.rows) rows, first page after \(cpu() - start) s of CPU, \(Self.peak) KiB at most")
        while body.contains("@odata.nextLink") { body = try await get(try link(body, "@odata.nextLink")) }
        let delta = try link(body, "@odata.deltaLink")
        origin.change(100)
        time.advance(60_000)
        start = cpu()
        let changes = try await get(delta)
        print("feed scale: refresh with 100 changes \(cpu() - start) s of CPU, \(Self.peak) KiB at most")
        #expect(changes.components(separatedBy: "changed note").count == 101)
        #expect(changes.utf8.count <= 40_000)
        let clock = ContinuousClock()
        let again = try await clock.measure { _ = try await get(delta) }
        let empty = try link(changes, "@odata.deltaLink")
        #expect(try await get(empty).utf8.count < 400)
        let polls = 500
        start = cpu()
        for _ in 0..<polls { _ = try await get(empty) }
        let seconds = cpu() - start
        print(
            "feed scale: delta \(changes.utf8.count) bytes in \(again), empty poll \(seconds / Double(polls) * 1e6) µs of CPU with client"
        )
    }

    /// The largest resident size of this process in KiB, on Linux.
    private static var peak: String {
        let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
        return status.split(separator: "\n").first { $0.hasPrefix("VmHWM") }
            .map { $0.filter(\.isNumber) } ?? "unknown"
    }
}
