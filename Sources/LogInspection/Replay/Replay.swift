import EDM
import ODataWire
package import OfflineStore
package import OperationLog
package import Operations
package import SyncCore

/// A replay of a log: it folds the records again, one by one, in memory.
///
/// It uses only the records and snapshots of the store, not its views. Records that are lost to damage are folded as
/// lost ones, up to the next snapshot. Not thread-safe.
package final class Replay {
    /// The initial state of a replay.
    package enum Origin: Sendable, Hashable {
        case beginning
        /// The state before the record with this number, from a snapshot.
        case snapshot(SequenceNumber)
    }

    /// A record with its effect.
    package struct Step: Sendable {
        package let entry: HistoryEntry
        /// The digest of the state after the record; nil if the replay computes none.
        package let digest: StateDigest?
        /// The rebuilt requests of a prepared batch.
        package let batch: ReplayedBatch?
        /// The visible changes of the record; empty if the replay computes no digests.
        package let changes: [StateChange]
    }

    package let origin: Origin
    /// The source of the records: after damage, a store with the readable part.
    private var store: InspectedStore
    private var cursor: LogCursor
    package private(set) var state: WorkingSet
    private var fold: Fold
    private let keepsDigests: Bool
    private let decoder = RecordDecoder()
    private var sets = EntitySets()
    private let serviceOptions: ServiceOptions?
    private let buildsBatches: Bool
    /// The number of the last folded record.
    package private(set) var sequence: SequenceNumber
    /// A Boolean value that indicates whether earlier records are lost and no later snapshot has restored their
    /// effects.
    package private(set) var hasGap = false
    /// The snapshots after lost records at which the replay restarted, by the first record that each does not include.
    private(set) var restarts: [SequenceNumber] = []

    /// Creates a replay.
    ///
    /// - Parameters:
    ///   - start: The last record that is folded before the first step; 0 for none. A number after the end of the log
    ///     folds all records.
    ///   - origin: The initial state, or nil for the newest snapshot that is not after the start, which is the
    ///     cheapest.
    ///   - keepsDigests: Whether each step contains the state's digest. The pending operations are then reapplied after
    ///     each record, which is expensive if many are pending.
    ///   - buildsBatches: Whether each step of a prepared batch contains the rebuilt requests, which requires planning
    ///     the batch.
    /// - Throws: `notFound` if a compaction has removed the records before the start, or `noStore` if there is no log.
    package init(
        _ store: InspectedStore, from start: SequenceNumber = 0, origin: Origin? = nil, keepsDigests: Bool = false,
        buildsBatches: Bool = true
    ) throws(TidelogError) {
        self.buildsBatches = buildsBatches
        self.keepsDigests = keepsDigests
        serviceOptions = store.serviceOptions
        let beginning = try store.salvagingNow { store throws(TidelogError) in
            do {
                return try InitialState(store, start, origin, keepsDigests: keepsDigests)
            } catch {
                throw TidelogError(inspecting: store, error)
            }
        }
        (self.store, self.origin, cursor) = (beginning.store, beginning.origin, beginning.cursor)
        (state, fold, sequence) = (beginning.state, beginning.fold, beginning.cursorStart - 1)
        sets = beginning.sets
        try advance(through: start)
        if keepsDigests { _ = state.drainChanges() }
    }

    /// The initial state, and the cursor at the first record.
    private struct InitialState {
        let store: InspectedStore
        let origin: Origin
        let state: WorkingSet
        let fold: Fold
        let cursor: LogCursor
        /// The first record of the cursor.
        let cursorStart: SequenceNumber
        var sets = EntitySets()

        init(
            _ store: InspectedStore, _ start: SequenceNumber, _ wanted: Origin?, keepsDigests: Bool
        ) throws {
            self.store = store
            let reader = try store.reader()
            origin = try wanted ?? Replay.nearest(to: start, reader)
            state = WorkingSet(keepsDigest: keepsDigests)
            if case .snapshot(let sequence) = origin { try Replay.restore(sequence, reader, into: state) }
            fold = try Fold(storage: state)
            let first = try state.header().applied + 1
            cursorStart = first
            cursor = reader.records(from: first)
            // Damage here may require another initial state.
            _ = try reader.record(first)
            try state.forEachEntity { sets.add($0, $1) }
        }
    }

    private static func nearest(to start: SequenceNumber, _ reader: LogReader) throws -> Origin {
        let snapshots = try reader.snapshots().map(\.sequence)
        if let newest = snapshots.last(where: { $0 <= start &+ 1 }) { return .snapshot(newest) }
        let first = try reader.firstSequence()
        guard first > 1 else { return .beginning }
        guard let oldest = snapshots.first, start == 0 else { throw LogError.compacted(first: first) }
        return .snapshot(oldest)
    }

    private static func restore(_ sequence: SequenceNumber, _ reader: LogReader, into state: WorkingSet) throws {
        guard let file = try reader.snapshots().first(where: { $0.sequence == sequence }) else {
            throw TidelogError(
                .notFound, "The log has no snapshot before operation \(sequence).", place: reader.directory)
        }
        let snapshot = try reader.snapshot(file)
        var restoration = StateRestoration(into: state)
        while let item = try snapshot.next() { try restoration.add(kind: item.kind, payload: item.bytes) }
        _ = try restoration.finish()
    }

    /// Returns the digest of the state after the last record. If the replay computes no digests, this is one pass over
    /// the state.
    package func digest() throws(TidelogError) -> StateDigest {
        do throws(StateError) {
            try fold.finishRebase()
            if let digest = state.digest { return digest }
            return try StateDigest(of: state)
        } catch {
            throw TidelogError(replaying: sequence, error)
        }
    }

    /// Folds the next record. Returns its step, or nil at the current end of the log.
    package func next() throws(TidelogError) -> Step? {
        guard let (number, record) = try read() else { return nil }
        sets.add(from: record.body)
        let batch = buildsBatches ? try rebuilt(record.body) : nil
        try apply(record, number)
        var changes: [StateChange] = []
        if keepsDigests {
            try finishRebase()
            changes = state.drainChanges()
        }
        try closeGap()
        return Step(
            entry: HistoryEntry(sequence: number, record: record, sets: sets),
            digest: keepsDigests ? try self.digest() : nil, batch: batch, changes: changes)
    }

    /// Returns a name of the entity for summaries, such as `Customers(~3)`.
    package func reference(_ id: EntityID) -> String { sets.reference(id) }

    /// Folds all records up to this one without returning steps.
    package func advance(through last: SequenceNumber) throws(TidelogError) {
        try fold(through: last) { _, _ throws(TidelogError) in }
    }

    /// Folds all records up to this one.
    ///
    /// - Parameter tell: Called with each prepared batch and the number of its record.
    func advance(
        through last: SequenceNumber, telling tell: (ReplayedBatch, SequenceNumber) -> Void
    ) throws(TidelogError) {
        try fold(through: last) { body, number throws(TidelogError) in
            if let batch = try rebuilt(body) { tell(batch, number) }
        }
    }

    /// Folds all records up to this one.
    ///
    /// - Parameter look: Called with each record before it is folded.
    private func fold(
        through last: SequenceNumber, _ look: (Record.Body, SequenceNumber) throws(TidelogError) -> Void
    ) throws(TidelogError) {
        while sequence < last, let (number, record) = try read() {
            try look(record.body, number)
            sets.add(from: record.body)
            try apply(record, number)
            try closeGap()
        }
        // Only once, because no query reads the pending operations in between.
        try finishRebase()
    }

    private func finishRebase() throws(TidelogError) {
        do throws(StateError) {
            try fold.finishRebase()
            _ = fold.drainDirtySet()
        } catch {
            throw TidelogError(replaying: sequence, error)
        }
    }

    private func apply(_ record: Record, _ number: SequenceNumber) throws(TidelogError) {
        do throws(StateError) {
            try fold.apply(record, sequence: number)
        } catch {
            throw TidelogError(replaying: number, error)
        }
        sequence = number
        if case .lost = record.body { hasGap = true }
    }

    /// Returns the next record, after damage from the readable part.
    private func read() throws(TidelogError) -> (SequenceNumber, Record)? {
        do {
            guard let record = try cursor.next() else { return nil }
            return (record.sequence, try decoder.decode(kind: record.kind, payload: record.bytes))
        } catch {
            store = try store.salvaged(after: TidelogError(inspecting: store, error))
            // The records before the damage are the same there.
            cursor = try store.openReader().records(from: sequence + 1)
            return try read()
        }
    }

    // MARK: Lost records

    /// The salvage report of a damaged log; nil until damage is met.
    package var salvage: RepairPlan.Salvage? { store.salvage }

    /// Restarts at a snapshot after lost records, because it contains their effects as the store itself has them.
    private func closeGap() throws(TidelogError) {
        guard hasGap else { return }
        do {
            let reader = try store.reader()
            guard try reader.snapshots().contains(where: { $0.sequence == sequence + 1 }) else { return }
            let restored = WorkingSet(keepsDigest: keepsDigests)
            try Self.restore(sequence + 1, reader, into: restored)
            (state, fold) = (restored, try Fold(storage: restored))
            try state.forEachEntity { sets.add($0, $1) }
            _ = state.drainChanges()
            hasGap = false
            restarts.append(sequence + 1)
        } catch {
            throw TidelogError(inspecting: store, error)
        }
    }

    // MARK: Batches

    private func serviceRoot() throws(TidelogError) -> String? {
        do throws(StateError) {
            return try state.header().service?.root
        } catch {
            throw TidelogError(replaying: sequence, error)
        }
    }

    /// Rebuilds the requests of a batch from the state before its prepared record.
    private func rebuilt(_ body: Record.Body) throws(TidelogError) -> ReplayedBatch? {
        guard case .batchPrepared(let prepared) = body else { return nil }
        try finishRebase()
        guard let model = fold.model, let root = try serviceRoot() else { return nil }
        return ReplayedBatch(
            prepared, on: state, model, serviceRoot: root,
            options: serviceOptions ?? ServiceOptions(declaredBy: model), hasGap: hasGap)
    }
}

extension TidelogError {
    init(replaying sequence: SequenceNumber, _ error: StateError) {
        self.init(
            .damaged, "Operation \(sequence) of the log cannot be applied. \(error.message)",
            recovery: "Run 'tidelog verify' on the store.", cause: error)
    }

    /// Creates the public form of an error during an inspection.
    init(inspecting store: InspectedStore, _ error: any Error) {
        switch error {
        case let error as TidelogError: self = error
        case LogError.compacted(let first):
            self.init(
                .notFound, "A compaction removed the states of the store before operation \(first).",
                place: store.files.log, recovery: "Request a later state.", cause: error)
        case let error as LogError: self.init(error)
        case is CodecError: self = LogFailure.mapped(error)
        case let error as StateError:
            self.init(.damaged, error.message, place: store.files.log, cause: error)
        default: self.init(.storage, "\(error)", place: store.files.log, cause: error)
        }
    }
}
