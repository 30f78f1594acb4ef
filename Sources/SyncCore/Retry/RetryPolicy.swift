/// How often, and after how long, what failed for a while only is tried again.
///
/// Delays grow by two with each attempt and are drawn evenly from nothing to the longest that the attempt allows ("full
/// jitter"), so that the clients of a service that was down do not all come back at once. What the service asks for in
/// `Retry-After` is the least.
public struct RetryPolicy: Sendable, Hashable {
    /// The most attempts in a row. What the service has put off so often is taken for refused, so that somebody sees it;
    /// an upload that got nowhere so often ends.
    public var attempts: Int
    /// The longest delay behind the first attempt.
    public var firstDelay: Duration
    /// The longest delay of all, but for what the service asks for.
    public var longestDelay: Duration
    /// The deadline: how long one upload waits in all. Where it would have to wait longer it ends, and says when the next
    /// one may begin.
    public var patience: Duration
    /// Whether an upload also waits for a service that cannot be reached. Without it the upload ends with the error at once:
    /// whether there is a network the app knows better.
    public var waitsForConnection: Bool

    public init(
        attempts: Int = 8, firstDelay: Duration = .seconds(1), longestDelay: Duration = .seconds(300),
        patience: Duration = .seconds(30), waitsForConnection: Bool = false
    ) {
        self.attempts = attempts
        self.firstDelay = firstDelay
        self.longestDelay = longestDelay
        self.patience = patience
        self.waitsForConnection = waitsForConnection
    }

    /// Never waits. What is put off still goes again with the next upload that is late enough.
    public static let impatient = RetryPolicy(patience: .zero)

    /// The most that is believed of a `Retry-After`: a day.
    static let longestBelievedDelay = Duration.seconds(86_400)

    /// How long to wait before the next attempt.
    ///
    /// - Parameters:
    ///   - attempt: how many attempts in a row have failed; at least 1.
    ///   - retryAfter: what the service asked for.
    ///   - random: 64 random bits.
    public func delay(afterAttempt attempt: Int, retryAfter: Duration?, random: UInt64) -> Duration {
        let doublings = min(max(attempt, 1) - 1, 30)
        let first = min(max(firstDelay.milliseconds, 1), 1 << 32)
        let limit = min(first << doublings, max(longestDelay.milliseconds, 1))
        // The modulo's bias is far below a millisecond.
        let jitter = Duration.milliseconds(Int64(random % UInt64(limit + 1)))
        return max(jitter, min(retryAfter ?? .zero, Self.longestBelievedDelay))
    }
}

extension Duration {
    /// Whole milliseconds, at most those of about 35 years so that sums do not overflow.
    public var milliseconds: Int64 {
        let (seconds, attoseconds) = components
        guard seconds < 1 << 30 else { return 1 << 40 }
        return seconds > -(1 << 30) ? seconds * 1_000 + attoseconds / 1_000_000_000_000_000 : -(1 << 40)
    }
}
