/// How long a response's head may take: from when the last bytes of the request were seen to go.
struct HeadWait: Sendable {
    private let limit: Duration?
    /// When the time began to run; nil before the request was looked at for the first time.
    private var start: ContinuousClock.Instant?
    private var sent: Int64 = 0

    /// - Parameter limit: nil for none.
    init(_ limit: Duration?) { self.limit = limit }

    /// Returns how long it may still take, zero or less when its time has passed; nil where there is no limit.
    ///
    /// - Parameter sent: how many bytes of the request's body have gone.
    mutating func left(_ now: ContinuousClock.Instant, sent: Int64) -> Duration? {
        guard let limit else { return nil }
        if start == nil || sent != self.sent { (start, self.sent) = (now, sent) }
        return start.map { limit - ($0.duration(to: now)) }
    }
}
