public import EDM
public import ODataWire
import Operations
public import SyncEngine
import SyncCore
import Views

/// A store as it was at a place of its history: everything that a store can be asked, and nothing that changes it.
///
/// Hand it to a ``DataService`` to read entities as an app does. Needs no lock, so that the store may be open meanwhile, here
/// or in another process; writes no file; speaks to no service.
public final class PastODataProvider: DataServiceProvider {
    /// Of the last record that is in it.
    public let sequence: UInt64
    private let reading: StoreReading
    private let known: EntityDataModel

    /// - Parameters:
    ///   - parameters: those of the store; of them, where it is, its keys, and what an upload is like.
    ///   - point: one behind the end of the log is the end.
    /// - Throws: `notFound` where a compaction has removed what it would be made of, or where the store had no metadata yet;
    ///   `damaged` where what is in front of the place cannot be read; `noStore` where there is none.
    public convenience init(parameters: OfflineODataParameters, at point: PointInTime) async throws(TidelogError) {
        let files = StoreFiles(directory: parameters.storePath)
        let description = try StoreDescription.read(files, keys: parameters.keys)
        let past = try await PastStore(files, at: point, options: parameters.storeOptions(description?.service))
        try await self.init(past, parameters: parameters)
    }

    /// A past that was made before: of what can be read of a damaged log, for example.
    ///
    /// - Parameter parameters: those of the store; of them, where it is, and what an upload is like.
    /// - Throws: `notFound` where the store had no metadata yet.
    public init(_ past: PastStore, parameters: OfflineODataParameters) async throws(TidelogError) {
        guard await past.store.hasModel, let root = try await past.store.service?.root else {
            throw TidelogError(
                .notFound, "The store had no metadata yet behind operation \(past.sequence).",
                place: StoreFiles(directory: parameters.storePath).log,
                recovery: "Ask for a later state.")
        }
        sequence = past.sequence
        reading = StoreReading(store: past.store, root: root, parameters: parameters)
        known = try await past.store.model
    }

    /// The root of the service.
    public var serviceRoot: String { reading.root }

    // MARK: Looking inside

    /// See ``OfflineODataProvider/operationStatus(_:)``.
    public func operationStatus(_ options: UploadOptions? = nil) async throws(TidelogError) -> [OperationStatus] {
        try await reading.operationStatus(options)
    }

    /// See ``OfflineODataProvider/undoneOperations()``.
    public func undoneOperations() async throws(TidelogError) -> [OperationStatus] {
        try await reading.undoneOperations()
    }

    /// The exact requests that an upload would have begun with; see ``OfflineODataProvider/plannedBatches(_:)``.
    public func plannedBatches(_ options: UploadOptions? = nil) async throws(TidelogError) -> [PlannedBatch] {
        try await reading.plannedBatches(options)
    }

    /// What the service lacked as the store knows it: that is kept beside the log, and has no history.
    public var serviceOptions: ServiceOptions {
        get async throws(TidelogError) { try await reading.store.serviceOptions }
    }

    /// Plans by these from now on.
    public func use(_ options: ServiceOptions) async throws(TidelogError) { await reading.store.use(options) }

    /// Every key that the service had given an entity of this store by then.
    public func keyMap() async throws(TidelogError) -> [KeyAssignment] { try await reading.keyMap() }

    /// A hash over the whole state; that of the store when its log ended here.
    public func stateDigest() async throws(TidelogError) -> String { try await reading.stateDigest() }

    /// Entities that downloads brought and that could not be taken: a value that the property cannot have, no key, more bytes
    /// than a record of the log takes. What the store has of them stays as it was. Each goes when the next download of its
    /// query can take it, or does not bring it any more.
    public func quarantine() async throws(TidelogError) -> [QuarantineEntry] {
        try await reading.quarantine()
    }

    // MARK: DataServiceProvider

    public var loadedModel: EntityDataModel? { known }

    public func model() async throws(TidelogError) -> EntityDataModel { known }

    public func query(_ request: QueryRequest, headers: HTTPHeaders) async throws(TidelogError) -> QueryAnswer {
        try await reading.query(request, headers: headers)
    }

    public func load(
        _ address: EntityAddress, options: QueryOptions, headers: HTTPHeaders
    ) async throws(TidelogError) -> EntitySnapshot {
        try await reading.store.load(address, options: options)
    }

    public func queryWaiting(_ request: QueryRequest) throws(TidelogError) -> QueryAnswer {
        try reading.queryWaiting(request)
    }

    public func linkedEntities(
        _ address: EntityAddress, _ property: Property, isBackwards: Bool
    ) throws(TidelogError) -> [EntityID] {
        try reading.linkedEntities(address, property, isBackwards: isBackwards)
    }

    /// Always `unsupported`: what was is not changed.
    public func perform(
        _ intents: [(intent: Intent, options: IntentOptions)], asChangeSet: Bool
    ) async throws(TidelogError) -> [IntentResult] {
        throw Self.isPast
    }

    /// Always `unsupported`: what was is not changed.
    public func refreshMetadata(_ policy: CompatibilityPolicy) async throws(TidelogError) -> MetadataRefresh {
        throw Self.isPast
    }

    /// Nothing is sent.
    public func trace(_ trace: RequestTrace?) {}

    private static var isPast: TidelogError {
        TidelogError(
            .unsupported, "What a store was at an earlier time cannot be changed.",
            recovery: "Change the store as it is now.")
    }
}
