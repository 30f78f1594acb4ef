import OperationLog
public import Operations
public import SyncEngine

/// A record that changes the value of a condition.
public struct ConditionChange: Sendable, Hashable {
    public let sequence: SequenceNumber
    /// A Boolean value that indicates whether the condition holds after the record.
    public let holds: Bool
    /// The record; nil if it cannot be decoded or is not the cause.
    public let entry: HistoryEntry?
    /// A Boolean value that indicates whether a snapshot caused the change and not the record, because records before
    /// the snapshot are lost.
    public let isRestored: Bool
}

/// The result of a watch.
public struct WatchReport: Sendable {
    /// The last folded record.
    public internal(set) var last: SequenceNumber
    /// A Boolean value that indicates whether the condition holds after it.
    public internal(set) var holds: Bool
    /// The first position of the watch.
    public let first: SequenceNumber
    /// A Boolean value that indicates whether the condition held there.
    public let heldAtFirst: Bool
    public internal(set) var records = 0
    /// The number of evaluations. The condition is evaluated only after changes of its tables.
    public internal(set) var evaluations = 0
    public internal(set) var flips = 0
    /// Whether the metadata contained the names that the condition uses, at one position at least.
    var isKnown = false
    /// The error at positions where they did not.
    var refusal: TidelogError?

    /// Returns the report, or throws if no metadata contained the names, which are then misspelt.
    func checked() throws(TidelogError) -> WatchReport {
        if !isKnown, let refusal { throw refusal }
        return self
    }

    /// Adds the values of a range of records.
    fileprivate mutating func add(_ stretch: WatchedRange) {
        records += stretch.records
        evaluations += stretch.evaluations
        isKnown = isKnown || stretch.isKnown
        refusal = refusal ?? stretch.refusal
    }

    fileprivate mutating func add(_ other: WatchReport) {
        records += other.records
        evaluations += other.evaluations
        isKnown = isKnown || other.isKnown
        refusal = refusal ?? other.refusal
    }
}

extension InspectedStore {
    /// Calls `body` for each record in a range that changes the value of the condition, in order.
    ///
    /// Cost: the records of the range are folded once, from the newest snapshot that is not after its beginning. After
    /// lost records, the watch continues with the state of the next snapshot.
    /// - Parameter body: Returns whether to continue.
    /// - Throws: `invalidRequest` if no metadata in the range contain the names that the condition uses.
    public func watch(
        _ condition: StateCondition, from first: PointInTime, through last: PointInTime,
        _ body: (ConditionChange) throws(TidelogError) -> Bool
    ) async throws(TidelogError) -> WatchReport {
        var told: SequenceNumber = 0
        return try await salvaging { store throws(TidelogError) in
            let reader = try store.openReader()
            let start = try store.sequence(of: first, reader)
            let range = start...max(start, try store.sequence(of: last, reader))
            let report = try await store.watch(condition, range, reader) { flip throws(TidelogError) in
                // Flips before the damage are the same without it.
                guard flip.sequence > told else { return true }
                told = flip.sequence
                return try body(flip)
            }
            return try report.checked()
        }
    }

    /// Returns the last record before a position that changes the value of the condition, or nil if there is none.
    ///
    /// It searches after the last snapshot first, then before it, and so on, so it is expensive if the flip is far
    /// back.
    public func lastFlip(
        _ condition: StateCondition, from first: PointInTime, before last: PointInTime
    ) async throws(TidelogError) -> (flip: ConditionChange?, report: WatchReport) {
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
    ) async throws(TidelogError) -> (flip: ConditionChange?, report: WatchReport) {
        var places = try snapshotPlaces(reader).filter { $0 > start && $0 < last }
        var end = last
        var later: WatchReport?
        while true {
            let from = places.popLast() ?? start
            var found: ConditionChange?
            var report = try await watch(condition, from...end, reader) { flip throws(TidelogError) in
                found = flip
                return true
            }
            if let later { report.add(later) }
            if found != nil || from == start { return (found, try report.checked()) }
            later = report
            end = from
        }
    }

    @inline(never)
    @_optimize(none)
    private func watch(
        _ condition: StateCondition, _ range: ClosedRange<SequenceNumber>, _ reader: LogReader,
        _ body: (ConditionChange) throws(TidelogError) -> Bool
    ) async throws(TidelogError) -> WatchReport {
        var past = try await past(at: .sequence(range.lowerBound))
        // Whether records after the newest snapshot are lost. For those before the range this is unknown.
        var hasGap = true
        var stretch = try await past.store.watch(condition.text, through: range.lowerBound, reader, from: nil)
        var report = WatchReport(
            last: range.lowerBound, holds: stretch.holds, first: range.lowerBound, heldAtFirst: stretch.holds)
        report.add(stretch)
        let places = try snapshotPlaces(reader)
        while report.last < range.upperBound {
            let place = places.first { $0 > report.last && $0 <= range.upperBound }
            stretch = try await past.store.watch(
                condition.text, through: place ?? range.upperBound, reader, from: report.holds)
            guard stretch.records > 0 else { break }
            report.add(stretch)
            hasGap = hasGap || stretch.hasGap
            (report.last, report.holds) = (stretch.last, stretch.holds)
            for flip in stretch.flips {
                report.flips += 1
                let entry = try await entry(flip.sequence, reader, past)
                let told = ConditionChange(sequence: flip.sequence, holds: flip.holds, entry: entry, isRestored: false)
                if try !body(told) {
                    (report.last, report.holds) = (flip.sequence, flip.holds)
                    return report
                }
            }
            guard hasGap, report.last == place else { continue }
            // The snapshot may contain the effects of lost records.
            hasGap = false
            past = try await self.past(at: .sequence(report.last))
            stretch = try await past.store.watch(condition.text, through: report.last, reader, from: nil)
            report.add(stretch)
            guard stretch.holds != report.holds else { continue }
            report.holds = stretch.holds
            report.flips += 1
            let told = ConditionChange(sequence: report.last, holds: report.holds, entry: nil, isRestored: true)
            if try !body(told) { return report }
        }
        return report
    }
}
