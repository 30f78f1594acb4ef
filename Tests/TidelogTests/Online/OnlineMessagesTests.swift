import HTTPTypes
import ODataSandbox
import ODataWire
import Synchronization
import TestSupport
import Testing
import Tidelog

/// Messages of SAP services in the headers of successful responses to a provider without a store.
struct OnlineMessagesTests {
    /// Returns a provider for a service that adds the header to each response to a change, and the received messages.
    private func provider(
        _ dialect: Client.Dialect, _ header: String, _ text: String
    ) throws -> (OnlineODataProvider, Received) {
        var sandbox = try Sandbox.shop()
        sandbox.origin = "http://shop.test"
        let inner = SandboxTransport(sandbox)
        let name = try #require(HTTPField.Name(header))
        let transport = HookedTransport(inner) { request, body in
            guard request.method != .get, request.method != .head,
                var answer = try? await inner.send(request, body: Array(body.utf8))
            else { return nil }
            answer.response.headerFields[name] = text
            return answer
        }
        let provider = OnlineODataProvider(
            serviceRoot: "http://shop.test/\(dialect.rawValue)/", transport: transport)
        let received = Received()
        provider.messageHandler = { received.add($0) }
        return (provider, received)
    }

    final class Received: Sendable {
        private let list = Mutex<[OnlineMessages]>([])
        var all: [OnlineMessages] { list.withLock { $0 } }
        func add(_ messages: OnlineMessages) { list.withLock { $0.append(messages) } }
    }

    @Test(arguments: [
        (Client.Dialect.v4, "sap-messages", #"[{"code":"B","message":"Low stock","numericSeverity":3}]"#),
        (Client.Dialect.v2, "sap-message", #"{"code":"B","message":"Low stock","severity":"warning"}"#),
    ])
    func `messages of the service about a change reach the handler`(
        _ dialect: Client.Dialect, _ header: String, _ text: String
    ) async throws {
        let (provider, received) = try provider(dialect, header, text)
        let service = DataService(provider: provider)
        try await service.loadMetadata()
        let query = DataQuery().withURL("Customers?$top=1")
        let customer = try #require(try await service.executeQuery(query).entityList().first)
        #expect(received.all.isEmpty)
        customer["Name"] = .string("new")
        try await service.updateEntity(customer)
        let messages = try #require(received.all.first)
        #expect(received.all.count == 1)
        #expect(messages.request.contains("Customers("))
        #expect(messages.messages.map(\.text) == ["Low stock"])
        #expect(messages.messages.map(\.severity) == [.warning])
        #expect(messages.messages.map(\.operation) == [0])
        provider.messageHandler = nil
        customer["Name"] = .string("newer")
        try await service.updateEntity(customer)
        #expect(received.all.count == 1)
    }
}
