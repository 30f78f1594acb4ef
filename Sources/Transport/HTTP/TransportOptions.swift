public import HTTPTypes

public struct TransportOptions: Sendable {
    public var limits: ResponseLimits
    public var connectionsPerHost = 6
    /// A PEM file with the certificate authorities to trust instead of the system's (libcurl only; on Apple platforms
    /// they are installed on the device).
    public var certificateAuthorities: String?
    /// Asked before each request, unless it has an Authorization header. The request's URL may have come from the
    /// service: look at its origin before giving away a secret.
    public var credentials: @Sendable (HTTPRequest) async throws(TransportError) -> Credentials = {
        _ throws(TransportError) in .none
    }

    public init(limits: ResponseLimits = ResponseLimits()) { self.limits = limits }

    func authorize(_ request: HTTPRequest) async throws(TransportError) -> HTTPRequest {
        guard request.headerFields[.authorization] == nil else { return request }
        var request = request
        try await credentials(request).apply(to: &request)
        return request
    }
}
