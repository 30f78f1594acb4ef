public import Transport

/// A request of the service for credentials, or for new ones.
public struct AuthenticationChallenge: Sendable, Hashable {
    /// The response status: 401 or 403.
    public var status: Int
    /// The service's `WWW-Authenticate` fields, unchanged.
    public var schemes: [String]
    /// The service root.
    public var service: String

    /// Creates a challenge with the status, the schemes of `WWW-Authenticate` and the service root.
    public init(status: Int, schemes: [String], service: String) {
        self.status = status
        self.schemes = schemes
        self.service = service
    }
}

/// A function that returns new credentials, for example by refreshing a token or asking the user, or nil to give up.
///
/// It is called once for a rejected request and for all requests that are rejected meanwhile; they wait. The requests
/// are then sent again unchanged, so an upload or download continues. It is not called a second time for a request that
/// is rejected with the new credentials.
public typealias AuthenticationHook = @Sendable (AuthenticationChallenge) async -> Credentials?
