internal import NIOCore
internal import NIOHTTP1
internal import NIOPosix
internal import ODataSandbox
internal import ODataWire
internal import Synchronization

/// The sandbox behind an HTTP/1.1 socket on 127.0.0.1.
struct Server {
    private let group: MultiThreadedEventLoopGroup
    private let channel: any Channel
    /// `http://127.0.0.1:PORT`, with the port that was opened.
    let origin: String

    /// Listens at once. Port 0 takes a free one.
    init(sandbox: Sandbox, port: Int, logsRequests: Bool) throws {
        let service = SharedSandbox(sandbox)
        group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        do {
            channel = try ServerBootstrap(group: group)
                .serverChannelOption(.backlog, value: 256)
                .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
                .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
                .childChannelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture {
                        let limit = WireLimit()
                        try channel.pipeline.syncOperations.addHandler(limit)
                        try channel.pipeline.syncOperations.configureHTTPServerPipeline()
                        try channel.pipeline.syncOperations.addHandler(
                            RequestHandler(service: service, limit: limit, logsRequests: logsRequests))
                    }
                }
                .bind(host: "127.0.0.1", port: port).wait()
        } catch {
            try? group.syncShutdownGracefully()
            throw error
        }
        origin = "http://127.0.0.1:\(channel.localAddress?.port ?? port)"
        service.setOrigin(origin)
    }

    func stop() {
        try? channel.close().wait()
        try? group.syncShutdownGracefully()
    }
}

/// The one service value that all connections talk to, one request at a time.
final class SharedSandbox: Sendable {
    private let sandbox: Mutex<Sandbox>

    init(_ sandbox: Sandbox) { self.sandbox = Mutex(sandbox) }

    func setOrigin(_ origin: String) { sandbox.withLock { $0.origin = origin } }

    func deliver(_ request: WireRequest) -> Delivery {
        sandbox.withLock { sandbox in
            sandbox.options.now = WallClock.now
            return sandbox.deliver(request)
        }
    }

    /// After how many bytes of its body the request is to be cut.
    func cutOfBody(of request: WireRequest) -> Int? { sandbox.withLock { $0.cutOfBody(of: request) } }
}
