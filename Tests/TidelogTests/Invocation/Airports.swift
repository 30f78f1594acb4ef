import ODataSandbox
import TestSupport
import Tidelog

/// The airport service and an online client.
struct Airports {
    let transport: SandboxTransport
    let service: DataService

    init(_ dialect: Client.Dialect = .v4) throws {
        transport = SandboxTransport(try Sandbox.airports())
        service = DataService(
            provider: OnlineODataProvider(
                serviceRoot: "http://air.test/\(dialect.rawValue)/", transport: transport))
    }

    /// Requests so far, without those of metadata and tokens.
    var requests: [String] {
        transport.requests.filter { !$0.url.hasSuffix("$metadata") && $0.headers["X-CSRF-Token"] != "Fetch" }
            .map { "\($0.method) \($0.url.dropFirst(4))" }
    }

    func airport(_ code: String) async throws -> EntityValue {
        try await service.executeQuery(DataQuery().withURL("Airports('\(code)')")).requiredEntity()
    }

    func flight(_ number: Int) async throws -> EntityValue {
        try await service.executeQuery(DataQuery().withURL("Flights(\(number))")).requiredEntity()
    }
}
