#if !Servers
    #error("The program odata-sandbox needs the trait Servers of the package tidelog, which `traits: []` disables.")
#endif

internal import NIOCore
internal import NIOHTTP1
internal import NIOPosix
internal import ODataSandbox
internal import ODataWire
internal import Synchronization

/// The sandbox as an HTTP/1.1 server on 127.0.0.1.
struct Server {
    private let group: MultiThreadedEventLoopGroup
    private let channel: any Channel
    /// The origin `http://127.0.0.1:PORT`, with the opened port.
    let origin: String

    /// Opens the port and starts to listen. Port 0 selects a free one.
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

/// The sandbox that all connections share, one request at a time.
final class SharedSandbox: Sendable {
    private let sandbox: Mutex<Sandbox>
    /// The sandbox as the program has started, without an origin.
    private let initial: Sandbox

    init(_ sandbox: Sandbox) {
        self.sandbox = Mutex(sandbox)
        initial = sandbox
    }

    func setOrigin(_ origin: String) { sandbox.withLock { $0.origin = origin } }

    /// Responds to a request. `POST /reset` restores the data and the faults of the start.
    func deliver(_ request: WireRequest) -> Delivery {
        sandbox.withLock { sandbox in
            if request.method == "POST", request.url == "/reset" {
                let origin = sandbox.origin
                sandbox = initial
                sandbox.origin = origin
                return Delivery(.response(WireResponse(status: 204)))
            }
            sandbox.options.now = WallClock.now
            return sandbox.deliver(request)
        }
    }

    /// Returns the number of bytes of the body after which the request is cut, or nil.
    func cutOfBody(of request: WireRequest) -> Int? { sandbox.withLock { $0.cutOfBody(of: request) } }
}
