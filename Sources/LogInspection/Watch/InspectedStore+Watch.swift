import OperationLog
public import Operations
public import SyncEngine

/// A record behind which a condition is another one than in front of it.
public struct ConditionFlip: Sendable, Hashable {
    public let sequence: SequenceNumber
    /// Whether it holds behind the record.
    public let holds: Bool
    /// The record; nil where it cannot be decoded.
    public let entry: HistoryEntry?
}

/// What a watch came to.
public struct WatchReport: Sendable, Hashable {
    /// The last record that was folded.
    public internal(set) var last: SequenceNumber
    /// Whether the condition holds there.
    public internal(set) var holds: Bool
    /// Where the watch began, and whether it held there.
    public let first: SequenceNumber
    public let heldAtFirst: Bool
    public internal(set) var records = 0
    /// How often the condition was evaluated: only where something changed of what its answer comes from.
    public internal(set) var evaluations = 0
    public internal(set) var flips = 0
}

extension InspectedStore {
    /// Calls `body` for each record between two places behind which the condition is another one than before, in order.
    ///
    /// Cost: the records between them are folded once, from the newest snapshot that is not younger than the first place.
    /// - Parameter body: says whether to go on.
    public func watch(
        _ condition: StateCondition, from first: PointInTime, through last: PointInTime,
        _ body: (ConditionFlip) throws(TidelogError) -> Bool
    ) async throws(TidelogError) -> WatchReport {
        var told: SequenceNumber = 0
        return try await salvaging { store throws(TidelogError) in
            let reader = try store.openReader()
            let start = try store.sequence(of: first, reader)
            let range = start...max(start, try store.sequence(of: last, reader))
            return try await store.watch(condition, range, reader) { flip throws(TidelogError) in
                // What is in front of damage is the same without it.
                guard flip.sequence > told else { return true }
                told = flip.sequence
                return try body(flip)
            }
        }
    }

    /// The last record before a place behind which the condition is another one than before; nil where it is the same
    /// everywhere.
    ///
    /// Looks from the last snapshot on first, then in front of it, and so on: it is dear where the flip is long ago.
    public func lastFlip(
        _ condition: StateCondition, from first: PointInTime, before last: PointInTime
    ) async throws(TidelogError) -> (flip: ConditionFlip?, report: WatchReport) {
        try await salvaging { store throws(TidelogError) in
            let reader = try store.openReader()
            let start = try store.sequence(of: first, reader)
            let end = max(start, try store.sequence(of: last, reader))
            return try await store.lastFlip(condition, start, end, reader)
        }
    }

    @inline(never)
    @_optimize(none)
    private func lastFlip(
        _ condition: StateCondition, _ start: SequenceNumber, _ last: SequenceNumber, _ reader: LogReader
    ) async throws(TidelogError) -> (flip: ConditionFlip?, report: WatchReport) {
        var places = try snapshotPlaces(reader).filter { $0 > start && $0 < last }
        var end = last
        var (records, evaluations) = (0, 0)
        while true {
            let from = places.popLast() ?? start
            var found: ConditionFlip?
            var report = try await watch(condition, from...end, reader) { flip throws(TidelogError) in
                found = flip
                return true
            }
            records += report.records
            evaluations += report.evaluations
            if found != nil || from == start {
                (report.records, report.evaluations) = (records, evaluations)
                return (found, report)
            }
            end = from
        }
    }

    @inline(never)
    @_optimize(none)
    private func watch(
        _ condition: StateCondition, _ range: ClosedRange<SequenceNumber>, _ reader: LogReader,
        _ body: (ConditionFlip) throws(TidelogError) -> Bool
    ) async throws(TidelogError) -> WatchReport {
        let past = try await past(at: .sequence(range.lowerBound))
        var stretch = try await past.store.watch(condition.text, through: range.lowerBound, reader, from: nil)
        var report = WatchReport(
            last: range.lowerBound, holds: stretch.holds, first: range.lowerBound, heldAtFirst: stretch.holds)
        report.evaluations = stretch.evaluations
        while report.last < range.upperBound {
            stretch = try await past.store.watch(
                condition.text, through: range.upperBound, reader, from: report.holds)
            guard stretch.records > 0 else { break }
            report.records += stretch.records
            report.evaluations += stretch.evaluations
            (report.last, report.holds) = (stretch.last, stretch.holds)
            for flip in stretch.flips {
                report.flips += 1
                let entry = try await entry(flip.sequence, reader, past)
                if try !body(ConditionFlip(sequence: flip.sequence, holds: flip.holds, entry: entry)) {
                    (report.last, report.holds) = (flip.sequence, flip.holds)
                    return report
                }
            }
        }
        return report
    }
}
