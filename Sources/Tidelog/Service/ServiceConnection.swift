public import ODataWire
public import SyncEngine
public import Transport

/// The connection to a service: transport, authentication, headers, limits and capabilities.
///
/// The same value configures a store (``OfflineODataParameters/connection``) and the service itself
/// (``OnlineODataProvider/init(serviceRoot:connection:)``).
public struct ServiceConnection: Sendable {
    /// Sends requests. `nil` selects the platform's transport with the bounds of ``limits``.
    public var transport: (any HTTPTransport)?
    /// The credentials that are sent to the service and never stored.
    ///
    /// If tokens expire, set ``authentication``.
    public var credentials: Credentials
    /// Returns new credentials when the service rejects the present ones (401, or a 403 that is not a decision of the
    /// service itself). The rejected request is then sent again unchanged.
    public var authentication: AuthenticationHook?
    /// Headers that are sent with every request to the service and never stored.
    public var customHeaders: HTTPHeaders
    /// Cookies that are sent with every request to the service and never stored.
    public var customCookies: [String: String]
    /// Bounds on the duration and size of responses.
    public var limits: ServiceLimits
    /// The capabilities of the service, including deviations from the standard; `nil` for those that its metadata
    /// declares or, in a store, for those that the store has saved.
    public var serviceOptions: ServiceOptions?

    /// Creates a connection; by default with the platform's transport, without credentials.
    public init(
        transport: (any HTTPTransport)? = nil, credentials: Credentials = .none,
        authentication: AuthenticationHook? = nil, customHeaders: HTTPHeaders = .empty,
        customCookies: [String: String] = [:], limits: ServiceLimits = ServiceLimits(),
        serviceOptions: ServiceOptions? = nil
    ) {
        self.transport = transport
        self.credentials = credentials
        self.authentication = authentication
        self.customHeaders = customHeaders
        self.customCookies = customCookies
        self.limits = limits
        self.serviceOptions = serviceOptions
    }

    /// Returns a session with the service.
    func session(_ root: String) -> ServiceSession {
        let session = ServiceSession(
            root: root, transport: transport ?? defaultTransport(TransportOptions(limits)), credentials: credentials,
            authentication: authentication, limits: limits)
        session.headers = SessionHeaders(headers: customHeaders, cookies: customCookies)
        return session
    }
}

extension OfflineODataParameters {
    /// The connection to the service, as one value that an ``OnlineODataProvider`` can share.
    public var connection: ServiceConnection {
        get {
            ServiceConnection(
                transport: transport, credentials: credentials, authentication: authentication,
                customHeaders: customHeaders, customCookies: customCookies, limits: limits,
                serviceOptions: serviceOptions)
        }
        set {
            transport = newValue.transport
            credentials = newValue.credentials
            authentication = newValue.authentication
            customHeaders = newValue.customHeaders
            customCookies = newValue.customCookies
            limits = newValue.limits
            serviceOptions = newValue.serviceOptions
        }
    }

    /// Creates parameters with the defaults, for a store that is connected to the service as given.
    public init(storePath: String, connection: ServiceConnection) {
        self.init(storePath: storePath)
        self.connection = connection
    }
}
