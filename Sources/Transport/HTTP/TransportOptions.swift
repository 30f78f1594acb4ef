public import HTTPTypes

public struct TransportOptions: Sendable {
    /// For name resolution, connection and TLS handshake together.
    public var connectTimeout: Duration = .seconds(30)
    /// How long not a byte may pass in either direction, in steps of a second. It includes the time that the service
    /// thinks before it answers.
    public var idleTimeout: Duration? = .seconds(120)
    /// For the whole exchange.
    public var totalTimeout: Duration?
    /// Of the decoded body.
    public var maximumResponseBytes: Int? = 1 << 30
    public var maximumRedirects = 5
    public var connectionsPerHost = 6
    /// A PEM file with the certificate authorities to trust instead of the system's (libcurl only; on Apple platforms
    /// they are installed on the device).
    public var certificateAuthorities: String?
    /// Asked before each request, unless it has an Authorization header. The request's URL may have come from the
    /// service: look at its origin before giving away a secret.
    public var credentials: @Sendable (HTTPRequest) async throws(TransportError) -> Credentials = {
        _ throws(TransportError) in .none
    }

    public init() {}

    func authorize(_ request: HTTPRequest) async throws(TransportError) -> HTTPRequest {
        guard request.headerFields[.authorization] == nil else { return request }
        var request = request
        try await credentials(request).apply(to: &request)
        return request
    }
}
