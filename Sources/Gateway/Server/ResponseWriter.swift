internal import GatewayCore
internal import NIOCore
internal import NIOHTTP1
internal import ODataWire
internal import Synchronization
internal import Transport

/// Writes one response to a connection: a response in memory at once, a stream chunk by chunk. It waits for each write,
/// so that a slow client slows the origin down.
struct ResponseWriter: Sendable {
    let channel: any Channel
    let request: IncomingRequest
    let keepsAlive: Bool
    let connection: ConnectionState
    let limits: GatewayLimits

    /// - Returns: The number of bytes of the body that were written.
    func write(_ response: GatewayResponse) async -> Int {
        var count = 0
        do {
            let closes = try await send(response, &count)
            if closes { await close() }
        } catch {
            // The answer is incomplete: the client must not take it for a whole one.
            try? await channel.close().get()
        }
        return count
    }

    /// - Returns: Whether the connection is to be closed.
    private func send(_ response: GatewayResponse, _ count: inout Int) async throws -> Bool {
        var headers = NIOHTTP1.HTTPHeaders()
        for field in response.headers.fields where HTTPHeaders.obstacle(field.name, field.value, inBatch: false) == nil
        {
            headers.add(name: field.name, value: field.value)
        }
        let mayHaveBody = response.status >= 200 && response.status != 204 && response.status != 304
        let isHead = request.method == "HEAD"
        headers.remove(name: "Transfer-Encoding")
        if !mayHaveBody { headers.remove(name: "Content-Length") }
        var isChunked = false
        var endsWithConnection = false
        if case .bytes(let bytes) = response.body {
            if mayHaveBody { headers.replaceOrAdd(name: "Content-Length", value: String(bytes.count)) }
        } else if mayHaveBody, !headers.contains(name: "Content-Length"), !isHead {
            isChunked = request.minorVersion > 0
            endsWithConnection = !isChunked
            if isChunked { headers.replaceOrAdd(name: "Transfer-Encoding", value: "chunked") }
        }
        let isBroken = connection.isBroken.load(ordering: .acquiring)
        let closes = !keepsAlive || endsWithConnection || !request.body.isFinished || !channel.isActive || isBroken
        if closes {
            headers.replaceOrAdd(name: "Connection", value: "close")
        } else {
            // The next request is read only after this body, which a refused request leaves unread.
            request.body.discard()
        }
        let head = HTTPResponseHead(
            version: .http1_1, status: HTTPResponseStatus(statusCode: response.status), headers: headers)
        var parts = [HTTPServerResponsePart.head(head)]
        switch response.body {
        case .bytes(let bytes):
            if mayHaveBody, !isHead, !bytes.isEmpty {
                parts.append(.body(.byteBuffer(ByteBuffer(bytes: bytes))))
                count += bytes.count
            }
        case .stream(let stream, let rewriter):
            try await written(parts.removeLast(), 0)
            if mayHaveBody, !isHead { try await send(stream, rewriter, &count) }
        }
        // In one step of the event loop: an error of the parser is answered either before or after it.
        try await channel.eventLoop.flatSubmit { [channel, connection, parts] in
            connection.isAnswering.store(false, ordering: .releasing)
            for part in parts { channel.write(part, promise: nil) }
            return channel.writeAndFlush(HTTPServerResponsePart.end(nil))
        }.get()
        return closes || connection.isBroken.load(ordering: .acquiring)
    }

    private func send(_ stream: ResponseBody, _ rewriter: LinkRewriter?, _ count: inout Int) async throws {
        var rewriter = rewriter
        for try await chunk in stream { try await send(rewriter?.rewrite(chunk) ?? chunk, &count) }
        if let rest = rewriter?.finish() { try await send(rest, &count) }
    }

    private func send(_ bytes: [UInt8], _ count: inout Int) async throws {
        if bytes.isEmpty { return }
        count += bytes.count
        try await written(.body(.byteBuffer(ByteBuffer(bytes: bytes))), bytes.count)
    }

    /// Writes a part, and waits until the connection has taken it. Closes the connection of a client that reads too
    /// slowly: it occupies a connection to the service.
    private func written(_ part: HTTPServerResponsePart, _ count: Int) async throws {
        let seconds = limits.responseGrace + count / max(limits.arrivalSpeed, 1)
        let end = channel.eventLoop.scheduleTask(in: .seconds(Int64(seconds))) { [channel] in
            channel.close(promise: nil)
        }
        defer { end.cancel() }
        try await channel.writeAndFlush(part).get()
    }

    /// Closes the connection. If the request has not arrived completely, its rest is dropped for a while first: closing
    /// a connection with unread bytes can destroy the response on its way.
    private func close() async {
        if !request.body.isFinished {
            request.body.discard()
            for _ in 0..<50 where channel.isActive && !request.body.isFinished {
                try? await Task.sleep(for: .milliseconds(20))
            }
        }
        try? await channel.close().get()
    }
}
