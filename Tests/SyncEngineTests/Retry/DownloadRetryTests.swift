import EDM
import HTTPTypes
import ODataSandbox
import Operations
import SyncCore
import Synchronization
import TestSupport
import Testing
import Transport

@testable import OfflineStore
@testable import SyncEngine

/// Downloads from a busy service.
struct DownloadRetryTests {
    /// A service that refuses the next GET requests of Customers.
    private final class Busy: Sendable {
        enum Turn: Sendable {
            case answer(Int, retryAfter: String?)
            case unreachable
        }

        let time = VirtualTime()
        let shop: Shop
        let turns = Mutex<[Turn]>([])
        let transport: any HTTPTransport
        let engine: SyncEngine

        init(pageSize: Int? = nil) async throws {
            shop = try await Shop(.v4, pageSize: pageSize, options: .init(environment: time.environment))
            let hook = Mutex<(@Sendable () -> Turn?)?>(nil)
            transport = FailingTransport(shop.transport) { request throws(TransportError) in
                guard request.method == .get, request.path?.contains("/Customers") == true else { return nil }
                switch hook.withLock({ $0 })?() {
                case nil: return nil
                case .unreachable?:
                    throw TransportError(.unreachable, "Nothing answers.", mayHaveBeenSent: false)
                case .answer(let status, let retryAfter)?:
                    var response = HTTPResponse(status: .init(code: status))
                    response.headerFields[.retryAfter] = retryAfter
                    return response
                }
            }
            engine = SyncEngine(
                store: shop.store, session: ServiceSession(root: "http://shop.test/v4/", transport: transport))
            shop.transport.forgetRequests()
            hook.withLock { $0 = { [self] in turns.withLock { $0.isEmpty ? nil : $0.removeFirst() } } }
        }

        func add(_ new: Turn...) { turns.withLock { $0 += new } }
    }

    private func code(_ body: () async throws -> Void) async throws -> TidelogError.Code? {
        do {
            try await body()
            return nil
        } catch let error as TidelogError {
            return error.code
        }
    }

    @Test(arguments: [408, 425, 429, 503])
    func `a download waits as long as a busy service requests, and repeats the same page`(_ status: Int)
        async throws
    {
        let busy = try await Busy(pageSize: 1)
        busy.shop.transport.direct("POST", "/v4/Customers", #"{"Name":"New"}"#)
        busy.add(.answer(status, retryAfter: "20"))
        let report = try await busy.engine.download(["Customers", "Orders"])
        #expect(busy.time.slept == [.seconds(20)])
        #expect(report.entities > 4)
        #expect(try await busy.shop.localState(["Customers"]) == busy.shop.serviceState(["Customers"]))
    }

    @Test func `pages that were read are not read again`() async throws {
        let busy = try await Busy(pageSize: 1)
        let isBusy = Mutex(true)
        let transport = FailingTransport(busy.shop.transport) { request throws(TransportError) in
            guard request.path?.contains("skiptoken") == true, isBusy.withLock({ $0 }) else { return nil }
            isBusy.withLock { $0 = false }
            return HTTPResponse(status: .tooManyRequests)
        }
        let engine = SyncEngine(
            store: busy.shop.store, session: ServiceSession(root: "http://shop.test/v4/", transport: transport))
        #expect(try await engine.download(["Customers"]).pages == 3)
        #expect(busy.shop.transport.requests.count == 3)
        #expect(busy.time.slept.count == 1)
    }

    @Test(arguments: [502, 504])
    func `a gateway error is retried and does not postpone uploads`(_ status: Int) async throws {
        let busy = try await Busy()
        busy.add(.answer(status, retryAfter: nil))
        #expect(try await busy.engine.download(["Customers"]).pages == 1)
        // The response does not concern uploads, so they are not postponed.
        #expect(try await busy.shop.store.postponement == nil)
    }

    @Test(arguments: [400, 401, 404, 500])
    func `a permanent error is not retried`(_ status: Int) async throws {
        let busy = try await Busy()
        // Two responses: after a 400, which may be caused by the preferences, the request is repeated without them.
        busy.add(.answer(status, retryAfter: "1"), .answer(status, retryAfter: "1"))
        #expect(try await code { _ = try await busy.engine.download(["Customers"]) } != nil)
        #expect(busy.time.slept.isEmpty)
        #expect(try await busy.shop.store.postponement == nil)
    }

    @Test func `after the maximum number of attempts, a download ends with the service's response`() async throws {
        let busy = try await Busy()
        for _ in 0..<10 { busy.add(.answer(503, retryAfter: nil)) }
        let options = DownloadOptions(retry: RetryPolicy(attempts: 3, patience: .seconds(1_000)))
        #expect(
            try await code { _ = try await busy.engine.download(["Customers"], options) } == .service(status: 503))
        #expect(busy.time.slept.count == 2)
    }

    @Test func `a postponement longer than the patience is kept after a restart`() async throws {
        let busy = try await Busy()
        busy.add(.answer(429, retryAfter: "3600"))
        #expect(try await code { _ = try await busy.engine.download(["Customers"]) } == .service(status: 429))
        #expect(busy.time.slept.isEmpty)
        await busy.shop.store.close()
        let store = try await LocalStore(
            StoreFiles(directory: busy.shop.directory.path), options: .init(environment: busy.time.environment))
        let engine = SyncEngine(
            store: store, session: ServiceSession(root: "http://shop.test/v4/", transport: busy.transport))
        let end = try #require(try await store.postponement).upload.notBefore
        let held = try await code { _ = try await engine.download(["Customers"]) }
        #expect(held == .postponed(until: end))
        #expect(try await engine.download(["Customers"], DownloadOptions(ignoresPostponement: true)).pages == 1)
        busy.time.pass(3_590)
        #expect(try await engine.download(["Customers"]).pages == 1)
        #expect(busy.time.slept == [.seconds(10)])
        await store.close()
    }

    @Test func `attempts are counted over several downloads until one succeeds, so that the delays grow`()
        async throws
    {
        let busy = try await Busy()
        let impatient = DownloadOptions(retry: .impatient, ignoresPostponement: true)
        for number in [1, 2, 3] {
            busy.add(.answer(503, retryAfter: nil))
            _ = try await code { _ = try await busy.engine.download(["Customers"], impatient) }
            #expect(try await busy.shop.store.postponement?.upload.attempt == number)
        }
        busy.add(.answer(503, retryAfter: nil))
        #expect(try await busy.engine.download(["Customers"], DownloadOptions(ignoresPostponement: true)).pages == 1)
        busy.time.pass(3_600)
        busy.add(.answer(503, retryAfter: nil))
        _ = try await code { _ = try await busy.engine.download(["Customers"], impatient) }
        #expect(try await busy.shop.store.postponement?.upload.attempt == 1)
    }

    @Test func `a postponed operation does not prevent a download`() async throws {
        let busy = try await Busy()
        try await busy.shop.create("Orders", ["Note": .string("late"), "CustomerID": .integer(4)])
        let service = BusyTransport(busy.shop.transport, [.replacing400(by: 503)])
        let session = ServiceSession(root: "http://shop.test/v4/", transport: service)
        _ = try await SyncEngine(store: busy.shop.store, session: session).upload(UploadOptions(retry: .impatient))
        #expect(try await busy.shop.store.postponement != nil)
        #expect(try await busy.engine.download(["Customers"]).pages == 1)
        #expect(busy.time.slept.isEmpty)
    }

    @Test func `an unreachable service ends a download unless the policy waits for the connection`() async throws {
        let busy = try await Busy()
        busy.add(.unreachable)
        #expect(try await code { _ = try await busy.engine.download(["Customers"]) } == .unreachable)
        busy.add(.unreachable, .unreachable)
        let options = DownloadOptions(retry: RetryPolicy(patience: .seconds(100), waitsForConnection: true))
        #expect(try await busy.engine.download(["Customers"], options).pages == 1)
        #expect(busy.time.slept.count == 2)
    }

    @Test(arguments: [false, true])
    func `cancelling a waiting download ends it at once, and its progress is waiting`(
        _ byTask: Bool
    ) async throws {
        let shop = try await Shop(.v4)
        let isBusy = Mutex(true)
        let transport = FailingTransport(shop.transport) { request throws(TransportError) in
            guard isBusy.withLock({ $0 }) else { return nil }
            isBusy.withLock { $0 = false }
            var response = HTTPResponse(status: .tooManyRequests)
            response.headerFields[.retryAfter] = "600"
            return response
        }
        let engine = SyncEngine(
            store: shop.store, session: ServiceSession(root: "http://shop.test/v4/", transport: transport))
        let progress = engine.progress()
        let patient = DownloadOptions(retry: RetryPolicy(patience: .seconds(3_600)))
        let download = Task { try await engine.download(nil, patient) }
        for await step in progress where step.step == .waiting { break }
        if byTask { download.cancel() } else { await engine.cancelDownload() }
        #expect(try await code { _ = try await download.value } == .cancelled)
        _ = try await engine.download(nil, DownloadOptions(ignoresPostponement: true))
    }

    @Test func `the progress continues after a download has waited`() async throws {
        var progress = SyncProgress()
        progress.apply(.downloadBegan)
        progress.apply(.waiting(until: 1, attempt: 1, reason: ""))
        progress.apply(.waiting(until: 2, attempt: 2, reason: ""))
        #expect(progress.step == .waiting && progress.waitsUntil == 2)
        progress.apply(.exchanged(sent: 0, received: 1, status: 200))
        #expect(progress.step == .downloading && progress.waitsUntil == nil)
    }
}
