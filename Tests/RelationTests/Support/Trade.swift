import ODataSandbox
import TestSupport
import Testing
import Tidelog

/// A store of the trade service in a directory of its own, and the service that it belongs to.
final class Trade {
    let store: TradeService
    let provider: OfflineODataProvider
    /// Asks the service itself.
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

    /// Sends everything and downloads: nothing may be refused or left.
    func synchronize(_ location: SourceLocation = #_sourceLocation) async throws {
        let report = try await provider.upload()
        #expect(report.rejected.isEmpty, "\(report.rejected)", sourceLocation: location)
        #expect(report.remaining == 0, sourceLocation: location)
        try await provider.download()
    }

    /// Has the service refuse the next such request.
    func refuseNext(_ method: String) { transport.add(Fault(.refuse(status: 422), method: method, part: .any)) }

    /// How many requests each change set of the next batch has.
    var changeSets: [Int] { get async throws { try await provider.plannedBatches().flatMap(\.changeSets) } }

    /// How many operations are pending.
    var pending: Int { get async throws { try await provider.operationStatus().count } }
}
