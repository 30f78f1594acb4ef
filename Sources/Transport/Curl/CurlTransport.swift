public import HTTPTypes
import Synchronization

/// HTTP through libcurl, which is loaded with the first request.
///
/// Each transport has its own connections, cookies (in memory) and one thread, which ends when the transport and all
/// its response bodies have been released.
public final class CurlTransport: HTTPTransport {
    private let options: TransportOptions
    private let loop = Mutex<CurlLoop?>(nil)

    /// The size in bytes of the buffer between a streamed body and its reader.
    private static let streamCapacity = 256 * 1024

    /// Creates a transport. Its thread starts with the first request.
    public init(_ options: TransportOptions = TransportOptions()) { self.options = options }

    deinit { loop.withLock { $0?.stop() } }

    /// Sends a request and returns its response, whose body is in memory.
    ///
    /// - Throws: A ``TransportError`` if there is no complete response.
    public func send(
        _ request: HTTPRequest, body: [UInt8]
    ) async throws(TransportError) -> (response: HTTPResponse, body: [UInt8]) {
        let buffer = ResponseBuffer(capacity: nil)
        let (loop, transfer) = try await prepare(request, body, buffer)
        return try await whole(loop, transfer)
    }

    /// Sends a GET, and returns the URL of the response in addition if it was redirected.
    ///
    /// - Throws: A ``TransportError`` if there is no complete response.
    public func locate(
        _ request: HTTPRequest
    ) async throws(TransportError) -> (response: HTTPResponse, body: [UInt8], location: String?) {
        let (loop, transfer) = try await prepare(request, [], ResponseBuffer(capacity: nil))
        let (response, body) = try await whole(loop, transfer)
        return (response, body, transfer.location.withLock { $0 })
    }

    /// Sends a request whose body is a file, which is read while it is sent.
    ///
    /// - Throws: A ``TransportError`` if there is no complete response, or the file cannot be read.
    public func send(
        _ request: HTTPRequest, file: RequestFile
    ) async throws(TransportError) -> (response: HTTPResponse, body: [UInt8]) {
        try await send(request, content: file)
    }

    package func send(
        _ request: HTTPRequest, content file: any RequestContent
    ) async throws(TransportError) -> (response: HTTPResponse, body: [UInt8]) {
        let buffer = ResponseBuffer(capacity: nil)
        let (loop, transfer) = try await prepare(request, [], buffer, file: file)
        return try await whole(loop, transfer)
    }

    private func whole(
        _ loop: CurlLoop, _ transfer: CurlTransfer
    ) async throws(TransportError) -> (response: HTTPResponse, body: [UInt8]) {
        try await withTaskCancellationHandler {
            loop.start(transfer)
            return await transfer.buffer.whole()
        } onCancel: {
            loop.cancel(transfer)
        }.get()
    }

    /// Sends a request and returns when the head of the response is complete.
    ///
    /// - Throws: A ``TransportError`` if there is no head of a response.
    public func stream(
        _ request: HTTPRequest, body: [UInt8]
    ) async throws(TransportError) -> (response: HTTPResponse, body: ResponseBody) {
        try await stream(request, body, .streamed)
    }

    /// Sends a GET for a media stream, within the limits for media streams.
    ///
    /// - Throws: A ``TransportError`` if there is no head of a response.
    public func media(
        _ request: HTTPRequest
    ) async throws(TransportError) -> (response: HTTPResponse, body: ResponseBody) {
        try await stream(request, [], .media)
    }

    /// Sends a request whose body is read while it is sent, and returns when the head of the response is complete.
    package func stream(
        _ request: HTTPRequest, content: any RequestContent
    ) async throws(TransportError) -> (response: HTTPResponse, body: ResponseBody) {
        try await stream(request, [], .streamed, content)
    }

    private func stream(
        _ request: HTTPRequest, _ body: [UInt8], _ use: ResponseMeter.BodyUse, _ content: (any RequestContent)? = nil
    ) async throws(TransportError) -> (response: HTTPResponse, body: ResponseBody) {
        let buffer = ResponseBuffer(capacity: Self.streamCapacity)
        let (loop, transfer) = try await prepare(request, body, buffer, use, file: content)
        let head = try await withTaskCancellationHandler {
            loop.start(transfer)
            return await buffer.head()
        } onCancel: {
            loop.cancel(transfer)
        }.get()
        let reading = Reading(transport: self, loop: loop, transfer: transfer)
        return (head, ResponseBody { await reading.next() })
    }

    private func prepare(
        _ request: HTTPRequest, _ body: [UInt8], _ buffer: ResponseBuffer, _ use: ResponseMeter.BodyUse = .buffered,
        file: (any RequestContent)? = nil
    ) async throws(TransportError) -> (CurlLoop, CurlTransfer) {
        // Checked first: an invalid request needs no credentials.
        _ = try OutgoingRequest(request, body: [])
        let outgoing = try OutgoingRequest(try await options.authorize(request), body: body, file: file)
        return (try startedLoop(), CurlTransfer(outgoing, options, use, buffer: buffer))
    }

    private func startedLoop() throws(TransportError) -> CurlLoop {
        try loop.withLock { loop throws(TransportError) in
            if let loop { return loop }
            let started = try CurlLoop(connectionsPerHost: options.connectionsPerHost)
            loop = started
            return started
        }
    }
}

/// Retains the transport while a body is read, and cancels the transfer when the reader is released.
private final class Reading: Sendable {
    private let transport: CurlTransport
    private let loop: CurlLoop
    private let transfer: CurlTransfer

    init(transport: CurlTransport, loop: CurlLoop, transfer: CurlTransfer) {
        self.transport = transport
        self.loop = loop
        self.transfer = transfer
    }

    deinit { loop.cancel(transfer) }

    func next() async -> Result<[UInt8]?, TransportError> {
        await withTaskCancellationHandler {
            await transfer.buffer.next { loop.resume(transfer) }
        } onCancel: {
            loop.cancel(transfer)
        }
    }
}
