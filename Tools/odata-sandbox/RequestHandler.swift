internal import NIOCore
internal import NIOHTTP1
internal import ODataSandbox
internal import ODataWire

/// A handler that collects one request, passes it to the sandbox, and writes the response. One for each connection.
final class RequestHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    /// The maximum size of a body. Larger ones are refused with 413.
    static let bodyLimit = 256 << 20

    private let service: SharedSandbox
    private let limit: WireLimit
    private let logsRequests: Bool
    private var head: HTTPRequestHead?
    private var body: [UInt8] = []
    private var isTooLarge = false
    /// The number of bytes of the body after which the connection is cut, if any.
    private var cut: Int?

    init(service: SharedSandbox, limit: WireLimit, logsRequests: Bool) {
        self.service = service
        self.limit = limit
        self.logsRequests = logsRequests
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head):
            self.head = head
            body = []
            isTooLarge = false
            cut = service.cutOfBody(of: WireRequest(method: head.method.rawValue, url: head.uri))
            if head.headers[canonicalForm: "expect"].contains(where: { $0.lowercased() == "100-continue" }) {
                let interim = HTTPResponseHead(version: head.version, status: .continue)
                context.writeAndFlush(wrapOutboundOut(.head(interim)), promise: nil)
            }
        case .body(let part):
            isTooLarge = isTooLarge || body.count + part.readableBytes > Self.bodyLimit
            if !isTooLarge { body.append(contentsOf: part.readableBytesView) }
            if let cut, body.count >= cut { finish(context) }
        case .end: finish(context)
        }
    }

    /// Answers the received part of the request, which is complete unless the request is cut.
    private func finish(_ context: ChannelHandlerContext) {
        guard let head else { return }
        self.head = nil
        let request = WireRequest(
            method: head.method.rawValue, url: head.uri,
            headers: HTTPHeaders(head.headers.map { ($0.name, $0.value) }), body: body)
        body = []
        let delivery = isTooLarge ? Delivery(.response(WireResponse(status: 413))) : service.deliver(request)
        guard delivery.delayMilliseconds > 0 else { return give(delivery.reply, to: request, head, context) }
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        context.eventLoop.scheduleTask(in: .milliseconds(Int64(delivery.delayMilliseconds))) {
            let (handler, context) = bound.value
            if context.channel.isActive { handler.give(delivery.reply, to: request, head, context) }
        }
    }

    private func give(
        _ reply: Reply, to request: WireRequest, _ head: HTTPRequestHead, _ context: ChannelHandlerContext
    ) {
        switch reply {
        case .response(let response):
            if logsRequests { log("\(request.method) \(request.url) \(response.status)\n") }
            write(response, to: head, context: context)
        case .cut:
            if logsRequests { log("\(request.method) \(request.url) connection closed\n") }
            context.close(promise: nil)
        case .cutOff(let response, let bytes):
            if logsRequests {
                log("\(request.method) \(request.url) \(response.status) connection closed after \(bytes) bytes\n")
            }
            limit.remaining = bytes
            write(response, to: head, context: context)
        }
    }

    private func write(_ response: WireResponse, to request: HTTPRequestHead, context: ChannelHandlerContext) {
        var headers = NIOHTTP1.HTTPHeaders()
        for field in response.headers.fields { headers.add(name: field.name, value: field.value) }
        let hasBody = response.status >= 200 && response.status != 204 && response.status != 304
        if hasBody { headers.replaceOrAdd(name: "Content-Length", value: String(response.body.count)) }
        let isCut = limit.remaining != nil
        let keepsAlive = request.isKeepAlive
        if !keepsAlive { headers.replaceOrAdd(name: "Connection", value: "close") }
        let head = HTTPResponseHead(
            version: request.version, status: HTTPResponseStatus(statusCode: response.status), headers: headers)
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        if hasBody, request.method != .HEAD, !response.body.isEmpty {
            context.write(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(bytes: response.body)))), promise: nil)
        }
        let channel = context.channel
        context.writeAndFlush(wrapOutboundOut(.end(nil))).whenComplete { _ in
            if !keepsAlive || isCut { channel.close(promise: nil) }
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}
