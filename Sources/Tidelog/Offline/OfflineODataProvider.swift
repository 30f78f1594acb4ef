public import EDM
public import ODataWire
import Operations
import SyncCore
public import SyncEngine
import Synchronization
import Transport
import Views

/// A store: entities in a directory, every change in a log, and the service only when the app says so.
///
/// Open it, hand it to a ``DataService``, and call ``upload(_:)`` and ``download(withSubset:options:)`` when there is a
/// network. All methods may be called from any task; uploads and downloads run one at a time.
public final class OfflineODataProvider: DataServiceProvider {
    private struct State {
        var engine: SyncEngine?
        var model: EntityDataModel?
        /// Added before the store was opened.
        var queries: [DefiningQuery] = []
        var trace: RequestTrace?
        var headers: SessionHeaders
        var classes: ClassMetadata?

        init(_ parameters: OfflineODataParameters) {
            headers = SessionHeaders(headers: parameters.customHeaders, cookies: parameters.customCookies)
        }
    }

    public let parameters: OfflineODataParameters
    private let givenRoot: String?
    private let state: Mutex<State>

    /// A store of the service at `serviceRoot`, an absolute URL.
    public init(serviceRoot: String, parameters: OfflineODataParameters) {
        givenRoot = serviceRoot.hasSuffix("/") ? serviceRoot : serviceRoot + "/"
        self.parameters = parameters
        state = Mutex(State(parameters))
    }

    /// A store that exists already and knows its service.
    public init(parameters: OfflineODataParameters) {
        givenRoot = nil
        self.parameters = parameters
        state = Mutex(State(parameters))
    }

    public func adopt(_ classes: ClassMetadata) { state.withLock { $0.classes = classes } }

    var classMetadata: ClassMetadata? { state.withLock { $0.classes } }

    // MARK: Opening

    /// Opens the store. The first time it is made, for which the service's metadata is read; afterwards no network is needed.
    ///
    /// ``classCompatibility`` tells afterwards whether the metadata fit the app's classes.
    public func open() async throws(TidelogError) {
        if state.withLock({ $0.engine != nil }) { return }
        let files = StoreFiles(directory: parameters.storePath)
        let description = try StoreDescription.read(files, keys: parameters.keys)
        guard let root = givenRoot ?? description?.serviceRoot else {
            throw TidelogError(
                .noStore, "There is no store.", place: parameters.storePath,
                recovery: "Name the service root to make one ('tidelog init').")
        }
        if let known = description?.serviceRoot, known != root {
            throw TidelogError(
                .invalidRequest, "The store belongs to the service \(known), not to \(URLText.withoutSecrets(root)).",
                place: parameters.storePath,
                recovery: "Use another directory for another service.")
        }
        let session = ServiceSession(
            root: root, transport: parameters.transport ?? defaultTransport(TransportOptions(parameters.limits)),
            credentials: parameters.credentials, authentication: parameters.authentication, limits: parameters.limits)
        session.headers = state.withLock { $0.headers }
        session.trace = state.withLock { $0.trace }
        // Nothing is left behind where the service turns out to be none, or not to have what the queries ask for.
        let queries = state.withLock { $0.queries }
        let metadata = description == nil ? try await MetadataReading.read(session) : nil
        if let metadata { for query in queries { try LocalStore.check(query, metadata.model) } }
        let store = try await LocalStore(
            files, creating: description == nil, options: parameters.storeOptions(description?.service))
        let engine = SyncEngine(store: store, session: session)
        observe(engine)
        let model: EntityDataModel
        do throws(TidelogError) {
            model = try await finish(engine, installing: metadata?.bytes, queries, isNew: description == nil)
        } catch {
            await store.close()
            throw error
        }
        state.withLock {
            $0.engine = engine
            $0.model = model
        }
    }

    /// What is left to do before a store can be used. Also that which was interrupted while it was made.
    private func finish(
        _ engine: SyncEngine, installing metadata: [UInt8]?, _ queries: [DefiningQuery], isNew: Bool
    ) async throws(TidelogError) -> EntityDataModel {
        let (store, session) = (engine.store, engine.session)
        // The log knows the root that the one of the description redirects to. A store that was interrupted while it was made
        // begins with another one, where each visitor is given a root of their own.
        let isRedirected = session.givenRoot != session.root
        if let logged = try await store.service?.root, logged != session.root,
            isNew ? !isRedirected || !session.isOfService(logged) : !session.move(to: logged)
        {
            throw TidelogError(
                .invalidRequest,
                "The log belongs to the service \(logged), not to \(URLText.withoutSecrets(session.root)).",
                place: parameters.storePath)
        }
        if let metadata { try await engine.install(metadata) }
        // Last, since a store without a description is one that was interrupted while it was made.
        if isNew {
            try StoreDescription(serviceRoot: session.givenRoot, service: parameters.serviceOptions).write(
                StoreFiles(directory: parameters.storePath), keys: parameters.keys)
        }
        if await !store.hasModel {
            guard givenRoot != nil else { throw Self.withoutMetadata(parameters.storePath) }
            try await engine.prepare()
        }
        try await store.checkIndexes()
        let model = try await store.model
        for query in queries { try LocalStore.check(query, model) }
        for query in queries { try await store.add(query) }
        return model
    }

    /// The error for a log without metadata, beside a description that says where the service is. Descriptions are written last,
    /// so the record was lost, or the description belongs to another log. The service is asked only if the caller names it.
    private static func withoutMetadata(_ path: String) -> TidelogError {
        TidelogError(
            .damaged, "The store's log has no metadata of its service, although the store was made.", place: path,
            recovery:
                "Run 'tidelog verify' to see what is left of the log, and 'tidelog pull' to read the metadata again; an app "
                + "opens the store with the service root.")
    }

    /// Closes the store and gives up its lock. It can be opened again.
    ///
    /// Loses nothing, and so needs no force: what is pending is in the log, and is there when the store is opened again.
    public func close() async {
        let engine = state.withLock { state in
            defer { state.engine = nil }
            return state.engine
        }
        await engine?.store.close()
    }

    /// Deletes the store with all that is in it, open or not; it is closed first. Files in its directory that are none of a
    /// store stay. Needs no network. Afterwards ``open()`` makes a new store.
    ///
    /// - Parameter force: deletes it although operations are pending that nobody else has, or although it is damaged or
    ///   encrypted with another key, so that it cannot be told.
    /// - Throws: `refused(.notAllowed)` where operations are pending, `noStore` where there is no store, `locked` while another
    ///   process has it open; nothing is deleted then.
    public func clear(force: Bool = false) async throws(TidelogError) {
        let files = StoreFiles(directory: parameters.storePath)
        let removal = StoreRemoval(files)
        if let store = state.withLock({ $0.engine })?.store {
            do throws(TidelogError) {
                try await removal.run(store, force: force)
            } catch {
                // Its files could not be removed.
                if await store.isClosed { state.withLock { ($0.engine, $0.model) = (nil, nil) } }
                throw error
            }
            return state.withLock { ($0.engine, $0.model) = (nil, nil) }
        }
        try await removal.run(force: force, options: parameters.storeOptions(nil))
    }

    /// Deletes the store in a directory; see ``clear(force:)``. An encrypted one by force only, since its keys are not given.
    public static func clear(storePath: String, force: Bool = false) async throws(TidelogError) {
        try await OfflineODataProvider(parameters: OfflineODataParameters(storePath: storePath)).clear(force: force)
    }

    /// The files of media streams that are gone or do not hold what they should, and whose they are, in sentences. What is no
    /// more than a copy of the service's can be downloaded again.
    ///
    /// Cost: reads all of them.
    public func damagedStreams() async throws(TidelogError) -> [String] {
        try await engine().store.damagedStreams()
    }

    /// Why views were made again since the store was opened, in sentences; empty if all was well.
    public var viewsNotes: [String] {
        get async { await state.withLock({ $0.engine })?.store.viewsNotes ?? [] }
    }

    /// What opening found to mend, in sentences: a torn tail that was cut, views that were made again.
    public var recoveryNotes: [String] { state.withLock { $0.engine?.store.recovery ?? [] } }

    func engine() throws(TidelogError) -> SyncEngine {
        guard let engine = state.withLock({ $0.engine }) else {
            throw TidelogError(.noStore, "The store is not open.", recovery: "Call open() first.")
        }
        return engine
    }

    func adopt(_ model: EntityDataModel) { state.withLock { $0.model = model } }

    /// The root of the service, once the store is open.
    public var serviceRoot: String {
        get throws(TidelogError) { try engine().session.root }
    }

    var sessionHeaders: SessionHeaders { state.withLock { $0.headers } }

    func changeHeaders(_ change: (inout SessionHeaders) -> Void) {
        state.withLock { state in
            change(&state.headers)
            state.engine?.session.headers = state.headers
        }
    }

    // MARK: What the service lacks

    /// What the store goes by now.
    public var serviceOptions: ServiceOptions {
        get async throws(TidelogError) { try await engine().store.serviceOptions }
    }

    /// Goes by these options until the store is closed.
    public func use(_ options: ServiceOptions) async throws(TidelogError) {
        try await engine().store.use(options)
    }

    /// Goes by these options from now on, and keeps them in the store; nil to go by the metadata again.
    public func keep(_ options: ServiceOptions?) async throws(TidelogError) {
        let engine = try engine()
        try StoreDescription(serviceRoot: engine.session.givenRoot, service: options).write(
            StoreFiles(directory: parameters.storePath), keys: parameters.keys)
        await engine.store.use(options)
    }

    // MARK: Defining queries

    /// Adds a defining query, or replaces the one of the same name. Before the store is open it is checked at opening. While
    /// an upload or a download runs it waits for its turn.
    public func add(definingQuery query: OfflineODataDefiningQuery) async throws(TidelogError) {
        let query = DefiningQuery(
            name: query.name, query: query.query, automaticallyRetrievesStreams: query.automaticallyRetrievesStreams)
        let engine = state.withLock { state -> SyncEngine? in
            if state.engine == nil { state.queries.append(query) }
            return state.engine
        }
        try await engine?.add(query)
    }

    /// Removes a defining query, and the entities that no other query brings. While an upload or a download runs it waits for
    /// its turn.
    public func remove(definingQuery name: String) async throws(TidelogError) {
        try await engine().removeDefiningQuery(name)
    }

    public func getDefiningQueries() async throws(TidelogError) -> [OfflineODataDefiningQuery] {
        try await engine().store.definingQueries().map {
            OfflineODataDefiningQuery(
                name: $0.name, query: $0.query, automaticallyRetrievesStreams: $0.automaticallyRetrievesStreams)
        }
    }

    // MARK: Synchronising

    /// Sends what is pending, in as many batches as it takes. Operations that the service refuses do not make it fail: they
    /// are in the report and stay in the store with their error.
    ///
    /// Where the service is busy the upload waits and goes on, up to the patience of its options; beyond that it ends, and
    /// says when the next one may begin.
    /// - Parameter options: nil for those of the parameters.
    @discardableResult
    public func upload(_ options: UploadOptions? = nil) async throws(TidelogError) -> UploadReport {
        let report: UploadReport
        do throws(TidelogError) {
            report = try await engine().upload(options, otherwise: parameters.defaultUpload)
        } catch {
            // What was refused before the connection broke is told all the same.
            if let report = error.upload { try? await tellFailures(report) }
            throw error
        }
        try await tellFailures(report)
        return report
    }

    /// Reads what the defining queries bring. Pending operations stay on top.
    ///
    /// Where the service is busy the download waits and goes on with the page that it was at, up to the patience of its
    /// options; beyond that it ends, and what it has read stays.
    ///
    /// - Parameters:
    ///   - withSubset: the names of the queries to run; nil for all but shared ones that are fresh yet.
    ///   - options: how it goes about its work.
    @discardableResult
    public func download(
        withSubset names: [String]? = nil, options: DownloadOptions = DownloadOptions()
    ) async throws(TidelogError) -> DownloadReport {
        try await engine().download(names, options)
    }

    /// Says of an operation in doubt what became of it: for who knows it, as a person who looked at the service does.
    ///
    /// What was sent in one change set with it took effect with it or not at all, and is settled with it.
    /// - Parameter address: where the service has what the operation created: a URL, `Orders(5)`, or the key alone. Needed
    ///   where the service gave the key: without it further changes of the entity wait for ``identify(_:as:)`` or a download.
    /// - Returns: the operations that are settled by it.
    /// - Throws: `invalidRequest` where the address is none of an entity of that set, `refused(.duplicateKey)` where another
    ///   entity of the store has it. Nothing is settled then.
    @discardableResult
    public func settle(
        operation: UInt64, as settlement: DoubtSettlement, at address: String? = nil
    ) async throws(TidelogError) -> [UInt64] {
        try await engine().store.settle(operation, as: settlement, at: address)
    }

    /// Says where the service has an entity that it has created and whose key no answer told. What waits for the key goes
    /// with the next upload, which reads the entity before it changes anything.
    ///
    /// - Parameters:
    ///   - link: a readLink or editLink of the entity, `Orders(~9)`.
    ///   - address: a URL, `Orders(5)`, or the key alone.
    /// - Returns: the entity's readLink from now on.
    /// - Throws: as ``settle(operation:as:at:)``, and `refused(.keyIsFixed)` where the key is known.
    @discardableResult
    public func identify(_ link: String, as address: String) async throws(TidelogError) -> String {
        try await engine().store.identify(.link(link), as: address)
    }

    /// Lets operations that are in doubt be sent again, at the risk of doing them twice. Those stay in doubt that the service
    /// works on and will answer itself. Not while an upload is under way.
    public func resendOperationsInDoubt() async throws(TidelogError) {
        try await engine().store.resendDoubts()
    }

    // MARK: Keeping the log short

    /// Writes the state as a snapshot, proves that it says what the log says, and removes the history that the window does
    /// not keep. What is pending stays, and is uploaded as it would have been. See ``AuditWindow``.
    ///
    /// Cost: that of folding the log once; other calls wait.
    @discardableResult
    public func compact(keeping window: AuditWindow) async throws(TidelogError) -> StoreCompaction {
        try await engine().store.compact(keeping: window)
    }

    /// Writes the state as a snapshot and keeps all of the log. ``OfflineODataParameters/snapshots`` says when the store
    /// does so by itself.
    @discardableResult
    public func writeSnapshot() async throws(TidelogError) -> StoreSnapshot {
        try await engine().store.writeSnapshot()
    }

    // MARK: Looking inside

    private func reading() throws(TidelogError) -> StoreReading {
        let engine = try engine()
        return StoreReading(store: engine.store, root: engine.session.root, parameters: parameters)
    }

    /// Every operation that has not ended, in order: what it is, where it stands, and why.
    ///
    /// - Parameter options: of the upload that is asked about; nil for those of the parameters.
    public func operationStatus(_ options: UploadOptions? = nil) async throws(TidelogError) -> [OperationStatus] {
        try await reading().operationStatus(options)
    }

    /// Every operation that was undone and not redone, in the order in which they were made.
    public func undoneOperations() async throws(TidelogError) -> [OperationStatus] {
        try await reading().undoneOperations()
    }

    /// The exact request that the next upload would send first; nil where there is nothing to send.
    ///
    /// - Parameter options: of that upload; nil for those of the parameters.
    public func plannedBatch(_ options: UploadOptions? = nil) async throws(TidelogError) -> PlannedBatch? {
        try await plannedBatches(options).first
    }

    /// The exact requests that the next upload would send before it plans anew: one, or for a service without `$batch` as
    /// many as need not wait for each other's answers.
    ///
    /// - Parameter options: of that upload; nil for those of the parameters.
    public func plannedBatches(_ options: UploadOptions? = nil) async throws(TidelogError) -> [PlannedBatch] {
        try await reading().plannedBatches(options)
    }

    /// Every key that the service gave an entity of this store.
    public func keyMap() async throws(TidelogError) -> [KeyAssignment] { try await reading().keyMap() }

    /// A hash over the store's whole state: equal for stores whose logs say the same.
    public func stateDigest() async throws(TidelogError) -> String { try await reading().stateDigest() }

    /// Entities that downloads brought and that could not be taken: a value that the property cannot have, no key, more bytes
    /// than a record of the log takes. What the store has of them stays as it was. Each goes when the next download of its
    /// query can take it, or does not bring it any more.
    public func quarantine() async throws(TidelogError) -> [QuarantineEntry] {
        try await reading().quarantine()
    }

    /// The store as it was at a place of its history, to be read only. Costs what making the views from the newest snapshot
    /// that is not younger costs; see ``PastODataProvider``.
    public func state(at point: PointInTime) async throws(TidelogError) -> PastODataProvider {
        // What a download has gathered is in the log already.
        _ = try engine()
        return try await PastODataProvider(parameters: parameters, at: point)
    }

    /// Whether there is anything to be sent. Drafts and what is for this store only are not.
    public var hasPendingUpload: Bool {
        get async throws(TidelogError) { try await engine().store.hasQueuedOperations() }
    }

    // MARK: DataServiceProvider

    public var loadedModel: EntityDataModel? { state.withLock { $0.model } }

    public func model() async throws(TidelogError) -> EntityDataModel { try await engine().store.model }

    public func trace(_ trace: RequestTrace?) {
        let engine = state.withLock { state in
            state.trace = trace
            return state.engine
        }
        engine?.session.trace = trace
    }

    public func perform(
        _ intents: [(intent: Intent, options: IntentOptions)], asChangeSet: Bool
    ) async throws(TidelogError) -> [IntentResult] {
        if let discarded = try await discard(intents) { return discarded }
        return try await engine().store.perform(intents, asChangeSet: asChangeSet)
    }

    public func query(_ request: QueryRequest, headers: HTTPHeaders) async throws(TidelogError) -> QueryAnswer {
        try await reading().query(request, headers: headers)
    }

    public func queryWaiting(_ request: QueryRequest) throws(TidelogError) -> QueryAnswer {
        try reading().queryWaiting(request)
    }

    public func linkedEntities(
        _ address: EntityAddress, _ property: Property, isBackwards: Bool
    ) throws(TidelogError) -> [EntityID] {
        try reading().linkedEntities(address, property, isBackwards: isBackwards)
    }

    public func load(
        _ address: EntityAddress, options: QueryOptions, headers: HTTPHeaders
    ) async throws(TidelogError) -> EntitySnapshot {
        try await engine().store.load(address, options: options)
    }
}
