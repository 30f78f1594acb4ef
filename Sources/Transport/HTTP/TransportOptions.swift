public import HTTPTypes

/// The settings of a transport.
public struct TransportOptions: Sendable {
    /// The bounds on the duration and size of each exchange.
    public var limits: ResponseLimits
    /// The maximum number of simultaneous connections to a host; at least one is used.
    public var connectionsPerHost = 6
    /// The trusted servers, the certificate of the app, and the proxy.
    public var connection = ConnectionOptions()
    /// Whether the transport relays exchanges of other clients (libcurl only): it follows no redirects, keeps no
    /// cookies, decodes no bodies, and adds no header fields of its own.
    package var isRelay = false
    /// Returns the credentials for a request that has no Authorization header. Called before each request.
    ///
    /// The request's URL may originate from the service: check its origin before returning a secret.
    public var credentials: @Sendable (HTTPRequest) async throws(TransportError) -> Credentials = {
        _ throws(TransportError) in .none
    }

    /// Creates options with the given limits, the system's trust and proxy, and no credentials.
    public init(limits: ResponseLimits = ResponseLimits()) { self.limits = limits }

    func authorize(_ request: HTTPRequest) async throws(TransportError) -> HTTPRequest {
        guard request.headerFields[.authorization] == nil else { return request }
        var request = request
        try await credentials(request).apply(to: &request)
        return request
    }
}
