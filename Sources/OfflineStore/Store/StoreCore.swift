import EDM
import ODataQuery
import ODataWire
import OperationLog
import Operations
import SyncCore
import Synchronization
import Views

/// The log, the fold and the views of an open store, and the transactions that change them together.
///
/// It is shared by the actors of a ``LocalStore``, which all run on its executor.
package final class StoreCore: @unchecked Sendable {
    // Unchecked, because all mutable state is confined to `executor`: only actors that run on it have this object.

    let files: StoreFiles
    let executor: SerialQueueExecutor
    let log: OperationLog
    let options: LocalStoreOptions
    /// The snapshots that were found damaged, or not to belong to the log, when the store was opened.
    let unusableSnapshots: Set<String>
    /// The views file. ``remakeViews(because:)`` replaces it.
    private(set) var storedViews: SQLiteState
    var fold: Fold
    /// The metadata after the last transaction that succeeded. Can be read on any thread.
    private let committedModel: Mutex<EntityDataModel?>
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
    /// Receives the records after they were appended to the log.
    let tap = RecordNotifier()

    /// The work that was necessary to bring the views up to date when the store was opened.
    let opened: ViewsReport
    /// The repairs when the store was opened, in sentences; empty if none were necessary.
    let recovery: [String]

    var uncommitted = UncommittedRecords()
    /// Download pages that are logged and not committed by the views.
    var uncommittedPages = UncommittedPages()

    /// Opens the log, and brings the views up to date with it.
    ///
    /// - Parameter creating: Whether to create a missing log. If false, a missing log is the error `noStore`.
    init(_ files: StoreFiles, creating: Bool, options: LocalStoreOptions) throws(TidelogError) {
        var options = options
        self.files = files
        executor = options.environment.executor ?? SerialQueueExecutor(label: "tidelog.store")
        mayRemakeViews = !options.isHistorical
        clientChanges = ClientChanges(undoable: options.undoableClientChanges)
        capabilities = ServiceCapabilities(given: options.service)
        var notes: [String] = []
        if options.disk.isSystem {
            try StoreDirectory.create(files)
            try StoreDirectory.check(files)
            options.log.keys = LogKey.requiring(options.log.keys, in: files)
        }
        options.log.lockPath = files.lock
        options.log.layout = .records
        // A simulation does not change the thread for a sync.
        options.log.syncQueue = options.environment.executor?.queue
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
            try StoreDescription.secure(files, options.log.keys, log)
            capabilities.detected =
                (try? StoreDescription.read(files, keys: options.log.keys))?.detected ?? DetectedOptions()
        }
        do {
            let reader = try LogReader(
                directory: files.log, keys: options.log.keys, fileSystem: options.disk.fileSystem)
            var opening = ViewsOpener(
                files: files, log: log, reader: reader, options: options, unusable: unusableSnapshots)
            opening.foldsInMemory = options.isHistorical && !options.foldsHistoryInViews
            (storedViews, fold) = try opening.open()
            committedModel = Mutex(fold.model)
            past = opening.past
            recovery = notes + opening.notes
            opened = opening.report
        } catch {
            throw Self.mapped(error, files)
        }
    }

    var environment: SyncEnvironment { options.environment }
    var disk: StoreDisk { options.disk }
    var keys: [LogKey] { options.log.keys }

    /// The state: the changes of the running transaction over the views.
    var state: WorkingSet {
        assert(executor.isCurrent)
        return fold.storage
    }

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

    /// The metadata after the last transaction that succeeded. Unlike ``model``, it can be read on any thread.
    var currentModel: EntityDataModel? { committedModel.withLock { $0 } }

    /// Makes the metadata of a transaction that succeeded available to other threads.
    func publishModel() {
        let model = fold.model
        committedModel.withLock { if $0 !== model { $0 = model } }
    }

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
        let root = try state.serviceRoot ?? ""
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

    // MARK: Views

    /// Folds records that the log has and the views lack after a failure between the two. They were acknowledged or
    /// will appear so.
    ///
    /// - Parameter next: The sequence number of the log's next record, if it is known.
    func catchUpAfterFailure(next: SequenceNumber? = nil) throws {
        guard try state.applied + 1 < next ?? log.nextSequence else { return }
        try ViewsOpener.catchUp(&fold, reader())
        observers.notify(.unknown)
    }

    /// Rebuilds the views from the log if the error indicates that they are damaged. They are derived, so the failed
    /// call can then be repeated.
    ///
    /// - Returns: Whether they were rebuilt.
    func remakeViews(after error: any Error) throws -> Bool {
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
        var opening = ViewsOpener(
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

    func close() {
        assert(executor.isCurrent)
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
        assert(executor.isCurrent)
        isClosed = true
        observers.end()
        let lock = log.closeKeepingLock()
        storedViews.close()
        // After a disk error the log may already have been closed and its lock released.
        guard let lock else { return try removal.remove(try removal.lock()) }
        try removal.remove(lock)
    }
}
