import ODataSandbox
import TestSupport
import Testing
import Tidelog

/// A store of the trade service in a temporary directory, and its service.
final class Trade {
    let store: TradeService
    let provider: OfflineODataProvider
    /// A client of the service itself.
    let server: TradeService
    let transport: SandboxTransport
    private let directory = TemporaryDirectory()

    init(pageSize: Int? = nil) async throws {
        var sandbox = try Sandbox(
            v4Metadata: Array(TradeMetadata.document.utf8), v2Metadata: Array(TradeMetadata.document.utf8),
            configuration: SandboxConfiguration(generatedKeys: ["Customers", "Orders", "Visits"]))
        sandbox.origin = "http://trade.test"
        transport = SandboxTransport(sandbox)
        server = TradeService(provider: OnlineODataProvider(serviceRoot: "http://trade.test/v4/", transport: transport))
        try await server.loadMetadata()
        provider = OfflineODataProvider(
            serviceRoot: "http://trade.test/v4/",
            parameters: OfflineODataParameters(
                storePath: directory.path, transport: transport, durability: .none, pageSize: pageSize))
        for query in try OfflineODataDefiningQuery.all(of: server.metadata) {
            try await provider.add(definingQuery: query)
        }
        try await provider.open()
        try await provider.download()
        store = TradeService(provider: provider)
    }

    func box<Entity: EntityValue>(_ type: Entity.Type) throws -> Box<Entity> { try store.box(for: type) }

    /// Uploads and downloads. Expects that no operation is rejected or remains.
    func synchronize(_ location: SourceLocation = #_sourceLocation) async throws {
        let report = try await provider.upload()
        #expect(report.rejected.isEmpty, "\(report.rejected)", sourceLocation: location)
        #expect(report.remaining == 0, sourceLocation: location)
        try await provider.download()
    }

    /// Makes the service reject the next request with this method.
    func refuseNext(_ method: String) { transport.add(Fault(.refuse(status: 422), method: method, part: .any)) }

    /// Number of requests of each change set in the next batch.
    var changeSets: [Int] { get async throws { try await provider.plannedBatches().flatMap(\.changeSets) } }

    /// Number of pending operations.
    var pending: Int { get async throws { try await provider.operationStatus().count } }
}
