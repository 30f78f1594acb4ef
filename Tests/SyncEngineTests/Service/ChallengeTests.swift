import EDM
import HTTPTypes
import ODataSandbox
import ODataWire
import Operations
import SyncCore
import Synchronization
import TestSupport
import Testing
import Transport

@testable import OfflineStore
@testable import SyncEngine

/// A service that refuses credentials or tokens, or redirects, at each kind of request.
struct ChallengeTests {
    /// Kinds of requests.
    enum Place: String, CaseIterable, Sendable, CustomStringConvertible {
        case metadata, page, nextLink, token, batch, single, monitor, entity

        var description: String { rawValue }

        func isHere(_ request: HTTPRequest) -> Bool {
            let path = request.path ?? ""
            switch self {
            case .metadata: return path.hasSuffix("$metadata")
            case .page: return request.method == .get && path.hasSuffix("/Customers")
            case .nextLink: return path.contains("skiptoken")
            case .token: return request.method == .get && path.hasSuffix("/v2/")
            case .batch: return path.hasSuffix("$batch")
            case .single: return request.method == .post && path.hasSuffix("/Customers")
            case .monitor: return path.contains("$async")
            case .entity: return request.method == .get && path.contains("/Orders(1)")
            }
        }

        var dialect: Dialect { self == .token ? .v2 : .v4 }
    }

    /// Returns a shop, and a closure that sends a request of the given kind.
    ///
    /// - Parameter name: The name of the new customer, if the request creates one.
    private func shop(
        _ place: Place, name: String = "New"
    ) async throws -> (Shop, (SyncEngine) async throws -> Void) {
        let shop = try await Shop(
            place.dialect, pageSize: place == .nextLink ? 1 : nil,
            options: LocalStoreOptions(environment: VirtualTime().environment))
        switch place {
        case .metadata: return (shop, { _ = try await MetadataReading.read($0.session) })
        case .page, .nextLink: return (shop, { _ = try await $0.download(["Customers"]) })
        case .token, .batch: try await shop.create("Customers", ["Name": .string(name)])
        case .single:
            try await shop.create("Customers", ["Name": .string(name)])
            shop.transport.change { $0.options.capabilities.batch = false }
            await shop.store.use(ServiceOptions(supportsBatch: false))
        case .monitor:
            try await shop.create("Customers", ["Name": .string(name)])
            shop.transport.change { $0.options.asynchrony = Asynchrony(polls: 2) }
            await shop.store.use(ServiceOptions(respondsAsync: true))
        case .entity:
            try await shop.perform(update("Orders(1)", ["Note": .string("mine")]))
            shop.transport.add(Fault(.dropAnswer, urlPart: "$batch"))
            await #expect(throws: TidelogError.self) { try await shop.push() }
        }
        return (shop, { _ = try await $0.upload(UploadOptions(retry: .impatient)) })
    }

    private func engine(
        _ shop: Shop, _ transport: any HTTPTransport, hook: AuthenticationHook? = nil
    ) -> SyncEngine {
        SyncEngine(
            store: shop.store,
            session: ServiceSession(
                root: shop.engine.session.root, transport: transport, credentials: .bearer("old"), authentication: hook)
        )
    }

    private func isSynchronized(_ shop: Shop) async throws -> Bool {
        guard try await shop.store.queue.pendingOperations().isEmpty else { return false }
        return try await shop.localState(["Customers", "Orders"]) == shop.serviceState(["Customers", "Orders"])
    }

    // MARK: 401

    @Test(arguments: Place.allCases)
    func `an expired token is renewed at each kind of request, and the call continues`(_ place: Place) async throws {
        let (shop, run) = try await shop(place)
        let asked = Mutex(0)
        let refused = Mutex(0)
        let transport = FailingTransport(shop.transport) { request throws(TransportError) in
            guard place.isHere(request), request.headerFields[.authorization] != "Bearer new" else { return nil }
            refused.withLock { $0 += 1 }
            return HTTPResponse(status: .unauthorized)
        }
        let engine = engine(shop, transport) { _ in
            asked.withLock { $0 += 1 }
            return .bearer("new")
        }
        try await run(engine)
        #expect(asked.withLock { $0 } == 1)
        #expect(refused.withLock { $0 } == 1)
        #expect(try await isSynchronized(shop))
    }

    @Test(arguments: Place.allCases)
    func `a hook that returns nil ends the call with unauthorized, and nothing is lost`(_ place: Place) async throws {
        let (shop, run) = try await shop(place)
        let transport = FailingTransport(shop.transport) { request throws(TransportError) in
            place.isHere(request) ? HTTPResponse(status: .unauthorized) : nil
        }
        let engine = engine(shop, transport) { _ in nil }
        await #expect {
            try await run(engine)
        } throws: { error in
            (error as? TidelogError)?.code == .unauthorized
        }
        try await run(shop.engine)
        #expect(try await isSynchronized(shop))
    }

    // MARK: The CSRF token

    @Test func `a CSRF token that the service rejects is fetched only once more`() async throws {
        let shop = try await Shop(.v2)
        try await shop.create("Customers", ["Name": .string("New")])
        let posts = Mutex(0)
        let fetches = Mutex(0)
        let transport = FailingTransport(shop.transport) { request throws(TransportError) in
            if let name = HTTPField.Name("X-CSRF-Token"), request.headerFields[name] == "Fetch" {
                fetches.withLock { $0 += 1 }
            }
            guard request.method == .post else { return nil }
            posts.withLock { $0 += 1 }
            var response = HTTPResponse(status: .forbidden)
            if let name = HTTPField.Name("X-CSRF-Token") { response.headerFields[name] = "Required" }
            return response
        }
        let engine = engine(shop, transport)
        await #expect {
            try await engine.upload()
        } throws: { error in
            (error as? TidelogError)?.code == .unauthorized
        }
        #expect(posts.withLock { $0 } == 2)
        #expect(fetches.withLock { $0 } == 2)
        #expect(try await shop.store.queue.pendingOperations().map(\.status) == [.pending])
        #expect(try await shop.push().remaining == 0)
    }

    @Test func `a CSRF token of a root that is not found is used`() async throws {
        let shop = try await Shop(.v4)
        try await shop.create("Customers", ["Name": .string("New")])
        let transport = FailingTransport(shop.transport) { request throws(TransportError) in
            guard let name = HTTPField.Name("X-CSRF-Token") else { return nil }
            let token = request.headerFields[name]
            if token == "Fetch" {
                var response = HTTPResponse(status: .notFound)
                response.headerFields[name] = "t"
                return response
            }
            guard request.method == .post, token != "t" else { return nil }
            var response = HTTPResponse(status: .forbidden)
            response.headerFields[name] = "required"
            return response
        }
        let report = try await engine(shop, transport).upload()
        #expect(report.confirmed.count == 1)
    }

    // MARK: Redirects

    @Test(arguments: Place.allCases)
    func `a redirect to another origin is not followed, and leaves nothing lost or in doubt`(
        _ place: Place
    ) async throws {
        let (shop, run) = try await shop(place)
        let transport = FailingTransport(shop.transport) { request throws(TransportError) in
            guard place.isHere(request) else { return nil }
            throw TransportError(
                .redirectRefused, "It leads to http://other.test, which is another origin.", mayHaveBeenSent: false)
        }
        let before = try await shop.store.queue.pendingOperations().map(\.status)
        if place == .monitor {
            try await run(engine(shop, transport))
            #expect(try await shop.store.doubts.awaitedOperations().count == 1)
        } else {
            await #expect {
                try await run(engine(shop, transport))
            } throws: { error in
                (error as? TidelogError)?.code == .unreachable && "\(error)".contains("http://other.test")
            }
            #expect(try await shop.store.queue.pendingOperations().map(\.status) == before)
        }
        try await run(shop.engine)
        #expect(try await isSynchronized(shop))
    }

    @Test(arguments: [Place.batch, .single])
    func `a modification that is answered by 303 is in doubt, and takes effect once`(_ place: Place) async throws {
        // The service's new customer is recognized by its name.
        let (shop, run) = try await shop(place, name: "Quick blue fox")
        let service = shop.transport
        let isFirst = Mutex(true)
        let transport = HookedTransport(service) { request, body in
            let isRedirected = isFirst.withLock { isFirst in
                defer { if place.isHere(request) { isFirst = false } }
                return isFirst && place.isHere(request)
            }
            guard isRedirected else { return nil }
            _ = try? await service.send(request, body: Array(body.utf8))
            return (HTTPResponse(status: .seeOther, headerFields: [.location: request.path ?? ""]), [])
        }
        await #expect {
            try await run(engine(shop, transport))
        } throws: { error in
            "\(error)".contains("may have been executed")
        }
        let statuses = try await shop.store.queue.pendingOperations().map(\.status)
        #expect(statuses.allSatisfy { if case .inDoubt = $0 { true } else { false } } && statuses.count == 1)
        try await run(shop.engine)
        #expect(try await isSynchronized(shop))
    }
}
