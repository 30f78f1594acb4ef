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

/// Batches that the service processes asynchronously, after a response with status 202.
///
/// Features: BA-24.
struct AcceptedBatchTests {
    private static let options = LocalStoreOptions(
        environment: SyncEnvironment(sleep: { _ throws(CancellationError) in
            if Task.isCancelled { throw CancellationError() }
        }))

    private func shop(
        polls: Int = 2, _ service: ServiceOptions = ServiceOptions(respondsAsync: true),
        _ options: LocalStoreOptions = Self.options
    ) async throws -> Shop {
        let shop = try await Shop(.v4, options: options)
        shop.transport.change { $0.options.asynchrony = Asynchrony(polls: polls, retryAfter: 3) }
        await shop.store.use(service)
        return shop
    }

    private func statuses(_ shop: Shop) async throws -> [PendingOperation.Status] {
        try await shop.store.queue.pendingOperations().map(\.status)
    }

    @Test(arguments: ServiceOptions.BatchFormat.allCases)
    func `the engine requests the monitor until the response of the batch is available`(
        _ format: ServiceOptions.BatchFormat
    ) async throws {
        let shop = try await shop(ServiceOptions(batchFormat: format, respondsAsync: true))
        let customer = try await shop.create("Customers", ["Name": .string("New")])
        try await shop.create("Orders", ["Note": .string("bound")], bind: [bind("Customer", customer)])
        #expect(try await shop.push().remaining == 0)
        #expect(try await shop.load(customer).readLink == "Customers(4)")
        #expect(try await Set(shop.localState()) == Set(shop.serviceState()))
        #expect(shop.transport.requests.filter { $0.url.contains("$async") }.count == 3)
    }

    @Test(arguments: [ServiceOptions.Repeatability.none, .oasis])
    func `a new process continues to wait for an accepted batch`(
        _ repeatability: ServiceOptions.Repeatability
    ) async throws {
        let service = ServiceOptions(repeatability: repeatability, respondsAsync: true)
        let shop = try await shop(polls: 1, service)
        let customer = try await shop.create("Customers", ["Name": .string("New")])
        try await shop.create(
            "Orders", ["Note": .string("deep")], bind: [bind("Customer", customer)])
        let report = try await shop.engine.upload(UploadOptions(monitorPatience: .zero))
        #expect(report.remaining == 2)
        await shop.store.close()
        var options = Self.options
        options.service = service
        let store = try await LocalStore(StoreFiles(directory: shop.directory.path), options: options)
        #expect(
            try await store.queue.pendingOperations().allSatisfy {
                if case .inFlight = $0.status { true } else { false }
            })
        let engine = SyncEngine(store: store, session: shop.engine.session)
        #expect(try await engine.upload().remaining == 0)
        #expect(try await store.load(.link(customer)).readLink == "Customers(4)")
        #expect(shop.transport.requests.filter { $0.url.contains("$batch") }.count == 1)
        #expect(try await shop.serviceState(["Customers"]).count == 4)
    }

    @Test func `the operations of a batch whose monitor no longer exists are in doubt`() async throws {
        let shop = try await shop()
        try await shop.perform(update("Orders(1)", ["Note": .string("mine")]))
        shop.transport.add(Fault(.refuse(status: 404), urlPart: "$async"))
        await #expect(throws: TidelogError.self) { try await shop.push() }
        #expect(try await statuses(shop).allSatisfy { if case .inDoubt = $0 { true } else { false } })
        #expect(try await shop.push().remaining == 0)
        #expect(try await Set(shop.localState()) == Set(shop.serviceState()))
    }

    /// Returns an engine whose upload is cancelled when it requests the monitor for the first time.
    private func cancelling(
        _ shop: Shop, answering: @escaping @Sendable () -> HTTPResponse?
    ) -> SyncEngine {
        let running = Mutex<SyncEngine?>(nil)
        let transport = HookedTransport(shop.transport) { request, _ in
            guard request.path?.contains("$async") == true else { return nil }
            if request.method == .get { await running.withLock { $0 }?.cancelUpload() }
            return request.method == .delete ? answering().map { ($0, []) } : nil
        }
        let engine = SyncEngine(
            store: shop.store, session: ServiceSession(root: shop.engine.session.root, transport: transport))
        running.withLock { $0 = engine }
        return engine
    }

    @Test func `cancelling an upload cancels its accepted batch at the service`() async throws {
        let shop = try await shop(polls: 2, ServiceOptions(repeatability: .oasis, respondsAsync: true))
        shop.transport.change { $0.options.repeatability = Repeatability(.oasis) }
        try await shop.create("Customers", ["Name": .string("New")])
        let engine = cancelling(shop) { nil }
        let error = await #expect(throws: TidelogError.self) { try await engine.upload() }
        #expect(error?.code == .cancelled)
        #expect(try await shop.serviceState(["Customers"]).count == 3)
        #expect(try await shop.push().remaining == 0)
        #expect(try await shop.serviceState(["Customers"]).count == 4)
    }

    @Test(arguments: [200, 202, 204])
    func `the effects of a cancelled batch are not repeated`(_ status: Int) async throws {
        let shop = try await shop()
        shop.transport.change { $0.options.asynchrony = Asynchrony(polls: 2, startsAtOnce: true) }
        let id = try #require(GuidValue("aaaaaaaa-0000-0000-0000-000000000001"))
        try await shop.create("Visits", ["VisitID": .guid(id), "Subject": .string("S")])
        try await shop.create("Customers", ["Name": .string("New")])
        let engine = cancelling(shop) { HTTPResponse(status: .init(code: status)) }
        await #expect(throws: TidelogError.self) { try await engine.upload() }
        // The monitor still exists if the service has only begun to cancel the batch.
        let report = try await shop.push()
        #expect(report.rejected.isEmpty)
        #expect(report.confirmed.count == (status == 202 ? 2 : 1))
        #expect(report.inDoubt.count == (status == 202 ? 0 : 1))
        #expect(try await shop.serviceState(["Visits"]) == shop.localState(["Visits"]))
        #expect(try await shop.serviceState(["Customers"]).count == 4)
    }

    /// Returns an engine that receives the given response for each request of the monitor.
    private func answering(_ shop: Shop, _ response: HTTPResponse, _ body: String = "") -> SyncEngine {
        let transport = HookedTransport(shop.transport) { request, _ in
            request.path?.contains("$async") == true ? (response, Array(body.utf8)) : nil
        }
        return SyncEngine(
            store: shop.store, session: ServiceSession(root: shop.engine.session.root, transport: transport))
    }

    struct Strange: Sendable, CustomStringConvertible {
        let status: Int
        let contentType: String?
        let body: String
        var testDescription: String { description }
        var description: String { "\(status) \(contentType ?? "") \(body)" }

        static let all = [
            Strange(status: 200, contentType: "application/http", body: "garbage"),
            Strange(status: 200, contentType: "text/html", body: "<p>Log in</p>"),
            Strange(status: 400, contentType: nil, body: ""), Strange(status: 403, contentType: nil, body: ""),
            Strange(status: 500, contentType: nil, body: ""), Strange(status: 501, contentType: nil, body: ""),
        ]
    }

    @Test(arguments: Strange.all)
    func `an unexpected response of a monitor blocks neither its batch nor other operations permanently`(
        _ strange: Strange
    ) async throws {
        let time = VirtualTime()
        let shop = try await shop(
            polls: 5, ServiceOptions(respondsAsync: true), LocalStoreOptions(environment: time.environment))
        try await shop.create("Customers", ["Name": .string("New")])
        _ = try await shop.engine.upload(UploadOptions(monitorPatience: .zero))
        #expect(try await statuses(shop).allSatisfy { if case .inFlight = $0 { true } else { false } })
        var response = HTTPResponse(status: .init(code: strange.status))
        response.headerFields[.contentType] = strange.contentType
        let engine = answering(shop, response, strange.body)
        await shop.store.use(ServiceOptions())
        try await shop.perform(update("Orders(1)", ["Note": .string("mine")]))
        time.pass(600)
        let report = try await engine.upload()
        #expect(report.confirmed.count == 1)
        #expect(report.inDoubt.count == 1)
        let doubtful = try #require(report.inDoubt.first)
        try await shop.store.doubts.resolveInDoubt(doubtful, as: .resend)
        #expect(try await engine.upload().remaining == 0)
        #expect(try await shop.serviceState(["Customers"]).count == 4)
    }

    // MARK: Monitors without a usable response

    /// Reasons for which a request of the monitor does not return the batch's response.
    enum Unanswered: String, CaseIterable, Sendable {
        case unauthorized, forbidden, busy, broken, elsewhere, unreachable

        /// Whether a retry has the same result.
        var isLasting: Bool { [.forbidden, .broken, .elsewhere].contains(self) }
        /// Whether the failure is a response of the service.
        var isHeard: Bool { [.forbidden, .busy, .broken].contains(self) }
    }

    /// Returns an engine whose requests of the monitor fail for the given reason.
    private func engine(_ shop: Shop, _ why: Unanswered) -> SyncEngine {
        let transport = FailingTransport(shop.transport) { request throws(TransportError) in
            guard request.path?.contains("$async") == true, request.method == .get else { return nil }
            switch why {
            case .unauthorized: return HTTPResponse(status: .unauthorized)
            case .forbidden: return HTTPResponse(status: .forbidden)
            case .busy: return HTTPResponse(status: .serviceUnavailable)
            case .broken: return HTTPResponse(status: .internalServerError)
            case .elsewhere: throw TransportError(.redirectRefused, "It leads elsewhere.", mayHaveBeenSent: true)
            case .unreachable: throw TransportError(.timeout, "It took too long.", mayHaveBeenSent: true)
            }
        }
        return SyncEngine(
            store: shop.store, session: ServiceSession(root: shop.engine.session.root, transport: transport))
    }

    private static func isInFlight(_ status: PendingOperation.Status) -> Bool {
        if case .inFlight = status { true } else { false }
    }

    private func report(_ upload: () async throws -> UploadReport) async throws -> UploadReport {
        do { return try await upload() } catch { return try #require((error as? TidelogError)?.upload) }
    }

    @Test(arguments: Unanswered.allCases)
    func `an unavailable monitor does not prevent other operations from being sent, and its batch is not repeated`(
        _ why: Unanswered
    ) async throws {
        let shop = try await shop(polls: 5)
        let id = try #require(GuidValue("aaaaaaaa-0000-0000-0000-000000000001"))
        try await shop.create("Visits", ["VisitID": .guid(id), "Subject": .string("S")])
        _ = try await shop.engine.upload(UploadOptions(monitorPatience: .zero))
        await shop.store.use(ServiceOptions())
        try await shop.perform(update("Orders(1)", ["Note": .string("mine")]))
        try await shop.create("Customers", ["Name": .string("New")])
        let engine = engine(shop, why)
        let report = try await report { try await engine.upload(UploadOptions(retry: .impatient)) }
        #expect(report.confirmed.count == 2)
        #expect(report.remaining == 1)
        #expect(report.awaited.map(\.operations.count) == [1])
        #expect(report.awaited.first?.reason.contains("cannot be retrieved") == true)
        #expect(try await statuses(shop).map(Self.isInFlight) == [true])
        #expect(shop.transport.requests.filter { $0.url.contains("$batch") }.count == 2)
        // The service responds again.
        let later = UploadOptions(ignoresPostponement: true)
        #expect(try await shop.engine.upload(later).remaining == 0)
        #expect(try await Set(shop.localState()) == Set(shop.serviceState()))
    }

    @Test(arguments: Unanswered.allCases.filter { !$0.isHeard })
    func `the response of a batch is received after days without a connection to its monitor`(
        _ why: Unanswered
    ) async throws {
        let time = VirtualTime()
        let shop = try await shop(
            polls: 2, ServiceOptions(respondsAsync: true), LocalStoreOptions(environment: time.environment))
        // Without the response, the outcome of the create would stay unknown.
        let customer = try await shop.create("Customers", ["Name": .string("New")])
        _ = try await shop.engine.upload(UploadOptions(monitorPatience: .zero))
        let engine = engine(shop, why)
        for _ in 1...2 {
            time.pass(3 * 86_400)
            let options = UploadOptions(retry: .impatient, ignoresPostponement: true)
            let report = try await report { try await engine.upload(options) }
            #expect(report.awaited.map(\.operations.count) == [1])
            #expect(report.inDoubt == [])
        }
        #expect(try await shop.engine.upload(UploadOptions(ignoresPostponement: true)).remaining == 0)
        #expect(try await shop.load(customer).readLink == "Customers(4)")
        #expect(try await shop.serviceState(["Customers"]).count == 4)
    }

    @Test(arguments: Unanswered.allCases.filter(\.isHeard))
    func `a batch whose monitor fails for a long time becomes in doubt and is resolved`(
        _ why: Unanswered
    ) async throws {
        let time = VirtualTime()
        let shop = try await shop(
            polls: 5, ServiceOptions(respondsAsync: true), LocalStoreOptions(environment: time.environment))
        let id = try #require(GuidValue("aaaaaaaa-0000-0000-0000-000000000001"))
        try await shop.create("Visits", ["VisitID": .guid(id), "Subject": .string("S")])
        _ = try await shop.engine.upload(UploadOptions(monitorPatience: .zero))
        await shop.store.use(ServiceOptions())
        let engine = engine(shop, why)
        time.pass(why.isLasting ? 600 : 86_400)
        #expect(try await engine.upload(UploadOptions(retry: .impatient)).remaining == 0)
        #expect(try await Set(shop.localState()) == Set(shop.serviceState()))
    }

    @Test func `a monitor at another origin is not requested, and its batch is resolved after some time`() async throws
    {
        let time = VirtualTime()
        let shop = try await shop(
            polls: 2, ServiceOptions(respondsAsync: true), LocalStoreOptions(environment: time.environment))
        let transport = FailingTransport(shop.transport) { request throws(TransportError) in
            #expect(request.authority == "shop.test")
            guard request.path?.contains("$batch") == true, request.headerFields[HTTPField.Name("Prefer")!] != nil
            else { return nil }
            var response = HTTPResponse(status: .accepted)
            response.headerFields[.location] = "https://other.test/status/1?secret=hush"
            return response
        }
        let engine = SyncEngine(
            store: shop.store, session: ServiceSession(root: shop.engine.session.root, transport: transport))
        try await shop.perform(update("Orders(1)", ["Note": .string("mine")]))
        let report = try await engine.upload()
        #expect(report.confirmed.isEmpty)
        let reason = try #require(report.awaited.first?.reason)
        #expect(reason.contains("https://other.test/status/1") && !reason.contains("hush"))
        // Later operations are sent, and their monitor is requested at once.
        try await shop.perform(update("Orders(2)", ["Note": .string("mine")]))
        #expect(try await engine.upload().confirmed.count == 1)
        time.pass(600)
        #expect(try await engine.upload().remaining == 0)
        #expect(try await Set(shop.localState()) == Set(shop.serviceState()))
    }

    @Test func `operations that do not depend on an accepted batch are sent, and dependent ones after its response`()
        async throws
    {
        let shop = try await shop(polls: 3)
        let customer = try await shop.create("Customers", ["Name": .string("New")])
        try await shop.create("Suppliers", ["Name": .string("New")])
        let options = UploadOptions(requestLimit: 1, monitorPatience: .seconds(4))
        let report = try await shop.engine.upload(options)
        #expect(shop.transport.requests.filter { $0.url.contains("$batch") }.count == 2)
        #expect(report.remaining == 2)
        #expect(report.awaited.map(\.operations.count) == [1, 1])
        try await shop.perform(update(customer, ["Name": .string("Newer")]))
        #expect(try await shop.push().remaining == 0)
        #expect(try await shop.value(customer, "Name") == .string("Newer"))
        #expect(try await Set(shop.localState()) == Set(shop.serviceState()))
    }

    @Test func `an expired token is renewed while the engine waits for an accepted batch`() async throws {
        let shop = try await shop(polls: 2)
        try await shop.create("Customers", ["Name": .string("New")])
        let asked = Mutex(0)
        let transport = FailingTransport(shop.transport) { request throws(TransportError) in
            guard request.path?.contains("$async") == true, request.headerFields[.authorization] == "Bearer old"
            else { return nil }
            return HTTPResponse(status: .unauthorized)
        }
        let session = ServiceSession(
            root: shop.engine.session.root, transport: transport, credentials: .bearer("old"),
            authentication: { _ in
                asked.withLock { $0 += 1 }
                return .bearer("new")
            })
        #expect(try await SyncEngine(store: shop.store, session: session).upload().remaining == 0)
        #expect(asked.withLock { $0 } == 1)
    }

    @Test func `a repeated batch that is accepted is waited for, and its operations take effect once`()
        async throws
    {
        let service = ServiceOptions(repeatability: .oasis)
        let shop = try await shop(polls: 2, service)
        shop.transport.change { $0.options.repeatability = Repeatability(.oasis) }
        try await shop.create("Customers", ["Name": .string("New")])
        try await shop.create("Suppliers", ["Name": .string("New")])
        shop.transport.add(Fault(.dropAnswer, urlPart: "$batch"))
        await #expect(throws: TidelogError.self) { try await shop.push() }
        // A proxy of the service makes all batches asynchronous.
        let transport = ChangingTransport(shop.transport) { request in
            if request.path?.contains("$batch") == true {
                request.headerFields[HTTPField.Name("Prefer")!] = "respond-async"
            }
        }
        let engine = SyncEngine(
            store: shop.store, session: ServiceSession(root: shop.engine.session.root, transport: transport))
        let first = try await engine.upload(UploadOptions(monitorPatience: .zero))
        #expect(first.awaited.map(\.operations.count) == [2])
        await #expect(throws: TidelogError.self) {
            try await shop.store.doubts.resolveInDoubt(first.awaited[0].operations[0], as: .resend)
        }
        // `resendInDoubt` does not send the operations of the batch again either.
        try await shop.store.doubts.resendInDoubt()
        #expect(try await engine.upload().remaining == 0)
        #expect(try await shop.serviceState(["Customers"]).count == 4)
        #expect(try await Set(shop.localState()) == Set(shop.serviceState()))
    }

    // MARK: Response forms

    @Test func `a monitor with a Retry-After of zero is requested again after one second`() async throws {
        let pauses = Mutex<[Duration]>([])
        let options = LocalStoreOptions(
            environment: SyncEnvironment(sleep: { duration throws(CancellationError) in
                pauses.withLock { $0.append(duration) }
            }))
        let shop = try await Shop(.v4, options: options)
        shop.transport.change { $0.options.asynchrony = Asynchrony(polls: 2, retryAfter: 0) }
        await shop.store.use(ServiceOptions(respondsAsync: true))
        try await shop.create("Customers", ["Name": .string("New")])
        #expect(try await shop.push().remaining == 0)
        #expect(pauses.withLock { $0 } == [.seconds(1), .seconds(1)])
    }

    @Test func `the Retry-After of a monitor may be a date`() {
        let response = WireResponse(status: 202, headers: ["Retry-After": "Thu, 01 Jan 1970 00:01:00 GMT"])
        #expect(MonitorResponseKind(response, now: 50_000) == .notYet(.seconds(10)))
    }

    @Test func `errors do not contain the query of a monitor's URL`() async throws {
        let shop = try await shop()
        try await shop.perform(update("Orders(1)", ["Note": .string("mine")]))
        let transport = HookedTransport(shop.transport) { request, _ in
            if request.path?.contains("$async") == true { return (HTTPResponse(status: .notFound), []) }
            guard request.path?.contains("$batch") == true else { return nil }
            var response = HTTPResponse(status: .accepted)
            response.headerFields[.location] = "http://shop.test/v4/$async/1?secret=hush"
            return (response, [])
        }
        let engine = SyncEngine(
            store: shop.store, session: ServiceSession(root: shop.engine.session.root, transport: transport))
        let error = await #expect(throws: TidelogError.self) { try await engine.upload() }
        #expect(error?.place == "http://shop.test/v4/$async/1")
    }

    @Test func `the HTTP message in the body of a monitor's response is decoded`() {
        let text = "HTTP/1.1 202 Accepted\r\nA: b\r\nContent-Length: 2\r\n\r\nhi and more"
        let response = HTTPMessage.response(Array(text.utf8))
        #expect(
            response == WireResponse(status: 202, headers: ["A": "b", "Content-Length": "2"], body: Array("hi".utf8)))
        for broken in ["", "HTTP/1.1 200 OK", "HTTP/1.1 x\r\n\r\n", "no\n\n", "HTTP/1.1 200\nno colon\n\n"] {
            #expect(HTTPMessage.response(Array(broken.utf8)) == nil)
        }
        #expect(HTTPMessage.response(Array("HTTP/1.1 204 \n\n".utf8)) == WireResponse(status: 204))
    }
}
