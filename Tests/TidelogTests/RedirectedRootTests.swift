import HTTPTypes
import ODataSandbox
import Synchronization
import TestSupport
import Testing
import Tidelog
import Transport

/// A service whose root redirects each visitor to a separate root, like the samples at odata.org.
///
/// Features: SV-16.
@Suite struct RedirectedRootTests {
    /// Does not follow redirects, so each request must be sent to the right root.
    private final class Redirecting: HTTPTransport {
        let inner: SandboxTransport
        private let version: String
        private let state: Mutex<(session: String, linksBelowGivenRoot: Bool)>

        init(_ version: String, linksBelowGivenRoot: Bool) throws {
            var sandbox = try Sandbox.shop()
            sandbox.origin = "http://samples.test"
            sandbox.options.pageSize = 2
            inner = SandboxTransport(sandbox)
            self.version = version
            state = Mutex(("abc", linksBelowGivenRoot))
        }

        func begin(session: String) { state.withLock { $0.session = session } }

        func send(
            _ request: HTTPRequest, body: [UInt8]
        ) async throws(TransportError) -> (response: HTTPResponse, body: [UInt8]) {
            let (session, linksBelowGivenRoot) = state.withLock { $0 }
            let (given, own) = ("/V/OData.svc/", "/V/(S(\(session)))/OData.svc/")
            let path = request.path ?? ""
            guard path.hasPrefix(own) else {
                var response = HTTPResponse(status: .found)
                let rest = path.firstRange(of: "OData.svc/").map { path[$0.upperBound...] } ?? ""
                response.headerFields[.location] = own + rest
                return (response, [])
            }
            var request = request
            request.path = "/\(version)/" + path.dropFirst(own.count)
            func replaced(_ text: String, _ old: String, _ new: String) -> String { text.replacing(old, with: new) }
            let sent = replaced(String(decoding: body, as: UTF8.self), "samples.test\(own)", "samples.test/\(version)/")
            // A batch contains lengths that a service reads, so it is not rewritten; nothing longer is sent in these
            // tests.
            var (response, bytes) = try await inner.send(
                request, body: request.path?.hasSuffix("$batch") == true ? body : Array(sent.utf8))
            let root = linksBelowGivenRoot ? given : own
            if response.headerFields[.contentType]?.hasPrefix("multipart") != true {
                bytes = Array(
                    replaced(String(decoding: bytes, as: UTF8.self), "samples.test/\(version)/", "samples.test\(root)")
                        .utf8)
            }
            response.headerFields[.contentLength] = nil
            return (response, bytes)
        }
    }

    private static let root = "http://samples.test/V/OData.svc/"
    private static let queries = ["Customers", "Orders"].map { OfflineODataDefiningQuery(name: $0, query: $0) }

    @Test(arguments: ["v2", "v4"], [true, false])
    func `a store uses the root that the service redirects to, and remembers it`(
        _ version: String, _ linksBelowGivenRoot: Bool
    ) async throws {
        let transport = try Redirecting(version, linksBelowGivenRoot: linksBelowGivenRoot)
        let directory = try TemporaryDirectory()
        func open() async throws -> OfflineODataProvider {
            let store = OfflineODataProvider(
                serviceRoot: Self.root,
                parameters: OfflineODataParameters(storePath: directory.path, transport: transport))
            for query in Self.queries { try await store.add(definingQuery: query) }
            try await store.open()
            return store
        }
        let first = try await open()
        try await first.download()
        #expect(try first.serviceRoot == "http://samples.test/V/(S(abc))/OData.svc/")
        try await change(first, "first")
        #expect(try await first.upload().confirmed.count == 2)
        await first.close()
        // The next open needs no request to find the root.
        transport.inner.forgetRequests()
        let second = try await open()
        #expect(transport.inner.requests.isEmpty)
        #expect(try second.serviceRoot == "http://samples.test/V/(S(abc))/OData.svc/")
        try await second.download()
        try await change(second, "second")
        #expect(try await second.upload().confirmed.count == 2)
        let text = transport.inner.sandbox.stateText(of: ["Orders"])
        #expect(text.contains("first") && text.contains("second"))
        // The service ends the session. No request is sent to another root without a call of the app.
        transport.begin(session: "xyz")
        try await change(second, "third")
        await #expect {
            try await second.upload()
        } throws: { error in
            let error = error as? TidelogError
            return error?.recovery?.contains("refresh-metadata") == true
                && error?.message.contains("it was not executed") == true
        }
        #expect(try await second.operationStatus().allSatisfy { $0.state == .pending })
        _ = try await DataService(provider: second).refreshMetadata()
        #expect(try await second.upload().confirmed.count == 2)
        #expect(try second.serviceRoot == "http://samples.test/V/(S(xyz))/OData.svc/")
        await second.close()
    }

    private func change(_ store: OfflineODataProvider, _ note: String) async throws {
        let service = DataService(provider: store)
        let orders = try service.entitySet(withName: "Orders")
        let order = EntityValue(orders.entityType)
        order["Note"] = .string(note)
        try await service.createEntity(order)
        let key = try orders.entityType.property(withName: "OrderID")
        let known = try await service.executeQuery(DataQuery().from(orders).filter(key.equal(1))).requiredEntity()
        known["Quantity"] = .integer(Int64(note.count))
        try await service.updateEntity(known)
    }

    @Test(arguments: ["v2", "v4"])
    func `online requests use the root that the service redirects to`(_ version: String) async throws {
        let transport = try Redirecting(version, linksBelowGivenRoot: false)
        let service = DataService(provider: OnlineODataProvider(serviceRoot: Self.root, transport: transport))
        try await service.loadMetadata()
        let customer = EntityValue(try service.entitySet(withName: "Customers").entityType)
        customer["Name"] = .string("online")
        try await service.createEntity(customer)
        #expect(transport.inner.sandbox.stateText(of: ["Customers"]).contains("online"))
    }
}
