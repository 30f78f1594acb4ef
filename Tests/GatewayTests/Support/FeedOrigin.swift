import Foundation
import Gateway
import GatewayCore
import HTTPTypes
import Synchronization
import TestSupport
import Testing
import Transport

/// A service with one entity set without delta links, whose rows and faults a test determines.
final class FeedOrigin: Sendable {
    struct State {
        var rows: [Int: String] = [:]
        /// The rows that a reading of the collection does not contain, although they exist.
        var hidden: Set<Int> = []
        var pageSize = 2
        /// The response to readings of the collection instead of rows.
        var fault: (status: String, headers: String, body: String)?
        /// The values of Authorization that the service accepts, or nil for all.
        var users: Set<String>?
        /// The time before each response with rows.
        var delay: TimeInterval = 0
        /// The requests for pages of the collection without `$top`.
        var readings = 0
        var probes = 0
        var checks: [String] = []
        /// Called after the first page was answered.
        var afterFirstPage: (@Sendable () -> Void)?
    }

    let state = Mutex(State())
    let isLegacy: Bool

    init(isLegacy: Bool = false) { self.isLegacy = isLegacy }

    func change(_ body: (inout State) -> Void) { state.withLock { body(&$0) } }
    var readings: Int { state.withLock { $0.readings } }
    var probes: Int { state.withLock { $0.probes } }
    var checks: [String] { state.withLock { $0.checks } }

    var metadata: String {
        let version = isLegacy ? "1.0" : "4.0"
        let edmx =
            isLegacy ? "http://schemas.microsoft.com/ado/2007/06/edmx" : "http://docs.oasis-open.org/odata/ns/edmx"
        let edm = isLegacy ? "http://schemas.microsoft.com/ado/2008/09/edm" : "http://docs.oasis-open.org/odata/ns/edm"
        let services =
            isLegacy
            ? "xmlns:m=\"http://schemas.microsoft.com/ado/2007/08/dataservices/metadata\" m:DataServiceVersion=\"2.0\""
            : ""
        return """
            <edmx:Edmx Version="\(version)" xmlns:edmx="\(edmx)"><edmx:DataServices \(services)>
            <Schema Namespace="S" xmlns="\(edm)"><EntityType Name="Order"><Key><PropertyRef Name="ID"/></Key>
            <Property Name="ID" Type="Edm.Int32" Nullable="false"/><Property Name="Note" Type="Edm.String"/></EntityType>
            <EntityContainer Name="C" \(isLegacy ? "m:IsDefaultEntityContainer=\"true\"" : "")>
            <EntitySet Name="Orders" EntityType="S.Order"/></EntityContainer></Schema></edmx:DataServices></edmx:Edmx>
            """
    }

    func answer(_ request: LoopbackServer.Request, _ connection: LoopbackServer.Connection) -> Bool {
        if request.target.hasSuffix("$metadata") {
            return connection.respond("200 OK", "Content-Type: application/xml\r\n", Array(metadata.utf8))
        }
        let state = state.withLock { $0 }
        if let users = state.users, !users.contains(request.header("authorization") ?? "") {
            return connection.respond(
                "401 Unauthorized", "WWW-Authenticate: Basic realm=\"s\"\r\nContent-Type: text/plain\r\n",
                Array("no".utf8))
        }
        if request.method != "GET" { return connection.respond("204 No Content") }
        if let key = Self.key(request.target) {
            change { $0.checks.append(request.target) }
            guard let note = state.rows[key] else { return connection.respond("404 Not Found") }
            return respond(connection, row(key, note))
        }
        return collection(request, state, connection)
    }

    private static func key(_ target: String) -> Int? {
        guard let range = target.range(of: "Orders(") else { return nil }
        return Int(target[range.upperBound...].prefix { $0 != ")" })
    }

    private func row(_ key: Int, _ note: String) -> String {
        let metadata = isLegacy ? "\"__metadata\":{\"uri\":\"Orders(\(key))\",\"type\":\"S.Order\"}," : ""
        return "{\(metadata)\"ID\":\(key),\"Note\":\"\(note)\"}"
    }

    /// Waits as long as the delay determines, or until the test sets it to 0.
    private func pause(_ seconds: TimeInterval) {
        let end = ContinuousClock.now + .seconds(seconds)
        while state.withLock({ $0.delay }) > 0, ContinuousClock.now < end { usleep(10_000) }
    }

    private func collection(
        _ request: LoopbackServer.Request, _ state: State, _ connection: LoopbackServer.Connection
    ) -> Bool {
        let isProbe = request.target.contains("$top=1")
        change { if isProbe { $0.probes += 1 } else { $0.readings += 1 } }
        pause(state.delay)
        if let fault = state.fault, !isProbe {
            return connection.respond(fault.status, fault.headers, Array(fault.body.utf8))
        }
        let all = state.rows.keys.filter { !state.hidden.contains($0) }.sorted()
        let start = request.target.split(separator: "$skiptoken=").last.flatMap { Int($0) } ?? .min
        let rest = all.filter { $0 > start }
        let page = rest.prefix(isProbe ? 1 : state.pageSize)
        let rows = page.map { row($0, state.rows[$0] ?? "") }.joined(separator: ",")
        let root = "http://\(request.header("host") ?? "")/svc/"
        let next = rest.count > page.count && !isProbe ? "\(root)Orders?$skiptoken=\(page.last ?? 0)" : nil
        if start == .min, !isProbe { state.afterFirstPage?() }
        if isLegacy {
            return respond(connection, "{\"d\":{\"results\":[\(rows)]\(next.map { ",\"__next\":\"\($0)\"" } ?? "")}}")
        }
        return respond(
            connection,
            "{\"@odata.context\":\"\(root)$metadata#Orders\",\"value\":[\(rows)]\(next.map { ",\"@odata.nextLink\":\"\($0)\"" } ?? "")}"
        )
    }

    private func respond(_ connection: LoopbackServer.Connection, _ body: String) -> Bool {
        let version = isLegacy ? "DataServiceVersion: 2.0" : "OData-Version: 4.0"
        return connection.respond("200 OK", "Content-Type: application/json\r\n\(version)\r\n", Array(body.utf8))
    }
}

/// A gateway with the feed `Orders` for a ``FeedOrigin``, and a clock.
struct FeedWorld {
    final class Time: Sendable {
        private let value = Mutex<Int64>(1_795_600_000_000)
        func advance(_ milliseconds: Int64) { value.withLock { $0 += milliseconds } }
        var now: @Sendable () -> Int64 { { self.value.withLock { $0 } } }
    }

    let origin: FeedOrigin
    let gateway: GatewayUnderTest
    let server: LoopbackServer
    let storage: MemoryFeedStorage
    let time: Time

    struct Answer {
        let status: Int
        let body: String
        let headers: HTTPFields

        /// The URL of the link with this name.
        func link(_ name: String) -> String? {
            guard let start = body.range(of: "\"\(name)\":\"") else { return nil }
            return String(body[start.upperBound...].prefix { $0 != "\"" })
        }
        var delta: String? { link("@odata.deltaLink") ?? link("__delta") }
        var next: String? { link("@odata.nextLink") ?? link("__next") }
        var notes: [String] {
            body.split(separator: "\"Note\":\"").dropFirst().map { String($0.prefix { $0 != "\"" }) }
        }
    }

    func get(_ url: String, _ user: String? = nil, _ more: [(String, String)] = []) async throws -> Answer {
        let full = url.hasPrefix("http") ? url : gateway.root + "shop/" + url
        return try await Self.get(full, isLegacy: origin.isLegacy, user, more)
    }

    static func get(
        _ full: String, isLegacy: Bool = false, _ user: String? = nil, _ more: [(String, String)] = []
    ) async throws -> Answer {
        var request = try #require(HTTPRequest(method: .get, url: full))
        var fields = [("Accept", "application/json")]
        if isLegacy {
            fields.append(("MaxDataServiceVersion", "2.0"))
        } else {
            fields += [("Prefer", "odata.track-changes"), ("OData-MaxVersion", "4.01")]
        }
        if let user { fields.append(("Authorization", user)) }
        for (name, value) in fields + more { request.headerFields[HTTPField.Name(name)!] = value }
        let (response, body) = try await defaultTransport().send(request, body: [])
        return Answer(
            status: response.status.code, body: String(decoding: body, as: UTF8.self), headers: response.headerFields)
    }

    func change(_ user: String? = nil) async throws { try await Self.change(gateway, user) }

    static func change(_ gateway: GatewayUnderTest, _ user: String? = nil) async throws {
        var request = try #require(HTTPRequest(method: .delete, url: gateway.root + "shop/Orders(77)"))
        if let user { request.headerFields[.authorization] = user }
        _ = try await defaultTransport().send(request, body: [])
    }
}

func withFeed(
    _ origin: FeedOrigin = FeedOrigin(), query: String = "Orders", interval: Int64 = 60_000,
    authorization: FeedSettings.Authorization = .probe, language: FeedSettings.Language = .pass,
    limits: GatewayLimits = GatewayLimits(),
    credentials: String? = nil, patience: Int64 = 5_000, _ body: (FeedWorld) async throws -> Void
) async throws {
    try await withServer(origin.answer) { server in
        var feed = FeedSettings(name: "orders", query: try #require(CanonicalQuery(query)))
        feed.refreshMilliseconds = interval
        feed.authorization = authorization
        feed.language = language
        let time = FeedWorld.Time()
        let storage = MemoryFeedStorage(now: time.now)
        let gateway = try await GatewayUnderTest(
            ["shop": server.base + "/svc/"], timeout: 5_000, limits: limits, feedStorage: storage, feeds: [feed],
            credentials: credentials.map { ["shop": $0] } ?? [:], feedPatience: patience)
        do {
            try await body(
                FeedWorld(origin: origin, gateway: gateway, server: server, storage: storage, time: time))
        } catch {
            await gateway.stop()
            throw error
        }
        await gateway.stop()
    }
}
