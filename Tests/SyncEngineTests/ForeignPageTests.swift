import EDM
import ODataSandbox
import ODataWire
import Operations
import SyncCore
import TestSupport
import Testing
@testable import OfflineStore

/// HX-16: a captive portal answers single requests with a web page and status 200, and the service does not receive
/// them. Without batches each modification is such a request; with batches, each upload of a media stream.
@Suite struct ForeignPageTests {
    private static let page = Fault.Effect.refuse(
        status: 200, headers: ["Content-Type": "text/html; charset=utf-8"], body: Array("<html>Welcome".utf8))

    @Test(arguments: Dialect.allCases)
    func `a web page instead of the response to a request without a batch confirms nothing`(
        _ dialect: Dialect
    ) async throws {
        for intent in [
            update("Orders(2)", ["Note": .string("mine")]), .delete(.link("Orders(3)")),
            .createLink(from: .link("Suppliers(2)"), navigation: "Products", to: .link("Products(3)")),
        ] {
            let shop = try await Shop(dialect)
            await shop.store.use(ServiceOptions(supportsBatch: false))
            let before = try await shop.serviceState()
            try await shop.perform(intent)
            for method in ["PATCH", "MERGE", "DELETE", "POST"] {
                shop.transport.add(Fault(Self.page, method: method))
            }
            await #expect(throws: TidelogError.self) { try await shop.push() }
            #expect(try await shop.store.queue.pendingOperations(.inDoubt).count == 1)
            #expect(try await shop.serviceState() == before)
            shop.transport.change { $0.faults = [] }
            #expect(try await shop.push().remaining == 0)
            #expect(try await shop.serviceState() != before)
            #expect(try await Set(shop.localState()) == Set(shop.serviceState()))
        }
    }

    @Test(arguments: Dialect.allCases)
    func `a create that a web page answers is sent again and takes effect once`(_ dialect: Dialect) async throws {
        let shop = try await Shop(dialect)
        await shop.store.use(ServiceOptions(supportsBatch: false))
        let visit = Value.guid(GuidValue(high: 1, low: 2))
        try await shop.create("Visits", ["VisitID": visit, "Subject": .string("behind the portal")])
        shop.transport.add(Fault(Self.page, method: "POST"))
        await #expect(throws: TidelogError.self) { try await shop.push() }
        #expect(try await shop.push().remaining == 0)
        #expect(try await Set(shop.localState()) == Set(shop.serviceState()))
    }

    @Test(arguments: Dialect.allCases)
    func `HX-16 a media stream is not confirmed by a web page`(_ dialect: Dialect) async throws {
        let shop = try await Shop(dialect)
        try await shop.store.definingQueries.add(DefiningQuery(name: "Photos", query: "Photos"))
        try await shop.pull()
        let before = try await shop.serviceState(["Photos"])
        var options = IntentOptions()
        options.stream = StreamWrite(
            content: try await shop.store.media.keepStream(mediaType: "image/png", name: nil) { take in
                try take(Array("a picture".utf8))
            })
        _ = try await shop.store.perform(
            [(.create(try await shop.draft(0, "Photos"), in: nil), options)], asChangeSet: false)
        shop.transport.add(Fault(Self.page, method: "POST"))
        await #expect(throws: TidelogError.self) { try await shop.push() }
        #expect(try await shop.store.queue.pendingOperations(.inDoubt).count == 1)
        #expect(try await shop.serviceState(["Photos"]) == before)
    }
}
