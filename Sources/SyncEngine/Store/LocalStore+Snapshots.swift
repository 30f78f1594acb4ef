import OperationLog
import Operations
import SyncCore
import Views

extension LocalStore {
    /// Writes the state as it is now into the log's directory. Older snapshots of no more use are removed; the log keeps all
    /// of its records.
    ///
    /// Cost: one pass over the store, while other calls wait; memory does not grow with it.
    @discardableResult
    public func writeSnapshot() throws(TidelogError) -> StoreSnapshot {
        do {
            let snapshot = try currentSnapshot()
            try removeOldSnapshots()
            return snapshot
        } catch {
            throw mapped(error)
        }
    }

    /// The snapshot in front of the next record, newly written unless it is there and holds.
    func currentSnapshot() throws -> StoreSnapshot {
        // History may go that the views would have to be caught up from.
        try commitPages()
        try catchUpAfterFailure()
        if let newest = try reader().snapshots().last, newest.sequence == log.nextSequence,
            let digest = try? digest(of: newest)
        {
            // It may be all that is left of what it says. Views must not overrule it.
            guard try digest == StateDigest(of: state) else {
                throw Self.unproven("The store does not say what its newest snapshot says", files)
            }
            return StoreSnapshot(sequence: newest.sequence, bytes: newest.bytes, digest: digest.description)
        }
        var digest: StateDigest?
        let file = try log.writeSnapshot { writer in
            digest = try fold.writeSnapshot { try writer.add(kind: $0, payload: $1) }
        }
        return StoreSnapshot(sequence: file.sequence, bytes: file.bytes, digest: digest?.description ?? "")
    }

    /// See ``SnapshotSpacing``. One that a crash brings back is removed the next time.
    private func removeOldSnapshots() throws {
        let reader = try reader()
        let snapshots = try reader.snapshots()
        let superfluous = Set(
            SnapshotSpacing.superfluous(snapshots.map(\.sequence), first: try reader.firstSequence()))
        disk.remove(snapshots.filter { superfluous.contains($0.sequence) }.map(\.path))
    }

    /// Reads a snapshot to its end.
    func digest(of snapshot: SnapshotFile) throws -> StateDigest {
        let cursor = try reader().snapshot(snapshot)
        var decoder = SnapshotDecoder()
        while let item = try cursor.next() { _ = try decoder.add(kind: item.kind, payload: item.payload) }
        return try decoder.finish()
    }

    // MARK: Automatic ones

    /// Writes a snapshot if the policy says that it is time. An error is kept in ``snapshotFailure`` and nothing else: what
    /// the app asked for is done, and the log has everything.
    func writeSnapshotIfDue() {
        guard case .automatic(let growth) = snapshotPolicy else { return }
        do {
            guard try isSnapshotDue(growth) else { return }
            try writeSnapshot()
            snapshotFailure = nil
        } catch {
            snapshotFailure = mapped(error)
        }
    }

    /// Notes how far the log goes: what an upload or download has logged is missed from now on if it is lost.
    func noteEnd() { log.recordEnd() }

    private func isSnapshotDue(_ growth: UInt64) throws -> Bool {
        let reader = try reader()
        let newest = try reader.snapshots().last
        let begin = newest?.sequence ?? 1
        // A snapshot begins a segment, so the segments behind it are what was appended since.
        var bytes: UInt64 = 0
        for segment in try reader.segmentList() where segment.firstSequence >= begin { bytes += segment.bytes }
        return log.nextSequence > begin && bytes >= max(growth, newest?.bytes ?? 0)
    }
}
