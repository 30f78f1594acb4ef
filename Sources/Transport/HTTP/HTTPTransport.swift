public import HTTPTypes

/// Sends HTTP requests. Apps may provide their own implementation.
///
/// The engine requires of every transport:
/// - A response of any status is returned; only a missing response is an error.
/// - A request that is not idempotent is sent at most once, and an error indicates whether it may have arrived.
/// - Redirects within the origin (scheme, host, port) are followed for GET and HEAD, and with method and body if the
///   status is 307 or 308; a redirect to another origin is refused, because credentials and data would be sent there.
/// - Cookies that the service sets are kept for the lifetime of the transport and sent back according to their
///   attributes, in addition to those of a `Cookie` header in the request.
/// - Time and size of each response are bounded. The body of a failure may be truncated, that of a success may not.
/// - Repeated header fields are kept. Bodies are decoded; Content-Encoding and Content-Length are left as received.
public protocol HTTPTransport: Sendable {
    /// Sends a request and returns its response, whose body is in memory.
    ///
    /// - Throws: A ``TransportError`` if there is no complete response; ``TransportError/mayHaveBeenSent`` indicates
    ///   whether the service may have acted on the request.
    func send(
        _ request: HTTPRequest, body: [UInt8]
    ) async throws(TransportError) -> (response: HTTPResponse, body: [UInt8])

    /// Sends a GET, and returns the URL of the response in addition.
    ///
    /// - Returns: In `location`, the URL after redirects; `nil` if there were none, or if the transport does not
    ///   provide it.
    /// - Throws: A ``TransportError`` if there is no complete response.
    func locate(
        _ request: HTTPRequest
    ) async throws(TransportError) -> (response: HTTPResponse, body: [UInt8], location: String?)

    /// Sends a request whose body is a file.
    ///
    /// - Throws: A ``TransportError`` if there is no complete response, or the file cannot be read.
    func send(
        _ request: HTTPRequest, file: RequestFile
    ) async throws(TransportError) -> (response: HTTPResponse, body: [UInt8])

    /// Sends a request and returns when the head of the response is complete. The body is received while it is read.
    ///
    /// - Throws: A ``TransportError`` if there is no head of a response. A later error is thrown by the iteration of
    ///   the body.
    func stream(
        _ request: HTTPRequest, body: [UInt8]
    ) async throws(TransportError) -> (response: HTTPResponse, body: ResponseBody)

    /// Sends a GET for the content of a media stream, which is written to a file: like ``stream(_:body:)``, within
    /// the limits for media streams.
    ///
    /// - Throws: Like ``stream(_:body:)``.
    func media(_ request: HTTPRequest) async throws(TransportError) -> (response: HTTPResponse, body: ResponseBody)
}

extension HTTPTransport {
    /// For transports that do not provide the location: the caller follows a redirect that it receives as the
    /// response.
    ///
    /// - Throws: The error of ``send(_:body:)``.
    public func locate(
        _ request: HTTPRequest
    ) async throws(TransportError) -> (response: HTTPResponse, body: [UInt8], location: String?) {
        let (response, body) = try await send(request, body: [])
        return (response, body, nil)
    }

    /// For transports that do not read files: the whole file is in memory while it is sent.
    ///
    /// - Throws: The error of ``send(_:body:)``; `invalidRequest` if the file cannot be read.
    public func send(
        _ request: HTTPRequest, file: RequestFile
    ) async throws(TransportError) -> (response: HTTPResponse, body: [UInt8]) {
        try await send(request, body: try file.bytes())
    }

    /// For transports that do not stream: the whole body is one chunk.
    ///
    /// - Throws: The error of ``send(_:body:)``.
    public func stream(
        _ request: HTTPRequest, body: [UInt8]
    ) async throws(TransportError) -> (response: HTTPResponse, body: ResponseBody) {
        let (response, received) = try await send(request, body: body)
        return (response, ResponseBody(received))
    }

    /// For transports without separate limits for media streams.
    ///
    /// - Throws: The error of ``stream(_:body:)``.
    public func media(
        _ request: HTTPRequest
    ) async throws(TransportError) -> (response: HTTPResponse, body: ResponseBody) {
        try await stream(request, body: [])
    }
}

/// Returns the transport for the platform: URLSession on Apple platforms, otherwise libcurl.
public func defaultTransport(_ options: TransportOptions = TransportOptions()) -> any HTTPTransport {
    #if canImport(Darwin)
        URLSessionTransport(options)
    #else
        CurlTransport(options)
    #endif
}
