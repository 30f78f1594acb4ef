/// The time limit for a response's head, measured from the last observed progress in sending the request.
struct HeadTimeout: Sendable {
    private let limit: Duration?
    /// The start of the measurement; `nil` before the first check.
    private var start: ContinuousClock.Instant?
    private var sent: Int64 = 0

    /// - Parameter limit: the limit; `nil` for none.
    init(_ limit: Duration?) { self.limit = limit }

    /// Returns the remaining time, zero or less if it has expired, or `nil` if there is no limit.
    ///
    /// - Parameter sent: the number of bytes of the request's body that have been sent.
    mutating func left(_ now: ContinuousClock.Instant, sent: Int64) -> Duration? {
        guard let limit else { return nil }
        if start == nil || sent != self.sent { (start, self.sent) = (now, sent) }
        return start.map { limit - ($0.duration(to: now)) }
    }
}
