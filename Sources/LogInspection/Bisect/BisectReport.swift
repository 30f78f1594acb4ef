public import Operations

/// The result of a bisection.
public struct BisectReport: Sendable {
    /// An evaluated position.
    public struct Evaluation: Sendable, Hashable {
        /// The number of the record after which the state was evaluated.
        public let sequence: SequenceNumber
        /// The result of the evaluation.
        public let verdict: Bisection.Verdict
    }

    /// The position at which the condition does not hold.
    public let good: SequenceNumber
    /// The position at which the condition holds.
    public let bad: SequenceNumber
    /// The result of the search.
    public internal(set) var outcome: Bisection.Outcome
    /// The evaluations in chronological order.
    public internal(set) var evaluations: [Evaluation] = []
    /// The largest number of evaluations if no position is skipped: ⌈log2 n⌉+1 for n records, two for one.
    public let limit: Int
    /// The record that was found, or nil if there was none or it cannot be decoded.
    package internal(set) var entry: HistoryEntry?

    /// Whether the condition holds because of a snapshot and not because of the record, since records before the
    /// snapshot are lost.
    public internal(set) var isRestored = false

    init(_ search: Bisection) {
        good = search.good
        bad = search.bad
        limit = search.limit
        outcome = .neverHolds
    }
}
