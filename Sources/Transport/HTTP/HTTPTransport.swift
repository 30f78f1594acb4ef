public import HTTPTypes

/// Sends HTTP requests. Apps may bring their own.
///
/// What every transport owes to the engine:
/// - A response of any status is a response; only its absence is an error.
/// - A request that is not idempotent is sent at most once, and an error tells whether it may have arrived.
/// - Redirects within the origin (scheme, host, port) are followed for GET and HEAD, and with method and body where the
///   status is 307 or 308; a redirect to another origin is refused, since credentials and data would go there.
/// - Cookies that the service sets are kept for the transport's life and sent back as they say, beside those of a `Cookie`
///   header that the request has.
/// - Time and size of each response are bounded. The body of a failure may be cut off, that of a success may not.
/// - Repeated header fields are kept. Bodies are decoded; Content-Encoding and Content-Length are left as received.
public protocol HTTPTransport: Sendable {
    func send(
        _ request: HTTPRequest, body: [UInt8]
    ) async throws(TransportError) -> (response: HTTPResponse, body: [UInt8])

    /// Sends a GET, and tells where the response came from.
    ///
    /// - Returns: in `location`, the URL that redirects led to; nil if there were none, or if the transport does not know.
    func locate(
        _ request: HTTPRequest
    ) async throws(TransportError) -> (response: HTTPResponse, body: [UInt8], location: String?)

    /// The same with a body that lies in a file.
    func send(
        _ request: HTTPRequest, file: RequestFile
    ) async throws(TransportError) -> (response: HTTPResponse, body: [UInt8])

    /// Returns when the head of the response is there; the body is read as it is asked for.
    func stream(
        _ request: HTTPRequest, body: [UInt8]
    ) async throws(TransportError) -> (response: HTTPResponse, body: ResponseBody)

    /// Sends a GET for the content of a media stream, which goes to a file: as ``stream(_:body:)``, within the limits for
    /// media streams.
    func media(_ request: HTTPRequest) async throws(TransportError) -> (response: HTTPResponse, body: ResponseBody)
}

extension HTTPTransport {
    /// For transports that do not tell: who gets a redirect as the response follows it.
    public func locate(
        _ request: HTTPRequest
    ) async throws(TransportError) -> (response: HTTPResponse, body: [UInt8], location: String?) {
        let (response, body) = try await send(request, body: [])
        return (response, body, nil)
    }

    /// For transports that cannot read files: the whole of it is in memory while it is sent.
    public func send(
        _ request: HTTPRequest, file: RequestFile
    ) async throws(TransportError) -> (response: HTTPResponse, body: [UInt8]) {
        try await send(request, body: try file.bytes())
    }

    /// For transports that do not stream: the whole body as one chunk.
    public func stream(
        _ request: HTTPRequest, body: [UInt8]
    ) async throws(TransportError) -> (response: HTTPResponse, body: ResponseBody) {
        let (response, received) = try await send(request, body: body)
        return (response, ResponseBody(received))
    }

    /// For transports without limits of their own for media streams.
    public func media(
        _ request: HTTPRequest
    ) async throws(TransportError) -> (response: HTTPResponse, body: ResponseBody) {
        try await stream(request, body: [])
    }
}

/// The transport that suits the platform: URLSession where there is a good one, otherwise libcurl.
public func defaultTransport(_ options: TransportOptions = TransportOptions()) -> any HTTPTransport {
    #if canImport(Darwin)
        URLSessionTransport(options)
    #else
        CurlTransport(options)
    #endif
}
