import OperationLog
import Operations
import SyncCore
import Views

/// The snapshots in the directory of the log.
struct StoreSnapshots {
    let core: StoreCore

    /// Writes a snapshot of the current state to the log's directory. Superfluous older snapshots are removed; the log
    /// keeps all of its records.
    ///
    /// Cost: one pass over the store, while other calls wait. Memory is bounded.
    @discardableResult
    func write() throws(TidelogError) -> StoreSnapshot {
        do {
            let snapshot = try current()
            try removeOld()
            return snapshot
        } catch {
            throw core.mapped(error)
        }
    }

    /// Returns the snapshot at the current end of the log. It is written unless an intact one exists.
    func current() throws -> StoreSnapshot {
        // Afterwards, history that the views need to catch up may be removed.
        try core.commitPages()
        try core.catchUpAfterFailure()
        if let newest = try core.reader().snapshots().last, newest.sequence == core.log.nextSequence,
            let digest = try? digest(of: newest)
        {
            // The snapshot may be the only remaining source of its state, so views must not override it.
            guard try digest == StateDigest(of: core.state) else {
                throw StoreCompactor.unproven("The state of the store differs from its newest snapshot", core.files)
            }
            return StoreSnapshot(sequence: newest.sequence, bytes: newest.bytes, digest: digest.description)
        }
        var digest: StateDigest?
        let file = try core.log.writeSnapshot { writer in
            digest = try core.fold.writeSnapshot { try writer.add(kind: $0, payload: $1) }
        }
        return StoreSnapshot(sequence: file.sequence, bytes: file.bytes, digest: digest?.description ?? "")
    }

    /// Removes superfluous snapshots; see ``SnapshotRetention``. One that reappears after a crash is removed the next
    /// time. Returns their number.
    @discardableResult func removeOld() throws -> Int {
        let reader = try core.reader()
        let snapshots = try reader.snapshots()
        let superfluous = Set(
            SnapshotRetention.superfluous(
                snapshots.map { .init(sequence: $0.sequence, bytes: $0.bytes) },
                in: try reader.segmentList().map { .init(sequence: $0.firstSequence, bytes: $0.bytes) }))
        core.disk.remove(snapshots.filter { superfluous.contains($0.sequence) }.map(\.path))
        return superfluous.count
    }

    /// Reads a snapshot completely and returns its digest.
    func digest(of snapshot: SnapshotFile) throws -> StateDigest {
        let cursor = try core.reader().snapshot(snapshot)
        var decoder = SnapshotDecoder()
        while let item = try cursor.next() { _ = try decoder.add(kind: item.kind, payload: item.bytes) }
        return try decoder.finish()
    }

    // MARK: Automatic ones

    /// Writes a snapshot if the policy requires it. An error is only stored in ``StoreCore/snapshotFailure``: the app's
    /// call has succeeded, and the log is complete.
    func writeIfDue() {
        guard case .automatic(let growth) = core.options.snapshots else { return }
        do {
            guard try isSnapshotDue(growth) else { return }
            try write()
            core.snapshotFailure = nil
        } catch {
            core.snapshotFailure = core.mapped(error)
        }
    }

    private func isSnapshotDue(_ growth: UInt64) throws -> Bool {
        let reader = try core.reader()
        let newest = try reader.snapshots().last
        let begin = newest?.sequence ?? 1
        // A snapshot begins a segment, so the later segments were appended since.
        var bytes: UInt64 = 0
        for segment in try reader.segmentList() where segment.firstSequence >= begin { bytes += segment.bytes }
        return core.log.nextSequence > begin && bytes >= max(growth, newest?.bytes ?? 0)
    }
}
