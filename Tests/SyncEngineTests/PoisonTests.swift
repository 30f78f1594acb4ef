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

/// One operation that makes every request fail: it is isolated, and the other operations are sent.
struct PoisonTests {
    /// Capabilities of a service: batches and repeatable requests.
    enum Way: String, CaseIterable, Sendable, CustomStringConvertible {
        case batch, repeatableBatch, single, repeatableSingle

        var description: String { rawValue }
        var isRepeatable: Bool { self == .repeatableBatch || self == .repeatableSingle }
        var options: ServiceOptions {
            var options = ServiceOptions(repeatability: isRepeatable ? .oasis : .none)
            options.supportsBatch = self == .batch || self == .repeatableBatch
            return options
        }
    }

    /// Responses to a request with the failing operation, and a cut connection.
    enum Poison: String, CaseIterable, Sendable, CustomStringConvertible {
        /// 413 of the service or of a proxy.
        case tooLarge
        /// 403 with a body that is not an OData error.
        case firewall
        /// 500 with and without an OData error.
        case broken, crash
        /// 504: the request takes longer than the gateway waits.
        case gatewayTimeout
        /// The connection is cut.
        case cut

        var description: String { rawValue }

        func answer() throws(TransportError) -> (response: HTTPResponse, body: [UInt8]) {
            let words = Array(#"{"error":{"code":"1","message":"poisoned"}}"#.utf8)
            switch self {
            case .tooLarge: return (HTTPResponse(status: .init(code: 413)), words)
            case .firewall: return (HTTPResponse(status: .forbidden), Array("<html>".utf8))
            case .broken: return (HTTPResponse(status: .internalServerError), words)
            case .crash: return (HTTPResponse(status: .internalServerError), Array("<html>".utf8))
            case .gatewayTimeout: return (HTTPResponse(status: .gatewayTimeout), [])
            case .cut: throw TransportError(.disconnected, "It was cut.", mayHaveBeenSent: true)
            }
        }

        /// Whether the operation is rejected. Otherwise its outcome cannot be determined.
        func isRefusal(_ way: Way) -> Bool {
            switch self {
            case .tooLarge, .firewall: true
            case .broken: true
            case .crash, .gatewayTimeout, .cut: false
            }
        }
    }

    private struct PoisonedTransport: HTTPTransport {
        let service: any HTTPTransport
        let poison: Poison
        let count: @Sendable (Bool) -> Void

        func send(
            _ request: HTTPRequest, body: [UInt8]
        ) async throws(TransportError) -> (response: HTTPResponse, body: [UInt8]) {
            let isPoisoned = String(decoding: body, as: UTF8.self).contains("poison")
            if request.method == .post { count(isPoisoned) }
            return isPoisoned ? try poison.answer() : try await service.send(request, body: body)
        }
    }

    private func shop(_ way: Way) async throws -> Shop {
        let shop = try await Shop(.v4, options: LocalStoreOptions(environment: VirtualTime().environment))
        shop.transport.change {
            if way.isRepeatable { $0.options.repeatability = Repeatability(.oasis) }
            $0.options.capabilities.batch = way.options.supportsBatch
        }
        await shop.store.use(way.options)
        return shop
    }

    @Test(arguments: Way.allCases, Poison.allCases)
    func `an operation that makes every request fail is isolated, and the others are sent once`(
        _ way: Way, _ poison: Poison
    ) async throws {
        let shop = try await shop(way)
        for number in 1...8 {
            let id = try #require(GuidValue("aaaaaaaa-0000-0000-0000-00000000000\(number)"))
            try await shop.create(
                "Visits", ["VisitID": .guid(id), "Subject": .string(number == 3 ? "poison" : "good")])
        }
        let posts = Mutex(0)
        let transport = PoisonedTransport(service: shop.transport, poison: poison) { _ in posts.withLock { $0 += 1 } }
        let engine = SyncEngine(
            store: shop.store, session: ServiceSession(root: shop.engine.session.root, transport: transport))
        var uploads = 0
        while try await shop.store.queue.pendingCount() > 1, uploads < 8 {
            uploads += 1
            _ = try? await engine.upload(UploadOptions(retry: .impatient, ignoresPostponement: true))
        }
        #expect(uploads <= 5)
        #expect(posts.withLock { $0 } < 40)
        let left = try await shop.store.queue.pendingOperations()
        #expect(left.count == 1)
        switch left.first?.status {
        case .rejected?: #expect(poison.isRefusal(way))
        case .inDoubt?: #expect(!poison.isRefusal(way))
        default: Issue.record("\(left.map(\.status))")
        }
        // The operation no longer makes requests fail.
        #expect(try await shop.engine.upload(UploadOptions(ignoresPostponement: true)).remaining == 0)
        let mine = try await shop.serviceState(["Visits"]).filter { $0.contains("aaaaaaaa-0000") }
        #expect(mine.count == 8)
    }

    @Test(arguments: [Way.repeatableBatch, .repeatableSingle])
    func `a repeated request that a proxy rejects does not hold back other operations`(
        _ way: Way
    ) async throws {
        let shop = try await shop(way)
        for number in 1...4 {
            let id = try #require(GuidValue("aaaaaaaa-0000-0000-0000-00000000000\(number)"))
            try await shop.create(
                "Visits", ["VisitID": .guid(id), "Subject": .string(number == 1 ? "poison" : "good")])
        }
        shop.transport.add(Fault(.dropRequest, method: "POST"))
        await #expect(throws: TidelogError.self) { try await shop.push() }
        try await shop.perform(update("Orders(1)", ["Note": .string("behind")]))
        let transport = PoisonedTransport(service: shop.transport, poison: .firewall) { _ in }
        let engine = SyncEngine(
            store: shop.store, session: ServiceSession(root: shop.engine.session.root, transport: transport))
        let report = try await engine.upload(UploadOptions(retry: .impatient))
        #expect(report.confirmed.count == 4)
        #expect(report.rejected.map(\.refusal.status) == [403])
        #expect(report.inDoubt == [])
    }

    @Test(arguments: Way.allCases)
    func `a cut connection ends the upload at the first failed request`(_ way: Way) async throws {
        let shop = try await shop(way)
        for number in 1...8 {
            let id = try #require(GuidValue("aaaaaaaa-0000-0000-0000-00000000000\(number)"))
            try await shop.create("Visits", ["VisitID": .guid(id), "Subject": .string("good")])
        }
        let requests = Mutex(0)
        let transport = FailingTransport(shop.transport) { _ throws(TransportError) in
            requests.withLock { $0 += 1 }
            throw TransportError(.disconnected, "It was cut.", mayHaveBeenSent: true)
        }
        let engine = SyncEngine(
            store: shop.store, session: ServiceSession(root: shop.engine.session.root, transport: transport))
        for _ in 1...3 { await #expect(throws: TidelogError.self) { try await engine.upload() } }
        #expect(requests.withLock { $0 } <= 6)
        #expect(try await shop.push().remaining == 0)
        #expect(try await Set(shop.localState()) == Set(shop.serviceState()))
    }

    @Test func `without batches, an operation that is postponed repeatedly does not hold back others`()
        async throws
    {
        let shop = try await shop(.single)
        let names = ["busy", "one", "two", "three"]
        for name in names { try await shop.create("Customers", ["Name": .string(name)]) }
        let sent = Mutex<[String]>([])
        let transport = HookedTransport(shop.transport) { request, body in
            guard request.method == .post else { return nil }
            sent.withLock { $0.append(names.first { body.contains("\"\($0)\"") } ?? "") }
            return body.contains("busy") ? (HTTPResponse(status: .tooManyRequests), []) : nil
        }
        let engine = SyncEngine(
            store: shop.store, session: ServiceSession(root: shop.engine.session.root, transport: transport))
        let impatient = UploadOptions(retry: .impatient, ignoresPostponement: true)
        let first = try await engine.upload(impatient)
        #expect(first.deferred.count == 1)
        #expect(first.remaining == 4)
        let second = try await engine.upload(impatient)
        #expect(second.confirmed.count == 3)
        #expect(second.deferred.count == 1)
        #expect(sent.withLock { $0 } == ["busy", "busy", "one", "two", "three"])
    }

    @Test func `without batches, several rejected requests hold back no other, and none is sent twice`()
        async throws
    {
        let shop = try await shop(.single)
        let names = (1...6).map { "\($0.isMultiple(of: 2) ? "bad" : "good") \($0)" }
        for name in names { try await shop.create("Customers", ["Name": .string(name)]) }
        let sent = Mutex<[String]>([])
        let transport = HookedTransport(shop.transport) { request, body in
            guard request.method == .post else { return nil }
            sent.withLock { $0.append(names.first { body.contains("\"\($0)\"") } ?? "") }
            return body.contains("bad") ? (HTTPResponse(status: .badRequest), []) : nil
        }
        let engine = SyncEngine(
            store: shop.store, session: ServiceSession(root: shop.engine.session.root, transport: transport))
        let report = try await engine.upload()
        #expect(report.confirmed.count == 3)
        #expect(report.rejected.map(\.refusal.status) == [400, 400, 400])
        #expect(sent.withLock { $0 } == names)
    }
}
