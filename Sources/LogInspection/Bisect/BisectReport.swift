public import Operations

/// What a bisect came to.
public struct BisectReport: Sendable {
    /// One place that was looked at.
    public struct Evaluation: Sendable, Hashable {
        /// The state behind the record with this number.
        public let sequence: SequenceNumber
        public let verdict: Bisection.Verdict
    }

    /// Between which places was looked.
    public let good: SequenceNumber
    public let bad: SequenceNumber
    public internal(set) var outcome: Bisection.Outcome
    /// In the order in which they were made.
    public internal(set) var evaluations: [Evaluation] = []
    /// As many as ⌈log2 n⌉+1 for n records, two for one; only places that have to be skipped make them more.
    public let limit: Int
    /// The record that was found; nil where none was, or where it cannot be decoded.
    public internal(set) var entry: HistoryEntry?

    /// Whether it holds there by what a snapshot has, and not by the record: records in front of the snapshot are lost.
    public internal(set) var isRestored = false

    init(_ search: Bisection) {
        good = search.good
        bad = search.bad
        limit = search.limit
        outcome = .neverHolds
    }
}
