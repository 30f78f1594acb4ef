import OperationLog
import Operations
import SyncCore
import Views

extension LocalStore {
    /// Writes the state as a snapshot, proves that it says what the log says, and removes the history in front of it that
    /// the window does not keep. Whole segments go; the state, pending operations included, stays as it is.
    ///
    /// The proof: the snapshot is read back, and where history is to be removed the log is folded once more, apart from the
    /// views, from its beginning or from the last compaction's snapshot on. All must have one digest; where they differ
    /// nothing is removed, and that is an error.
    ///
    /// A crash or an error in the middle leaves a store that was compacted a little less; compact it again. Cost: that of
    /// folding the log, while other calls wait.
    public func compact(keeping window: AuditWindow) throws(TidelogError) -> StoreCompaction {
        if case .days(let days) = window, days < 0 {
            throw TidelogError(.invalidRequest, "An audit window has no negative number of days.")
        }
        do {
            try log.sync()
            let reader = try reader()
            let before = try Self.size(reader)
            let snapshot = try currentSnapshot()
            try checkWritten(snapshot, reader)
            let begin = try begin(of: window, reader)
            if window != .everything { try prove(snapshot, reader, keepingFrom: begin) }
            let removed = try log.compact(keepingFrom: begin)
            guard removed.snapshot?.sequence == snapshot.sequence else {
                throw Self.unproven("The snapshot could not be read back", files)
            }
            return StoreCompaction(
                snapshot: snapshot, firstSequence: removed.firstSequence, removedSegments: removed.removedSegments,
                removedSnapshots: removed.removedSnapshots, bytesBefore: before, bytesAfter: try Self.size(reader))
        } catch {
            throw mapped(error)
        }
    }

    private static func size(_ reader: LogReader) throws(LogError) -> UInt64 {
        try reader.segmentList().reduce(0) { $0 + $1.bytes } + reader.snapshots().reduce(0) { $0 + $1.bytes }
    }

    // MARK: Proof

    private func checkWritten(_ snapshot: StoreSnapshot, _ reader: LogReader) throws {
        guard let file = try reader.snapshots().first(where: { $0.sequence == snapshot.sequence }),
            try digest(of: file).description == snapshot.digest
        else { throw Self.unproven("The snapshot does not say what the store says", files) }
    }

    /// Views are derived, and a fault in them must not become the truth when the log goes that they were made from. Neither
    /// are snapshots trusted that the store wrote by itself, as they were made from the views.
    ///
    /// On the way the state is written with which the log begins then, so that every later one can be made of it.
    private func prove(_ snapshot: StoreSnapshot, _ reader: LogReader, keepingFrom begin: SequenceNumber) throws {
        let snapshots = try reader.snapshots()
        let base = try reader.firstSequence() == 1 ? nil : snapshots.first
        // Compacted before, and nothing was recorded since.
        if base?.sequence == snapshot.sequence { return }
        let proof = files.proof
        disk.remove(proof)
        defer { disk.remove(proof) }
        let state = try SQLiteState(
            path: disk.isSystem ? proof[0] : nil, key: ViewsKey(keys, in: log.storeIdentifier),
            store: log.storeIdentifier.description)
        defer { state.close() }
        if let base { try ViewsOpening.restore(base, reader, into: state) }
        var fold = try Fold(storage: WorkingSet(over: state))
        let first = try reader.segmentList().last { $0.firstSequence <= begin }?.firstSequence ?? 1
        if first > base?.sequence ?? 1, first < snapshot.sequence {
            try ViewsOpening.catchUp(&fold, reader, through: first - 1)
            try writeBeginning(fold, first, snapshots)
        }
        try ViewsOpening.catchUp(&fold, reader, through: snapshot.sequence - 1)
        guard try StateDigest(of: state).description == snapshot.digest else {
            // It was made from these views, and is no better than they are.
            disk.remove(snapshots.filter { $0.sequence == snapshot.sequence }.map(\.path))
            throw Self.unproven("The store does not say what its log says", files)
        }
    }

    /// - Parameter fold: of all records in front of the first one that is kept.
    private func writeBeginning(_ fold: Fold, _ first: SequenceNumber, _ snapshots: [SnapshotFile]) throws {
        let digest = try StateDigest(of: fold.storage)
        let known = snapshots.first { $0.sequence == first }
        if let known, let found = try? self.digest(of: known), found == digest { return }
        let written = try log.writeSnapshot(inFrontOf: first) { writer in
            _ = try fold.writeSnapshot { try writer.add(kind: $0, payload: $1) }
        }
        guard try self.digest(of: written) == digest else {
            throw Self.unproven("The snapshot in front of operation \(first) could not be read back", files)
        }
    }

    static func unproven(_ what: String, _ files: StoreFiles) -> TidelogError {
        TidelogError(
            .damaged, "\(what); nothing was removed.", place: files.directory,
            recovery: "Close the store, delete its views, and try again.")
    }

    // MARK: Window

    /// The first record that the window keeps.
    private func begin(of window: AuditWindow, _ reader: LogReader) throws -> SequenceNumber {
        switch window {
        case .everything: return 0
        case .bytes(let limit):
            var kept: UInt64 = 0
            var first = log.nextSequence
            for segment in try reader.segmentList().reversed() {
                kept += segment.bytes
                guard kept <= limit else { break }
                first = segment.firstSequence
            }
            return first
        case .days(let days):
            let (length, overflow) = Int64(days).multipliedReportingOverflow(by: 86_400_000)
            guard !overflow else { return 0 }
            let limit = environment.now() - length
            var first: SequenceNumber = 0
            // From the oldest on and no further than the first that is young enough: a clock that went wrong for a while
            // then keeps too much rather than too little. Reads as many records as segments are removed.
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

    /// The time of the last record in the range that has one.
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
