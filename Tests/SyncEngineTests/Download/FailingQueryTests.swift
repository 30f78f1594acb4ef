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

/// Queries that cannot be downloaded, or not by delta, and their effect on the other queries.
struct FailingQueryTests {
    private static let customers = DefiningQuery(name: "Customers", query: "Customers")
    private static let orders = DefiningQuery(name: "Orders", query: "Orders")

    /// Returns a store whose queries were downloaded, with an engine whose requests pass through the hook.
    private func shop(_ hook: @escaping HookedTransport.Hook) async throws -> (Shop, SyncEngine) {
        let shop = try await Shop(.v4, deltas: Deltas(.flat), queries: [Self.customers, Self.orders])
        let session = ServiceSession(
            root: "http://shop.test/v4/", transport: HookedTransport(shop.transport, hook: hook))
        return (shop, SyncEngine(store: shop.store, session: session))
    }

    private func replace(_ shop: Shop, _ part: String, _ body: String) {
        shop.transport.add(
            Fault(.replace(contentType: "application/json", body: Array(body.utf8)), urlPart: part))
    }

    private func error(_ body: () async throws -> Void) async throws -> TidelogError? {
        do {
            try await body()
            return nil
        } catch let error as TidelogError {
            return error
        }
    }

    // MARK: Removed queries

    @Test func `removing a query during its download takes effect after the download`() async throws {
        let asked = Mutex<(@Sendable () async throws -> Void)?>(nil)
        let removal = Mutex<Task<Void, any Error>?>(nil)
        let (shop, engine) = try await shop { request, _ in
            if let remove = asked.withLock({ asked in
                defer { asked = nil }
                return asked
            }) {
                removal.withLock { $0 = Task { try await remove() } }
                // Long enough for a removal that does not wait.
                try? await Task.sleep(for: .milliseconds(50))
            }
            return nil
        }
        asked.withLock { $0 = { try await engine.removeDefiningQuery("Customers") } }
        #expect(try await engine.download().queries.map(\.name) == ["Customers", "Orders"])
        try await removal.withLock { $0 }?.value
        #expect(try await shop.store.definingQueries.all() == [Self.orders])
        #expect(try await shop.store.query("Customers").entities.isEmpty)
    }

    @Test(arguments: [false, true])
    func `the response to a query that was removed is not stored`(_ isReplaced: Bool) async throws {
        let asked = Mutex<(@Sendable () async throws -> Void)?>(nil)
        let (shop, engine) = try await shop { request, _ in
            let change = asked.withLock { asked in
                defer { asked = nil }
                return asked
            }
            try? await change?()
            return nil
        }
        shop.transport.direct("PATCH", "/v4/Customers(1)", #"{"Name":"later"}"#)
        let store = shop.store
        asked.withLock { asked in
            asked = {
                if isReplaced {
                    try await store.definingQueries.add(DefiningQuery(name: "Customers", query: "Customers?$top=1"))
                } else {
                    try await store.definingQueries.remove("Customers")
                }
            }
        }
        let error = try await error { _ = try await engine.download() }
        #expect(error?.code == .invalidRequest)
        #expect(error?.download?.failures.map(\.name) == ["Customers"])
        #expect(error?.download?.queries.map(\.name) == ["Orders"])
        let names = try await store.query("Customers").entities.compactMap { $0.values["Name"] }
        #expect(!names.contains(.string("later")))
    }

    // MARK: Links

    @Test(arguments: ["@odata.nextLink", "@odata.deltaLink"])
    func `a link to another server is not followed, and the error names it`(_ link: String) async throws {
        let (shop, engine) = try await shop { _, _ in nil }
        replace(
            shop, "Customers",
            #"{"@odata.context":"$metadata#Customers/$delta","value":[],"\#(link)":"http://elsewhere.test/x?t=1"}"#)
        let error = try await error { _ = try await engine.download(["Customers"]) }
        #expect(error?.code == .notOData)
        #expect(error?.place == "GET http://elsewhere.test/x")
        #expect(!shop.transport.requests.contains { $0.url.contains("elsewhere") })
    }

    @Test func `a link to another server in an expansion is not followed`() async throws {
        let (shop, engine) = try await shop { _, _ in nil }
        replace(
            shop, "Customers",
            ##"""
            {"@odata.context":"$metadata#Customers/$delta","value":[
            {"CustomerID":1,"Orders":[],"Orders@odata.nextLink":"//elsewhere.test/x"}]}
            """##)
        #expect(try await error { _ = try await engine.download(["Customers"]) }?.code == .notOData)
        #expect(!shop.transport.requests.contains { $0.url.contains("elsewhere") })
    }

    @Test func `relative links are resolved against the request URL`() throws {
        let session = ServiceSession(root: "http://shop.test:81/v4/", transport: SandboxTransport(try Sandbox.shop()))
        let request = "Customers?$filter=a eq '?'"
        func resolve(_ link: String) -> String { session.absolute(session.resolve(link, from: request)) }
        #expect(resolve("?$skiptoken=1") == "http://shop.test:81/v4/Customers?$skiptoken=1")
        #expect(resolve("/v4/Orders?$skiptoken=1") == "http://shop.test:81/v4/Orders?$skiptoken=1")
        #expect(resolve("//elsewhere.test/x") == "http://elsewhere.test/x")
        #expect(resolve("Orders?$skiptoken=1") == "http://shop.test:81/v4/Orders?$skiptoken=1")
        #expect(resolve("https://elsewhere.test/x") == "https://elsewhere.test/x")
    }

    // MARK: Responses

    @Test func `a delta that cannot be read is followed by a full download`() async throws {
        let (shop, engine) = try await shop { _, _ in nil }
        shop.transport.direct("DELETE", "/v4/Customers(3)")
        replace(shop, "deltatoken", #"{"@odata.context":"$metadata#Customers/$delta","value":[{"CustomerID":1}"#)
        #expect(try await engine.download(["Customers"]).queries.map(\.mode) == [.restarted])
        #expect(try await shop.store.query("Customers").entities.count == 2)
    }

    @Test(arguments: [403, 404, 500])
    func `a query that the service rejects does not prevent the download of others`(_ status: Int) async throws {
        let (shop, engine) = try await shop { request, _ in
            guard request.path?.contains("/Customers") == true else { return nil }
            return (HTTPResponse(status: .init(code: status)), [])
        }
        shop.transport.direct("PATCH", "/v4/Orders(3)", #"{"Note":"later"}"#, headers: ["If-Match": "*"])
        let error = try await error { _ = try await engine.download() }
        #expect(error?.code == (status == 403 ? .unauthorized : .service(status: status)))
        #expect(error?.download?.failures.map(\.name) == ["Customers"])
        #expect(error?.download?.queries.map(\.name) == ["Orders"])
        #expect(try await shop.value("Orders(3)", "Note") == .string("later"))
    }

    @Test func `an error that does not concern the query ends the download`() async throws {
        let (shop, engine) = try await shop { _, _ in (HTTPResponse(status: .unauthorized), []) }
        let error = try await error { _ = try await engine.download() }
        #expect(error?.code == .unauthorized)
        #expect(error?.download?.failures.map(\.name) == ["Customers"])
        #expect(shop.transport.requests.filter { $0.url.contains("Orders?$deltatoken") }.isEmpty)
    }
}
