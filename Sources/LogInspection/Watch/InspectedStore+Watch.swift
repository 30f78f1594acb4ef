import OperationLog
public import Operations
public import SyncEngine

/// A record behind which a condition is another one than in front of it.
public struct ConditionFlip: Sendable, Hashable {
    public let sequence: SequenceNumber
    /// Whether it holds behind the record.
    public let holds: Bool
    /// The record; nil where it cannot be decoded, and where it was not the record.
    public let entry: HistoryEntry?
    /// Whether it is by what a snapshot has, and not by the record: records in front of the snapshot are lost.
    public let isRestored: Bool
}

/// What a watch came to.
public struct WatchReport: Sendable {
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
    /// Whether the metadata knew what the condition names, at one place at least.
    var isKnown = false
    /// What was said where they did not.
    var refusal: TidelogError?

    /// What nothing that was seen knows is misspelt.
    func checked() throws(TidelogError) -> WatchReport {
        if !isKnown, let refusal { throw refusal }
        return self
    }

    /// Takes in what was seen of a stretch of the same condition.
    fileprivate mutating func add(_ stretch: WatchedStretch) {
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
    /// Calls `body` for each record between two places behind which the condition is another one than before, in order.
    ///
    /// Cost: the records between them are folded once, from the newest snapshot that is not younger than the first place. Where
    /// records are lost it goes on with the state of the next snapshot.
    /// - Parameter body: says whether to go on.
    /// - Throws: `invalidRequest` where no metadata on the way know what the condition names.
    public func watch(
        _ condition: StateCondition, from first: PointInTime, through last: PointInTime,
        _ body: (ConditionFlip) throws(TidelogError) -> Bool
    ) async throws(TidelogError) -> WatchReport {
        var told: SequenceNumber = 0
        return try await salvaging { store throws(TidelogError) in
            let reader = try store.openReader()
            let start = try store.sequence(of: first, reader)
            let range = start...max(start, try store.sequence(of: last, reader))
            let report = try await store.watch(condition, range, reader) { flip throws(TidelogError) in
                // What is in front of damage is the same without it.
                guard flip.sequence > told else { return true }
                told = flip.sequence
                return try body(flip)
            }
            return try report.checked()
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
        var later: WatchReport?
        while true {
            let from = places.popLast() ?? start
            var found: ConditionFlip?
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
        _ body: (ConditionFlip) throws(TidelogError) -> Bool
    ) async throws(TidelogError) -> WatchReport {
        var past = try await past(at: .sequence(range.lowerBound))
        // Whether records are lost behind the newest snapshot; of those in front of the range that is not known.
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
                let told = ConditionFlip(sequence: flip.sequence, holds: flip.holds, entry: entry, isRestored: false)
                if try !body(told) {
                    (report.last, report.holds) = (flip.sequence, flip.holds)
                    return report
                }
            }
            guard hasGap, report.last == place else { continue }
            // The snapshot may have what lost records have said.
            hasGap = false
            past = try await self.past(at: .sequence(report.last))
            stretch = try await past.store.watch(condition.text, through: report.last, reader, from: nil)
            report.add(stretch)
            guard stretch.holds != report.holds else { continue }
            report.holds = stretch.holds
            report.flips += 1
            let told = ConditionFlip(sequence: report.last, holds: report.holds, entry: nil, isRestored: true)
            if try !body(told) { return report }
        }
        return report
    }
}
