import EDM
import ODataWire
public import OperationLog
public import Operations
public import SyncCore
public import SyncEngine

/// A log folded once more, record by record, in memory: what happened happens again.
///
/// Nothing of the store but its records and snapshots is looked at; its views may say what they like. Records that are lost
/// to damage are folded as lost ones, up to the next snapshot. Not to be shared between threads.
public final class Replay {
    /// What the first record is folded onto.
    public enum Origin: Sendable, Hashable {
        case beginning
        /// The state in front of the record with this number, as a snapshot has it.
        case snapshot(SequenceNumber)
    }

    /// A record, and what it led to.
    public struct Step: Sendable {
        public let entry: HistoryEntry
        /// Of the state behind the record; nil where the replay keeps none.
        public let digest: StateDigest?
        /// Of a batch that was prepared, what was to be sent.
        public let batch: ReplayedBatch?
        /// What is to be seen of the record; empty where the replay keeps no digests.
        public let changes: [StateChange]
    }

    public let origin: Origin
    /// The store that the records come from: where damage was met, one of what can be read.
    private var store: InspectedStore
    private var cursor: LogCursor
    private(set) var state: WorkingSet
    private var fold: Fold
    private let keepsDigests: Bool
    private let decoder = RecordDecoder()
    private var sets = EntitySets()
    private let serviceOptions: ServiceOptions?
    private let buildsBatches: Bool
    /// Of the last record that was folded.
    public private(set) var sequence: SequenceNumber
    /// Whether records were lost in front, and no snapshot since has told what they led to.
    public private(set) var hasGap = false
    /// The snapshots behind lost records with which it began anew, by the first record that each does not include.
    private(set) var restarts: [SequenceNumber] = []

    /// - Parameters:
    ///   - start: the last record that is folded before the first step; 0 for none. With a number behind the end of the log
    ///     all are.
    ///   - origin: nil for the newest snapshot that is not younger than the start, which costs least.
    ///   - keepsDigests: whether each step tells the state's digest. Then the pending operations are put back on top behind
    ///     each record, which costs most where many are pending.
    ///   - buildsBatches: whether each step of a prepared batch has what was sent, which costs a plan of it.
    /// - Throws: `notFound` where a compaction has removed what came before the start, `noStore` where there is no log.
    public init(
        _ store: InspectedStore, from start: SequenceNumber = 0, origin: Origin? = nil, keepsDigests: Bool = false,
        buildsBatches: Bool = true
    ) throws(TidelogError) {
        self.buildsBatches = buildsBatches
        self.keepsDigests = keepsDigests
        serviceOptions = store.serviceOptions
        let beginning = try store.salvagingNow { store throws(TidelogError) in
            do {
                return try Beginning(store, start, origin, keepsDigests: keepsDigests)
            } catch {
                throw TidelogError(inspecting: store, error)
            }
        }
        (self.store, self.origin, cursor) = (beginning.store, beginning.origin, beginning.cursor)
        (state, fold, sequence) = (beginning.state, beginning.fold, beginning.cursorStart - 1)
        sets = beginning.sets
        try advance(through: start)
        if keepsDigests { _ = state.takeChanges() }
    }

    /// What the first record is folded onto, and where that one is.
    private struct Beginning {
        let store: InspectedStore
        let origin: Origin
        let state: WorkingSet
        let fold: Fold
        let cursor: LogCursor
        /// The first record that the cursor gives.
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
            // Damage here may mean that what can be read begins elsewhere.
            _ = try reader.record(first)
            try state.forEachEntity { sets.learn($0, $1) }
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
                .notFound, "The log has no snapshot in front of operation \(sequence).", place: reader.directory)
        }
        let snapshot = try reader.snapshot(file)
        var restoration = StateRestoration(into: state)
        while let item = try snapshot.next() { try restoration.add(kind: item.kind, payload: item.payload) }
        _ = try restoration.finish()
    }

    /// Of the state behind the last record. Without digests of its own, one pass over the state.
    public func digest() throws(TidelogError) -> StateDigest {
        do throws(StateError) {
            try fold.settle()
            if let digest = state.digest { return digest }
            return try StateDigest(of: state)
        } catch {
            throw TidelogError(replaying: sequence, error)
        }
    }

    /// Folds the next record, with what is to be told of it; nil at the end of the log as it is then.
    public func next() throws(TidelogError) -> Step? {
        guard let (number, record) = try read() else { return nil }
        sets.learn(from: record.body)
        let batch = buildsBatches ? try rebuilt(record.body) : nil
        try apply(record, number)
        var changes: [StateChange] = []
        if keepsDigests {
            try settle()
            changes = state.takeChanges()
        }
        try closeGap()
        return Step(
            entry: HistoryEntry(sequence: number, record: record, sets: sets),
            digest: keepsDigests ? try self.digest() : nil, batch: batch, changes: changes)
    }

    /// `Customers(~3)`: the entity as summaries name it.
    public func reference(_ id: EntityID) -> String { sets.reference(id) }

    /// Folds all records up to this one, and tells nothing of them.
    public func advance(through last: SequenceNumber) throws(TidelogError) {
        try fold(through: last) { _, _ throws(TidelogError) in }
    }

    /// - Parameter tell: of each batch that was prepared, with the number of the record that says so.
    func advance(
        through last: SequenceNumber, telling tell: (ReplayedBatch, SequenceNumber) -> Void
    ) throws(TidelogError) {
        try fold(through: last) { body, number throws(TidelogError) in
            if let batch = try rebuilt(body) { tell(batch, number) }
        }
    }

    /// - Parameter look: at what is about to be folded.
    private func fold(
        through last: SequenceNumber, _ look: (Record.Body, SequenceNumber) throws(TidelogError) -> Void
    ) throws(TidelogError) {
        while sequence < last, let (number, record) = try read() {
            try look(record.body, number)
            sets.learn(from: record.body)
            try apply(record, number)
            try closeGap()
        }
        // Only here: what is pending in between nobody looks at.
        try settle()
    }

    private func settle() throws(TidelogError) {
        do throws(StateError) {
            try fold.settle()
            _ = fold.takeTouched()
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

    /// The next record; behind damage what can be read.
    private func read() throws(TidelogError) -> (SequenceNumber, Record)? {
        do {
            guard let record = try cursor.next() else { return nil }
            return (record.sequence, try decoder.decode(kind: record.kind, payload: record.bytes))
        } catch {
            store = try store.salvaged(after: TidelogError(inspecting: store, error))
            // What is in front of the damage is the same there.
            cursor = try store.openReader().records(from: sequence + 1)
            return try read()
        }
    }

    // MARK: Lost records

    /// What was saved of a damaged log; nil as long as no damage was met.
    public var salvage: RepairPlan.Salvage? { store.salvage }

    /// Begins anew with a snapshot that was made here, behind lost records: it has what these led to, as the store itself has.
    private func closeGap() throws(TidelogError) {
        guard hasGap else { return }
        do {
            let reader = try store.reader()
            guard try reader.snapshots().contains(where: { $0.sequence == sequence + 1 }) else { return }
            let restored = WorkingSet(keepsDigest: keepsDigests)
            try Self.restore(sequence + 1, reader, into: restored)
            (state, fold) = (restored, try Fold(storage: restored))
            try state.forEachEntity { sets.learn($0, $1) }
            _ = state.takeChanges()
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

    /// What goes over the line for a batch, made from the state in front of the record that says it was prepared.
    private func rebuilt(_ body: Record.Body) throws(TidelogError) -> ReplayedBatch? {
        guard case .batchPrepared(let prepared) = body else { return nil }
        try settle()
        guard let model = fold.model, let root = try serviceRoot() else { return nil }
        return ReplayedBatch(
            prepared, on: state, model, serviceRoot: root,
            options: serviceOptions ?? ServiceOptions(declaredBy: model), hasGap: hasGap)
    }
}

extension TidelogError {
    init(replaying sequence: SequenceNumber, _ error: StateError) {
        self.init(
            .damaged, "Operation \(sequence) of the log cannot be folded. \(error.message)",
            recovery: "Run 'tidelog verify' on the store.", cause: error)
    }

    /// What went wrong while a store was looked at.
    init(inspecting store: InspectedStore, _ error: any Error) {
        switch error {
        case let error as TidelogError: self = error
        case LogError.compacted(let first):
            self.init(
                .notFound, "What the store was before operation \(first) was removed by a compaction.",
                place: store.files.log, recovery: "Ask for a later state.", cause: error)
        case let error as LogError: self.init(error)
        case is CodecError: self = LogFailure.mapped(error)
        case let error as StateError:
            self.init(.damaged, error.message, place: store.files.log, cause: error)
        default: self.init(.storage, "\(error)", place: store.files.log, cause: error)
        }
    }
}
