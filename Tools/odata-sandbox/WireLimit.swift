internal import NIOCore

/// A handler that writes a limited number of bytes to the socket, so that a response can end at any byte.
final class WireLimit: ChannelOutboundHandler {
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    /// The remaining number of bytes, or nil for no limit.
    var remaining: Int?

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard let limit = remaining else { return context.write(data, promise: promise) }
        var buffer = unwrapOutboundIn(data)
        remaining = max(0, limit - buffer.readableBytes)
        guard let part = buffer.readSlice(length: min(limit, buffer.readableBytes)), part.readableBytes > 0 else {
            promise?.succeed()
            return
        }
        context.write(wrapOutboundOut(part), promise: promise)
    }
}
