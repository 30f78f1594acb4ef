public import EDM
package import ODataQuery
public import ODataWire
public import OfflineStore
import Operations
import SyncEngine
import SyncCore
import Views

/// A store as of an earlier point of its history. It supports all read operations and no changes.
///
/// Pass it to a ``DataService`` to read entities. It needs no lock, so the store can be open at the same time, in
/// this or another process. It writes no files and sends no requests.
public final class HistoricalODataProvider: DataServiceProvider, ServiceBackend {
    /// The sequence number of the last record included.
    public let sequence: UInt64
    private let reading: StoreReader
    private let known: EntityDataModel

    /// Opens a store as of an earlier point of its history.
    ///
    /// - Parameters:
    ///   - parameters: the parameters of the store. Only its path, its keys and the upload options are used.
    ///   - point: the point in time. A point after the end of the log means the end.
    /// - Throws: `notFound` if a compaction has removed the required records, or if the store had no metadata at that
    ///   point; `damaged` if the records before the point cannot be read; `noStore` if there is no store.
    public convenience init(parameters: OfflineODataParameters, at point: PointInTime) async throws(TidelogError) {
        let files = StoreFiles(directory: parameters.storePath)
        let description = try StoreDescription.read(files, keys: parameters.keys)
        let past = try await HistoricalStore(files, at: point, options: parameters.storeOptions(description?.service))
        try await self.init(past, parameters: parameters)
    }

    /// Creates a provider from an existing historical store, for example from the readable part of a damaged log.
    ///
    /// - Parameters:
    ///   - past: the historical store.
    ///   - parameters: the parameters of the store. Only its path and the upload options are used.
    /// - Throws: `notFound` if the store had no metadata at that point.
    package init(_ past: HistoricalStore, parameters: OfflineODataParameters) async throws(TidelogError) {
        guard await past.store.hasModel, let root = try await past.store.service?.root else {
            throw TidelogError(
                .notFound, "The store had no metadata yet as of operation \(past.sequence).",
                place: StoreFiles(directory: parameters.storePath).log,
                recovery: "Request a later state.")
        }
        sequence = past.sequence
        reading = StoreReader(store: past.store, root: root, parameters: parameters)
        known = try await past.store.model
    }

    /// The service root.
    public var serviceRoot: String { reading.root }

    // MARK: Inspection

    /// Returns the status of every unfinished operation; see ``OfflineODataProvider/operationStatus(_:)``.
    ///
    /// - Throws: `damaged` or `storage` if the state cannot be read.
    public func operationStatus(_ options: UploadOptions? = nil) async throws(TidelogError) -> [OperationStatus] {
        try await reading.operationStatus(options)
    }

    /// Returns the undone operations; see ``OfflineODataProvider/undoneOperations()``.
    ///
    /// - Throws: `damaged` or `storage` if the state cannot be read.
    public func undoneOperations() async throws(TidelogError) -> [OperationStatus] {
        try await reading.undoneOperations()
    }

    /// Returns the first requests of the upload that would have followed; see
    /// ``OfflineODataProvider/plannedBatches(_:)``.
    ///
    /// - Throws: `damaged` or `storage` if the state cannot be read; `invalidRequest` if the batch cannot be written.
    public func plannedBatches(_ options: UploadOptions? = nil) async throws(TidelogError) -> [PlannedBatch] {
        try await reading.plannedBatches(options)
    }

    /// The present service options of the store, which are saved outside of the log and have no history.
    ///
    /// - Throws: Never; the signature is that of ``OfflineODataProvider/serviceOptions``.
    public var serviceOptions: ServiceOptions {
        get async throws(TidelogError) { try await reading.store.serviceOptions }
    }

    /// Uses the options for planning from now on.
    ///
    /// - Throws: Never; the signature is that of ``OfflineODataProvider/use(_:)-(ServiceOptions)``.
    public func use(_ options: ServiceOptions) async throws(TidelogError) { await reading.store.use(options) }

    /// Returns every key that the service had assigned to an entity of this store by then.
    ///
    /// - Throws: `damaged` or `storage` if the state cannot be read.
    public func keyMap() async throws(TidelogError) -> [KeyAssignment] { try await reading.keyMap() }

    /// Returns a hash of the whole state, equal to the hash of the store when its log ended here.
    ///
    /// - Throws: `damaged` or `storage` if the state cannot be read.
    public func stateDigest() async throws(TidelogError) -> String { try await reading.stateDigest() }

    /// Returns the downloaded entities that could not be applied: because of an invalid value, a missing key, or a
    /// size above the limit of a log record.
    ///
    /// The store keeps its version of these entities. An entry is removed when the next download of its query can
    /// apply the entity or no longer contains it.
    ///
    /// - Throws: `damaged` or `storage` if the state cannot be read.
    public func quarantine() async throws(TidelogError) -> [QuarantineEntry] {
        try await reading.quarantine()
    }

    // MARK: DataServiceProvider

    /// The implementation of the calls of a ``DataService``.
    public var backend: ProviderBackend { ProviderBackend(self) }

    /// The metadata, or `nil` if they have not been read.
    public var loadedModel: EntityDataModel? { known }

    /// Returns the metadata of the store at that point.
    ///
    /// - Throws: Never; the signature is that of the other providers.
    public func model() async throws(TidelogError) -> EntityDataModel { known }

    package func query(_ request: QueryRequest, headers: HTTPHeaders) async throws(TidelogError) -> QueryAnswer {
        try await reading.query(request, headers: headers)
    }

    package func load(
        _ address: EntityAddress, options: QueryOptions, headers: HTTPHeaders
    ) async throws(TidelogError) -> EntitySnapshot {
        try await reading.store.load(address, options: options)
    }

    package func queryWaiting(_ request: QueryRequest) throws(TidelogError) -> QueryAnswer {
        try reading.store.queryWaiting(request)
    }

    package func linkedEntities(
        _ address: EntityAddress, _ property: Property, isBackwards: Bool
    ) throws(TidelogError) -> [EntityID] {
        try reading.store.linkedEntitiesWaiting(address, property, isBackwards: isBackwards)
    }

    /// Always throws `unsupported`, because a historical store cannot be changed.
    package func perform(
        _ intents: [(intent: Intent, options: IntentOptions)], asChangeSet: Bool
    ) async throws(TidelogError) -> [IntentResult] {
        throw Self.isReadOnly
    }

    /// Always throws `unsupported`, because a historical store cannot be changed.
    package func refreshMetadata(_ policy: CompatibilityPolicy) async throws(TidelogError) -> MetadataRefresh {
        throw Self.isReadOnly
    }

    /// Does nothing, because no requests are sent.
    package func trace(_ trace: RequestTrace?) {}

    private static var isReadOnly: TidelogError {
        TidelogError(
            .unsupported, "A historical store cannot be changed.",
            recovery: "Change the store itself.")
    }
}
