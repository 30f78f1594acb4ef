import OperationLog
import Operations
public import SyncEngine

extension InspectedStore {
    /// Searches for the first record after which the condition holds, in at most ⌈log2 n⌉+1 evaluations.
    ///
    /// If the condition changes several times, one of the records is found after which it begins to hold. Cost: at most
    /// the records between the positions are folded, once; positions with a snapshot are preferred.
    /// - Parameters:
    ///   - good: A position after which the condition does not hold.
    ///   - bad: A later position after which it holds.
    /// - Throws: `invalidRequest` if the metadata at none of the positions contain the names that the condition uses.
    public func bisect(
        good: PointInTime, bad: PointInTime, when condition: StateCondition
    ) async throws(TidelogError) -> BisectReport {
        try await salvaging { store throws(TidelogError) in
            var trials = try ConditionEvaluator(store, condition)
            return try await store.search(good, bad, &trials)
        }
    }

    /// Searches with an external judge, which receives the store at each position as a separate directory that it may
    /// modify.
    ///
    /// Cost: the checksums of the whole log are verified, because in a damaged copy the damage would affect the judge's
    /// verdict.
    /// - Parameters:
    ///   - scratch: An existing empty directory, in which a directory is created for each position.
    ///   - judge: Evaluates the store in the given directory, which it may remove.
    public func bisect(
        good: PointInTime, bad: PointInTime, scratch: String,
        judge: (String) throws(TidelogError) -> Bisection.Verdict
    ) async throws(TidelogError) -> BisectReport {
        try await sound().search(good, bad, scratch, judge)
    }

    private func search(
        _ good: PointInTime, _ bad: PointInTime, _ scratch: String,
        _ judge: (String) throws(TidelogError) -> Bisection.Verdict
    ) async throws(TidelogError) -> BisectReport {
        let reader = try openReader()
        var search = try search(good, bad, reader)
        var report = BisectReport(search)
        while let place = search.next() {
            let copy = StoreCopy(directory: scratch + "/\(place)")
            try copy.write(self, through: place)
            let verdict = try judge(copy.directory)
            search.record(verdict, at: place)
            report.evaluations.append(.init(sequence: place, verdict: verdict))
        }
        report.outcome = search.outcome ?? .neverHolds
        if case .found(let sequence) = report.outcome {
            report.entry = try await entry(sequence, reader, try await past(at: .sequence(sequence)))
        }
        return report
    }

    private func search(
        _ good: PointInTime, _ bad: PointInTime, _ reader: LogReader
    ) throws(TidelogError) -> Bisection {
        let (first, last) = (try sequence(of: good, reader), try sequence(of: bad, reader))
        guard first < last else {
            throw TidelogError(
                .invalidRequest, "The bad place \(last) does not follow the good place \(first).",
                recovery: "Choose an earlier place as the good one.")
        }
        return Bisection(good: first, bad: last)
    }

    @inline(never)
    @_optimize(none)
    private func search(
        _ good: PointInTime, _ bad: PointInTime, _ trials: inout ConditionEvaluator
    ) async throws(TidelogError) -> BisectReport {
        var search = try search(good, bad, trials.reader)
        var report = BisectReport(search)
        while let place = search.next(preferring: trials.cheapPlaces) {
            let verdict: Bisection.Verdict =
                try await trials.holds(at: place, notBefore: search.good) ? .holds : .holdsNot
            search.record(verdict, at: place)
            report.evaluations.append(.init(sequence: place, verdict: verdict))
            trials.keep(above: search.open.above, below: search.open.below)
        }
        if !trials.isKnown, let refusal = trials.refusal { throw refusal }
        report.outcome = search.outcome ?? .neverHolds
        if case .found(let sequence) = report.outcome {
            report.isRestored = try await trials.isRestored(at: sequence)
            if !report.isRestored { report.entry = try await trials.entry(sequence) }
        }
        return report
    }
}

/// The states on which a condition is evaluated, as few as possible: each record is folded into one of them once.
struct ConditionEvaluator {
    let store: InspectedStore
    let reader: LogReader
    let condition: StateCondition
    /// The positions of the snapshots, in order.
    let cheapPlaces: [SequenceNumber]
    /// The states, ordered by their last record.
    private var states: [(place: SequenceNumber, past: HistoricalStore)] = []
    /// Whether the metadata contained the names that the condition uses, at one position at least.
    private(set) var isKnown = false
    /// The error at positions where they did not.
    private(set) var refusal: TidelogError?

    init(_ store: InspectedStore, _ condition: StateCondition) throws(TidelogError) {
        self.store = store
        self.condition = condition
        reader = try store.openReader()
        cheapPlaces = try store.snapshotPlaces(reader)
    }

    /// Evaluates the condition at a position.
    ///
    /// - Parameter first: The oldest position for which a state is needed.
    mutating func holds(at place: SequenceNumber, notBefore first: SequenceNumber) async throws(TidelogError) -> Bool {
        let time = try time(of: place)
        let state = try await state(for: place, notBefore: first)
        guard state.place != place else {
            return record(try await state.past.store.verdict(on: condition.text, at: time))
        }
        let holds = record(
            try await state.past.store.trial(
                of: condition.text, through: place, reader, at: time, keepingWhere: false))
        if !holds, let index = states.firstIndex(where: { $0.place == state.place }) { states[index].place = place }
        return holds
    }

    private mutating func record(_ verdict: ConditionVerdict) -> Bool {
        isKnown = isKnown || verdict.isKnown
        refusal = refusal ?? verdict.refusal
        return verdict.holds
    }

    /// Returns whether the condition holds because of a snapshot and not because of the record, since records before
    /// the snapshot are lost.
    func isRestored(at place: SequenceNumber) async throws(TidelogError) -> Bool {
        guard place > 0, cheapPlaces.contains(place) else { return false }
        let before: HistoricalStore
        do throws(TidelogError) {
            before = try await store.past(at: .sequence(place - 1))
        } catch {
            // A compaction has removed the records before it.
            guard error.code == .notFound else { throw error }
            return false
        }
        return try await !before.store.trial(
            of: condition.text, through: place, reader, at: try time(of: place), keepingWhere: true
        ).holds
    }

    /// Returns the newest state that is not after the position.
    private mutating func state(
        for place: SequenceNumber, notBefore first: SequenceNumber
    ) async throws(TidelogError) -> (place: SequenceNumber, past: HistoricalStore) {
        let snapshot = max(first, cheapPlaces.last { $0 <= place } ?? 0)
        // Not advanced over a snapshot, which may contain data of lost records before it.
        if let known = states.last(where: { $0.place <= place }), known.place >= snapshot { return known }
        let past = try await store.past(at: .sequence(snapshot))
        let state = (place: snapshot, past: past)
        states.append(state)
        states.sort { $0.place < $1.place }
        return state
    }

    /// Discards the states that no later evaluation needs.
    mutating func keep(above low: SequenceNumber?, below high: SequenceNumber) {
        states.removeAll { $0.place >= high }
        guard let low, let newest = states.lastIndex(where: { $0.place <= low }) else { return }
        states.removeFirst(newest)
    }

    /// Returns the record for display.
    mutating func entry(_ sequence: SequenceNumber) async throws(TidelogError) -> HistoryEntry? {
        let state = try await state(for: sequence, notBefore: sequence > 0 ? sequence - 1 : 0)
        try await state.past.store.advance(through: sequence, reader)
        return try await store.entry(sequence, reader, state.past)
    }

    private func time(of place: SequenceNumber) throws(TidelogError) -> Timestamp {
        do { return try reader.time(of: place) } catch { throw LogFailure.mapped(error) }
    }
}
