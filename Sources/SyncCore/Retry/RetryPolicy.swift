/// The number of retries after temporary failures, and their backoff.
///
/// The limit of the delay doubles with each attempt, and the delay is drawn uniformly between zero and that limit
/// ("full jitter"), so that the clients of a service do not all return at once after an outage. The service's
/// `Retry-After` is the minimum.
public struct RetryPolicy: Sendable, Hashable {
    /// The largest number of consecutive attempts. An operation that the service deferred that often counts as rejected
    /// and becomes visible; an upload that failed that often ends.
    public var attempts: Int
    /// The limit of the delay after the first attempt.
    public var firstDelay: Duration
    /// The largest limit of a delay, except for the delay that the service requests.
    public var longestDelay: Duration
    /// The total time that one upload may wait. If it would have to wait longer, it ends and reports when the next one
    /// may begin.
    public var patience: Duration
    /// A Boolean value that indicates whether an upload also waits for an unreachable service. If false, the upload
    /// ends with the error at once, since the app can better determine whether there is a network.
    public var waitsForConnection: Bool

    /// Creates a policy; by default 8 attempts, with limits of the delay from one second to five minutes.
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

    /// A policy that never waits. Deferred operations are still retried by the next upload that is late enough.
    public static let impatient = RetryPolicy(patience: .zero)

    /// The largest accepted `Retry-After`: a day.
    static let longestBelievedDelay = Duration.seconds(86_400)

    /// Returns the delay before the next attempt.
    ///
    /// - Parameters:
    ///   - attempt: The number of consecutive failed attempts, at least 1.
    ///   - retryAfter: The delay that the service requested.
    ///   - random: 64 random bits.
    package func delay(afterAttempt attempt: Int, retryAfter: Duration?, random: UInt64) -> Duration {
        let doublings = min(max(attempt, 1) - 1, 30)
        let first = min(max(firstDelay.milliseconds, 1), 1 << 32)
        let limit = min(first << doublings, max(longestDelay.milliseconds, 1))
        // The bias of the modulo is far below a millisecond.
        let jitter = Duration.milliseconds(Int64(random % UInt64(limit + 1)))
        return max(jitter, min(retryAfter ?? .zero, Self.longestBelievedDelay))
    }
}

extension Duration {
    /// Whole milliseconds, limited to about 35 years so that sums do not overflow.
    package var milliseconds: Int64 {
        let (seconds, attoseconds) = components
        guard seconds < 1 << 30 else { return 1 << 40 }
        return seconds > -(1 << 30) ? seconds * 1_000 + attoseconds / 1_000_000_000_000_000 : -(1 << 40)
    }
}
