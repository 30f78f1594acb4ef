import EDM
import HTTPTypes
import ODataSandbox
import ODataWire
import Operations
import SyncCore
import Synchronization
import TestSupport
import Testing

@testable import SyncEngine

/// Batches that the service works on in its own time.
struct AcceptedBatchTests {
    private static let options = LocalStore.Options(
        environment: SyncEnvironment(sleep: { _ throws(CancellationError) in
            if Task.isCancelled { throw CancellationError() }
        }))

    private func shop(polls: Int = 2, _ service: ServiceOptions = ServiceOptions(respondsAsync: true)) async throws
        -> Shop
    {
        let shop = try await Shop(.v4, options: Self.options)
        shop.transport.change { $0.options.asynchrony = Asynchrony(polls: polls, retryAfter: 3) }
        await shop.store.use(service)
        return shop
    }

    private func statuses(_ shop: Shop) async throws -> [PendingOperation.Status] {
        try await shop.store.pendingOperations().map(\.status)
    }

    @Test(arguments: ServiceOptions.BatchFormat.allCases)
    func `the answer is asked for until it is there`(_ format: ServiceOptions.BatchFormat) async throws {
        let shop = try await shop(ServiceOptions(batchFormat: format, respondsAsync: true))
        let customer = try await shop.create("Customers", ["Name": .string("New")])
        try await shop.create("Orders", ["Note": .string("bound")], bind: [bind("Customer", customer)])
        #expect(try await shop.push().remaining == 0)
        #expect(try await shop.load(customer).readLink == "Customers(4)")
        #expect(try await Set(shop.localState()) == Set(shop.serviceState()))
        #expect(shop.transport.requests.filter { $0.url.contains("$async") }.count == 3)
    }

    @Test(arguments: [ServiceOptions.Repeatability.none, .oasis])
    func `another run of the app goes on waiting where the first one stopped`(
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
            try await store.pendingOperations().allSatisfy { if case .inFlight = $0.status { true } else { false } })
        let engine = SyncEngine(store: store, session: shop.engine.session)
        #expect(try await engine.upload().remaining == 0)
        #expect(try await store.load(.link(customer)).readLink == "Customers(4)")
        #expect(shop.transport.requests.filter { $0.url.contains("$batch") }.count == 1)
        #expect(try await shop.serviceState(["Customers"]).count == 4)
    }

    @Test func `a monitor that is gone leaves the batch in doubt`() async throws {
        let shop = try await shop()
        try await shop.perform(update("Orders(1)", ["Note": .string("mine")]))
        shop.transport.add(Fault(.refuse(status: 404), urlPart: "$async"))
        await #expect(throws: TidelogError.self) { try await shop.push() }
        #expect(try await statuses(shop).allSatisfy { if case .inDoubt = $0 { true } else { false } })
        #expect(try await shop.push().remaining == 0)
        #expect(try await Set(shop.localState()) == Set(shop.serviceState()))
    }

    @Test func `who cancels the upload cancels the batch at the service`() async throws {
        let shop = try await shop()
        try await shop.create("Customers", ["Name": .string("New")])
        let running = Mutex<SyncEngine?>(nil)
        let transport = HookedTransport(shop.transport) { request, _ in
            if request.path?.contains("$async") == true, request.method == .get {
                await running.withLock { $0 }?.cancelUpload()
            }
            return nil
        }
        let engine = SyncEngine(
            store: shop.store, session: ServiceSession(root: shop.engine.session.root, transport: transport))
        running.withLock { $0 = engine }
        await #expect(throws: TidelogError.self) { try await engine.upload() }
        #expect(try await statuses(shop) == [.pending])
        #expect(try await shop.serviceState(["Customers"]).count == 3)
        #expect(try await shop.push().remaining == 0)
        #expect(try await shop.serviceState(["Customers"]).count == 4)
    }

    @Test func `an answer is read from a message in a message`() {
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
