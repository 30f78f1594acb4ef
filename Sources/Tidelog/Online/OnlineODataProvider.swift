public import EDM
public import ODataWire
public import OfflineStore
public import SyncEngine
import Synchronization
public import Transport

/// The service itself: every call sends a request and returns after the response.
///
/// It has the calls of an ``OfflineODataProvider``, except for those that need a store: `Docs/OnlineAndOffline.md` lists
/// them.
public final class OnlineODataProvider: DataServiceProvider, ServiceBackend {
    let session: ServiceSession
    /// Receives the messages in the headers of successful responses.
    let messages = MessageReceiver()
    private let cached = Mutex<EntityDataModel?>(nil)
    private let classes = Mutex<ClassMetadata?>(nil)

    private let givenOptions: ServiceOptions?

    /// Creates a provider for a service.
    ///
    /// - Parameters:
    ///   - serviceRoot: an absolute URL, with or without a trailing slash.
    ///   - transport: sends the requests; `nil` for the platform's transport with the bounds of `limits`.
    ///   - credentials: the credentials that are sent to the service.
    ///   - serviceOptions: the capabilities of the service; `nil` for those that its metadata declares.
    ///   - limits: bounds on the duration and size of responses.
    ///   - authentication: returns new credentials when the service rejects the present ones.
    ///   - customHeaders: headers that are sent with every request to the service.
    ///   - customCookies: cookies that are sent with every request to the service.
    public convenience init(
        serviceRoot: String, transport: (any HTTPTransport)? = nil, credentials: Credentials = .none,
        serviceOptions: ServiceOptions? = nil, limits: ServiceLimits = ServiceLimits(),
        authentication: AuthenticationHook? = nil, customHeaders: HTTPHeaders = .empty,
        customCookies: [String: String] = [:]
    ) {
        self.init(
            serviceRoot: serviceRoot,
            connection: ServiceConnection(
                transport: transport, credentials: credentials, authentication: authentication,
                customHeaders: customHeaders, customCookies: customCookies, limits: limits,
                serviceOptions: serviceOptions))
    }

    /// Creates a provider for a service.
    ///
    /// - Parameters:
    ///   - serviceRoot: an absolute URL, with or without a trailing slash.
    ///   - connection: the connection to the service, which a store can share.
    public init(serviceRoot: String, connection: ServiceConnection) {
        givenOptions = connection.serviceOptions
        session = connection.session(serviceRoot)
    }

    // MARK: Session

    /// The service root.
    public var serviceRoot: String { session.root }

    /// Headers that are sent with every request to the service, starting with the next one.
    ///
    /// They never appear in traces or errors. If a request sets a header itself, the custom value is not added.
    public var customHeaders: HTTPHeaders {
        get { session.headers.headers }
        set { session.headers.headers = newValue }
    }

    /// Cookies that are sent with every request to the service in addition to the service's own, starting with the
    /// next request.
    public var customCookies: [String: String] {
        get { session.headers.cookies }
        set { session.headers.cookies = newValue }
    }

    /// Replaces the credentials, starting with the next request.
    public func use(_ credentials: Credentials) async { await session.use(credentials) }

    package func trace(_ trace: RequestTrace?) { session.trace = trace }

    // MARK: DataServiceProvider

    /// The implementation of the calls of a ``DataService``.
    public var backend: ProviderBackend { ProviderBackend(self) }

    // MARK: Metadata

    /// The metadata, or `nil` if they have not been read.
    public var loadedModel: EntityDataModel? { cached.withLock { $0 } }

    package func adopt(_ classes: ClassMetadata) { self.classes.withLock { $0 = classes } }

    /// Returns the metadata of the service. Reads it on the first call.
    ///
    /// - Throws: `notOData` if the response is not metadata; `unreachable`, `unauthorized` or `service` if it cannot be
    ///   read.
    public func model() async throws(TidelogError) -> EntityDataModel {
        if let model = loadedModel { return model }
        return await adopt(try await MetadataReading.read(session).model)
    }

    private func adopt(_ model: EntityDataModel) async -> EntityDataModel {
        cached.withLock { $0 = model }
        if model.version.isLegacy { await session.expectToken() }
        return model
    }

    /// Reads the service's metadata, unless it has been read before.
    ///
    /// - Throws: `incompatibleMetadata` if the app's classes do not support it.
    func loadMetadata() async throws(TidelogError) {
        if loadedModel != nil { return }
        let new = try await MetadataReading.read(session).model
        if let incompatible = classes.withLock({ $0 })?.comparison(with: new), !incompatible.incompatible.isEmpty {
            throw TidelogError(
                IncompatibleMetadata(
                    difference: incompatible.difference, changes: incompatible.incompatible, defects: new.defects),
                root: session.root)
        }
        _ = await adopt(new)
    }

    /// Reads the metadata of the service again; see ``DataService/refreshMetadata(_:)``.
    ///
    /// - Throws: `incompatibleMetadata` if the changes are neither compatible nor approved; `notOData` if the response
    ///   is not metadata; `unreachable`, `unauthorized` or `service` if it cannot be read.
    public func refreshMetadata(_ policy: CompatibilityPolicy) async throws(TidelogError) -> MetadataRefresh {
        let (old, classes) = (loadedModel, classes.withLock { $0?.compared })
        let new = try await MetadataReading.read(session).model
        // The metadata read last can fit while the classes do not, or vice versa. Both must fit.
        var refresh: MetadataRefresh?
        if let classes, ModelDifference(from: classes, to: new).isComplete {
            refresh = try MetadataRefresh(from: classes, to: new, policy, root: session.root)
        }
        if let old { refresh = try MetadataRefresh(from: old, to: new, policy, root: session.root) }
        _ = await adopt(new)
        if let refresh { return refresh }
        return try MetadataRefresh(from: new, to: new, policy, root: session.root)
    }

    /// Returns the capabilities of the service.
    func options(_ model: EntityDataModel) -> ServiceOptions { givenOptions ?? ServiceOptions(declaredBy: model) }
}
