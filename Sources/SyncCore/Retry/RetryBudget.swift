public import Operations

/// How often each operation may be put off before it is taken for refused, so that somebody sees it.
public struct RetryBudget: Sendable, Hashable {
    public var attempts: Int
    /// How often each was put off in a row before.
    public var spent: [SequenceNumber: Int]

    public init(attempts: Int = RetryPolicy().attempts, spent: [SequenceNumber: Int] = [:]) {
        self.attempts = attempts
        self.spent = spent
    }

    /// What the refusal of an operation comes to.
    func result(of refusal: Refusal, for operation: SequenceNumber) -> BatchAnswered.Result {
        guard FailureClass(status: refusal.status) == .transient else { return .rejected(refusal) }
        let count = (spent[operation] ?? 0) + 1
        return count < attempts ? .deferred(refusal, attempts: count) : .rejected(refusal)
    }
}
