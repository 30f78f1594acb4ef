public import EDM
public import ODataWire
public import OfflineStore
import Operations
import SyncCore
public import SyncEngine
import Synchronization
import Transport
import Views

/// A store: entities in a directory, with every change in a log. It contacts the service only on request.
///
/// Open it, pass it to a ``DataService``, and call ``upload(_:)`` and ``download(withSubset:options:)`` when a
/// network is available. All methods can be called from any task; uploads and downloads run one at a time.
///
/// In addition to the errors of each method, every method throws `damaged` or `storage` if the files of the store cannot
/// be read or written. *The errors of a request* are `unreachable`, `unauthorized`, `service`, `postponed`, `notOData`,
/// `tooLarge` and `cancelled`; see ``TidelogError/Code``.
public final class OfflineODataProvider: DataServiceProvider, ServiceBackend {
    /// The parameters with which the store is opened.
    public let parameters: OfflineODataParameters
    private let givenRoot: String?
    private let settings: StoreSettings
    let place: StorePlace

    /// Creates a provider for a store of the service at `serviceRoot`, an absolute URL.
    public init(serviceRoot: String, parameters: OfflineODataParameters) {
        givenRoot = serviceRoot.hasSuffix("/") ? serviceRoot : serviceRoot + "/"
        self.parameters = parameters
        settings = StoreSettings(parameters)
        place = StorePlace(parameters)
    }

    /// Creates a provider for an existing store, which contains its service root.
    public init(parameters: OfflineODataParameters) {
        givenRoot = nil
        self.parameters = parameters
        settings = StoreSettings(parameters)
        place = StorePlace(parameters)
    }

    package func adopt(_ classes: ClassMetadata) { settings.classes = classes }

    var classMetadata: ClassMetadata? { settings.classes }

    // MARK: Opening

    /// Opens the store, or creates it if it does not exist.
    ///
    /// Creating a store reads the service's metadata; opening an existing one needs no network. Check
    /// ``classCompatibility`` afterwards to find out whether the metadata fits the app's classes.
    ///
    /// - Throws: `noStore` if there is no store and no service root; `invalidRequest` if the store belongs to another
    ///   service.
    public func open() async throws(TidelogError) {
        if settings.engine != nil { return }
        let opening = StoreOpener(parameters: parameters, givenRoot: givenRoot, place: place)
        let isNew = try await opening.open(settings)
        if isNew, parameters.downloadsWhenCreated { try await download() }
    }

    /// Closes the store and releases its lock. It can be opened again.
    ///
    /// Loses nothing: pending operations are in the log and are available when the store is opened again.
    public func close() async {
        await settings.takeEngine()?.store.close()
    }

    /// Deletes the store with all its contents, and closes it first if it is open.
    ///
    /// Other files in its directory are kept. Needs no network. A later ``open()`` creates a new store.
    ///
    /// - Parameter force: deletes the store even if operations are pending, which would be lost, or if this cannot be
    ///   determined because the store is damaged or encrypted with another key.
    /// - Throws: `refused(.notAllowed)` if operations are pending; `noStore` if there is no store; `locked` if
    ///   another process has it open. Nothing is deleted then.
    public func clear(force: Bool = false) async throws(TidelogError) {
        let store = settings.engine?.store
        do throws(TidelogError) {
            try await place.clear(store, force: force)
        } catch {
            // The store is closed, but its files could not be removed.
            if await store?.isClosed == true { settings.clear() }
            throw error
        }
        settings.clear()
    }

    /// Deletes the store in a directory; see ``clear(force:)``. An encrypted store requires `force`, because its keys
    /// are not available.
    ///
    /// - Throws: Like ``clear(force:)``; `keyRequired` if the store is encrypted and `force` is `false`.
    public static func clear(storePath: String, force: Bool = false) async throws(TidelogError) {
        try await OfflineODataProvider(parameters: OfflineODataParameters(storePath: storePath)).clear(force: force)
    }

    /// Returns a sentence for each file of a media stream that is missing or damaged, with the entity that it belongs
    /// to.
    ///
    /// Content that is only a copy of the service's can be downloaded again.
    ///
    /// Cost: reads all stream files.
    ///
    /// - Throws: `noStore` if the store is not open.
    public func damagedStreams() async throws(TidelogError) -> [String] {
        try await engine().store.media.damagedStreams()
    }

    /// Sentences with the reasons why views were rebuilt since the store was opened; empty if none were.
    public var viewsNotes: [String] {
        get async { await settings.engine?.store.viewsNotes ?? [] }
    }

    /// Sentences with the repairs made while opening: a torn tail that was cut, views that were rebuilt.
    public var recoveryNotes: [String] { settings.engine?.store.recovery ?? [] }

    func engine() throws(TidelogError) -> SyncEngine {
        guard let engine = settings.engine else {
            throw TidelogError(.noStore, "The store is not open.", recovery: "Call open() first.")
        }
        return engine
    }

    func adopt(_ model: EntityDataModel) { settings.model = model }

    /// The service root.
    ///
    /// - Throws: `noStore` if the store is not open.
    public var serviceRoot: String {
        get throws(TidelogError) { try engine().session.root }
    }

    var sessionHeaders: SessionHeaders { settings.headers }

    func changeHeaders(_ change: (inout SessionHeaders) -> Void) { settings.changeHeaders(change) }

    // MARK: Service options

    /// The service options in use.
    ///
    /// - Throws: `noStore` if the store is not open.
    public var serviceOptions: ServiceOptions {
        get async throws(TidelogError) { try await engine().store.serviceOptions }
    }

    /// Uses the options until the store is closed.
    ///
    /// - Throws: `noStore` if the store is not open.
    public func use(_ options: ServiceOptions) async throws(TidelogError) {
        try await engine().store.use(options)
    }

    /// Uses the options from now on and saves them in the store. `nil` returns to the options that the metadata
    /// declares.
    ///
    /// - Throws: `noStore` if the store is not open; `storage` if the description of the store cannot be written.
    public func keep(_ options: ServiceOptions?) async throws(TidelogError) {
        let engine = try engine()
        var description = StoreDescription(serviceRoot: engine.session.givenRoot, service: options)
        description.clientID = try place.description()?.clientID
        try place.write(description)
        await engine.store.use(options)
    }

    // MARK: Defining queries

    /// Adds a defining query, or replaces the query with the same name.
    ///
    /// If the store is not open, the query is checked when it is opened. The call waits for a running upload or
    /// download.
    ///
    /// - Throws: `invalidRequest` if the service cannot answer the query or the store cannot contain its result;
    ///   `unsupported` if it retrieves streams in a store in memory; `refused` like ``remove(definingQuery:)`` if it
    ///   replaces a downloaded query; `cancelled` if the task is cancelled while the call waits.
    public func add(definingQuery query: OfflineODataDefiningQuery) async throws(TidelogError) {
        let query = DefiningQuery(
            name: query.name, query: query.query, automaticallyRetrievesStreams: query.automaticallyRetrievesStreams)
        try await settings.add(query)?.add(query)
    }

    /// Removes a defining query and the entities that no other query covers. The call waits for a running upload or
    /// download.
    ///
    /// - Throws: `invalidRequest` if there is no such query; `refused(.notAllowed)` if its settings do not permit the
    ///   removal; `refused(.hasDependants)` if operations on entities that only this query covers are pending;
    ///   `cancelled` if the task is cancelled while the call waits; `noStore` if the store is not open.
    public func remove(definingQuery name: String) async throws(TidelogError) {
        try await engine().removeDefiningQuery(name)
    }

    /// Returns the defining queries of the store.
    ///
    /// - Throws: `noStore` if the store is not open.
    public func getDefiningQueries() async throws(TidelogError) -> [OfflineODataDefiningQuery] {
        try await engine().store.definingQueries.all().map {
            OfflineODataDefiningQuery(
                name: $0.name, query: $0.query, automaticallyRetrievesStreams: $0.automaticallyRetrievesStreams)
        }
    }

    // MARK: Synchronising

    /// Sends the pending operations in as many batches as needed.
    ///
    /// Operations that the service rejects do not make the upload fail: they are listed in the report and stay in the
    /// store with their errors.
    ///
    /// If the service is busy, the upload waits and continues, within the retry policy of its options. After that it
    /// ends with the earliest time of the next upload.
    ///
    /// - Parameter options: the options; `nil` for those of the parameters.
    /// - Throws: `unreachable`, `unauthorized`, `service` or `notOData` if the upload cannot continue; `postponed` if
    ///   the service is busy beyond the retry policy; `cancelled` after ``cancelUpload()`` or if the task is cancelled;
    ///   `noStore` if the store is not open. ``TidelogError/upload`` has the report up to the error.
    @discardableResult
    public func upload(_ options: UploadOptions? = nil) async throws(TidelogError) -> UploadReport {
        let report: UploadReport
        do throws(TidelogError) {
            let header = try await place.registerClient(engine(), parameters, sessionHeaders)
            if let header { changeHeaders { $0.registration = header } }
            report = try await engine().upload(options, otherwise: parameters.defaultUpload)
        } catch {
            // Report the requests that were rejected before the connection failed.
            if let report = error.upload { try? await reportFailures(report) }
            throw error
        }
        try await reportFailures(report)
        return report
    }

    /// Downloads the entities of the defining queries. Pending operations are reapplied to them.
    ///
    /// If the service is busy, the download waits and continues with the current page, within the retry policy of its
    /// options. After that it ends, and the downloaded entities are kept.
    ///
    /// - Parameters:
    ///   - names: the names of the queries to run; `nil` for all except shared queries that are still fresh.
    ///   - options: the options of the download.
    /// - Throws: `invalidRequest` if there is no query of a given name, or if the metadata no longer permits it;
    ///   `unreachable`, `unauthorized`, `service`, `notOData` or `tooLarge` if the download cannot continue, or for the
    ///   first query that failed; `postponed` if the service is busy beyond the retry policy; `cancelled` after
    ///   ``cancelDownload()`` or if the task is cancelled; `noStore` if the store is not open.
    ///   ``TidelogError/download`` has the report up to the error.
    @discardableResult
    public func download(
        withSubset names: [String]? = nil, options: DownloadOptions = DownloadOptions()
    ) async throws(TidelogError) -> DownloadReport {
        try await engine().download(names, options)
    }

    /// Sets the outcome of an operation in doubt, as a person determined it on the service.
    ///
    /// Operations that were sent in the same change set took effect together or not at all, and receive the same
    /// outcome.
    ///
    /// - Parameters:
    ///   - operation: the sequence number of the operation.
    ///   - settlement: the outcome.
    ///   - address: the address of the created entity on the service: a URL, `Orders(5)`, or the key alone. Needed if
    ///     the service assigned the key: without it, further changes of the entity wait for ``identify(_:as:)`` or a
    ///     download.
    /// - Returns: The operations whose outcome was set.
    /// - Throws: `invalidRequest` if the address does not identify an entity of that set; `refused(.duplicateKey)` if
    ///   another entity of the store has that key. Nothing is changed then.
    @discardableResult
    public func settle(
        operation: UInt64, as settlement: DoubtSettlement, at address: String? = nil
    ) async throws(TidelogError) -> [UInt64] {
        try await engine().store.doubts.resolveInDoubt(operation, as: settlement, at: address)
    }

    /// Sets the address of an entity that the service has created but whose key no response contained.
    ///
    /// Operations that wait for the key are sent with the next upload, which reads the entity before it changes
    /// anything.
    ///
    /// - Parameters:
    ///   - link: a readLink or editLink of the entity, `Orders(~9)`.
    ///   - address: a URL, `Orders(5)`, or the key alone.
    /// - Returns: The new readLink of the entity.
    /// - Throws: Like ``settle(operation:as:at:)``, and `refused(.keyIsFixed)` if the key is known.
    @discardableResult
    public func identify(_ link: String, as address: String) async throws(TidelogError) -> String {
        try await engine().store.doubts.identify(.link(link), as: address)
    }

    /// Queues the operations in doubt to be sent again, with the risk that they take effect twice.
    ///
    /// Operations that the service has accepted for asynchronous processing stay in doubt, because the service still
    /// answers them. Not possible during an upload.
    ///
    /// - Throws: `invalidRequest` if an upload is running; `noStore` if the store is not open.
    public func resendOperationsInDoubt() async throws(TidelogError) {
        try await engine().store.doubts.resendInDoubt()
    }

    // MARK: Keeping the log short

    /// Writes a snapshot of the state, verifies it against the log, and removes the history outside of the window.
    ///
    /// Pending operations are kept and uploaded as before. See ``AuditWindow``.
    ///
    /// Cost: folding the log once. Other calls wait.
    ///
    /// - Throws: `invalidRequest` if the window has a negative number of days; `damaged` if the snapshot does not
    ///   correspond to the log, and then nothing is removed; `storage` if it cannot be written; `noStore` if the store
    ///   is not open.
    @discardableResult
    public func compact(keeping window: AuditWindow) async throws(TidelogError) -> StoreCompaction {
        try await engine().store.compact(keeping: window)
    }

    /// Writes a snapshot of the state and keeps the whole log.
    ///
    /// ``OfflineODataParameters/snapshots`` determines when the store writes one by itself.
    ///
    /// - Throws: `damaged` if the newest snapshot is at the end of the log and contains another state; `storage` if the
    ///   file cannot be written; `noStore` if the store is not open.
    @discardableResult
    public func writeSnapshot() async throws(TidelogError) -> StoreSnapshot {
        try await engine().store.writeSnapshot()
    }

    // MARK: DataServiceProvider

    /// The implementation of the calls of a ``DataService``.
    public var backend: ProviderBackend { ProviderBackend(self) }

    package func trace(_ trace: RequestTrace?) { settings.trace = trace }

    /// The metadata, or `nil` if they have not been read.
    public var loadedModel: EntityDataModel? { settings.model }
}
