import Dispatch
public import EDM
import ODataWire
public import OperationLog
public import Operations
import SyncCore
import Views

/// The local half of a store: validates operations, appends them to the log, folds them into the views, and answers from
/// there. It never touches the network.
///
/// One transaction serves each call: the records are folded, the rules look at the result, the log takes the records and
/// syncs, and only then the views commit. So nothing is acknowledged that the log does not hold, and what a rule refuses
/// leaves no trace. If the process ends between the last two steps, the views catch up at the next open.
public actor LocalStore {
    public nonisolated let files: StoreFiles
    private nonisolated let executor = SerialQueueExecutor(label: "tidelog.store")
    public nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    let log: OperationLog
    let state: SQLiteState
    private(set) var fold: Fold<SQLiteState>
    let clock: @Sendable () -> Timestamp
    /// What opening found to mend, in sentences; empty when all was well.
    public nonisolated let recovery: [String]

    public struct Options: Sendable {
        /// The time that records carry, in milliseconds since 1970.
        public var clock: @Sendable () -> Timestamp
        public var log: OperationLog.Options

        public init(clock: @escaping @Sendable () -> Timestamp = systemClock, log: OperationLog.Options = .init()) {
            self.clock = clock
            self.log = log
        }
    }

    /// Opens the store in `files.directory`.
    ///
    /// - Parameter creating: makes a log where there is none; otherwise that is `noStore`.
    public init(_ files: StoreFiles, creating: Bool = true, options: Options = Options()) async throws(TidelogError) {
        self.files = files
        clock = options.clock
        var notes: [String] = []
        try StoreDirectory.create(files)
        var logOptions = options.log
        logOptions.lockPath = files.lock
        logOptions.layout = .records
        logOptions.creation = creating ? .ifMissing : .never
        do throws(LogError) {
            let (log, report) = try OperationLog.open(directory: files.log, options: logOptions)
            self.log = log
            if report.cut != nil || !report.removedFiles.isEmpty { notes.append(report.description) }
        } catch {
            throw TidelogError(error)
        }
        do throws(StateError) {
            (state, fold) = try Self.openViews(files, log, &notes)
        } catch {
            throw TidelogError(error, views: files.views)
        }
        recovery = notes
        // A batch without an answer is a batch that a crash interrupted: whether it arrived is not known.
        try interruptOpenBatches()
    }

    // MARK: Opening

    private static func openViews(
        _ files: StoreFiles, _ log: OperationLog, _ notes: inout [String]
    ) throws(StateError) -> (SQLiteState, Fold<SQLiteState>) {
        do throws(StateError) {
            return try caughtUp(files, log)
        } catch {
            guard error.code == .damaged else { throw error }
            notes.append("The views were made again from the log, because: \(error.message)")
            StoreDirectory.remove(files.viewFiles)
            return try caughtUp(files, log)
        }
    }

    private static func caughtUp(
        _ files: StoreFiles, _ log: OperationLog
    ) throws(StateError) -> (SQLiteState, Fold<SQLiteState>) {
        let state = try SQLiteState(path: files.views, store: log.storeIdentifier.description)
        guard try state.header().applied < log.nextSequence else {
            throw StateError(.damaged, "The views hold more than the log.")
        }
        var fold = try Fold(storage: state)
        try catchUp(&fold, state, files)
        return (state, fold)
    }

    /// Folds what the log holds beyond the views, some thousand records in a transaction.
    private static func catchUp(
        _ fold: inout Fold<SQLiteState>, _ state: SQLiteState, _ files: StoreFiles
    ) throws(StateError) {
        do {
            let cursor = try LogReader(directory: files.log).records(from: try state.header().applied + 1)
            var isAtEnd = false
            while !isAtEnd {
                let before = fold
                do {
                    isAtEnd = try state.transaction { try foldSome(of: cursor, &fold) }
                } catch {
                    fold = before
                    throw error
                }
            }
            _ = fold.takeTouched()
        } catch let error as StateError {
            throw error
        } catch {
            throw StateError(.unavailable, "The log cannot be read: \(error)")
        }
    }

    /// Returns whether the log is at its end.
    private static func foldSome(of cursor: LogCursor, _ fold: inout Fold<SQLiteState>) throws -> Bool {
        for _ in 0..<2_000 {
            guard let next = try cursor.next() else {
                try fold.settle()
                return true
            }
            let record = try RecordCodec.decode(kind: next.kind, payload: next.payload)
            try fold.apply(record, sequence: next.sequence)
        }
        try fold.settle()
        return false
    }

    /// Puts the operations of batches that nobody waits for any more in doubt: after a crash, and where an answer could not be
    /// logged. Only while no upload runs.
    func interruptOpenBatches() throws(TidelogError) {
        let open: Set<BatchID>
        do throws(StateError) {
            open = Set(
                try state.pendingOperations().compactMap {
                    if case .inFlight(let batch) = $0.status { batch } else { nil }
                })
        } catch {
            throw TidelogError(error, views: files.views)
        }
        for batch in open.sorted() {
            try record([
                .batchInterrupted(BatchInterrupted(batch: batch, reason: "No answer to the batch was recorded."))
            ])
        }
    }

    // MARK: Recording

    /// Appends facts to the log and folds them. Returns their sequence numbers.
    @discardableResult
    public func record(_ bodies: [Record.Body]) throws(TidelogError) -> ClosedRange<SequenceNumber> {
        try transaction { () throws -> ClosedRange<SequenceNumber> in
            for body in bodies { try self.add(body) }
            return try self.commit()
        }
    }

    /// Records that were folded in the running transaction and are not in the log yet.
    private var uncommitted: [Record] = []

    /// The sequence number that the next record of the running transaction gets.
    var nextSequence: SequenceNumber { log.nextSequence + UInt64(uncommitted.count) }

    @discardableResult
    func add(_ body: Record.Body) throws -> SequenceNumber {
        let sequence = nextSequence
        let record = Record(time: clock(), body: body)
        try fold.apply(record, sequence: sequence)
        uncommitted.append(record)
        return sequence
    }

    /// Hands the records to the log. Nothing may fail between this and the end of the transaction but the disk.
    func commit() throws -> ClosedRange<SequenceNumber> {
        try fold.settle()
        return try log.append(uncommitted.map(RecordCodec.encode))
    }

    /// What was folded since the last call; see ``CardinalityRule``.
    func takeTouched() -> Set<EntityID> { fold.takeTouched() }

    func transaction<T>(_ body: () throws -> T) throws(TidelogError) -> T {
        uncommitted = []
        defer { uncommitted = [] }
        do {
            try catchUpAfterFailure()
            // Only now: what was caught up stays, whatever becomes of the body.
            let before = fold
            let logged = log.nextSequence
            var result: T?
            do {
                return try state.transaction { () throws -> T in
                    let value = try body()
                    result = value
                    return value
                }
            } catch {
                fold = before
                // The log holds it, so it is done, and an error would make the app do it twice. The views catch up.
                if let result, log.nextSequence > logged { return result }
                throw error
            }
        } catch {
            throw mapped(error)
        }
    }

    /// After a failure between log and views the log is ahead; what it holds was acknowledged or will be seen as such.
    private func catchUpAfterFailure() throws {
        guard try state.header().applied + 1 < log.nextSequence else { return }
        try Self.catchUp(&fold, state, files)
    }

    func mapped(_ error: any Error) -> TidelogError {
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

    public var hasModel: Bool { fold.model != nil }

    public var service: ServiceDescription? {
        get throws(TidelogError) { try read { try $0.header().service } }
    }

    /// The number that the next batch will have.
    public var nextBatch: BatchID {
        get throws(TidelogError) { try read { try $0.header().nextBatch } }
    }

    /// Gives up the files and the lock; every later call fails.
    public func close() {
        log.close()
        state.close()
    }

    func read<T>(_ body: (SQLiteState) throws -> T) throws(TidelogError) -> T {
        do {
            try catchUpAfterFailure()
            return try body(state)
        } catch {
            throw mapped(error)
        }
    }
}
