public import Logging
public import ODataWire
public import OperationLog
public import SyncCore
public import SyncEngine
public import Transport

/// How a store is opened. What is left out has a sensible default.
public struct OfflineODataParameters: Sendable {
    /// The store's directory. One store holds the data of one service and one user.
    public var storePath: String
    /// Sends requests; nil takes the platform's, with the limits of ``limits``.
    public var transport: (any HTTPTransport)?
    /// Bounds on what the service may send, in time and in size.
    public var limits: ServiceLimits
    /// Sent to the service, never stored. For tokens that expire, bring a transport whose options ask for them.
    public var credentials: Credentials

    /// Asked for other credentials when the service refuses these (401, or 403 that is not the service's own decision). What
    /// was refused is then sent again as it was: an upload or download goes on where it stood.
    public var authentication: AuthenticationHook?
    /// Sent with every request to the service, never stored; ``OfflineODataProvider/customHeaders`` changes them later.
    public var customHeaders: HTTPHeaders
    /// As ``customHeaders``; ``OfflineODataProvider/customCookies`` changes them later.
    public var customCookies: [String: String]
    /// How uploads go about their work where a call says nothing else.
    public var upload: UploadOptions
    /// Told what uploads and downloads do, with the operations' sequence numbers and without any of their values; nil for
    /// nothing. For the requests themselves see ``DataService/traceRequests``.
    public var logger: Logger?

    /// Encrypts what is written from now on; nil, and the store is not encrypted. Keep the key where the system keeps
    /// secrets: without it the store cannot be read by anyone.
    ///
    /// In an encrypted store no file has values of entities: the log, the views and the content of media streams are encrypted.
    /// What the log has from before there was a key stays as it was until the store is compacted. `store.json` (the service's
    /// root) is not encrypted.
    public var storeEncryptionKey: LogKey?
    /// Keys that parts of the store were written with before ``storeEncryptionKey``; for reading only.
    public var formerEncryptionKeys: [LogKey]
    public var durability: StoreDurability
    /// When the store writes its state as a snapshot, so that it opens without its whole history.
    public var snapshots: SnapshotPolicy
    /// What the service lacks, or does in its own way; nil for what the store keeps about it, and where it keeps nothing, for
    /// what the service's metadata say. A store that is made keeps what is given here; a store that exists goes by it until
    /// it is closed. ``OfflineODataProvider/keep(_:)`` changes what it keeps.
    public var serviceOptions: ServiceOptions?
    /// How defining queries are downloaded, where that is not as usual; nil for all as usual.
    public var configuration: OfflineODataConfiguration?
    /// Whether deleting an entity that was created here, and that no service has seen, takes its creation back, so that
    /// nothing is sent. Without it the creation and the deletion are both sent, one after the other.
    ///
    /// Where others have been created with the entity, or are bound to it, so that they would be gone as well or be otherwise
    /// than after a deletion, both are sent all the same. So they are in a change set.
    public var undoesLocalCreation: Bool
    /// Whether the content of a media entity or stream property goes from the store once an upload has sent it; it can be
    /// downloaded again. The file goes when the store is next opened.
    public var removesMediaAfterUpload = false
    /// Whether uploads put operations on one entity together where that comes to the same, as ``UploadOptions`` with
    /// `coalesces`. A service that does something at each request does it less often then.
    public var enableRequestQueueOptimization: Bool
    /// Whether deleting an entity of the set `ErrorArchive` gives up that request, with what needs it. Without it all that
    /// the service refused is given up.
    public var enableIndividualErrorArchiveDeletion: Bool
    /// Indexes for the queries that the app asks the store. Properties that defining queries compare with values need none.
    /// They are made when the store is opened, and dropped when it is opened without them; the first takes a pass over the
    /// entities.
    public var indexes: [EntityIndex]
    /// How many entities an answer of the store has at most where ``DataQuery/pageSize(_:)`` does not say it;
    /// ``QueryResult/nextQuery`` leads to the next. Nil for all of them. What a navigation property leads to and live queries
    /// are not cut. What is not greater than 0 is refused.
    public var pageSize: Int?
    /// Called behind an upload for each request that the service refused in it, before the upload returns.
    public var requestFailed: (@Sendable (ErrorArchiveEntry) -> Void)?

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

    /// Those of an upload that says nothing else.
    var defaultUpload: UploadOptions {
        var options = upload
        if enableRequestQueueOptimization { options.coalesces = true }
        return options
    }
}

/// What has happened to a change when the call that made it returns. It is always in the log, and survives the end of the
/// process; this is about a loss of power. What was lost by one is gone from log and views alike, never half of it.
public enum StoreDurability: Sendable, Hashable {
    /// It survives.
    case everyCommit
    /// It survives. Calls that come at the same time wait for the disk together; queries may show a change a moment before
    /// its call returns.
    case grouped
    /// It survives so much later.
    case interval(milliseconds: Int)
    /// It survives when the system has written it. A batch is always durable before it is sent.
    case none
}

extension OfflineODataParameters {
    /// All that the log is encrypted with; the first one writes.
    var keys: [LogKey] { storeEncryptionKey.map { [$0] + formerEncryptionKeys } ?? [] }

    func storeOptions(_ kept: ServiceOptions?) -> LocalStore.Options {
        var options = LocalStore.Options(
            log: OperationLog.Options(durability: logDurability, keys: keys), snapshots: snapshots,
            service: serviceOptions ?? kept, undoesLocalCreation: undoesLocalCreation, indexes: indexes)
        options.querySettings = configuration?.settings ?? [:]
        options.removesStreamsAfterUpload = removesMediaAfterUpload
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
