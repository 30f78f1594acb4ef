internal import GatewayCore
internal import NIOCore
internal import NIOHTTP1
internal import ODataWire
internal import Synchronization

/// Hands the requests of one connection to the service, one after the other, and writes the responses.
///
/// NIO's pipeline handler delivers the next request after the response to the one before.
final class RequestHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private let service: GatewayService
    private var body: IncomingBody?
    private var task: Task<Void, Never>?
    private let connection = ConnectionState()
    /// The progress of the request that is arriving, or nil between two requests.
    private var pace: RequestPace?
    private var isTicking = false

    init(_ service: GatewayService) { self.service = service }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head): begin(head, context)
        case .body(let part):
            guard let body else { return }
            if !body.receive(part.readableBytesView) { setReading(false, context.channel) }
        case .end:
            body?.finish()
            body = nil
            pace = nil
        }
    }

    // MARK: Slow requests

    /// Counts bytes of the connection after they were parsed.
    fileprivate func received(_ count: Int, _ context: ChannelHandlerContext) {
        // Between the end of a request and the end of its response, bytes belong to the next request.
        guard body != nil || !connection.isAnswering.load(ordering: .acquiring) else { return }
        watch(context)
        pace?.receive(count)
    }

    /// Begins to measure the request that is arriving, unless it is measured.
    private func watch(_ context: ChannelHandlerContext) {
        guard pace == nil else { return }
        pace = RequestPace(service.configuration.limits)
        if !isTicking { tick(context) }
    }

    /// Measures the request each second until it is complete.
    private func tick(_ context: ChannelHandlerContext) {
        isTicking = true
        context.eventLoop.assumeIsolated().scheduleTask(in: .seconds(1)) { [self] in
            guard pace != nil, context.channel.isActive else { return isTicking = false }
            let isPaused = body?.isPaused ?? false
            if !isPaused, pace?.tick() == true { end(context) } else { tick(context) }
        }
    }

    /// Ends a request that arrives too slowly: the gateway rejects it with 408 and closes the connection, unless its head is
    /// incomplete.
    private func end(_ context: ChannelHandlerContext) {
        pace = nil
        isTicking = false
        if let body { body.fail(.tooSlow) } else { context.close(promise: nil) }
    }

    private func begin(_ head: HTTPRequestHead, _ context: ChannelHandlerContext) {
        let channel = context.channel
        let expectsContinue = head.headers[canonicalForm: "expect"].contains { $0.lowercased() == "100-continue" }
        let body = IncomingBody(
            resume: { channel.setOption(.autoRead, value: true).whenComplete { _ in channel.read() } },
            begin: {
                guard expectsContinue else { return }
                let interim = HTTPResponseHead(version: .http1_1, status: .continue)
                channel.writeAndFlush(HTTPServerResponsePart.head(interim), promise: nil)
            })
        // The end of such a request may be processed after the answer was made.
        if Self.hasBody(head) { watch(context) } else { body.finish() }
        self.body = body
        let request = IncomingRequest(
            method: head.method.rawValue, target: head.uri, minorVersion: head.version.minor,
            headers: ODataWire.HTTPHeaders(head.headers.map { ($0.name, $0.value) }),
            peer: context.remoteAddress?.ipAddress ?? "", body: body)
        let keepsAlive = head.isKeepAlive
        connection.isAnswering.store(true, ordering: .releasing)
        task = Task { [service, connection] in
            let response = await service.answer(request)
            let writer = ResponseWriter(
                channel: channel, request: request, keepsAlive: keepsAlive && !service.isStopping,
                connection: connection, limits: service.configuration.limits)
            service.sent(await writer.write(response), response.kind)
            response.end()
        }
    }

    /// Whether bytes of a body can follow the head.
    private static func hasBody(_ head: HTTPRequestHead) -> Bool {
        head.headers.contains(name: "Transfer-Encoding")
            || head.headers[canonicalForm: "Content-Length"].contains { $0 != "0" }
    }

    private func setReading(_ isReading: Bool, _ channel: any Channel) {
        _ = channel.setOption(.autoRead, value: isReading)
    }

    func channelInactive(context: ChannelHandlerContext) {
        body?.fail()
        task?.cancel()
        context.fireChannelInactive()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if event is IdleStateHandler.IdleStateEvent { context.close(promise: nil) }
        context.fireUserInboundEventTriggered(event)
    }

    /// Answers a request that cannot be parsed, unless the response to another one is in progress: then that one is the
    /// last of the connection.
    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        connection.isBroken.store(true, ordering: .releasing)
        let isInRequest = body != nil
        body?.fail()
        body = nil
        guard error is HTTPParserError else { return context.close(promise: nil) }
        if isInRequest || connection.isAnswering.load(ordering: .acquiring) { return }
        let head = HTTPResponseHead(
            version: .http1_1, status: .badRequest, headers: ["Connection": "close", "Content-Length": "0"])
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        let channel = context.channel
        context.writeAndFlush(wrapOutboundOut(.end(nil))).whenComplete { _ in channel.close(promise: nil) }
    }
}

/// Counts the bytes of a connection for the handler of its requests. It stands before the parser.
final class ArrivalCounter: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    private let requests: RequestHandler

    init(_ requests: RequestHandler) { self.requests = requests }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let count = unwrapInboundIn(data).readableBytes
        context.fireChannelRead(data)
        requests.received(count, context)
    }
}

/// The state of a connection that its handler and the task of a response share.
final class ConnectionState: Sendable {
    /// Whether a request was received whose response is not complete.
    let isAnswering = Atomic(false)
    /// Whether the bytes after the current request cannot be parsed.
    let isBroken = Atomic(false)
}
