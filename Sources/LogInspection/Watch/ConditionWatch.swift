import OfflineStore
import OperationLog
import Operations

/// The evaluation of a condition after each record of a range that can change its value.
struct ConditionWatch {
    private let store: InspectedStore
    private let condition: StateCondition
    private let reader: LogReader

    init(_ store: InspectedStore, _ condition: StateCondition, _ reader: LogReader) {
        self.store = store
        self.condition = condition
        self.reader = reader
    }

    /// Returns the last record of the range that changes the value, or nil if there is none.
    func lastChange(
        from start: SequenceNumber, before last: SequenceNumber
    ) async throws(TidelogError) -> (flip: ConditionChange?, report: WatchReport) {
        var places = try store.snapshotPlaces(reader).filter { $0 > start && $0 < last }
        var end = last
        var later: WatchReport?
        while true {
            let from = places.popLast() ?? start
            var found: ConditionChange?
            var report = try await changes(in: from...end) { flip throws(TidelogError) in
                found = flip
                return true
            }
            if let later { report.add(later) }
            if found != nil || from == start { return (found, try report.checked()) }
            later = report
            end = from
        }
    }

    /// Calls `body` for each record in the range that changes the value, in order, until it returns false.
    func changes(
        in range: ClosedRange<SequenceNumber>, _ body: (ConditionChange) throws(TidelogError) -> Bool
    ) async throws(TidelogError) -> WatchReport {
        var past = try await store.past(at: .sequence(range.lowerBound))
        // Whether records after the newest snapshot are lost. For those before the range this is unknown.
        var hasGap = true
        var stretch = try await past.store.trials.watch(condition.text, through: range.lowerBound, reader, from: nil)
        var report = WatchReport(
            last: range.lowerBound, holds: stretch.holds, first: range.lowerBound, heldAtFirst: stretch.holds)
        report.add(stretch)
        let places = try store.snapshotPlaces(reader)
        while report.last < range.upperBound {
            let place = places.first { $0 > report.last && $0 <= range.upperBound }
            stretch = try await past.store.trials.watch(
                condition.text, through: place ?? range.upperBound, reader, from: report.holds)
            guard stretch.records > 0 else { break }
            report.add(stretch)
            hasGap = hasGap || stretch.hasGap
            (report.last, report.holds) = (stretch.last, stretch.holds)
            for flip in stretch.flips {
                report.flips += 1
                let entry = try await store.entry(flip.sequence, reader, past)
                let reported = ConditionChange(
                    sequence: flip.sequence, holds: flip.holds, entry: entry, isRestored: false)
                if try !body(reported) {
                    (report.last, report.holds) = (flip.sequence, flip.holds)
                    return report
                }
            }
            guard hasGap, report.last == place else { continue }
            // The snapshot may contain the effects of lost records.
            hasGap = false
            past = try await store.past(at: .sequence(report.last))
            stretch = try await past.store.trials.watch(condition.text, through: report.last, reader, from: nil)
            report.add(stretch)
            guard stretch.holds != report.holds else { continue }
            report.holds = stretch.holds
            report.flips += 1
            let reported = ConditionChange(sequence: report.last, holds: report.holds, entry: nil, isRestored: true)
            if try !body(reported) { return report }
        }
        return report
    }
}
