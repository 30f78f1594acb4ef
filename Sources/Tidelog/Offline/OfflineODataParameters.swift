public import Transport

/// How a store is opened. What is left out has a sensible default.
public struct OfflineODataParameters: Sendable {
    /// The store's directory. One store holds the data of one service and one user.
    public var storePath: String
    /// Sends requests; nil takes the platform's.
    public var transport: (any HTTPTransport)?
    /// Sent to the service, never stored. For tokens that expire, bring a transport whose options ask for them.
    public var credentials: Credentials

    public init(storePath: String, transport: (any HTTPTransport)? = nil, credentials: Credentials = .none) {
        self.storePath = storePath
        self.transport = transport
        self.credentials = credentials
    }
}
