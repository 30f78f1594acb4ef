public import Operations

/// The search for the first place at which something holds that did not hold before, as a value: which place to look at next
/// follows from what was seen at the others.
///
/// The ends are not taken for granted, nor looked at in vain: a place counts as the first one only where the one in front of
/// it was seen as well. Where things change back and forth, one of the places is found at which they begin to hold.
public struct Bisection: Sendable {
    /// What a search ends with.
    public enum Outcome: Sendable, Hashable {
        /// It holds behind this record, and did not behind the one before.
        case found(SequenceNumber)
        /// It holds at the beginning already.
        case holdsAlready
        /// It does not hold at the end.
        case neverHolds
        /// The first one is among these, of which all but the last could not be looked at.
        case undecided(ClosedRange<SequenceNumber>)
    }

    /// What was seen at a place.
    public enum Verdict: Sendable, Hashable {
        case holds
        case holdsNot
        /// The place cannot be looked at.
        case skipped
    }

    public let good: SequenceNumber
    public let bad: SequenceNumber
    /// How many places were looked at.
    public private(set) var evaluations = 0
    /// As many places are looked at at most, where none has to be skipped: ⌈log2 n⌉+1 for n records between the ends, and two
    /// for a single one.
    public let limit: Int
    /// Places behind ``good``, less one: the last at which it did not hold, and the first at which it did. The first and the
    /// last number of all are places that nobody has looked at.
    private var low: Int64
    private var high: Int64
    private let end: Int64
    private var skipped: Set<Int64> = []

    /// - Parameters:
    ///   - good: a place at which it does not hold, as far as is known.
    ///   - bad: a later one at which it does.
    public init(good: SequenceNumber, bad: SequenceNumber) {
        // No log comes near that many records.
        let records = Int64(min(bad > good ? bad - good : 0, 1 << 60))
        self.good = good
        self.bad = good + UInt64(records)
        low = -1
        end = records + 1
        high = end
        limit = max(Self.steps(UInt64(end) + 1), records > 0 ? Self.steps(UInt64(records)) + 1 : 1)
    }

    /// ⌈log2 n⌉
    private static func steps(_ count: UInt64) -> Int {
        count <= 1 ? 0 : UInt64.bitWidth - (count - 1).leadingZeroBitCount
    }

    /// The place to look at next; nil at the end.
    ///
    /// - Parameter cheap: places that are easier to look at than others. One of them is taken where the number of evaluations
    ///   stays below the limit all the same.
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

    /// Takes in what was seen at a place that ``next(preferring:)`` gave.
    public mutating func note(_ verdict: Verdict, at place: SequenceNumber) {
        guard place >= good, place <= bad else { return }
        let offset = Int64(clamping: place - good)
        evaluations += 1
        switch verdict {
        case .holds: high = min(high, offset)
        case .holdsNot: low = max(low, offset)
        case .skipped: skipped.insert(offset)
        }
    }

    /// What the search has come to; nil while there is a place to look at.
    public var outcome: Outcome? {
        guard next() == nil else { return nil }
        guard high - low == 1 else {
            return .undecided(place(low + 1)...(high == end ? bad : place(high)))
        }
        if high == end { return .neverHolds }
        return high == 0 ? .holdsAlready : .found(place(high))
    }

    /// The places between which the answer still lies, for whoever decides what to keep ready.
    var open: (above: SequenceNumber?, below: SequenceNumber) {
        (low < 0 ? nil : place(low), high == end ? bad &+ 1 : place(high))
    }
}
