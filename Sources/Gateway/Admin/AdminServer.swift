package import GatewayCore
internal import NIOCore
internal import NIOHTTP1
internal import NIOPosix

/// The port for operators: `/health`, `/ready` and `/metrics`. It never reads data of a service.
package final class AdminServer: Sendable {
    private let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    private let channel: any Channel
    /// The port that was opened; 0 for a Unix socket.
    package let port: Int

    /// Starts to listen. Port 0 selects a free port.
    package init(
        _ service: GatewayService, _ address: GatewayConfiguration.ListenAddress
    ) async throws(GatewayServer.ListenError) {
        let connections = ConnectionCount(64)
        let bootstrap = ServerBootstrap(group: group)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    guard connections.enter() else {
                        throw GatewayServer.ListenError(description: "There are too many connections.")
                    }
                    channel.closeFuture.whenComplete { _ in connections.leave() }
                    let pipeline = channel.pipeline.syncOperations
                    try pipeline.addHandler(IdleStateHandler(allTimeout: .seconds(60)))
                    try pipeline.configureHTTPServerPipeline(withErrorHandling: true)
                    try pipeline.addHandler(AdminHandler(service))
                }
            }
        do {
            switch address {
            case .tcp(let host, let port): channel = try await bootstrap.bind(host: host, port: port).get()
            case .unix(let path):
                channel = try await bootstrap.bind(unixDomainSocketPath: path, cleanupExistingSocketFile: true).get()
            }
        } catch {
            try? await group.shutdownGracefully()
            throw GatewayServer.ListenError(description: "The admin address cannot be opened: \(error).")
        }
        port = channel.localAddress?.port ?? 0
    }

    package func stop() async {
        try? await channel.close().get()
        try? await group.shutdownGracefully()
    }
}

/// Answers the requests of one connection.
private final class AdminHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private let service: GatewayService
    private var head: HTTPRequestHead?

    init(_ service: GatewayService) { self.service = service }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head): self.head = head
        case .body: break
        case .end:
            guard let head else { return }
            self.head = nil
            answer(head, context.channel)
        }
    }

    private func answer(_ head: HTTPRequestHead, _ channel: any Channel) {
        Task { [service] in
            let (status, text) = await AdminPages.answer(head, service)
            AdminPages.write(status, text, head, channel)
        }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if event is IdleStateHandler.IdleStateEvent { context.close(promise: nil) }
        context.fireUserInboundEventTriggered(event)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}

/// The responses of the admin port.
private enum AdminPages {
    static func answer(
        _ head: HTTPRequestHead, _ service: GatewayService
    ) async -> (HTTPResponseStatus, String) {
        guard head.method == .GET || head.method == .HEAD else { return (.methodNotAllowed, "The method is GET.\n") }
        switch head.uri.prefix(while: { $0 != "?" }) {
        case "/health", "/healthz": return (.ok, "ok\n")
        case "/ready", "/readyz":
            return await service.isReady()
                ? (.ok, "ready\n")
                : (.serviceUnavailable, "not ready: the gateway is stopping, or its storage cannot be used\n")
        case "/metrics": return (.ok, await service.metricsText())
        default: return (.notFound, "The paths are /health, /ready and /metrics.\n")
        }
    }

    static func write(
        _ status: HTTPResponseStatus, _ text: String, _ request: HTTPRequestHead, _ channel: any Channel
    ) {
        let bytes = Array(text.utf8)
        var headers = HTTPHeaders([
            ("Content-Type", "text/plain; version=0.0.4; charset=utf-8"), ("Content-Length", String(bytes.count)),
            ("Cache-Control", "no-store"),
        ])
        if !request.isKeepAlive { headers.add(name: "Connection", value: "close") }
        let head = HTTPResponseHead(version: .http1_1, status: status, headers: headers)
        channel.write(HTTPServerResponsePart.head(head), promise: nil)
        if request.method != .HEAD {
            channel.write(HTTPServerResponsePart.body(.byteBuffer(ByteBuffer(bytes: bytes))), promise: nil)
        }
        let written = channel.writeAndFlush(HTTPServerResponsePart.end(nil))
        if !request.isKeepAlive { written.whenComplete { _ in channel.close(promise: nil) } }
    }
}
