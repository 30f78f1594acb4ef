import HTTPTypes
import ODataSandbox
import ODataWire
import Synchronization
import TestSupport
import Testing
import Tidelog
import Transport

/// Authentication, headers and cookies: the same configuration for a store and for the service.
@Suite struct ConnectionTests {
    /// The Shop behind a gate that accepts one token.
    private final class Gate: Sendable {
        let transport: SandboxTransport
        private let accepted = Mutex("old")
        private let heads = Mutex<[HTTPFields]>([])

        init() throws {
            var sandbox = try Sandbox.shop()
            sandbox.origin = "http://shop.test"
            transport = SandboxTransport(sandbox)
        }

        var hooked: HookedTransport {
            HookedTransport(transport) { request, _ in
                self.heads.withLock { $0.append(request.headerFields) }
                let token = self.accepted.withLock { $0 }
                guard request.headerFields[.authorization] != "Bearer \(token)" else { return nil }
                return (HTTPResponse(status: .unauthorized, headerFields: [.wwwAuthenticate: "Bearer"]), [])
            }
        }

        func accept(_ token: String) { accepted.withLock { $0 = token } }

        func fields(_ name: String) -> [String?] {
            heads.withLock { heads in heads.map { $0[HTTPField.Name(name)!] } }
        }

        func forget() { heads.withLock { $0 = [] } }
    }

    private func service(
        _ client: Client, _ connection: ServiceConnection, _ directory: TemporaryDirectory
    ) async throws -> DataService {
        let root = "http://shop.test/\(client.dialect.rawValue)/"
        guard !client.isOnline else {
            let service = DataService(provider: OnlineODataProvider(serviceRoot: root, connection: connection))
            try await service.loadMetadata()
            return service
        }
        let provider = OfflineODataProvider(
            serviceRoot: root,
            parameters: OfflineODataParameters(storePath: directory.path, connection: connection))
        try await provider.add(definingQuery: OfflineODataDefiningQuery(name: "Orders", query: "/Orders"))
        try await provider.open()
        return DataService(provider: provider)
    }

    /// Sends a read and a change to the service.
    private func exchange(_ service: DataService) async throws {
        let order = EntityValue(try service.entitySet(withName: "Orders").entityType)
        order["Note"] = .string("sent")
        try await service.createEntity(order)
        if let store = service.provider as? OfflineODataProvider {
            let report = try await store.upload()
            #expect(report.rejected.isEmpty)
            try await store.download()
        } else {
            _ = try await service.executeQuery(DataQuery().withURL("Orders"))
        }
    }

    @Test(arguments: Client.all)
    func `rejected credentials are renewed by the hook, and the request is sent again`(_ client: Client) async throws {
        let (gate, directory) = (try Gate(), try TemporaryDirectory())
        let asked = Mutex(0)
        let connection = ServiceConnection(
            transport: gate.hooked, credentials: .bearer("old"),
            authentication: { _ in
                asked.withLock { $0 += 1 }
                return .bearer("new")
            })
        let service = try await service(client, connection, directory)
        gate.accept("new")
        try await exchange(service)
        #expect(asked.withLock { $0 } == 1)
        #expect(gate.transport.sandbox.stateText(of: ["Orders"]).contains("sent"))
    }

    @Test(arguments: Client.all)
    func `without a hook, rejected credentials are an error`(_ client: Client) async throws {
        let (gate, directory) = (try Gate(), try TemporaryDirectory())
        let connection = ServiceConnection(transport: gate.hooked, credentials: .bearer("old"))
        let service = try await service(client, connection, directory)
        gate.accept("new")
        let error = await #expect(throws: TidelogError.self) { try await exchange(service) }
        #expect(error?.code == .unauthorized)
    }

    @Test(arguments: Client.all)
    func `custom headers and cookies are sent with every request`(_ client: Client) async throws {
        let (gate, directory) = (try Gate(), try TemporaryDirectory())
        let connection = ServiceConnection(
            transport: gate.hooked, credentials: .bearer("old"), customHeaders: ["X-Tenant": "7"],
            customCookies: ["route": "a"])
        let service = try await service(client, connection, directory)
        try await exchange(service)
        #expect(!gate.fields("X-Tenant").isEmpty)
        #expect(gate.fields("X-Tenant").allSatisfy { $0 == "7" })
        #expect(gate.fields("Cookie").allSatisfy { $0?.contains("route=a") == true })
    }

    @Test(arguments: Client.all)
    func `headers, cookies and credentials can be changed between requests`(_ client: Client) async throws {
        let (gate, directory) = (try Gate(), try TemporaryDirectory())
        let connection = ServiceConnection(
            transport: gate.hooked, credentials: .bearer("old"), customHeaders: ["X-Tenant": "7"])
        let service = try await service(client, connection, directory)
        if let store = service.provider as? OfflineODataProvider {
            store.customHeaders = ["X-Tenant": "8"]
            store.customCookies = ["route": "b"]
            try await store.use(.bearer("next"))
        } else if let online = service.provider as? OnlineODataProvider {
            online.customHeaders = ["X-Tenant": "8"]
            online.customCookies = ["route": "b"]
            await online.use(.bearer("next"))
        }
        gate.accept("next")
        gate.forget()
        try await exchange(service)
        #expect(gate.fields("X-Tenant").allSatisfy { $0 == "8" })
        #expect(gate.fields("Cookie").allSatisfy { $0?.contains("route=b") == true })
    }

    @Test func `the parameters of a store and its connection are the same values`() {
        var parameters = OfflineODataParameters(storePath: "shop", credentials: .bearer("a"))
        parameters.customHeaders = ["X-Tenant": "7"]
        parameters.serviceOptions = ServiceOptions(supportsBatch: false)
        var connection = parameters.connection
        #expect(connection.customHeaders["X-Tenant"] == "7")
        #expect(connection.serviceOptions?.supportsBatch == false)
        connection.customHeaders["X-Tenant"] = "8"
        parameters.connection = connection
        #expect(parameters.customHeaders["X-Tenant"] == "8")
        #expect(parameters.storePath == "shop")
    }
}
