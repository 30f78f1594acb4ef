import EDM
import HTTPTypes
import ODataSandbox
import ODataWire
import Operations
import SyncCore
import Synchronization
import TestSupport
import Testing

@testable import OfflineStore
@testable import SyncEngine

/// Downloads from a service that does not track changes, and interrupted downloads.
struct ComparedDownloadTests {
    private static let customers = DefiningQuery(name: "Customers", query: "Customers")

    private func shop(_ dialect: Dialect = .v4, customers count: Int, pageSize: Int? = nil) async throws -> Shop {
        let shop = try await Shop(dialect, pageSize: pageSize, expanding: false, queries: [])
        // The targets of the customers' links are not downloaded.
        for key in 1...4 { shop.transport.direct("DELETE", "/v4/Orders(\(key))", headers: ["If-Match": "*"]) }
        for number in 0..<count {
            shop.transport.direct("POST", "/v4/Customers", #"{"Name":"Customer \#(number)","Tags":[]}"#)
        }
        try await shop.store.definingQueries.add(Self.customers)
        return shop
    }

    /// Returns the size of the records that a download appends, in bytes.
    private func bytes(_ shop: Shop, of body: () async throws -> Void) async throws -> Int {
        let count = Counted()
        let end = shop.engine.observe { event in
            if case .recorded(_, let record) = event { count.add(RecordCodec.encode(record).payload.count) }
        }
        defer { end() }
        try await body()
        return count.total
    }

    private final class Counted: Sendable {
        private let sum = Mutex(0)
        func add(_ count: Int) { sum.withLock { $0 += count } }
        var total: Int { sum.withLock { $0 } }
    }

    @Test(arguments: Dialect.allCases) func `only changed entities are logged`(_ dialect: Dialect) async throws {
        let shop = try await shop(dialect, customers: 300)
        let first = try await bytes(shop) { try await shop.pull() }
        let second = try await bytes(shop) {
            let report = try await shop.engine.download()
            #expect(report.queries.map(\.mode) == [.full])
            #expect(report.queries[0].tally.unchanged == 303)
        }
        #expect(second * 100 < first, "first \(first), second \(second)")
        shop.transport.direct("PATCH", "/v4/Customers(7)", #"{"Name":"other"}"#)
        shop.transport.direct("DELETE", "/v4/Customers(8)")
        let third = try await bytes(shop) {
            let tally = try await shop.engine.download().queries[0].tally
            #expect((tally.inserted, tally.changed, tally.unchanged, tally.removed) == (0, 1, 301, 1))
        }
        #expect(third * 50 < first, "first \(first), third \(third)")
        #expect(try await shop.localState(["Customers"]) == shop.serviceState(["Customers"]))
    }

    @Test func `an interrupted download resumes after the last complete page`() async throws {
        let shop = try await shop(customers: 37, pageSize: 10)
        shop.transport.forgetRequests()
        shop.transport.add(Fault(.dropRequest, skipping: 2, urlPart: "/Customers"))
        await #expect(throws: TidelogError.self) { try await shop.pull() }
        #expect(try await shop.store.query("Customers").entities.count == 20)
        shop.transport.forgetRequests()
        let report = try await shop.engine.download()
        #expect(report.queries.map(\.mode) == [.resumed])
        #expect(shop.transport.requests.count == 2)
        #expect(try await shop.store.query("Customers").entities.count == 40)
        #expect(try await shop.localState(["Customers"]) == shop.serviceState(["Customers"]))
        // Later downloads are complete ones again.
        #expect(try await shop.engine.download().queries[0].tally.unchanged == 40)
    }

    @Test func `a resumed download removes the entities that none of its pages contained`() async throws {
        let shop = try await shop(customers: 37, pageSize: 10)
        try await shop.pull()
        shop.transport.direct("DELETE", "/v4/Customers(35)")
        shop.transport.direct("DELETE", "/v4/Customers(5)")
        shop.transport.add(Fault(.dropRequest, skipping: 2, urlPart: "/Customers"))
        await #expect(throws: TidelogError.self) { try await shop.pull() }
        #expect(try await shop.store.query("Customers").entities.count == 40)
        let report = try await shop.engine.download()
        #expect(report.queries.map(\.mode) == [.resumed])
        #expect(report.queries[0].tally.removed == 2)
        #expect(try await shop.localState(["Customers"]) == shop.serviceState(["Customers"]))
    }

    @Test func `a page link that the service has forgotten restarts the download`() async throws {
        let shop = try await shop(customers: 37, pageSize: 10)
        shop.transport.add(Fault(.dropRequest, skipping: 2, urlPart: "/Customers"))
        await #expect(throws: TidelogError.self) { try await shop.pull() }
        shop.transport.add(Fault(.refuse(status: 410), urlPart: "skiptoken"))
        #expect(try await shop.engine.download().queries.map(\.mode) == [.restarted])
        #expect(try await shop.localState(["Customers"]) == shop.serviceState(["Customers"]))
    }

    @Test func `a cancelled download resumes at its last page`() async throws {
        let shop = try await shop(customers: 37, pageSize: 10)
        let engine = shop.engine
        let transport = BusyTransport(shop.transport, [.pass, .pass, .hang], of: .get)
        let hanging = SyncEngine(
            store: shop.store, session: ServiceSession(root: "http://shop.test/v4/", transport: transport))
        let download = Task { try await hanging.download() }
        for await _ in transport.hanging { break }
        await hanging.cancelDownload()
        await #expect {
            _ = try await download.value
        } throws: { error in
            (error as? TidelogError)?.code == .cancelled
        }
        #expect(try await shop.store.query("Customers").entities.count == 20)
        let report = try await engine.download()
        #expect(report.queries.map(\.mode) == [.resumed])
        #expect(report.queries.map(\.pages) == [2])
        #expect(try await shop.localState(["Customers"]) == shop.serviceState(["Customers"]))
    }

    @Test func `a row that occurs on two pages is one entity`() async throws {
        let shop = try await shop(customers: 17, pageSize: 10)
        // The second page repeats rows of the first page.
        let model = try await shop.store.model
        let all = shop.transport.direct("GET", "/v4/Customers", headers: ["Prefer": "odata.maxpagesize=15"])
        let type = try #require(model.findEntitySet("Customers")?.entityType)
        let reader = PayloadReader(version: model.version, model: model)
        let page = try reader.feed(shop.transport.direct("GET", "/v4/Customers").body, type: type)
        let more = try reader.feed(
            shop.transport.direct("GET", String(page.nextLink?.dropFirst("http://shop.test".count) ?? "")).body,
            type: type)
        let writer = PayloadWriter(version: .v4, model: model, serviceRoot: "http://shop.test/v4/")
        let shifted = writer.feed(
            FeedPayload(entities: page.entities.suffix(3) + more.entities), type: type, set: "Customers")
        #expect(all.isSuccess)
        shop.transport.add(
            Fault(.replace(contentType: "application/json", body: shifted), urlPart: "skiptoken"))
        let report = try await shop.engine.download()
        #expect(report.queries[0].tally.inserted == 20)
        #expect(report.queries[0].tally.unchanged == 3)
        #expect(try await shop.localState(["Customers"]) == shop.serviceState(["Customers"]))
    }

    @Test func `a cycle of next links ends with an error`() async throws {
        let shop = try await shop(customers: 17, pageSize: 10)
        let first = shop.transport.direct("GET", "/v4/Customers").body
        shop.transport.add(
            Fault(.replace(contentType: "application/json", body: first), times: 100, urlPart: "skiptoken"))
        await #expect { try await shop.pull() } throws: { ($0 as? TidelogError)?.code == .notOData }
    }

    @Test func `the request contains the configured page size`() async throws {
        let shop = try await shop(customers: 17)
        let report = try await shop.engine.download(nil, DownloadOptions(pageSize: 6))
        #expect(report.pages == 4)
    }

    @Test(arguments: Dialect.allCases)
    func `a query of a single entity is compared as well, and its entity may be removed`(_ dialect: Dialect)
        async throws
    {
        let shop = try await Shop(
            dialect, expanding: false, queries: [DefiningQuery(name: "One", query: "Customers(2)")])
        #expect(try await shop.engine.download().queries[0].tally.unchanged == 1)
        shop.transport.direct("DELETE", "/v4/Customers(2)")
        #expect(try await shop.engine.download().queries[0].tally.removed == 1)
        #expect(try await shop.store.query("Customers").entities.isEmpty)
    }

    @Test func `a filter finds the entities that the last download inserted or changed`() async throws {
        let shop = try await shop(customers: 5)
        try await shop.pull()
        #expect(try await shop.store.query("Customers?$filter=sap.upsertedlastdownload()").entities.count == 8)
        shop.transport.direct("PATCH", "/v4/Customers(2)", #"{"Name":"other"}"#)
        try await shop.pull()
        let found = try await shop.store.query("Customers?$filter=sap.upsertedlastdownload()").entities
        #expect(found.map(\.readLink) == ["Customers(2)"])
        #expect(
            try await shop.store.query("Customers?$filter=not sap.upsertedlastdownload()").entities.count == 7)
    }
}
