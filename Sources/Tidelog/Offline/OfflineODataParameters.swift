public import EDM
public import Logging
public import ODataWire
public import OfflineStore
public import OperationLog
public import SyncCore
public import SyncEngine
public import Transport

/// The parameters with which a store is opened. All except the path have defaults.
public struct OfflineODataParameters: Sendable {
    /// The store's directory. One store contains the data of one service and one user.
    public var storePath: String
    /// Sends requests. `nil` selects the platform's transport with the bounds of ``limits``.
    public var transport: (any HTTPTransport)?
    /// Bounds on the duration and size of responses.
    public var limits: ServiceLimits
    /// The credentials that are sent to the service and never stored.
    ///
    /// If tokens expire, set ``authentication``.
    public var credentials: Credentials

    /// Returns new credentials when the service rejects the present ones (401, or a 403 that is not a decision of the
    /// service itself).
    ///
    /// The rejected request is then sent again unchanged, so that the upload or download continues at the same place.
    public var authentication: AuthenticationHook?
    /// Headers that are sent with every request to the service and never stored. Change them later with
    /// ``OfflineODataProvider/customHeaders``.
    public var customHeaders: HTTPHeaders
    /// Cookies that are sent with every request to the service and never stored. Change them later with
    /// ``OfflineODataProvider/customCookies``.
    public var customCookies: [String: String]
    /// The options of uploads that specify none.
    public var upload: UploadOptions
    /// A logger for the steps of uploads and downloads, or `nil` for no logging.
    ///
    /// The messages contain sequence numbers of operations but none of their values. To log the requests themselves,
    /// see ``DataService/traceRequests``.
    public var logger: Logger?

    /// The key that encrypts all data written from now on, or `nil` for a store without encryption.
    ///
    /// Keep the key in the secret storage of the system: without it the store cannot be read.
    ///
    /// In an encrypted store no file contains values of entities: the log, the views and the content of media streams
    /// are encrypted. Parts of the log that were written before there was a key remain unencrypted until the store is
    /// compacted. `store.json` (the service root) is not encrypted.
    public var storeEncryptionKey: LogKey?
    /// Keys with which parts of the store were written before ``storeEncryptionKey``. Used for reading only.
    public var formerEncryptionKeys: [LogKey]
    /// The durability of a change when its call returns.
    public var durability: StoreDurability
    /// When the store writes a snapshot of its state, so that opening it does not require its whole history.
    public var snapshots: SnapshotPolicy
    /// The capabilities of the service, including deviations from the standard.
    ///
    /// `nil` uses the options that the store has saved, or those that the service's metadata declares if the store
    /// has saved none. A new store saves the options given here; an existing store uses them until it is closed.
    /// ``OfflineODataProvider/keep(_:)`` changes the saved options.
    public var serviceOptions: ServiceOptions?
    /// The download settings of defining queries; `nil` for the defaults.
    public var configuration: OfflineODataConfiguration?
    /// A Boolean value that indicates whether deleting a locally created entity that has not been sent also undoes
    /// its creation, so that nothing is sent.
    ///
    /// If `false`, creation and deletion are both sent, one after the other.
    ///
    /// Both are sent as well if other entities were created together with the entity or are bound to it, so that
    /// undoing the creation would remove them or leave them in another state than a deletion. The same holds in a
    /// change set.
    public var undoesLocalCreation: Bool
    /// A Boolean value that indicates whether the content of a media entity or stream property is removed from the
    /// store after its upload.
    ///
    /// The content can be downloaded again. The file is removed when the store is next opened.
    public var removesMediaAfterUpload = false
    /// The names of entity sets whose new entities are removed from the store after their upload, because the service
    /// replaces them.
    ///
    /// An entity is removed when none of its changes is pending any more and no download has delivered it. The next
    /// download delivers the entities that the service still has.
    public var removesCreatedEntitiesAfterUpload: Set<String> = []
    /// The registration of the client at the service; `nil` for none.
    public var clientRegistration: ClientRegistration?
    /// CSDL with entity sets, types and properties that exist only in the store, or `nil` for none.
    ///
    /// The elements become part of the store's metadata, with the annotation
    /// `com.sap.vocabularies.Offline.v1.ClientOnly`. Their changes are logged like all others and never sent. An entity
    /// type with the name of a type of the service adds properties to it. Opening an existing store installs changed
    /// additions; `nil` leaves those of the store as they are. An element with the name of one of the service is an
    /// error, also when the service adds it later.
    public var clientOnlyMetadata: String?
    /// The changes of ``clientOnlyMetadata`` that are approved in advance, such as removals.
    public var clientOnlyPolicy = CompatibilityPolicy()
    /// The number of client-only operations that can be undone. When a store has more, older ones become permanent,
    /// which keeps the queue short.
    public var undoableClientChanges = 1_000
    /// The directory of a prepared store from which a new store is created; see ``PreparedODataStore``. It needs no
    /// network, and the directory of the new store must not exist. Ignored if the store exists.
    public var preparedStore: String?
    /// A Boolean value that indicates whether opening a new store also downloads its defining queries.
    ///
    /// If the download fails, the store remains open in its state so far, and ``OfflineODataProvider/open()`` throws
    /// the error.
    public var downloadsWhenCreated = false
    /// A Boolean value that indicates whether uploads coalesce operations on one entity if the effect is the same,
    /// like ``UploadOptions`` with `coalesces`.
    ///
    /// A service with side effects per request then executes them less often.
    public var enableRequestQueueOptimization: Bool
    /// A Boolean value that indicates whether deleting an entity of the set `ErrorArchive` discards that request and
    /// its dependents only.
    ///
    /// If `false`, all rejected requests and those in conflict are discarded.
    public var enableIndividualErrorArchiveDeletion: Bool
    /// Indexes for the queries of the app. Properties that defining queries compare with values need none.
    ///
    /// Indexes are created when the store is opened, and dropped when it is opened without them. Creating them
    /// takes a pass over the entities.
    public var indexes: [EntityIndex]
    /// The maximum number of entities in a result, for queries without ``DataQuery/pageSize(_:)``. `nil` for no
    /// limit.
    ///
    /// ``QueryResult/nextQuery`` returns the next page. Targets of navigation properties and results of live queries
    /// are not paged. A query throws `invalidRequest` if the value is not greater than 0.
    public var pageSize: Int?
    /// Called after an upload, before it returns, for each request that the service rejected in it.
    public var requestFailed: (@Sendable (ErrorArchiveEntry) -> Void)?
    /// The sources of time, delays and random numbers. A test supplies its own.
    package var environment = SyncEnvironment.system

    /// Creates parameters for the store at a path; all other parameters have defaults.
    public init(
        storePath: String, transport: (any HTTPTransport)? = nil, credentials: Credentials = .none,
        storeEncryptionKey: LogKey? = nil, formerEncryptionKeys: [LogKey] = [],
        durability: StoreDurability = .everyCommit, snapshots: SnapshotPolicy = .automatic(),
        serviceOptions: ServiceOptions? = nil, undoesLocalCreation: Bool = false,
        authentication: AuthenticationHook? = nil, customHeaders: HTTPHeaders = .empty,
        customCookies: [String: String] = [:], upload: UploadOptions = UploadOptions(),
        enableRequestQueueOptimization: Bool = false, enableIndividualErrorArchiveDeletion: Bool = true,
        indexes: [EntityIndex] = [], pageSize: Int? = nil,
        requestFailed: (@Sendable (ErrorArchiveEntry) -> Void)? = nil,
        logger: Logger? = nil, limits: ServiceLimits = ServiceLimits()
    ) {
        self.limits = limits
        self.indexes = indexes
        self.pageSize = pageSize
        self.storePath = storePath
        self.transport = transport
        self.credentials = credentials
        self.storeEncryptionKey = storeEncryptionKey
        self.formerEncryptionKeys = formerEncryptionKeys
        self.durability = durability
        self.snapshots = snapshots
        self.serviceOptions = serviceOptions
        self.undoesLocalCreation = undoesLocalCreation
        self.authentication = authentication
        self.customHeaders = customHeaders
        self.customCookies = customCookies
        self.upload = upload
        self.logger = logger
        self.enableRequestQueueOptimization = enableRequestQueueOptimization
        self.enableIndividualErrorArchiveDeletion = enableIndividualErrorArchiveDeletion
        self.requestFailed = requestFailed
    }

    /// The options of an upload that specifies none.
    var defaultUpload: UploadOptions {
        var options = upload
        if enableRequestQueueOptimization { options.coalesces = true }
        return options
    }
}

/// The durability of a change at the time when the call that made it returns.
///
/// A change is always in the log by then and survives the end of the process; the durability concerns a power loss. A
/// lost change is missing from both the log and the views, never partially.
public enum StoreDurability: Sendable, Hashable {
    /// The change survives a power loss.
    case everyCommit
    /// The change survives a power loss. Concurrent calls share one sync of the disk. Queries can return a change
    /// shortly before its call returns.
    case grouped
    /// The change survives a power loss after the given interval.
    case interval(milliseconds: Int)
    /// The change survives a power loss once the system has written it. A batch is always durable before it is sent.
    case none
}

extension OfflineODataParameters {
    /// All keys of the log. The first one is used for writing.
    var keys: [LogKey] { storeEncryptionKey.map { [$0] + formerEncryptionKeys } ?? [] }

    func storeOptions(_ kept: ServiceOptions?) -> LocalStoreOptions {
        var options = LocalStoreOptions(
            environment: environment, log: OperationLog.Options(durability: logDurability, keys: keys),
            snapshots: snapshots,
            service: serviceOptions ?? kept, undoesLocalCreation: undoesLocalCreation, indexes: indexes)
        options.querySettings = configuration?.settings ?? [:]
        options.removal = RemovalAfterUpload(
            streams: removesMediaAfterUpload, sets: removesCreatedEntitiesAfterUpload)
        options.undoableClientChanges = undoableClientChanges
        return options
    }

    private var logDurability: OperationLog.Options.Durability {
        switch durability {
        case .everyCommit: .everyCommit
        case .grouped: .grouped
        case .interval(let milliseconds): .interval(milliseconds: milliseconds)
        case .none: .none
        }
    }
}
