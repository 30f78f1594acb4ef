import Dispatch
public import EDM
import ODataWire
import OperationLog
public import Operations
public import SyncCore
import Views

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
public actor LocalStore {
    public nonisolated let files: StoreFiles
    nonisolated let executor = SerialQueueExecutor(label: "tidelog.store")
    public nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    let log: OperationLog
    /// The views file. ``remakeViews(because:)`` replaces it.
    var storedViews: SQLiteState
    var fold: Fold
    /// The state: the changes of the running transaction over the views.
    var state: WorkingSet { fold.storage }
    /// The views for SQL queries, including the changes of the running transaction.
    var views: SQLiteState {
        get throws(StateError) {
            try state.flush()
            return storedViews
        }
    }
    /// The state of a historical store in memory, as long as nothing is appended to it.
    var past: HistoricalFold?
    /// The source of time and of delays.
    public nonisolated let environment: SyncEnvironment
    let keys: [LogKey]
    let disk: StoreDisk
    /// The snapshots that were found damaged, or not to belong to the log, when the store was opened.
    let unusableSnapshots: Set<String>
    let longQueue: Int?
    let unflushedLimit: Int
    let flushLimit: Int?
    /// Whether damaged views are rebuilt. They are rebuilt only once, because repeated damage has another cause.
    var mayRemakeViews: Bool
    /// The reasons why views were rebuilt while the store was open, in sentences; empty if they were not.
    public internal(set) var viewsNotes: [String] = []
    let snapshotPolicy: SnapshotPolicy
    let undoesLocalCreation: Bool
    nonisolated let readsAhead: Bool
    nonisolated let spoolsToDisk: Bool
    nonisolated let spoolMemory: Int
    let downloadLimits: DownloadLimits
    let removal: RemovalAfterUpload
    var clientChanges: ClientChanges
    let declaredIndexes: [EntityIndex]
    /// The number of undos, redos and changes of options or metadata. Each of them makes earlier plans outdated.
    var planEpoch = 0
    /// Operations in the current batches that were already in doubt when these were prepared.
    var doubtful: Set<SequenceNumber> = []
    /// The number of running uploads.
    var uploads = 0
    /// The time of the first search for batches in doubt, if the clock was before the time at which they were sent.
    var firstLooks: [BatchID: Timestamp] = [:]
    var givenServiceOptions: ServiceOptions?
    /// The findings of uploads about the service.
    var detected = DetectedOptions()
    /// The download settings of defining queries that differ from the defaults, by name.
    let querySettings: [String: DefiningQuerySettings]
    /// The error of the last automatic snapshot; nil if it succeeded or none was due.
    public internal(set) var snapshotFailure: TidelogError?
    package private(set) var isClosed = false
    /// The observers of live queries.
    nonisolated let observers = LiveObservers()
    /// Receives each record after it was appended to the log.
    private nonisolated let tap = RecordNotifier()

    nonisolated func onRecord(_ body: @escaping @Sendable (SequenceNumber, Record) -> Void) { tap.attach(body) }

    /// The work that was necessary to bring the views up to date when the store was opened.
    public nonisolated let opened: ViewsReport
    /// The repairs when the store was opened, in sentences; empty if none were necessary.
    public nonisolated let recovery: [String]

    /// Opens the store in `files.directory`.
    ///
    /// - Parameter creating: Whether to create a missing log. If false, a missing log is the error `noStore`.
    public init(_ files: StoreFiles, creating: Bool = true, options: Options = Options()) async throws(TidelogError) {
        self.files = files
        environment = options.environment
        longQueue = options.longQueue
        unflushedLimit = options.unflushedLimit
        flushLimit = options.flushLimit
        mayRemakeViews = !options.isPast
        snapshotPolicy = options.snapshots
        undoesLocalCreation = options.undoesLocalCreation
        readsAhead = options.readsAhead
        downloadLimits = options.downloadLimits
        spoolMemory = options.downloadLimits.memory
        removal = options.removal
        clientChanges = ClientChanges(undoable: options.undoableClientChanges)
        declaredIndexes = options.indexes
        givenServiceOptions = options.service
        querySettings = options.querySettings
        var notes: [String] = []
        disk = options.disk
        spoolsToDisk = options.disk.isSystem
        var logOptions = options.log
        if disk.isSystem {
            try StoreDirectory.create(files)
            try StoreDirectory.check(files)
            logOptions.keys = LogKey.requiring(options.log.keys, in: files)
        }
        keys = logOptions.keys
        logOptions.lockPath = files.lock
        logOptions.layout = .records
        logOptions.creation = creating ? .ifMissing : .never
        do throws(LogError) {
            let (log, report) = try OperationLog.open(
                directory: files.log, options: logOptions, fileSystem: disk.fileSystem)
            self.log = log
            if report.cut != nil || !report.removedFiles.isEmpty || !report.snapshotDamages.isEmpty {
                notes.append(report.description)
            }
            unusableSnapshots = Set(report.snapshotDamages.map(\.path))
        } catch {
            throw TidelogError(error)
        }
        if disk.isSystem {
            try StoreDescription.secure(files, keys, log)
            detected = (try? StoreDescription.read(files, keys: keys))?.detected ?? DetectedOptions()
        }
        do {
            let reader = try LogReader(
                directory: files.log, keys: keys, fileSystem: disk.fileSystem)
            var opening = ViewsOpening(
                files: files, log: log, reader: reader, disk: disk, unusable: unusableSnapshots)
            opening.longQueue = options.longQueue
            opening.flushLimit = options.flushLimit
            opening.foldsInMemory = options.isPast && !options.foldsPastInViews
            (storedViews, fold) = try opening.open()
            past = opening.past
            recovery = notes + opening.notes
            opened = opening.report
        } catch {
            throw Self.mapped(error, files)
        }
        if !options.isPast {
            // A batch without a response was interrupted by a crash, so whether it arrived is unknown.
            try await interruptOpenBatches()
            try arrangeStreams()
        }
        try checkIndexes()
        try arrangeIndexes()
        writeSnapshotIfDue()
    }

    // MARK: Opening

    /// Marks the operations of abandoned batches as in doubt: after a crash, or if a response could not be logged. It
    /// may only run while no upload is running. The next upload polls asynchronous batches.
    func interruptOpenBatches() async throws(TidelogError) {
        var open: [BatchID] = []
        do throws(StateError) {
            let batches = Set(try state.pendingOperations(.inFlight).compactMap(\.status.batch))
            for batch in batches.sorted() where try state.bookkeeping.openBatch(batch)?.monitor == nil {
                open.append(batch)
            }
        } catch {
            throw TidelogError(error, views: files.views)
        }
        for batch in open {
            try await record([
                .batchInterrupted(BatchInterrupted(batch: batch, reason: "No response to the batch was recorded."))
            ])
        }
    }

    // MARK: Recording

    /// Appends facts to the log and folds them. Returns their sequence numbers when they are durable.
    @discardableResult
    public func record(_ bodies: [Record.Body]) async throws(TidelogError) -> ClosedRange<SequenceNumber> {
        let range = try transaction { () throws -> ClosedRange<SequenceNumber> in
            for body in bodies {
                try self.add(body)
                if case .serviceInstalled = body { self.planEpoch += 1 }
            }
            return try self.commit()
        }
        if bodies.contains(where: Self.asksForIndexes) { try arrangeIndexes() }
        try await acknowledge()
        return range
    }

    /// Waits until the logged records are durable according to the options. It is outside the transaction, so that
    /// concurrent calls share one sync.
    func acknowledge() async throws(TidelogError) {
        if log.options.durability == .grouped { try await makeDurable() }
    }

    /// Waits until the logged records survive a power loss, whatever the options are.
    func makeDurable() async throws(TidelogError) {
        do throws(LogError) {
            if log.options.durability == .grouped {
                try await log.waitUntilDurable(log.nextSequence - 1)
            } else {
                try log.sync()
            }
        } catch {
            throw TidelogError(error)
        }
    }

    /// Records that were folded in the running transaction and not appended to the log yet.
    private var uncommitted: [Record] = []
    /// A buffer for appending, kept for its capacity.
    private var logCommit = Commit()

    /// The sequence number of the next record of the running transaction.
    var nextSequence: SequenceNumber { log.nextSequence + UInt64(uncommitted.count) }

    @discardableResult
    func add(_ body: Record.Body) throws -> SequenceNumber { try add(Record(time: environment.now(), body: body)) }

    /// Adds a record with its original time, for records from elsewhere.
    @discardableResult
    func add(_ record: Record) throws -> SequenceNumber {
        let sequence = nextSequence
        try fold.apply(record, sequence: sequence)
        uncommitted.append(record)
        return sequence
    }

    /// Appends the records to the log. Between this and the end of the transaction, only the disk may fail.
    func commit() throws -> ClosedRange<SequenceNumber> {
        try fold.finishRebase()
        try state.checkDeferral()
        logCommit.removeAll()
        for record in uncommitted {
            let (kind, payload) = RecordCodec.encode(record)
            try logCommit.add(kind: kind, payload: payload)
        }
        let range = try log.write(logCommit)
        tap.notify(uncommitted, from: range.lowerBound)
        return range
    }

    /// Returns and clears the dirty set of the fold; see ``CardinalityRule``.
    func drainDirtySet() -> DirtySet { fold.drainDirtySet() }

    /// When the stored views commit the changes of a transaction.
    enum ViewsCommit {
        /// With the transaction.
        case immediate
        /// With a later transaction, or before the views are read; see ``WorkingSet/deferredTransaction(_:)``.
        case deferred
        /// With a later page of the same download.
        case shared
        /// With the transaction, after the deferred pages.
        case lastShared
    }

    /// Runs `body` in one transaction of the state and the log: all of its changes are kept, or none.
    ///
    /// `body` may run twice, but never after it has written to the log.
    func transaction<T>(_ views: ViewsCommit = .immediate, _ body: () throws -> T) throws(TidelogError) -> T {
        uncommitted = []
        defer { uncommitted = [] }
        let first = log.nextSequence
        do {
            if views != .shared { try commitPages() }
            try catchUpAfterFailure()
            // Only after catching up, whose result is kept whatever the body does.
            let before = uncommittedPages.fold ?? fold
            let logged = log.nextSequence
            var result: T?
            do {
                let remembering = { () throws -> T in
                    let value = try body()
                    result = value
                    return value
                }
                let value: T
                switch views {
                case .immediate: value = try state.transaction(remembering)
                case .deferred: value = try state.deferredTransaction(remembering)
                case .shared, .lastShared:
                    value = try state.inSharedTransaction(remembering)
                    uncommittedPages.add(uncommitted, onto: before)
                    if uncommittedPages.isEnough || views == .lastShared { try commitPages() }
                }
                afterTransaction()
                return value
            } catch is DeferralRefused where log.nextSequence == logged {
                fold = before
                return try transaction(.immediate, body)
            } catch {
                fold = before
                uncommittedPages = UncommittedPages()
                // The log contains it, so it has taken effect, and an error would make the app repeat it. The views
                // catch up.
                if let result, log.nextSequence > logged {
                    observers.notify(.unknown)
                    return result
                }
                throw error
            }
        } catch {
            do {
                // Nothing was logged, so it can be repeated.
                guard log.nextSequence == first, try remakeViews(after: error) else { throw error }
            } catch {
                throw mapped(error)
            }
            return try transaction(views, body)
        }
    }

    /// Download pages that are logged and not committed by the views.
    private var uncommittedPages = UncommittedPages()

    /// Discards everything derived from the replaced views.
    func forgetViews() {
        uncommittedPages = UncommittedPages()
        knownForms = nil
        past = nil
    }

    /// Commits the collected download pages in the views.
    func commitPages() throws(StateError) {
        let pages = uncommittedPages
        uncommittedPages = UncommittedPages()
        do throws(StateError) {
            try state.commitSharedTransaction()
        } catch {
            // The views have rolled the pages back, and receive them again from the log.
            if let fold = pages.fold { self.fold = fold }
            throw error
        }
    }

    /// Flushes if many items are unflushed, and notifies the observers.
    private func afterTransaction() {
        if state.unflushedCount >= unflushedLimit {
            // If the flush fails, the next call folds the records again from the log.
            guard (try? state.flush()) != nil else { return observers.notify(.unknown) }
        }
        notifyObservers()
    }

    /// Notifies the observers of the transaction that has just succeeded.
    private func notifyObservers() {
        guard !observers.isEmpty else {
            storedViews.tracksPendingStates = false
            return
        }
        // If the views cannot determine the tables, any of them may have changed.
        let tables = try? views.drainChangedTables()
        guard !uncommitted.isEmpty else { return }
        observers.notify(tables.map { StoreChange(uncommitted, tables: $0) } ?? .unknown)
    }

    /// Runs `body` in a transaction that is rolled back, for a dry run.
    func dryRun<T>(_ body: () throws -> T) throws(TidelogError) -> T {
        uncommitted = []
        defer { uncommitted = [] }
        do {
            try commitPages()
            try catchUpAfterFailure()
            let before = fold
            defer { fold = before }
            var result: Result<T, any Error>?
            do {
                return try state.transaction { () throws -> T in
                    result = Result { try body() }
                    throw RollbackSignal()
                }
            } catch let end as RollbackSignal {
                guard let result else { throw end }
                return try result.get()
            }
        } catch {
            throw mapped(error)
        }
    }

    func finishRebase() throws(StateError) { try fold.finishRebase() }

    /// Folds records that the log has and the views lack after a failure between the two. They were acknowledged or
    /// will appear so.
    func catchUpAfterFailure() throws {
        guard try state.header().applied + 1 < log.nextSequence else { return }
        try ViewsOpening.catchUp(&fold, reader())
        observers.notify(.unknown)
    }

    func reader() throws(LogError) -> LogReader {
        try LogReader(directory: files.log, keys: keys, fileSystem: disk.fileSystem)
    }

    func mapped(_ error: any Error) -> TidelogError { Self.mapped(error, files) }

    static func mapped(_ error: any Error, _ files: StoreFiles) -> TidelogError {
        switch error {
        case let error as TidelogError: error
        case let error as OperationRefused: TidelogError(error)
        case ValidationError.refused(let refused): TidelogError(refused)
        case ValidationError.state(let error): TidelogError(error, views: files.views)
        case let error as StateError: TidelogError(error, views: files.views)
        case let error as LogError: TidelogError(error)
        case let error as URLSyntaxError: TidelogError(error)
        default: TidelogError(.storage, "\(error)", place: files.directory, cause: error)
        }
    }

    // MARK: Service and queries

    /// The metadata by which the store's records are read.
    public var model: EntityDataModel {
        get throws(TidelogError) {
            guard let model = fold.model else {
                throw TidelogError(
                    .noStore, "The store does not contain metadata yet.", place: files.directory,
                    recovery: "Open the store once while the service can be reached.")
            }
            return model
        }
    }

    /// Cached queries; see ``query(_:pageSize:usualPageSize:)``.
    var parsedQueries = ParsedQueries()
    /// Cached link forms; see ``linkForms(_:)``.
    private var knownForms: LinkForms?

    func linkForms(_ model: EntityDataModel) throws(StateError) -> LinkForms {
        let root = try state.header().service?.root ?? ""
        if let knownForms, knownForms.model === model, knownForms.root == root { return knownForms }
        let forms = LinkForms(state: state, model: model, root: root)
        knownForms = forms
        return forms
    }

    public var hasModel: Bool { fold.model != nil }

    public var service: ServiceDescription? {
        get throws(TidelogError) { try read { try $0.header().service } }
    }

    /// The postponement that the next upload waits for.
    public var postponement: Postponement? {
        get throws(TidelogError) { try read { try $0.header().postponed } }
    }

    /// The number of the next batch.
    public var nextBatch: BatchID {
        get throws(TidelogError) { try read { try $0.header().nextBatch } }
    }

    /// Closes the files and releases the lock; later calls fail. It may write a snapshot first; see ``SnapshotPolicy``.
    public func close() {
        guard !isClosed else { return }
        isClosed = true
        observers.end()
        writeSnapshotIfDue()
        try? state.flush()
        log.close()
        storedViews.close()
    }

    /// Closes and deletes the store without releasing its lock in between.
    ///
    /// - Throws: `refused(.notAllowed)` if operations are pending and `force` is false. Then the store stays open.
    func close(force: Bool, removing removal: StoreRemoval) throws(TidelogError) {
        guard !isClosed else { return try removal.remove(try removal.lock()) }
        if !force { try StoreRemoval.refuse(pending: try pendingCount(), files) }
        isClosed = true
        observers.end()
        let lock = log.closeKeepingLock()
        storedViews.close()
        // After a disk error the log may already have been closed and its lock released.
        guard let lock else { return try removal.remove(try removal.lock()) }
        try removal.remove(lock)
    }

    func read<T>(_ body: (WorkingSet) throws -> T) throws(TidelogError) -> T {
        do {
            do {
                try catchUpAfterFailure()
                return try body(state)
            } catch {
                guard try remakeViews(after: error) else { throw error }
                return try body(state)
            }
        } catch {
            throw mapped(error)
        }
    }
}

/// Rolls a transaction back.
private struct RollbackSignal: Error {}
