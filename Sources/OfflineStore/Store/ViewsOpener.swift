import EDM
import OperationLog
package import Operations
import SyncCore
import Views

/// Brings the views up to date with the log: from the existing views, otherwise from the newest intact snapshot,
/// otherwise from the whole log, followed by the later records.
struct ViewsOpener {
    let files: StoreFiles
    let reader: LogReader
    let store: String
    /// The path of the views, or nil to keep them in memory.
    let path: String?
    /// The key of the views, or nil if the log is not encrypted.
    let key: ViewsKey?
    private let options: LocalStoreOptions
    /// The sequence number of the log's next record.
    let nextSequence: SequenceNumber
    /// Whether each record is on disk before the views have it.
    private let syncsEachCommit: Bool
    /// The snapshots that were found damaged, or not to belong to this log, when it was opened.
    private let unusable: Set<String>
    /// Whether the state is folded in memory and the views are built from the result. It takes as much memory as the
    /// state, and much less time for many records.
    var foldsInMemory = false
    /// The state in memory; nil if the views were folded directly.
    private(set) var past: HistoricalFold?
    /// The repairs, in sentences.
    private(set) var notes: [String] = []
    private(set) var report = ViewsReport()

    init(files: StoreFiles, log: OperationLog, reader: LogReader, options: LocalStoreOptions, unusable: Set<String>) {
        self.files = files
        self.reader = reader
        self.unusable = unusable
        self.options = options
        path = options.disk.viewsPath(files)
        key = ViewsKey(log.options.keys, in: log.storeIdentifier)
        store = log.storeIdentifier.description
        nextSequence = log.nextSequence
        syncsEachCommit = log.options.durability == .everyCommit
    }

    mutating func open() throws -> (SQLiteState, Fold) {
        // Left by a process that ended during a compaction.
        options.disk.remove(files.proof)
        if path == nil { options.disk.remove(files.viewFiles) }
        do {
            if let views = try existing() { return views }
        } catch let error as StateError {
            guard error.code == .damaged else { throw error }
            notes.append("The views were rebuilt from the log, because: \(error.message)")
        }
        return try rebuilt()
    }

    /// Returns the existing views, caught up with the log, or nil if there are none and the log is not empty.
    private mutating func existing() throws -> (SQLiteState, Fold)? {
        // Views in memory do not outlive a process.
        if path == nil, nextSequence > 1 { return nil }
        let state = try views()
        let applied = try state.header().applied
        if applied == 0, nextSequence > 1 { return nil }
        guard applied < nextSequence else {
            guard syncsEachCommit else {
                throw StateError(.damaged, "The views contain operations that the log does not have.")
            }
            throw Self.endIsMissing(applied: applied, nextSequence, files)
        }
        guard try applied + 1 >= reader.firstSequence() else {
            throw StateError(.damaged, "The views are older than the first operation of the log.")
        }
        // Reads the queue, so that an unreadable one leads to a rebuild here.
        _ = try state.hasPending()
        return try caughtUp(state)
    }

    /// Returns the error for views that contain more than the log. If each commit is synced before the views have it,
    /// the log must have lost these operations. With other durabilities, a power loss may remove the end of the log and
    /// keep the views.
    static func endIsMissing(
        applied: SequenceNumber, _ nextSequence: SequenceNumber, _ files: StoreFiles
    ) -> TidelogError {
        TidelogError(
            .damaged,
            "The end of the log is missing: its last operation is \(nextSequence - 1), but the views contain operation \(applied).",
            place: files.log,
            recovery: "Restore the files of the log, or accept the loss with 'tidelog repair --in-place'.")
    }

    /// Rebuilds the views, whatever exists.
    mutating func rebuilt() throws -> (SQLiteState, Fold) {
        for snapshot in try reader.snapshots().reversed() where !unusable.contains(snapshot.path) {
            do {
                report.snapshot = snapshot.sequence
                if foldsInMemory { return try remadeInMemory(from: snapshot) }
                let state = try emptyViews()
                try Self.restore(snapshot, reader, into: state, options.environment.models)
                return try caughtUp(state)
            } catch {
                guard let why = Self.reasonToPassOver(error) else { throw error }
                report.snapshot = nil
                notes.append("The snapshot before operation \(snapshot.sequence) was skipped, because: \(why)")
            }
        }
        guard try reader.firstSequence() == 1 else {
            throw TidelogError(
                .damaged,
                "The log begins with operation \(try reader.firstSequence()), and no snapshot contains the state before it.",
                place: files.log, recovery: "Restore a copy of the store, or create a new store and download again.")
        }
        return foldsInMemory ? try remadeInMemory(from: nil) : try caughtUp(try emptyViews())
    }

    private mutating func remadeInMemory(from snapshot: SnapshotFile?) throws -> (SQLiteState, Fold) {
        let memory = WorkingSet()
        memory.models = options.environment.models
        if let snapshot { try Self.read(snapshot, reader, into: memory, options.environment.models) }
        var past = try HistoricalFold(memory)
        report.foldedRecords = try past.advance(through: .max, reader)
        let state = try emptyViews()
        try state.fill { try DirtyItemWriter.writeAll(of: past.state, into: state, past.model) }
        self.past = past
        return (state, try past.fold(over: WorkingSet(over: state)))
    }

    private func views() throws(StateError) -> SQLiteState {
        try SQLiteState(path: path, key: key, store: store, boot: options.disk.boot)
    }

    private func emptyViews() throws(StateError) -> SQLiteState {
        options.disk.removeViews(files)
        return try views()
    }

    private mutating func caughtUp(_ state: SQLiteState) throws -> (SQLiteState, Fold) {
        let workingSet = WorkingSet(over: state)
        workingSet.models = options.environment.models
        if let flushLimit = options.flushLimit { workingSet.flushLimit = flushLimit }
        var fold = try Fold(storage: workingSet)
        if let longQueue = options.longQueue { fold.longQueue = longQueue }
        report.foldedRecords = try Self.catchUp(&fold, reader)
        return (state, fold)
    }

    /// Returns the damage of a snapshot as a sentence, or nil for an error that another snapshot cannot avoid.
    private static func reasonToPassOver(_ error: any Error) -> String? {
        switch error {
        case let error as StateError where error.code == .damaged: error.message
        case LogError.damaged(let damage): "\(damage)"
        case LogError.fileSystem(let failure): "\(failure)."
        default: nil
        }
    }

    // MARK: The two steps

    /// Restores the views from a snapshot, atomically.
    static func restore(
        _ snapshot: SnapshotFile, _ reader: LogReader, into state: SQLiteState, _ models: ModelSource
    ) throws {
        try state.transaction { try read(snapshot, reader, into: state, models) }
    }

    private static func read(
        _ snapshot: SnapshotFile, _ reader: LogReader, into state: some StateStorage, _ models: ModelSource
    ) throws {
        let cursor = try reader.snapshot(snapshot)
        var restoration = StateRestoration(into: state, models: models)
        while let item = try cursor.next() { try restoration.add(kind: item.kind, payload: item.bytes) }
        guard try restoration.finish().header.applied &+ 1 == snapshot.sequence else {
            throw StateError(.damaged, "The snapshot \(snapshot.path) belongs to another position of the log.")
        }
    }

    /// Folds the records after the state, some thousand per transaction. Returns their number.
    ///
    /// - Parameter last: The last record to fold.
    @discardableResult
    static func catchUp(
        _ fold: inout Fold, _ reader: LogReader, through last: SequenceNumber = .max
    ) throws -> Int {
        let state = fold.storage
        let cursor = reader.records(from: try state.header().applied + 1, through: last)
        var folded = 0
        while true {
            let before = fold
            do {
                let count = try state.transaction { try foldSome(of: cursor, &fold) }
                folded += count
                if count < recordsPerTransaction { break }
            } catch {
                fold = before
                throw error
            }
        }
        _ = fold.drainDirtySet()
        return folded
    }

    private static let recordsPerTransaction = 2_000

    private static func foldSome(of cursor: LogCursor, _ fold: inout Fold) throws -> Int {
        var count = 0
        let decoder = RecordDecoder()
        while count < recordsPerTransaction, let next = try cursor.next() {
            try fold.apply(try decoded(next, decoder), sequence: next.sequence)
            count += 1
        }
        try fold.finishRebase()
        return count
    }

    /// Folds all records of the cursor inside one transaction.
    static func foldAll(of cursor: LogCursor, _ fold: inout Fold) throws {
        while try foldSome(of: cursor, &fold) == recordsPerTransaction { _ = fold.drainDirtySet() }
        _ = fold.drainDirtySet()
    }

    static func decoded(_ record: LogRecord, _ decoder: RecordDecoder) throws(TidelogError) -> Record {
        do throws(CodecError) {
            return try decoder.decode(kind: record.kind, payload: record.bytes)
        } catch {
            throw TidelogError(
                .damaged, "Operation \(record.sequence) of the log cannot be read. \(error)",
                recovery: "Run 'tidelog verify' on the store.", cause: error)
        }
    }
}

/// The work that was necessary to bring the views up to date with the log.
package struct ViewsReport: Sendable, Hashable {
    /// The snapshot that the views were restored from, by the first record that it does not include. Nil if the views
    /// existed, or if the whole log was folded.
    package internal(set) var snapshot: SequenceNumber?
    /// The number of folded records.
    package internal(set) var foldedRecords = 0
}
