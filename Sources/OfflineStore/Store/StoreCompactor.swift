import EDM
import OperationLog
import Operations
import SyncCore
import Views

/// The removal of history that an audit window does not keep.
struct StoreCompactor {
    let core: StoreCore

    private var snapshots: StoreSnapshots { StoreSnapshots(core: core) }

    /// Writes a snapshot, proves that it corresponds to the log, and removes earlier history that the window does not
    /// keep. Only whole segments are removed; the state, including pending operations, does not change.
    ///
    /// The proof reads the snapshot back, and if history is to be removed, folds the log once more without the views,
    /// from its beginning or from the last compaction's snapshot. All digests have to be equal; otherwise nothing is
    /// removed, and an error is thrown.
    ///
    /// A crash or an error during the compaction leaves a store that is compacted less; compact it again. Cost: folding
    /// the log, while other calls wait.
    func compact(keeping window: AuditWindow) throws(TidelogError) -> StoreCompaction {
        if case .days(let days) = window, days < 0 {
            throw TidelogError(.invalidRequest, "The number of days to keep must not be negative.")
        }
        do {
            try core.log.sync()
            let reader = try core.reader()
            let before = try Self.size(reader)
            let snapshot = try snapshots.current()
            try checkWritten(snapshot, reader)
            // Before the proof, so that compactions that never end do not add one snapshot each.
            let thinned = try snapshots.removeOld()
            let begin = try begin(of: window, reader)
            if window != .everything { try prove(snapshot, reader, keepingFrom: begin) }
            let removed = try core.log.compact(keepingFrom: begin)
            guard removed.snapshot?.sequence == snapshot.sequence else {
                throw Self.unproven("The snapshot could not be read back", core.files)
            }
            return StoreCompaction(
                snapshot: snapshot, firstSequence: removed.firstSequence, removedSegments: removed.removedSegments,
                removedSnapshots: thinned + removed.removedSnapshots, bytesBefore: before,
                bytesAfter: try Self.size(reader))
        } catch {
            throw core.mapped(error)
        }
    }

    private static func size(_ reader: LogReader) throws(LogError) -> UInt64 {
        try reader.segmentList().reduce(0) { $0 + $1.bytes } + reader.snapshots().reduce(0) { $0 + $1.bytes }
    }

    // MARK: Proof

    private func checkWritten(_ snapshot: StoreSnapshot, _ reader: LogReader) throws {
        guard let file = try reader.snapshots().first(where: { $0.sequence == snapshot.sequence }),
            try self.snapshots.digest(of: file).description == snapshot.digest
        else { throw Self.unproven("The snapshot differs from the state of the store", core.files) }
    }

    /// Proves a snapshot by folding the log again.
    ///
    /// Views are derived, so an error in them must not survive when the log that they were derived from is removed.
    /// Snapshots that the store wrote automatically are not trusted either, because they were derived from the views.
    ///
    /// The proof also writes the state before the first kept record, so that all later states can be derived.
    private func prove(_ snapshot: StoreSnapshot, _ reader: LogReader, keepingFrom begin: SequenceNumber) throws {
        let snapshots = try reader.snapshots()
        let base = try reader.firstSequence() == 1 ? nil : snapshots.first
        // Compacted before, with no record since.
        if base?.sequence == snapshot.sequence { return }
        let proof = core.files.proof
        core.disk.remove(proof)
        defer { core.disk.remove(proof) }
        let state = try SQLiteState(
            path: core.disk.isSystem ? proof[0] : nil, key: ViewsKey(core.keys, in: core.log.storeIdentifier),
            store: core.log.storeIdentifier.description)
        defer { state.close() }
        let models = core.environment.models
        if let base { try ViewsOpener.restore(base, reader, into: state, models) }
        let workingSet = WorkingSet(over: state)
        workingSet.models = models
        var fold = try Fold(storage: workingSet)
        let first = try reader.segmentList().last { $0.firstSequence <= begin }?.firstSequence ?? 1
        if first > base?.sequence ?? 1, first < snapshot.sequence {
            try ViewsOpener.catchUp(&fold, reader, through: first - 1)
            try writeBeginning(fold, first, snapshots)
        }
        try ViewsOpener.catchUp(&fold, reader, through: snapshot.sequence - 1)
        guard try StateDigest(of: state).description == snapshot.digest else {
            // It was derived from these views and is as wrong as they are.
            core.disk.remove(snapshots.filter { $0.sequence == snapshot.sequence }.map(\.path))
            throw Self.unproven("The state of the store differs from its log", core.files)
        }
    }

    /// Writes the state before the first kept record.
    ///
    /// - Parameter fold: The fold of all records before it.
    private func writeBeginning(_ fold: Fold, _ first: SequenceNumber, _ snapshots: [SnapshotFile]) throws {
        let digest = try StateDigest(of: fold.storage)
        let known = snapshots.first { $0.sequence == first }
        if let known, let found = try? self.snapshots.digest(of: known), found == digest { return }
        let written = try core.log.writeSnapshot(inFrontOf: first) { writer in
            _ = try fold.writeSnapshot { try writer.add(kind: $0, payload: $1) }
        }
        guard try self.snapshots.digest(of: written) == digest else {
            throw Self.unproven("The snapshot before operation \(first) could not be read back", core.files)
        }
    }

    static func unproven(_ what: String, _ files: StoreFiles) -> TidelogError {
        TidelogError(
            .damaged, "\(what); nothing was removed.", place: files.directory,
            recovery: "Close the store, delete its views, and try again.")
    }

    // MARK: Window

    /// Returns the first record that the window keeps.
    private func begin(of window: AuditWindow, _ reader: LogReader) throws -> SequenceNumber {
        switch window {
        case .everything: return 0
        case .bytes(let limit):
            var kept: UInt64 = 0
            var first = core.log.nextSequence
            for segment in try reader.segmentList().reversed() {
                kept += segment.bytes
                guard kept <= limit else { break }
                first = segment.firstSequence
            }
            return first
        case .days(let days):
            let (length, overflow) = Int64(days).multipliedReportingOverflow(by: 86_400_000)
            guard !overflow else { return 0 }
            let limit = core.environment.now() - length
            var first: SequenceNumber = 0
            // From the oldest segment to the first one that is young enough, so that a temporarily wrong clock keeps
            // too much rather than too little. Reads one record for each removed segment.
            for segment in try reader.segmentList() {
                guard let last = segment.lastSequence,
                    let time = try time(from: segment.firstSequence, through: last, reader),
                    time < limit
                else { break }
                first = last + 1
            }
            return first
        }
    }

    /// Returns the time of the last record in the range that has one.
    private func time(
        from first: SequenceNumber, through last: SequenceNumber, _ reader: LogReader
    ) throws -> Timestamp? {
        if let record = try reader.record(last), let time = RecordCodec.time(kind: record.kind, payload: record.payload)
        {
            return time
        }
        var found: Timestamp?
        try reader.forEach(from: first, through: last) { record in
            if let time = RecordCodec.time(kind: record.kind, payload: record.payload) { found = time }
        }
        return found
    }
}
