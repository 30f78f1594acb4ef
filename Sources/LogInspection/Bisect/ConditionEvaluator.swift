import OfflineStore
import OperationLog
import Operations

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
            return record(try await state.past.store.trials.verdict(on: condition.text, at: time))
        }
        let holds = record(
            try await state.past.store.trials.trial(
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
        return try await !before.store.trials.trial(
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
        try await state.past.store.trials.advance(through: sequence, reader)
        return try await store.entry(sequence, reader, state.past)
    }

    private func time(of place: SequenceNumber) throws(TidelogError) -> Timestamp {
        do { return try reader.time(of: place) } catch { throw LogFailure.mapped(error) }
    }
}
