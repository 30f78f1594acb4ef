public import Operations

/// The search for the first position at which a condition holds that did not hold before, as a value: the next position
/// follows from the previous evaluations.
///
/// The ends are neither assumed nor evaluated unnecessarily: a position counts as the first one only if the one before
/// it was evaluated too. If the condition changes several times, one of the positions is found at which it begins to
/// hold.
public struct Bisection: Sendable {
    /// The result of a search.
    public enum Outcome: Sendable, Hashable {
        /// The condition holds after this record and does not hold before it.
        case found(SequenceNumber)
        /// The condition already holds at the beginning.
        case holdsAlready
        /// The condition does not hold at the end.
        case neverHolds
        /// The first position is in this range, of which only the last could be evaluated.
        case undecided(ClosedRange<SequenceNumber>)
    }

    /// The result of an evaluation.
    public enum Verdict: Sendable, Hashable {
        /// The condition holds.
        case holds
        /// The condition does not hold.
        case holdsNot
        /// The position cannot be evaluated.
        case skipped
    }

    /// The first position of the range, at which the condition is believed not to hold.
    public let good: SequenceNumber
    /// The last position of the range, at which the condition is believed to hold.
    public let bad: SequenceNumber
    /// The number of evaluated positions.
    public private(set) var evaluations = 0
    /// The largest number of evaluations if no position is skipped: ⌈log2 n⌉+1 for n records between the ends, and two
    /// for a single one.
    public let limit: Int
    /// The offset from ``good`` of the last position at which the condition did not hold. The initial values of both
    /// bounds are outside the range and were not evaluated.
    private var low: Int64
    private var high: Int64
    private let end: Int64
    private var skipped: Set<Int64> = []

    /// Creates a search.
    ///
    /// - Parameters:
    ///   - good: A position at which the condition is believed not to hold.
    ///   - bad: A later position at which it is believed to hold.
    public init(good: SequenceNumber, bad: SequenceNumber) {
        // No log has nearly that many records.
        let records = Int64(min(bad > good ? bad - good : 0, 1 << 60))
        self.good = good
        self.bad = good + UInt64(records)
        low = -1
        end = records + 1
        high = end
        limit = max(Self.steps(UInt64(end) + 1), records > 0 ? Self.steps(UInt64(records)) + 1 : 1)
    }

    /// Returns ⌈log2 n⌉.
    private static func steps(_ count: UInt64) -> Int {
        count <= 1 ? 0 : UInt64.bitWidth - (count - 1).leadingZeroBitCount
    }

    /// Returns the position to evaluate next, or nil at the end.
    ///
    /// - Parameter cheap: Positions that are cheaper to evaluate. One of them is chosen if the number of evaluations
    ///   stays within the limit.
    public func next(preferring cheap: [SequenceNumber] = []) -> SequenceNumber? {
        guard high - low > 1 else { return nil }
        let middle = low + (high - low) / 2
        if let near = nearest(to: middle, among: cheap) { return place(near) }
        if !skipped.contains(middle) { return place(middle) }
        var distance: Int64 = 1
        while middle - distance > low || middle + distance < high {
            for candidate in [middle - distance, middle + distance]
            where candidate > low && candidate < high && !skipped.contains(candidate) { return place(candidate) }
            distance += 1
        }
        return nil
    }

    private func nearest(to middle: Int64, among cheap: [SequenceNumber]) -> Int64? {
        let left = limit - evaluations - 1
        guard left >= 0 else { return nil }
        let reach = left >= 62 ? Int64.max : Int64(1) << Int64(left)
        return cheap.compactMap { place -> Int64? in
            guard place >= good, place <= bad else { return nil }
            let offset = Int64(clamping: place - good)
            let fits = offset > low && offset < high && offset - low <= reach && high - offset <= reach
            return fits && !skipped.contains(offset) ? offset : nil
        }.min { abs($0 - middle) < abs($1 - middle) }
    }

    private func place(_ offset: Int64) -> SequenceNumber { good + UInt64(offset) }

    /// Records the evaluation of a position that ``next(preferring:)`` returned.
    public mutating func record(_ verdict: Verdict, at place: SequenceNumber) {
        guard place >= good, place <= bad else { return }
        let offset = Int64(clamping: place - good)
        evaluations += 1
        switch verdict {
        case .holds: high = min(high, offset)
        case .holdsNot: low = max(low, offset)
        case .skipped: skipped.insert(offset)
        }
    }

    /// The result of the search, or nil while there is a position to evaluate.
    public var outcome: Outcome? {
        guard next() == nil else { return nil }
        guard high - low == 1 else {
            return .undecided(place(low + 1)...(high == end ? bad : place(high)))
        }
        if high == end { return .neverHolds }
        return high == 0 ? .holdsAlready : .found(place(high))
    }

    /// The positions between which the result is still open, so that the caller can keep the states in between.
    var open: (above: SequenceNumber?, below: SequenceNumber) {
        (low < 0 ? nil : place(low), high == end ? bad &+ 1 : place(high))
    }
}
