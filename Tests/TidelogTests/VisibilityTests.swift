import Foundation
import HTTPTypes
import Logging
import ODataSandbox
import Synchronization
import TestSupport
import Testing
import Tidelog

/// Status of operations and lines in the log of the app during uploads.
struct VisibilityTests {
    private final class Lines: Sendable {
        private let state = Mutex<[String]>([])
        var all: [String] { state.withLock { $0 } }
        func add(_ line: String) { state.withLock { $0.append(line) } }
    }

    private struct Recorder: LogHandler {
        let lines: Lines
        var logLevel: Logger.Level = .debug
        var metadata: Logger.Metadata = [:]

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            let metadata = (event.metadata ?? [:]).sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
            lines.add("\(event.level) \(event.message) \(metadata.joined(separator: " "))")
        }
    }

    @Test(arguments: Client.offline)
    func `the status of an operation contains its time, its attempts and its next step`(_ client: Client) async throws {
        let shop = try await Shop(client)
        let store = try #require(shop.store)
        try await shop.service.createEntity(
            try shop.new("Orders", ["Note": .string("orphan"), "CustomerID": .integer(99)]))
        let waiting = try #require(try await store.operationStatus().first)
        #expect(waiting.nextStep == "the next upload sends it")
        #expect(waiting.since == waiting.time)
        #expect(waiting.notBefore == nil)
        try await store.upload()
        let refused = try #require(try await store.operationStatus().first)
        #expect(refused.state == .rejected)
        #expect(refused.since >= refused.time)
        #expect(refused.nextStep.hasPrefix("the next upload sends it again unchanged"))
        #expect(refused.refusal?.requestBody?.contains("orphan") == true)
    }

    @Test func `the status of a postponed operation contains the time of the retry`() async throws {
        let shop = try await Shop(Client.offline[1])
        let store = try #require(shop.store)
        try await shop.service.createEntity(try shop.new("Customers", ["Name": .string("New")]))
        shop.transport.add(Fault(.refuse(status: 503), times: 1, urlPart: "$batch"))
        await #expect(throws: TidelogError.self) { try await store.upload(UploadOptions(retry: .impatient)) }
        let status = try #require(try await store.operationStatus().first)
        #expect(status.state == .pending)
        #expect(status.notBefore != nil)
        #expect(try await store.postponement?.attempt == 1)
        try await store.upload(UploadOptions(ignoresPostponement: true))
        #expect(try await store.operationStatus().isEmpty)
        #expect(try await store.postponement == nil)
    }

    @Test func `the log of the app contains the numbers of operations and no values`() async throws {
        let lines = Lines()
        var sandbox = try Sandbox.shop()
        sandbox.origin = "http://shop.test"
        let directory = try TemporaryDirectory()
        var parameters = OfflineODataParameters(
            storePath: directory.path, transport: SandboxTransport(sandbox), credentials: .bearer("secret"))
        parameters.logger = Logger(label: "tidelog") { _ in Recorder(lines: lines) }
        let store = OfflineODataProvider(serviceRoot: "http://shop.test/v4/", parameters: parameters)
        try await store.open()
        let service = DataService(provider: store)
        let order = EntityValue(try service.entitySet(withName: "Orders").entityType)
        order["Note"] = .string("confidential")
        order["CustomerID"] = .integer(99)
        try await service.createEntity(order)
        let customer = EntityValue(try service.entitySet(withName: "Customers").entityType)
        customer["Name"] = .string("confidential")
        try await service.createEntity(customer)
        try await store.upload()
        let numbers = try await store.operationStatus().map(\.sequence)
        let refused = try #require(numbers.first)
        #expect(lines.all.contains { $0.hasPrefix("warning operation rejected") && $0.contains("[\"\(refused)\"]") })
        #expect(lines.all.contains { $0.hasPrefix("debug confirmed") && $0.contains("[\"\(refused + 1)\"]") })
        #expect(lines.all.contains { $0.hasPrefix("debug batch prepared batch=1") })
        #expect(!lines.all.contains { $0.contains("confidential") || $0.contains("secret") })
        await store.close()
    }

    @Test(arguments: [401, 403, 404, 413, 429, 500, 504])
    func `the log of the app contains no secret after any response`(_ status: Int) async throws {
        let lines = Lines()
        var sandbox = try Sandbox.shop()
        sandbox.origin = "http://shop.test"
        let inner = SandboxTransport(sandbox)
        let transport = HookedTransport(inner) { request, _ in
            guard request.path?.contains("$metadata") != true else { return nil }
            return (HTTPResponse(status: .init(code: status)), Array("secret".utf8))
        }
        let directory = try TemporaryDirectory()
        var parameters = OfflineODataParameters(
            storePath: directory.path, transport: transport, credentials: .basic(user: "me", password: "secret"))
        parameters.logger = Logger(label: "tidelog") { _ in Recorder(lines: lines) }
        let store = OfflineODataProvider(serviceRoot: "http://shop.test/v4/", parameters: parameters)
        store.customHeaders = ["X-Key": "secret"]
        store.customCookies = ["session": "secret"]
        try await store.add(
            definingQuery: OfflineODataDefiningQuery(name: "C", query: "Customers?$filter=Name eq 'secret'"))
        try await store.open()
        let service = DataService(provider: store)
        let customer = EntityValue(try service.entitySet(withName: "Customers").entityType)
        customer["Name"] = .string("secret")
        try await service.createEntity(customer)
        for _ in 1...2 {
            _ = try? await store.upload(UploadOptions(retry: .impatient, ignoresPostponement: true))
            _ = try? await store.download(options: DownloadOptions(retry: .impatient, ignoresPostponement: true))
        }
        #expect(lines.all.count > 6)
        #expect(lines.all.filter { $0.contains("secret") }.isEmpty)
        await store.close()
    }

    @Test func `a service root with a password is refused and not stored`() async throws {
        let directory = try TemporaryDirectory()
        let store = OfflineODataProvider(
            serviceRoot: "http://me:secret@shop.test/v4/",
            parameters: OfflineODataParameters(
                storePath: directory.path, transport: SandboxTransport(try Sandbox.shop())))
        let error = await #expect(throws: TidelogError.self) { try await store.open() }
        #expect(error?.code == .invalidRequest)
        #expect(error.map { "\($0)".contains("secret") } == false)
        #expect(!FileManager.default.fileExists(atPath: directory.path + "/store.json"))
    }

    @Test func `headers and cookies of the app can be changed while the store is open`() async throws {
        let shop = try await Shop(Client.offline[1])
        let store = try #require(shop.store)
        store.customHeaders = ["X-Tenant": "north"]
        store.customCookies = ["route": "a"]
        try await store.download()
        let sent = try #require(shop.transport.requests.last)
        #expect(sent.headers["X-Tenant"] == "north")
        #expect(sent.headers["Cookie"]?.contains("route=a") == true)
        store.customHeaders = .empty
        try await store.download()
        #expect(shop.transport.requests.last?.headers["X-Tenant"] == nil)
    }
}
