import EDM
import ODataSandbox
import ODataWire
import Operations
import SeededRandom
import SyncCore
import SyncEngine
import TestSupport
import Testing
@testable import OfflineStore

/// Downloads from a service that tracks changes.
struct DeltaDownloadTests {
    enum Service: String, CaseIterable, Sendable, CustomStringConvertible {
        case flat, nested, legacy
        var description: String { rawValue }

        var dialect: Dialect { self == .legacy ? .v2 : .v4 }
        var deltas: Deltas { Deltas(self == .nested ? .nested : .flat) }

        func shop(
            pageSize: Int? = nil, queries: [DefiningQuery]? = nil, options: LocalStoreOptions = .init()
        ) async throws -> Shop {
            var options = options
            options.service = ServiceOptions(tellsDeletionsInV2: true)
            return try await Shop(
                dialect, pageSize: pageSize, options: options, deltas: deltas, queries: queries)
        }

        /// Like SAP Gateway, the sandbox returns no delta link for a query with an expansion.
        func tracks(_ query: String) -> Bool { self != .legacy || !["Suppliers", "Owners", "Cities"].contains(query) }
    }

    private static let customers = DefiningQuery(name: "Customers", query: "Customers")

    /// Makes the changes of another client: the same ones for each dialect.
    private func change(_ shop: Shop) {
        let transport = shop.transport
        transport.direct("PATCH", "/v4/Customers(1)", #"{"Name":"Augusta Ada"}"#)
        transport.direct("POST", "/v4/Customers", #"{"Name":"Edsger","Tags":[]}"#)
        transport.direct("DELETE", "/v4/Orders(4)", headers: ["If-Match": "*"])
        transport.direct(
            "PATCH", "/v4/Orders(3)", #"{"Customer@odata.bind":"Customers(1)"}"#, headers: ["If-Match": "*"])
    }

    @Test(arguments: Service.allCases, [nil, 2])
    func `a second download requests and receives only the changes`(
        _ service: Service, _ pageSize: Int?
    ) async throws {
        let shop = try await service.shop(pageSize: pageSize)
        change(shop)
        shop.transport.forgetRequests()
        let report = try await shop.engine.download()
        #expect(report.queries.allSatisfy { $0.mode == (service.tracks($0.name) ? .delta : .full) })
        #expect(shop.transport.requests.allSatisfy { $0.url.contains("deltatoken=") || $0.url.contains("$expand") })
        #expect(try await shop.localState() == shop.serviceState())
        let customers = try #require(report.queries.first { $0.name == "Customers" })
        #expect(customers.tally.inserted == 1)
        #expect(report.queries.first { $0.name == "Orders" }?.tally.removed == 1)
        // Nothing has changed since.
        let third = try await shop.engine.download()
        #expect(third.queries.allSatisfy { $0.tally.inserted + $0.tally.changed + $0.tally.removed == 0 })
        #expect(third.queries.allSatisfy { !service.tracks($0.name) || $0.tally.unchanged == 0 })
    }

    @Test(arguments: Service.allCases)
    func `an entity that leaves the filter of a query is removed unless another query delivers it`(
        _ service: Service
    ) async throws {
        let shop = try await service.shop(queries: [
            DefiningQuery(name: "A", query: "Orders?$filter=Quantity gt 2"),
            DefiningQuery(name: "B", query: "Orders?$filter=Quantity lt 100"),
        ])
        #expect(try await shop.store.query("Orders").entities.count == 4)
        shop.transport.direct("PATCH", "/v4/Orders(2)", #"{"Quantity":1}"#, headers: ["If-Match": "*"])
        shop.transport.direct("PATCH", "/v4/Orders(1)", #"{"Quantity":2}"#, headers: ["If-Match": "*"])
        try await shop.pull()
        #expect(try await shop.value("Orders(1)", "Quantity") == .integer(2))
        #expect(try await shop.value("Orders(2)", "Quantity") == .integer(1))
        shop.transport.direct("PATCH", "/v4/Orders(1)", #"{"Quantity":200}"#, headers: ["If-Match": "*"])
        try await shop.pull()
        #expect(try await shop.value("Orders(1)", "Quantity") == .integer(200))
        shop.transport.direct("PATCH", "/v4/Orders(1)", #"{"Quantity":101}"#, headers: ["If-Match": "*"])
        shop.transport.direct("DELETE", "/v4/Orders(2)", headers: ["If-Match": "*"])
        try await shop.pull()
        #expect(try await shop.store.query("Orders").entities.count == 3)
        #expect(try await shop.localState(["Orders"]).count == shop.serviceState(["Orders"]).count)
    }

    @Test(arguments: [400, 404, 410, 500])
    func `an expired delta link leads to a full download that keeps pending operations`(_ status: Int) async throws {
        let shop = try await Service.flat.shop(queries: [Self.customers])
        try await shop.perform(update("Customers(1)", ["Name": .string("mine")]))
        shop.transport.direct("DELETE", "/v4/Customers(3)")
        shop.transport.add(Fault(.refuse(status: status), urlPart: "deltatoken"))
        let report = try await shop.engine.download()
        #expect(report.queries.map(\.mode) == [.restarted])
        #expect(try await shop.store.query("Customers").entities.count == 2)
        #expect(try await shop.value("Customers(1)", "Name") == .string("mine"))
        #expect(try await shop.store.queue.pendingCount() == 1)
        #expect(try await shop.push().confirmed.count == 1)
        #expect(try await shop.engine.download().queries.map(\.mode) == [.delta])
    }

    @Test func `a service without the state of a delta link reports it, and a full download follows`() async throws {
        let shop = try await Service.flat.shop(queries: [Self.customers])
        shop.transport.change { $0.options.deltas?.limit = 1 }
        for _ in 0..<2 {
            shop.transport.direct("GET", "/v4/Orders", headers: ["Prefer": "odata.track-changes"])
        }
        #expect(try await shop.engine.download().queries.map(\.mode) == [.restarted])
    }

    @Test func `a delta link is not used after its lifetime`() async throws {
        let time = VirtualTime()
        var options = LocalStoreOptions(environment: time.environment)
        options.querySettings = ["Customers": DefiningQuerySettings(deltaTokenLifetime: 60)]
        let shop = try await Service.flat.shop(queries: [Self.customers], options: options)
        try await time.environment.sleep(.seconds(3_599))
        #expect(try await shop.engine.download().queries.map(\.mode) == [.delta])
        try await time.environment.sleep(.seconds(3_600))
        #expect(try await shop.engine.download().queries.map(\.mode) == [.full])
    }

    @Test(arguments: DefiningQuerySettings.DeltaTracking.allCases)
    func `the setting of a query determines whether it tracks changes`(_ tracking: DefiningQuerySettings.DeltaTracking)
        async throws
    {
        var options = LocalStoreOptions()
        options.querySettings = ["Customers": DefiningQuerySettings(trackDeltas: tracking)]
        let shop = try await Service.flat.shop(queries: [Self.customers], options: options)
        let report = try await shop.engine.download()
        #expect(report.queries.map(\.mode) == [tracking == .always ? .full : .delta])
        #expect(report.queries[0].tally.unchanged == (tracking == .always ? 3 : 0))
    }

    @Test func `deleted entities are removed if the response to a delta link contains all entities`() async throws {
        let shop = try await Service.flat.shop(queries: [Self.customers])
        shop.transport.direct("DELETE", "/v4/Customers(3)")
        let all = shop.transport.direct("GET", "/v4/Customers").body
        shop.transport.add(
            Fault(.replace(contentType: "application/json", body: all), urlPart: "deltatoken"))
        let report = try await shop.engine.download()
        #expect(report.queries.map(\.mode) == [.restarted])
        #expect(try await shop.store.query("Customers").entities.count == 2)
    }

    @Test(arguments: ["urn:customer:3", "Customers('three')"], ["", #",{"Name":"in quarantine"}"#])
    func `after a removal with an unknown entity-id, the next download is a full one and removes the entity`(
        _ id: String, _ other: String
    ) async throws {
        let shop = try await Service.flat.shop(queries: [Self.customers])
        shop.transport.direct("DELETE", "/v4/Customers(3)")
        let items = ##"{"@odata.context":"#Customers/$deletedEntity","id":"\##(id)","reason":"deleted"}"##
        let body =
            ##"{"@odata.context":"http://shop.test/v4/$metadata#Customers/$delta","value":[\##(items)\##(other)],"##
            + ##""@odata.deltaLink":"http://shop.test/v4/Customers?$deltatoken=1"}"##
        shop.transport.add(
            Fault(.replace(contentType: "application/json", body: Array(body.utf8)), urlPart: "deltatoken"))
        let report = try await shop.engine.download()
        #expect(report.unidentifiedRemovals == [id])
        #expect(report.quarantined.isEmpty == other.isEmpty)
        #expect(report.description.contains("removed, but not identified: \(id)"))
        #expect(try await shop.store.query("Customers").entities.count == 3)
        let next = try await shop.engine.download()
        #expect(next.queries.map(\.mode) == [.full])
        #expect(next.unidentifiedRemovals.isEmpty)
        #expect(try await shop.store.query("Customers").entities.count == 2)
        #expect(try await shop.engine.download().queries.map(\.mode) == [.delta])
    }

    @Test func `a V2 delta that reports no deletions is not used`() async throws {
        let shop = try await Shop(
            .v2, expanding: false, deltas: Deltas(tellsDeletionsInV2: false), queries: [Self.customers])
        shop.transport.direct("DELETE", "/v4/Customers(3)")
        shop.transport.forgetRequests()
        #expect(try await shop.engine.download().queries.map(\.mode) == [.full])
        #expect(try await shop.store.query("Customers").entities.count == 2)
        #expect(!shop.transport.requests.contains { $0.url.contains("deltatoken") })
    }

    @Test(arguments: Service.allCases)
    func `an entity that was deleted locally stays deleted after any delta`(_ service: Service) async throws {
        let shop = try await service.shop(queries: [Self.customers])
        try await shop.perform(.delete(.link("Customers(1)")), .delete(.link("Customers(3)")))
        shop.transport.direct("PATCH", "/v4/Customers(1)", #"{"Name":"changed"}"#)
        shop.transport.direct("DELETE", "/v4/Customers(3)")
        try await shop.pull()
        #expect(try await shop.store.query("Customers").entities.map(\.readLink) == ["Customers(2)"])
        #expect(try await shop.store.queue.pendingCount() == 2)
    }

    @Test(arguments: Service.allCases, [UInt64(1), 2, 3, 4])
    func `deltas lead to the same state as full downloads`(_ service: Service, _ seed: UInt64) async throws {
        var random = SeededRandom(seed: seed)
        let shop = try await service.shop(pageSize: [nil, 1, 3].randomElement(using: &random) ?? nil)
        for round in 0..<6 {
            for _ in 0..<Int.random(in: 0..<8, using: &random) { editByOthers(shop, &random, round) }
            let report = try await shop.engine.download()
            #expect(report.queries.contains { $0.mode == .delta }, "seed \(seed)")
            #expect(try await shop.localState() == shop.serviceState(), "seed \(seed), round \(round)")
        }
    }

    /// Makes a random change at the service. The service may reject it.
    private func editByOthers(_ shop: Shop, _ random: inout SeededRandom, _ round: Int) {
        func key(_ count: Int) -> Int { Int.random(in: 1...count, using: &random) }
        let transport = shop.transport
        let text = "r\(round)-\(key(1_000))"
        switch key(9) {
        case 1: transport.direct("PATCH", "/v4/Customers(\(key(5)))", #"{"Name":"\#(text)"}"#)
        case 2: transport.direct("POST", "/v4/Customers", #"{"Name":"\#(text)","Tags":[]}"#)
        case 3: transport.direct("DELETE", "/v4/Customers(\(key(6)))")
        case 4:
            transport.direct(
                "PATCH", "/v4/Orders(\(key(6)))", #"{"Customer@odata.bind":"Customers(\#(key(5)))"}"#,
                headers: ["If-Match": "*"])
        case 5: transport.direct("POST", "/v4/Orders", #"{"Note":"\#(text)"}"#)
        case 6: transport.direct("DELETE", "/v4/Orders(\(key(8)))", headers: ["If-Match": "*"])
        case 7:
            transport.direct(
                "POST", "/v4/Suppliers(\(key(3)))/Products/$ref",
                #"{"@odata.id":"http://shop.test/v4/Products(\#(key(4)))"}"#)
        case 8: transport.direct("DELETE", "/v4/Suppliers(\(key(3)))/Products(\(key(4)))/$ref")
        default: transport.direct("PATCH", "/v4/Products(\(key(4)))", #"{"Name":"\#(text)"}"#)
        }
    }
}
