import Dispatch
public import EDM
import ODataWire
import OperationLog
public import Operations
public import SyncCore
import Views

/// The local half of a store: validates operations, appends them to the log, folds them into the views, and answers from
/// there. It never touches the network.
///
/// One transaction serves each call: the records are folded, the rules look at the result, the log takes the records, and
/// only then the views commit. So nothing is acknowledged that the log does not hold, and what a rule refuses leaves no
/// trace. If the process ends between the last two steps, the views catch up at the next open.
///
/// With the durability *every commit* the log syncs inside of the transaction. With *grouped* the call waits for the sync
/// behind it, together with the calls that came meanwhile; queries may show the change before. If the machine fails before
/// that sync, the views hold more than the log, and are made again from it: an operation that was not acknowledged is gone.
public actor LocalStore {
    public nonisolated let files: StoreFiles
    nonisolated let executor = SerialQueueExecutor(label: "tidelog.store")
    public nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    let log: OperationLog
    /// Another one after ``remakeViews(because:)``.
    var storedViews: SQLiteState
    var fold: Fold
    /// The state: what the running transaction has changed, over the views.
    var state: WorkingSet { fold.storage }
    /// The views for queries in SQL, with what the running transaction has changed.
    var views: SQLiteState {
        get throws(StateError) {
            try state.flush()
            return storedViews
        }
    }
    /// Of a past: the same state, as long as nothing is appended to it.
    var past: PastFold?
    /// Where the time comes from, and how the engine waits.
    public nonisolated let environment: SyncEnvironment
    let keys: [LogKey]
    let disk: StoreDisk
    /// The snapshots that do not belong to the log, or are damaged, as opening it found.
    let unusableSnapshots: Set<String>
    let longQueue: Int?
    let flushLimit: Int?
    /// Whether views that turn out to be damaged are made again: once, since what comes back is no accident.
    var mayRemakeViews: Bool
    /// Why views were made again while the store was open, in sentences; empty if all was well.
    public internal(set) var viewsNotes: [String] = []
    let snapshotPolicy: SnapshotPolicy
    let undoesLocalCreation: Bool
    nonisolated let readsAhead: Bool
    nonisolated let spoolsToDisk: Bool
    nonisolated let spoolMemory: Int
    let downloadLimits: DownloadLimits
    let removesStreamsAfterUpload: Bool
    let declaredIndexes: [EntityIndex]
    /// How often operations were undone or redone, or other options or metadata came to hold: a plan that was made before is no
    /// longer that of the queue.
    var rearrangements = 0
    /// Operations in the batches under way that were in doubt when those were prepared.
    var doubtful: Set<SequenceNumber> = []
    /// How many uploads are under way.
    var uploads = 0
    /// When batches in doubt were first looked for while the clock was behind the time at which they were sent.
    var firstLooks: [BatchID: Timestamp] = [:]
    var givenServiceOptions: ServiceOptions?
    /// What uploads have found out about the service.
    var learned = LearnedOptions()
    /// How defining queries are downloaded, by name; as usual where there is none.
    let querySettings: [String: DefiningQuerySettings]
    /// Why the last automatic snapshot was not made; nil where it was, or where none was due.
    public internal(set) var snapshotFailure: TidelogError?
    package private(set) var isClosed = false
    /// Live queries.
    nonisolated let observers = LiveObservers()
    /// Told of each record once it is in the log.
    private nonisolated let tap = RecordTap()

    nonisolated func onRecord(_ body: @escaping @Sendable (SequenceNumber, Record) -> Void) { tap.attach(body) }

    /// What opening took to bring the views to where the log is.
    public nonisolated let opened: ViewsReport
    /// What opening found to mend, in sentences; empty when all was well.
    public nonisolated let recovery: [String]

    /// Opens the store in `files.directory`.
    ///
    /// - Parameter creating: makes a log where there is none; otherwise that is `noStore`.
    public init(_ files: StoreFiles, creating: Bool = true, options: Options = Options()) async throws(TidelogError) {
        self.files = files
        environment = options.environment
        longQueue = options.longQueue
        flushLimit = options.flushLimit
        mayRemakeViews = !options.isPast
        snapshotPolicy = options.snapshots
        undoesLocalCreation = options.undoesLocalCreation
        readsAhead = options.readsAhead
        downloadLimits = options.downloadLimits
        spoolMemory = options.downloadLimits.memory
        removesStreamsAfterUpload = options.removesStreamsAfterUpload
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
            learned = (try? StoreDescription.read(files, keys: keys))?.learned ?? LearnedOptions()
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
            // A batch without an answer is a batch that a crash interrupted: whether it arrived is not known.
            try await interruptOpenBatches()
            try arrangeStreams()
        }
        try checkIndexes()
        try arrangeIndexes()
        writeSnapshotIfDue()
    }

    // MARK: Opening

    /// Puts the operations of batches that nobody waits for any more in doubt: after a crash, and where an answer could not be
    /// logged. Only while no upload runs. A batch that the service works on in its own time is asked for by the next upload.
    func interruptOpenBatches() async throws(TidelogError) {
        var open: [BatchID] = []
        do throws(StateError) {
            let batches = Set(try state.pendingOperations(.inFlight).compactMap(\.status.batch))
            for batch in batches.sorted() where try state.openBatch(batch)?.monitor == nil { open.append(batch) }
        } catch {
            throw TidelogError(error, views: files.views)
        }
        for batch in open {
            try await record([
                .batchInterrupted(BatchInterrupted(batch: batch, reason: "No answer to the batch was recorded."))
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
                if case .serviceInstalled = body { self.rearrangements += 1 }
            }
            return try self.commit()
        }
        if bodies.contains(where: Self.asksForIndexes) { try arrangeIndexes() }
        try await acknowledge()
        return range
    }

    /// Returns when what was logged so far is as durable as the options ask. Outside of the transaction, so that the calls
    /// that come meanwhile share one sync.
    func acknowledge() async throws(TidelogError) {
        if log.options.durability == .grouped { try await makeDurable() }
    }

    /// Returns when what was logged so far survives a loss of power, whatever the options ask.
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

    /// Records that were folded in the running transaction and are not in the log yet.
    private var uncommitted: [Record] = []
    /// Empty but for the moment of appending; kept for its memory.
    private var logCommit = Commit()

    /// The sequence number that the next record of the running transaction gets.
    var nextSequence: SequenceNumber { log.nextSequence + UInt64(uncommitted.count) }

    @discardableResult
    func add(_ body: Record.Body) throws -> SequenceNumber { try add(Record(time: environment.now(), body: body)) }

    /// The same with the time at which it was made, for what was recorded elsewhere before.
    @discardableResult
    func add(_ record: Record) throws -> SequenceNumber {
        let sequence = nextSequence
        try fold.apply(record, sequence: sequence)
        uncommitted.append(record)
        return sequence
    }

    /// Hands the records to the log. Nothing may fail between this and the end of the transaction but the disk.
    func commit() throws -> ClosedRange<SequenceNumber> {
        try fold.settle()
        logCommit.removeAll()
        for record in uncommitted {
            let (kind, payload) = RecordCodec.encode(record)
            try logCommit.add(kind: kind, payload: payload)
        }
        let range = try log.write(logCommit)
        tap.tell(uncommitted, from: range.lowerBound)
        return range
    }

    /// What was folded since the last call; see ``CardinalityRule``.
    func takeTouched() -> Touched { fold.takeTouched() }

    /// - Parameters:
    ///   - isPage: of a download: the views may commit it later, together with those behind it.
    ///   - isLast: of these: they commit what they have gathered, and then it.
    func transaction<T>(isPage: Bool = false, isLast: Bool = false, _ body: () throws -> T) throws(TidelogError) -> T {
        uncommitted = []
        defer { uncommitted = [] }
        let first = log.nextSequence
        do {
            if !isPage || isLast { try commitPages() }
            try catchUpAfterFailure()
            // Only now: what was caught up stays, whatever becomes of the body.
            let before = gathered.fold ?? fold
            let logged = log.nextSequence
            var result: T?
            do {
                let remembering = { () throws -> T in
                    let value = try body()
                    result = value
                    return value
                }
                let value: T
                if isPage {
                    value = try state.gathering(remembering)
                    gathered.add(uncommitted, onto: before)
                    if gathered.isEnough || isLast { try commitPages() }
                } else {
                    value = try state.transaction(remembering)
                }
                tellObservers()
                return value
            } catch {
                fold = before
                gathered = GatheredPages()
                // The log holds it, so it is done, and an error would make the app do it twice. The views catch up.
                if let result, log.nextSequence > logged {
                    observers.tell(.unknown)
                    return result
                }
                throw error
            }
        } catch {
            do {
                // Nothing of it was logged, so that it can be done again.
                guard log.nextSequence == first, try remakeViews(after: error) else { throw error }
            } catch {
                throw mapped(error)
            }
            return try transaction(isPage: isPage, isLast: isLast, body)
        }
    }

    /// Pages of a download that the log holds, and the views have not committed.
    private var gathered = GatheredPages()

    /// Forgets what is known of views that are no longer those of the store.
    func forgetViews() {
        gathered = GatheredPages()
        knownForms = nil
        past = nil
    }

    /// Makes the views commit the pages of a download that they have gathered.
    func commitPages() throws(StateError) {
        let pages = gathered
        gathered = GatheredPages()
        do throws(StateError) {
            try state.commitGathered()
        } catch {
            // The views have taken them back, and get them again from the log.
            if let fold = pages.fold { self.fold = fold }
            throw error
        }
    }

    /// Of the transaction that has just ended well.
    private func tellObservers() {
        guard !observers.isEmpty else {
            storedViews.notesStandings = false
            return
        }
        // Where the views cannot say it, anything may have changed.
        let tables = try? views.takeChangedTables()
        guard !uncommitted.isEmpty else { return }
        observers.tell(tables.map { StoreChange(uncommitted, tables: $0) } ?? .unknown)
    }

    /// Runs `body` and takes back all that it did: for questions that only a trial can answer.
    func rehearsal<T>(_ body: () throws -> T) throws(TidelogError) -> T {
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
                    throw RehearsalEnd()
                }
            } catch let end as RehearsalEnd {
                guard let result else { throw end }
                return try result.get()
            }
        } catch {
            throw mapped(error)
        }
    }

    /// What an undo of these operations takes along; only inside of a transaction or rehearsal.
    func dependants(of operations: Set<SequenceNumber>) throws(StateError) -> [SequenceNumber: Dependence] {
        try fold.dependants(of: operations)
    }

    func settle() throws(StateError) { try fold.settle() }

    func refusal(
        ofRedoing operations: [UndoneOperation]
    ) throws(StateError) -> (operation: SequenceNumber, reason: OperationRefused)? {
        try fold.refusal(ofRedoing: operations)
    }

    /// After a failure between log and views the log is ahead; what it holds was acknowledged or will be seen as such.
    func catchUpAfterFailure() throws {
        guard try state.header().applied + 1 < log.nextSequence else { return }
        try ViewsOpening.catchUp(&fold, reader())
        observers.tell(.unknown)
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

    /// The metadata that the store's records are read by.
    public var model: EntityDataModel {
        get throws(TidelogError) {
            guard let model = fold.model else {
                throw TidelogError(
                    .noStore, "The store has no metadata yet.", place: files.directory,
                    recovery: "Open it once with a connection to the service.")
            }
            return model
        }
    }

    /// See ``query(_:pageSize:usualPageSize:)``.
    var parsedQueries = ParsedQueries()
    /// How the links of entities are written; see ``linkForms(_:)``.
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

    /// What the next upload waits for.
    public var postponement: Postponement? {
        get throws(TidelogError) { try read { try $0.header().postponed } }
    }

    /// The number that the next batch will have.
    public var nextBatch: BatchID {
        get throws(TidelogError) { try read { try $0.header().nextBatch } }
    }

    /// Gives up the files and the lock; every later call fails. May write a snapshot first; see ``SnapshotPolicy``.
    public func close() {
        guard !isClosed else { return }
        isClosed = true
        observers.end()
        writeSnapshotIfDue()
        log.close()
        storedViews.close()
    }

    /// Closes the store and deletes it, without a moment between the two in which somebody else could open it.
    ///
    /// - Throws: `refused(.notAllowed)` where operations are pending and `force` is false; the store stays open then.
    func close(force: Bool, removing removal: StoreRemoval) throws(TidelogError) {
        guard !isClosed else { return try removal.remove(try removal.lock()) }
        if !force { try StoreRemoval.refuse(pending: try pendingCount(), files) }
        isClosed = true
        observers.end()
        let lock = log.closeKeepingLock()
        storedViews.close()
        // The disk may have closed the log before, and given up its lock.
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

/// Takes a transaction back.
private struct RehearsalEnd: Error {}
