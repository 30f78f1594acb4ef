import OfflineStore
import OperationLog
import Operations
import SyncCore

/// Folds the log of a store several times, from different snapshots and through the views, and compares the results.
struct ReplayChecker {
    private let store: InspectedStore

    init(_ store: InspectedStore) { self.store = store }

    func check(
        against others: [(record: SequenceNumber, digest: StateDigest)], _ progress: (UInt64, UInt64) -> Void
    ) async throws(TidelogError) -> ReplayCheck {
        var check = try checkRecords(against: others, progress)
        if check.divergence == nil { try checkOrigins(&check) }
        if check.divergence == nil { try await checkViews(&check) }
        if check.divergence == nil, !check.isDamaged { check.storedViews = try store.checkStoredViews() }
        return check
    }

    // MARK: The first run

    /// A known state to compare with.
    private struct ReplayCheckpoint {
        let record: SequenceNumber
        let digest: StateDigest
        /// The snapshot, or nil for a state of another run.
        let snapshot: SequenceNumber?
    }

    /// Replays the log in memory, from the earliest possible position.
    private func checkRecords(
        against others: [(record: SequenceNumber, digest: StateDigest)],
        _ progress: (UInt64, UInt64) -> Void
    ) throws(TidelogError) -> ReplayCheck {
        let replay = try Replay(store)
        var check = ReplayCheck(origin: replay.origin, digest: try replay.digest())
        let (first, last) = (replay.sequence, try lastSequence())
        check.last = last
        let reported = others.map { ReplayCheckpoint(record: $0.record, digest: $0.digest, snapshot: nil) }
        check.incomparableStates = reported.count { $0.record < first }
        let milestones = (try storedDigests() + reported)
            .filter { $0.record >= first && $0.record <= last }.sorted { $0.record < $1.record }
        func advance(through end: SequenceNumber) throws(TidelogError) {
            while replay.sequence < end {
                let before = replay.sequence
                // Records that are appended meanwhile are ignored.
                try replay.advance(through: min(end, before + Self.recordsPerReport)) { check.add($0, $1) }
                guard replay.sequence > before else { return }
                progress(replay.sequence - first, last - first)
            }
        }
        for milestone in milestones {
            try advance(through: milestone.record)
            try compare(replay, milestone, &check)
            if check.divergence != nil { break }
        }
        if check.divergence == nil { try advance(through: last) }
        if check.divergence == nil {
            check.divergence = reported.map(\.record).filter { $0 > last }.min().map { .ended(record: $0) }
        }
        check.records = replay.sequence - first
        check.digest = try replay.digest()
        check.isDamaged = replay.salvage != nil
        check.lostRecords = replay.salvage?.lost.count ?? 0
        return check
    }

    private func compare(_ replay: Replay, _ milestone: ReplayCheckpoint, _ check: inout ReplayCheck)
        throws(TidelogError)
    {
        let isSame = try replay.digest() == milestone.digest
        guard let snapshot = milestone.snapshot else {
            if replay.hasGap { return check.incomparableStates += 1 }
            check.comparedStates += 1
            if !isSame { check.divergence = .other(record: milestone.record, digest: milestone.digest) }
            return
        }
        // At these snapshots the run itself restarts.
        guard !replay.restarts.contains(snapshot) else { return }
        if isSame { check.snapshots.append(snapshot) } else { check.divergence = .snapshot(snapshot) }
    }

    private static var recordsPerReport: UInt64 { 10_000 }

    private func lastSequence() throws(TidelogError) -> SequenceNumber {
        try store.readable { reader throws in try reader.nextSequence() - 1 }
    }

    /// Returns the digests in the snapshots.
    private func storedDigests() throws(TidelogError) -> [ReplayCheckpoint] {
        do {
            let reader = try store.reader()
            return try reader.snapshots().map { file in
                let cursor = try reader.snapshot(file)
                var decoder = SnapshotDecoder()
                while let item = try cursor.next() { _ = try decoder.add(kind: item.kind, payload: item.bytes) }
                return ReplayCheckpoint(
                    record: file.sequence - 1, digest: try decoder.finish(), snapshot: file.sequence)
            }
        } catch {
            throw TidelogError(inspecting: store, error)
        }
    }

    // MARK: Further runs

    private func checkOrigins(_ check: inout ReplayCheck) throws(TidelogError) {
        for snapshot in check.snapshots where check.origin != .snapshot(snapshot) {
            let replay = try Replay(store, origin: .snapshot(snapshot))
            try replay.advance(through: check.last)
            guard try replay.digest() != check.digest else { continue }
            let record = try firstDifference(
                try Replay(store, from: snapshot - 1, origin: check.origin, keepsDigests: true),
                try Replay(store, origin: .snapshot(snapshot), keepsDigests: true), through: check.last)
            check.divergence = .origin(snapshot: snapshot, record: record)
            return
        }
    }

    /// Returns the record after which two runs with the same initial state diverge.
    private func firstDifference(
        _ one: Replay, _ other: Replay, through last: SequenceNumber
    ) throws(TidelogError) -> SequenceNumber {
        while one.sequence < last, let step = try one.next(), let otherStep = try other.next() {
            if step.digest != otherStep.digest { break }
        }
        return one.sequence
    }

    private func checkViews(_ check: inout ReplayCheck) async throws(TidelogError) {
        guard try await viewsDigest(at: check.last) != check.digest.description else { return }
        // The last record after which they are known to agree, and the first after which they do not.
        var (low, high) = (try Replay(store).sequence, check.last)
        while high - low > 1 {
            let middle = low + (high - low) / 2
            let replay = try Replay(store, from: middle, origin: check.origin)
            if try await viewsDigest(at: middle) == replay.digest().description { low = middle } else { high = middle }
        }
        check.divergence = .views(record: high)
    }

    private func viewsDigest(at sequence: SequenceNumber) async throws(TidelogError) -> String {
        var store = store
        store.options.foldsHistoryInViews = true
        return try await store.past(at: .sequence(sequence)).store.digest()
    }
}
