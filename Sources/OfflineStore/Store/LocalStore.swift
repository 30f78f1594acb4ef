package import EDM
package import ODataQuery
package import ODataWire
import OperationLog
package import Operations
package import SyncCore
package import Views

/// The local part of a store: it validates operations, appends them to the log, folds them into the views, and answers
/// queries from the views. It never accesses the network.
///
/// Each call is one transaction: the records are folded, the rules check the result, the log appends the records, and
/// only then the views commit. Nothing is acknowledged that the log does not contain, and a refused operation leaves no
/// trace. If the process ends between the last two steps, the views catch up at the next open.
///
/// With the durability *every commit* the log syncs inside the transaction. With *grouped* the call waits for a sync
/// after the commit, which it shares with concurrent calls; queries may show the change before. If the machine fails
/// before that sync, the views contain more than the log and are rebuilt from it, so an operation that was not
/// acknowledged is lost.
///
/// Its parts, such as ``queue`` and ``uploads``, are actors on the same executor, so that no two calls run at once.
package actor LocalStore {
    nonisolated let core: StoreCore
    /// The options with which the store was opened.
    package nonisolated var options: LocalStoreOptions { core.options }
    package nonisolated var unownedExecutor: UnownedSerialExecutor { core.executor.asUnownedSerialExecutor() }

    package nonisolated let queue: StoreQueue
    package nonisolated let uploads: StoreUploads
    package nonisolated let doubts: StoreDoubts
    package nonisolated let conflicts: StoreConflicts
    package nonisolated let references: StoreReferences
    package nonisolated let downloads: StoreDownloads
    package nonisolated let definingQueries: StoreDefiningQueries
    package nonisolated let metadata: StoreMetadata
    package nonisolated let media: StoreMedia
    package nonisolated let comparison: StoreComparison
    /// Only for historical stores.
    package nonisolated let trials: HistoricalEvaluation
    /// Only for historical stores.
    package nonisolated let history: StoreReplay

    /// Opens the store in `files.directory`.
    ///
    /// - Parameter creating: Whether to create a missing log. If false, a missing log is the error `noStore`.
    package init(
        _ files: StoreFiles, creating: Bool = true, options: LocalStoreOptions = LocalStoreOptions()
    ) async throws(TidelogError) {
        let core = try StoreCore(files, creating: creating, options: options)
        self.core = core
        queue = StoreQueue(core: core)
        uploads = StoreUploads(core: core)
        doubts = StoreDoubts(core: core)
        conflicts = StoreConflicts(core: core)
        references = StoreReferences(core: core)
        downloads = StoreDownloads(core: core)
        definingQueries = StoreDefiningQueries(core: core)
        metadata = StoreMetadata(core: core)
        media = StoreMedia(core: core)
        comparison = StoreComparison(core: core)
        trials = HistoricalEvaluation(core: core)
        history = StoreReplay(core: core)
        if !options.isHistorical {
            // A batch without a response was interrupted by a crash, so whether it arrived is unknown.
            try await doubts.interruptOpenBatches()
            try await media.arrange()
        }
        let indexes = StoreIndexes(core: core)
        try indexes.check()
        try indexes.arrange()
        StoreSnapshots(core: core).writeIfDue()
    }

    // MARK: Opening and closing

    package nonisolated var files: StoreFiles { core.files }

    /// The source of time and of delays.
    package nonisolated var environment: SyncEnvironment { core.environment }

    /// The store's permanent random identifier, which services receive.
    package nonisolated var identifier: String { core.log.storeIdentifier.description }

    /// The work that was necessary to bring the views up to date when the store was opened.
    package nonisolated var opened: ViewsReport { core.opened }

    /// The repairs when the store was opened, in sentences; empty if none were necessary.
    package nonisolated var recovery: [String] { core.recovery }

    /// The reasons why views were rebuilt while the store was open, in sentences; empty if they were not.
    package var viewsNotes: [String] { core.viewsNotes }

    package var isClosed: Bool { core.isClosed }

    /// Closes the files and releases the lock; later calls fail. It may write a snapshot first; see ``SnapshotPolicy``.
    package func close() { core.close() }

    /// Closes and deletes the store without releasing its lock in between.
    ///
    /// - Throws: `refused(.notAllowed)` if operations are pending and `force` is false. Then the store stays open.
    func close(force: Bool, removing removal: StoreRemoval) throws(TidelogError) {
        guard !core.isClosed else { return try removal.remove(try removal.lock()) }
        if !force { try StoreRemoval.refuse(pending: try core.read { try $0.pendingCount() }, files) }
        try core.close(removing: removal)
    }

    // MARK: Service

    /// The metadata by which the store's records are read.
    package var model: EntityDataModel { get throws(TidelogError) { try core.model } }

    /// The metadata after the last transaction that succeeded, without waiting for a running one; nil if the store does
    /// not contain metadata yet.
    package nonisolated var currentModel: EntityDataModel? { core.currentModel }

    package var hasModel: Bool { core.hasModel }

    package var service: ServiceDescription? { get throws(TidelogError) { try core.service } }

    /// The service capabilities: as configured or as derived from the metadata, combined with the findings of uploads.
    package var serviceOptions: ServiceOptions { get throws(TidelogError) { try core.serviceOptions } }

    /// Uses these capabilities until the store is closed, without earlier findings of uploads; nil to derive them from
    /// the metadata.
    package func use(_ options: ServiceOptions?) {
        core.capabilities = ServiceCapabilities(given: options)
        core.planEpoch += 1
    }

    /// Whether responses of the service showed that it does not recognize repeated requests.
    package var lacksRepeatability: Bool { core.capabilities.detected.lacksRepeatability }

    /// Stores a finding of an upload about the service. If it cannot be written, a later upload finds it again.
    package func recordDetected(_ change: (inout DetectedOptions) -> Void) {
        let known = core.capabilities.detected
        change(&core.capabilities.detected)
        guard core.capabilities.detected != known else { return }
        core.planEpoch += 1
        guard core.disk.isSystem, var description = try? StoreDescription.read(files, keys: core.keys) else { return }
        change(&description.detected)
        try? description.write(files, keys: core.keys)
    }

    /// The postponement that the next upload waits for.
    package var postponement: Postponement? {
        get throws(TidelogError) { try core.read { try $0.header().postponed } }
    }

    /// The number of the next batch.
    package var nextBatch: BatchID {
        get throws(TidelogError) { try core.read { try $0.header().nextBatch } }
    }

    /// Checks the declared indexes. Does nothing before metadata are installed.
    ///
    /// - Throws: `invalidRequest` if a declared index refers to a missing element.
    package func checkIndexes() throws(TidelogError) { try StoreIndexes(core: core).check() }

    // MARK: Recording

    /// Validates and logs the intents in order. When it returns, they are durable.
    ///
    /// If one is refused, none is logged. With `asChangeSet` they are also sent in one change set, and only the state
    /// after the last one has to be legal; otherwise the state after each.
    ///
    /// Up to 100 intents of a task without an actor are performed on its own thread if the store is idle; see
    /// ``withShortAccess(_:_:)``.
    package func perform(
        _ intents: [(intent: Intent, options: IntentOptions)], asChangeSet: Bool,
        caller: isolated (any Actor)? = #isolation
    ) async throws(TidelogError) -> [IntentResult] {
        let results =
            intents.count <= Self.shortCall
            ? try await withShortAccess(caller) { store throws(TidelogError) in
                try store.performNow(intents, asChangeSet: asChangeSet)
            }
            : try await performNow(intents, asChangeSet: asChangeSet)
        if core.log.options.durability == .grouped { try await makeDurable() }
        return results
    }

    /// The largest number of intents that ``perform(_:asChangeSet:caller:)`` may perform on the thread of its caller.
    private static let shortCall = 100

    private func performNow(
        _ intents: [(intent: Intent, options: IntentOptions)], asChangeSet: Bool
    ) throws(TidelogError) -> [IntentResult] {
        let results = try IntentPerformer(core: core).perform(intents, asChangeSet: asChangeSet)
        if try core.model.hasClientOnly { try ClientChanges.limit(in: core) }
        return results
    }

    /// Appends facts to the log and folds them. Returns their sequence numbers when they are durable.
    @discardableResult
    package func record(_ bodies: [Record.Body]) async throws(TidelogError) -> ClosedRange<SequenceNumber> {
        try await core.record(bodies)
    }

    /// Calls the function with the records of each transaction after they were appended to the log, and with the
    /// sequence number of the first.
    package nonisolated func onRecords(_ body: @escaping @Sendable ([Record], _ first: SequenceNumber) -> Void) {
        core.tap.attach(body)
    }

    /// Waits until the logged records survive a power loss, whatever the options are.
    package func makeDurable() async throws(TidelogError) { try await core.makeDurable() }

    // MARK: History

    /// Writes a snapshot of the current state to the log's directory. Superfluous older snapshots are removed; the log
    /// keeps all of its records.
    ///
    /// Cost: one pass over the store, while other calls wait. Memory is bounded.
    @discardableResult
    package func writeSnapshot() throws(TidelogError) -> StoreSnapshot { try StoreSnapshots(core: core).write() }

    /// Writes a snapshot if the policy requires it.
    package func writeSnapshotIfDue() { StoreSnapshots(core: core).writeIfDue() }

    /// The error of the last automatic snapshot; nil if it succeeded or none was due.
    package var snapshotFailure: TidelogError? { core.snapshotFailure }

    /// Records the end of the log, so that a loss of the records of an upload or download can be detected.
    package func recordEnd() { core.log.recordEnd() }

    /// Writes a snapshot, proves that it corresponds to the log, and removes earlier history that the window does not
    /// keep; see ``StoreCompactor``.
    package func compact(keeping window: AuditWindow) throws(TidelogError) -> StoreCompaction {
        try StoreCompactor(core: core).compact(keeping: window)
    }

    /// Returns a hash of the whole state; see ``StateDigest``.
    package func digest() throws(TidelogError) -> String { try core.read { try StateDigest(of: $0).description } }

    // MARK: Queries

    /// Returns the entity at an address.
    ///
    /// - Parameter options: Options, of which `$select` and `$expand` are applied.
    package func load(
        _ address: EntityAddress, options: QueryOptions = QueryOptions()
    ) throws(TidelogError) -> EntitySnapshot { try StoreQueries(core: core).load(address, options: options) }

    /// Executes an OData query on the views: `Customers?$filter=…`, `Customers(1)/Orders`, a readLink, or a
    /// ``QueryAnswer/nextLink``.
    ///
    /// - Parameters:
    ///   - pageSize: The largest number of entities in the result, which then has a link to the next ones.
    ///   - usualPageSize: The page size if neither `pageSize` nor the query, which may be a next link, sets one.
    package func query(
        _ url: String, pageSize: Int64? = nil, usualPageSize: Int64? = nil
    ) throws(TidelogError) -> QueryAnswer {
        try StoreQueries(core: core).query(url, pageSize: pageSize, usualPageSize: usualPageSize)
    }

    /// Executes a query on a path.
    ///
    /// - Parameters:
    ///   - pageSize: As in ``query(_:pageSize:usualPageSize:)``; the path then has to be an entity set.
    ///   - usualPageSize: As in ``query(_:pageSize:usualPageSize:)``.
    package func query(
        path: ResourcePath, options: QueryOptions, pageSize: Int64? = nil, usualPageSize: Int64? = nil
    ) throws(TidelogError) -> QueryAnswer {
        try StoreQueries(core: core).query(
            path: path, options: options, pageSize: pageSize, usualPageSize: usualPageSize)
    }

    /// Returns the targets of a navigation property of an entity.
    ///
    /// - Parameter property: The property, of which only the name is used. Generated classes contain the metadata of
    ///   the time of their generation, but the store uses its own.
    package func related(
        _ address: EntityAddress, _ property: Property, _ options: QueryOptions, pageSize: Int64? = nil
    ) throws(TidelogError) -> QueryAnswer {
        try StoreQueries(core: core).related(address, property, options, pageSize: pageSize)
    }

    /// Returns the entities that link to this one by a navigation property of theirs: the relationship in the opposite
    /// direction, whether or not the metadata have a property for it.
    package func sources(
        of address: EntityAddress, by property: Property, _ options: QueryOptions
    ) throws(TidelogError) -> QueryAnswer { try StoreQueries(core: core).sources(of: address, by: property, options) }

    /// Returns the IDs of the targets of a navigation property, or with `isBackwards` of its sources, in ascending
    /// order. Reads no entities.
    package func linkedEntities(
        _ address: EntityAddress, _ property: Property, isBackwards: Bool = false
    ) throws(TidelogError) -> [EntityID] {
        try StoreQueries(core: core).linkedEntities(address, property, isBackwards: isBackwards)
    }

    /// Executes the query and explains its execution: the SQLite statements, their query plans, and the parts that are
    /// evaluated in memory, with the reasons. The explanation contains tables and columns, but no values of the query
    /// or of entities.
    ///
    /// Cost: that of the query.
    package func explain(_ url: String) throws(TidelogError) -> QueryExplanation {
        try StoreQueries(core: core).explain(.url(url))
    }

    package func explain(path: ResourcePath, options: QueryOptions) throws(TidelogError) -> QueryExplanation {
        try StoreQueries(core: core).explain(.set(path, options))
    }

    package func explain(
        _ address: EntityAddress, _ property: Property, _ options: QueryOptions
    ) throws(TidelogError) -> QueryExplanation {
        try StoreQueries(core: core).explain(.related(address, property, options))
    }

    // MARK: Live queries

    /// Returns the results of an OData query from now on; see ``LiveQuery``.
    package nonisolated func observe(_ url: String) -> LiveQuery { LiveQuery(store: self, request: .url(url)) }

    package nonisolated func observe(path: ResourcePath, options: QueryOptions) -> LiveQuery {
        LiveQuery(store: self, request: .set(path, options))
    }

    /// Returns the results for a navigation property of an entity from now on.
    package nonisolated func observe(
        _ address: EntityAddress, _ property: Property, _ options: QueryOptions
    ) -> LiveQuery { LiveQuery(store: self, request: .related(address, property, options)) }

    /// Computes a result for an observer, and stores the tables that it depends on.
    ///
    /// All parts of the store run on one executor, so nothing can change in between. Returns nil if the store is closed.
    func answer(
        _ request: LiveQuery.Request, _ observer: LiveObserver
    ) throws(TidelogError) -> (answer: QueryAnswer, causes: Set<ChangeCause>)? {
        guard !core.isClosed else { return nil }
        do throws(TidelogError) {
            if !core.storedViews.tracksPendingStates {
                // Changes before the first observer are not reported.
                core.storedViews.tracksPendingStates = true
                _ = try core.read { _ in try core.views.drainChangedTables() }
            }
            let causes = observer.begin()
            _ = core.storedViews.drainReadTables()
            let queries = StoreQueries(core: core)
            let answer = try queries.answer(request)
            observer.answered(from: try queries.isAboutQueue(request) ? nil : core.storedViews.drainReadTables())
            return (answer, causes)
        } catch {
            observer.end()
            throw error
        }
    }

    // MARK: Identities

    /// Returns links with the entities' IDs, such as `Customers(~7)`. They are valid permanently, even for deleted
    /// entities.
    package func localLinks(of entities: Set<EntityID>) throws(TidelogError) -> [EntityID: String] {
        try core.read { state throws in
            var links: [EntityID: String] = [:]
            for id in entities { links[id] = try state.set(of: id).map { "\($0)(\(id))" } }
            return links
        }
    }

    /// Returns every key that the service assigned to an entity of this store, with the entity's ID.
    package func keyMap() throws(TidelogError) -> [KeyMapEntry] {
        try core.read { _ in try core.views.keyMap() }
    }

    /// Returns the entity that has or last had the key, given in the form of `KeyText`.
    package func entity(set: String, key: String) throws(TidelogError) -> EntityID? {
        try core.read { try $0.entity(set: set, key: key) }
    }
}

extension LocalStore {
    /// Recompresses the log's sealed segments; see ``OperationLog/recompressSealedSegments(level:blockSize:)``.
    ///
    /// - Returns: The number of recompressed segments.
    package func recompressLog(level: Int, blockSize: Int) throws(TidelogError) -> Int {
        do throws(LogError) {
            return try core.log.recompressSealedSegments(level: level, blockSize: blockSize)
        } catch {
            throw TidelogError(error)
        }
    }
}
