public import Transport

/// The service wants to know who asks, or does not believe it any more.
public struct AuthenticationChallenge: Sendable, Hashable {
    /// 401 or 403.
    public var status: Int
    /// The service's `WWW-Authenticate` fields, as they are.
    public var schemes: [String]
    /// The service root.
    public var service: String

    public init(status: Int, schemes: [String], service: String) {
        self.status = status
        self.schemes = schemes
        self.service = service
    }
}

/// Gets new credentials, as by refreshing a token or by asking a person; nil gives up.
///
/// Called once for a request that was refused, and once for all that are refused meanwhile; they wait. The request is then
/// sent again as it was, so an upload or download goes on where it stood. It is not called a second time for a request that
/// is refused with what it gave.
public typealias AuthenticationHook = @Sendable (AuthenticationChallenge) async -> Credentials?
