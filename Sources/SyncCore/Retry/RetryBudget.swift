package import Operations

/// The number of times that an operation may be deferred before it counts as rejected and becomes visible.
package struct RetryBudget: Sendable, Hashable {
    package var attempts: Int
    /// The number of consecutive previous deferrals of each operation.
    package var spent: [SequenceNumber: Int]

    package init(attempts: Int = RetryPolicy().attempts, spent: [SequenceNumber: Int] = [:]) {
        self.attempts = attempts
        self.spent = spent
    }

    /// Returns the result of an operation after a rejection.
    func result(of refusal: Refusal, for operation: SequenceNumber) -> BatchAnswered.Result {
        guard FailureClass(status: refusal.status) == .transient else { return .rejected(refusal) }
        let count = (spent[operation] ?? 0) + 1
        return count < attempts ? .deferred(refusal, attempts: count) : .rejected(refusal)
    }
}
