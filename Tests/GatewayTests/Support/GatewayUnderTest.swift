import Gateway
import GatewayCore
import TestSupport

/// A gateway in this process.
struct GatewayUnderTest {
    let server: GatewayServer
    let service: GatewayService
    private let reserved: LoopbackPort
    var port: Int { reserved.number }

    /// Starts a gateway in front of services.
    ///
    /// - Parameters:
    ///   - origins: The roots of the services by their names.
    ///   - publicPort: The port that clients use, if a proxy is in between.
    init(
        _ origins: [String: String], storage: any LedgerStorage = MemoryLedgerStorage(), publicPort: Int? = nil,
        timeout: Int64 = 1_000, margin: Int64 = 300, patience: Int64 = 5_000, limits: GatewayLimits = GatewayLimits(),
        port: LoopbackPort? = nil, feedStorage: (any FeedStorage)? = nil, feeds: [FeedSettings] = [],
        credentials: [String: String] = [:], feedPatience: Int64 = 5_000
    ) async throws {
        reserved = try port ?? LoopbackPort()
        let port = reserved.number
        var configuration = GatewayConfiguration(
            listen: .tcp(host: "127.0.0.1", port: port),
            publicRoot: ServiceRoot("http://127.0.0.1:\(publicPort ?? port)/odata/")!, storage: .memory, endpoints: [])
        configuration.limits = limits
        for (name, root) in origins.sorted(by: { $0.key < $1.key }) {
            var endpoint = GatewayConfiguration.Endpoint(name: name, root: ServiceRoot(root)!)
            endpoint.timeoutMilliseconds = timeout
            endpoint.marginMilliseconds = margin
            endpoint.feeds = feeds
            configuration.endpoints.append(endpoint)
        }
        var environment = GatewayEnvironment()
        environment.patience = patience
        environment.stalePatience = feedPatience
        environment.feedPatience = feedPatience
        environment.feedPause = 0
        service = GatewayService(
            configuration, storage: storage, feedStorage: feedStorage, secret: try await storage.secret(),
            credentials: credentials, environment: environment)
        server = try await GatewayServer(service, threads: 1)
    }

    func stop() async { await server.stop(within: 5_000) }

    var root: String { "http://127.0.0.1:\(port)/odata/" }
}

/// Runs a test with a gateway in front of one service, `shop`, whose responses the test defines.
func withGateway(
    limits: GatewayLimits = GatewayLimits(), storage: any LedgerStorage = MemoryLedgerStorage(), timeout: Int64 = 1_000,
    margin: Int64 = 300, patience: Int64 = 5_000, _ answer: @escaping LoopbackServer.Answer,
    _ body: (GatewayUnderTest, LoopbackServer) async throws -> Void
) async throws {
    try await withServer(answer) { origin in
        let gateway = try await GatewayUnderTest(
            ["shop": origin.base + "/svc/"], storage: storage, timeout: timeout, margin: margin, patience: patience,
            limits: limits)
        do {
            try await body(gateway, origin)
        } catch {
            await gateway.stop()
            throw error
        }
        await gateway.stop()
    }
}
