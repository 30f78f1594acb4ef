#if !Servers
    #error("The program tidelog-gateway needs the trait Servers of the package tidelog, which `traits: []` disables.")
#endif

internal import GatewayCore
internal import NIOCore
internal import NIOHTTP1
internal import NIOPosix
internal import Synchronization

/// The listening socket of a gateway.
package final class GatewayServer: Sendable {
    private let service: GatewayService
    private let group: MultiThreadedEventLoopGroup
    private let channel: any Channel
    /// The port that was opened; 0 for a Unix socket.
    package let port: Int

    /// The error if the socket cannot be opened.
    package struct ListenError: Error, CustomStringConvertible {
        package let description: String
    }

    /// Starts to listen. Port 0 selects a free port.
    package init(_ service: GatewayService, threads: Int = System.coreCount) async throws(ListenError) {
        self.service = service
        group = MultiThreadedEventLoopGroup(numberOfThreads: threads)
        let connections = ConnectionCount(service.configuration.limits.connections)
        let bootstrap = ServerBootstrap(group: group)
            .serverChannelOption(.backlog, value: 1024)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelOption(.maxMessagesPerRead, value: 4)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    guard connections.enter() else { throw ListenError(description: "There are too many connections.") }
                    channel.closeFuture.whenComplete { _ in connections.leave() }
                    try Self.configure(channel, service)
                }
            }
        do {
            switch service.configuration.listen {
            case .tcp(let host, let port): channel = try await bootstrap.bind(host: host, port: port).get()
            case .unix(let path):
                channel = try await bootstrap.bind(unixDomainSocketPath: path, cleanupExistingSocketFile: true).get()
            }
        } catch {
            try? await group.shutdownGracefully()
            throw ListenError(description: "The listen address cannot be opened: \(error).")
        }
        port = channel.localAddress?.port ?? 0
    }

    private static func configure(_ channel: any Channel, _ service: GatewayService) throws {
        var encoder = HTTPResponseEncoder.Configuration()
        // The framing of a relayed answer is known, also for HEAD.
        encoder.automaticallySetFramingHeaders = false
        var limits = NIOHTTPDecoderLimitConfiguration()
        limits.maxHeaderListSize = service.configuration.limits.headBytes + (32 << 10)
        let pipeline = channel.pipeline.syncOperations
        let requests = RequestHandler(service)
        // Longer than the longest response of a service takes.
        let longest = service.configuration.endpoints.map(\.timeoutMilliseconds).max() ?? 0
        try pipeline.addHandler(IdleStateHandler(allTimeout: .milliseconds(max(180_000, longest + 60_000))))
        try pipeline.addHandler(ArrivalCounter(requests))
        try pipeline.configureHTTPServerPipeline(
            withErrorHandling: false, withEncoderConfiguration: encoder, withDecoderLimitConfiguration: limits)
        try pipeline.addHandler(requests)
    }

    /// Declares the gateway not ready, and closes everything after the requests in progress have ended, at most after
    /// `milliseconds`. Responses close their connections meanwhile.
    ///
    /// - Parameter announced: The milliseconds for which connections are still accepted, so that a load balancer notices
    ///   that the gateway is not ready.
    package func stop(within milliseconds: Int = 30_000, announced: Int = 0) async {
        service.stop()
        if announced > 0 { try? await Task.sleep(for: .milliseconds(announced)) }
        // Readings of feeds may take longer than all requests.
        let end = Task { [service] in await service.end() }
        try? await channel.close().get()
        var waited = 0
        while !service.isIdle, waited < milliseconds {
            try? await Task.sleep(for: .milliseconds(20))
            waited += 20
        }
        try? await group.shutdownGracefully()
        await end.value
    }
}

/// Counts the open connections.
final class ConnectionCount: Sendable {
    private let count = Atomic(0)
    private let limit: Int

    init(_ limit: Int) { self.limit = limit }

    func enter() -> Bool {
        if count.wrappingAdd(1, ordering: .relaxed).newValue <= limit { return true }
        leave()
        return false
    }

    func leave() { count.wrappingSubtract(1, ordering: .relaxed) }
}
