import EDM
import ODataWire
import OperationLog
import Operations
import SyncCore
import Views

/// The log, the fold and the views of an open store, and the transactions that change them together.
///
/// It is shared by the actors of a ``LocalStore``, which all run on its executor.
final class StoreCore: @unchecked Sendable {
    // Unchecked, because all mutable state is confined to `executor`: only actors that run on it have this object.

    let files: StoreFiles
    let executor = SerialQueueExecutor(label: "tidelog.store")
    let log: OperationLog
    let keys: [LogKey]
    let options: LocalStoreOptions
    /// The snapshots that were found damaged, or not to belong to the log, when the store was opened.
    let unusableSnapshots: Set<String>
    /// The views file. ``remakeViews(because:)`` replaces it.
    private(set) var storedViews: SQLiteState
    var fold: Fold
    /// The state of a historical store in memory, as long as nothing is appended to it.
    var past: HistoricalFold?
    /// Whether damaged views are rebuilt. They are rebuilt only once, because repeated damage has another cause.
    private var mayRemakeViews: Bool
    /// The reasons why views were rebuilt while the store was open, in sentences; empty if they were not.
    private(set) var viewsNotes: [String] = []
    /// The error of the last automatic snapshot; nil if it succeeded or none was due.
    var snapshotFailure: TidelogError?
    /// The number of undos, redos and changes of options or metadata. Each of them makes earlier plans outdated.
    var planEpoch = 0
    var uploadState = UploadState()
    var clientChanges: ClientChanges
    var capabilities: ServiceCapabilities
    /// Cached queries; see ``StoreQueries/query(_:pageSize:usualPageSize:)``.
    var parsedQueries = ParsedQueries()
    /// Cached link forms; see ``linkForms(_:)``.
    private var knownForms: LinkForms?
    private(set) var isClosed = false
    /// The observers of live queries.
    let observers = LiveObservers()
    /// Receives each record after it was appended to the log.
    let tap = RecordNotifier()

    /// The work that was necessary to bring the views up to date when the store was opened.
    let opened: ViewsReport
    /// The repairs when the store was opened, in sentences; empty if none were necessary.
    let recovery: [String]

    /// Records that were folded in the running transaction and not appended to the log yet.
    private var uncommitted: [Record] = []
    /// Download pages that are logged and not committed by the views.
    private var uncommittedPages = UncommittedPages()
    /// A buffer for appending, kept for its capacity.
    private var logCommit = Commit()

    /// Opens the log, and brings the views up to date with it.
    ///
    /// - Parameter creating: Whether to create a missing log. If false, a missing log is the error `noStore`.
    init(_ files: StoreFiles, creating: Bool, options: LocalStoreOptions) throws(TidelogError) {
        var options = options
        self.files = files
        mayRemakeViews = !options.isPast
        clientChanges = ClientChanges(undoable: options.undoableClientChanges)
        capabilities = ServiceCapabilities(given: options.service)
        var notes: [String] = []
        if options.disk.isSystem {
            try StoreDirectory.create(files)
            try StoreDirectory.check(files)
            options.log.keys = LogKey.requiring(options.log.keys, in: files)
        }
        keys = options.log.keys
        options.log.lockPath = files.lock
        options.log.layout = .records
        options.log.creation = creating ? .ifMissing : .never
        self.options = options
        do throws(LogError) {
            let (log, report) = try OperationLog.open(
                directory: files.log, options: options.log, fileSystem: options.disk.fileSystem)
            self.log = log
            if report.cut != nil || !report.removedFiles.isEmpty || !report.snapshotDamages.isEmpty {
                notes.append(report.description)
            }
            unusableSnapshots = Set(report.snapshotDamages.map(\.path))
        } catch {
            throw TidelogError(error)
        }
        if options.disk.isSystem {
            try StoreDescription.secure(files, keys, log)
            capabilities.detected =
                (try? StoreDescription.read(files, keys: keys))?.detected ?? DetectedOptions()
        }
        do {
            let reader = try LogReader(directory: files.log, keys: keys, fileSystem: options.disk.fileSystem)
            var opening = ViewsOpening(
                files: files, log: log, reader: reader, options: options, unusable: unusableSnapshots)
            opening.foldsInMemory = options.isPast && !options.foldsPastInViews
            (storedViews, fold) = try opening.open()
            past = opening.past
            recovery = notes + opening.notes
            opened = opening.report
        } catch {
            throw Self.mapped(error, files)
        }
    }

    var environment: SyncEnvironment { options.environment }
    var disk: StoreDisk { options.disk }

    /// The state: the changes of the running transaction over the views.
    var state: WorkingSet { fold.storage }

    /// The views for SQL queries, including the changes of the running transaction.
    var views: SQLiteState {
        get throws(StateError) {
            try state.flush()
            return storedViews
        }
    }

    func reader() throws(LogError) -> LogReader {
        try LogReader(directory: files.log, keys: keys, fileSystem: disk.fileSystem)
    }

    // MARK: Service

    /// The metadata by which the store's records are read.
    var model: EntityDataModel {
        get throws(TidelogError) {
            guard let model = fold.model else {
                throw TidelogError(
                    .noStore, "The store does not contain metadata yet.", place: files.directory,
                    recovery: "Open the store once while the service can be reached.")
            }
            return model
        }
    }

    var hasModel: Bool { fold.model != nil }

    var service: ServiceDescription? {
        get throws(TidelogError) { try read { try $0.header().service } }
    }

    /// The service capabilities: as configured or as derived from the metadata, combined with the findings of uploads.
    var serviceOptions: ServiceOptions {
        get throws(TidelogError) {
            if let given = capabilities.given, !hasModel { return given }
            return capabilities.options(for: try model)
        }
    }

    func linkForms(_ model: EntityDataModel) throws(StateError) -> LinkForms {
        let root = try state.header().service?.root ?? ""
        if let knownForms, knownForms.model === model, knownForms.root == root { return knownForms }
        let forms = LinkForms(state: state, model: model, root: root)
        knownForms = forms
        return forms
    }

    // MARK: Reading

    func read<T>(_ body: (WorkingSet) throws -> T) throws(TidelogError) -> T {
        assert(executor.isCurrent)
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

    // MARK: Recording

    /// The sequence number of the next record of the running transaction.
    var nextSequence: SequenceNumber { log.nextSequence + UInt64(uncommitted.count) }

    /// Appends facts to the log and folds them. Returns their sequence numbers when they are durable.
    @discardableResult
    func record(_ bodies: [Record.Body]) async throws(TidelogError) -> ClosedRange<SequenceNumber> {
        let range = try transaction { () throws -> ClosedRange<SequenceNumber> in
            for body in bodies {
                try self.add(body)
                if case .serviceInstalled = body { self.planEpoch += 1 }
            }
            return try self.commit()
        }
        if bodies.contains(where: StoreIndexes.areAffected) { try StoreIndexes(core: self).arrange() }
        try await acknowledge()
        return range
    }

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

    func finishRebase() throws(StateError) { try fold.finishRebase() }

    /// Returns and clears the dirty set of the fold; see ``CardinalityRule``.
    func drainDirtySet() -> DirtySet { fold.drainDirtySet() }

    // MARK: Transactions

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
        assert(executor.isCurrent)
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
        if state.unflushedCount >= options.unflushedLimit {
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
        assert(executor.isCurrent)
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

    // MARK: Views

    /// Folds records that the log has and the views lack after a failure between the two. They were acknowledged or
    /// will appear so.
    func catchUpAfterFailure() throws {
        guard try state.header().applied + 1 < log.nextSequence else { return }
        try ViewsOpening.catchUp(&fold, reader())
        observers.notify(.unknown)
    }

    /// Rebuilds the views from the log if the error indicates that they are damaged. They are derived, so the failed
    /// call can then be repeated.
    ///
    /// - Returns: Whether they were rebuilt.
    private func remakeViews(after error: any Error) throws -> Bool {
        let damage: StateError? =
            switch error {
            case let error as StateError: error
            case ValidationError.state(let error): error
            case let error as TidelogError: error.cause as? StateError
            default: nil
            }
        guard let damage, storedViews.isFault(damage), mayRemakeViews, !isClosed else { return false }
        try remakeViews(because: damage.message)
        return true
    }

    private func remakeViews(because reason: String) throws {
        mayRemakeViews = false
        planEpoch += 1
        // All of it is derived from the replaced views.
        uncommittedPages = UncommittedPages()
        knownForms = nil
        past = nil
        storedViews.close()
        var opening = ViewsOpening(
            files: files, log: log, reader: try reader(), options: options, unusable: unusableSnapshots)
        (storedViews, fold) = try opening.rebuilt()
        viewsNotes += ["The views were rebuilt from the log, because: \(reason)"] + opening.notes
        observers.notify(.unknown)
        try StoreIndexes(core: self).arrange()
    }

    /// Rebuilds the views if their version of these operations differs from the log, so that only logged content is
    /// sent.
    ///
    /// - Returns: Whether they differed, so that everything derived from them has to be derived again.
    func remakeViews(ifUnlogged operations: [SequenceNumber]) throws(TidelogError) -> Bool {
        guard mayRemakeViews else { return false }
        do {
            try commitPages()
            guard let differing = try LoggedOperations(try reader()).first(of: operations, differingIn: state) else {
                return false
            }
            try remakeViews(because: "Operation \(differing) in them differs from the log.")
            return true
        } catch {
            throw mapped(error)
        }
    }

    // MARK: Closing

    /// Closes the files and releases the lock; later calls fail. It may write a snapshot first; see ``SnapshotPolicy``.
    func close() {
        guard !isClosed else { return }
        isClosed = true
        observers.end()
        StoreSnapshots(core: self).writeIfDue()
        try? state.flush()
        log.close()
        storedViews.close()
    }

    /// Closes and deletes the store without releasing its lock in between.
    func close(removing removal: StoreRemoval) throws(TidelogError) {
        isClosed = true
        observers.end()
        let lock = log.closeKeepingLock()
        storedViews.close()
        // After a disk error the log may already have been closed and its lock released.
        guard let lock else { return try removal.remove(try removal.lock()) }
        try removal.remove(lock)
    }
}

/// Rolls a transaction back.
private struct RollbackSignal: Error {}
