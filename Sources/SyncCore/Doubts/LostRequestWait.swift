public import Operations

/// How long a request without an answer may still be running.
public struct LostRequestWait: Sendable, Hashable {
    /// When the time begins.
    public let start: Timestamp
    /// When it is over; the service can then be believed to have none of the request.
    public let end: Timestamp

    /// - Parameters:
    ///   - sent: when the request was sent, by the log.
    ///   - firstLook: when the service was first searched while the clock was behind `sent`; nil if it never was.
    ///   - now: the clock.
    ///   - seconds: how long a request may run.
    public init(sent: Timestamp, firstLook: Timestamp?, now: Timestamp, seconds: Int) {
        // A clock that was put back tells nothing of the time that has passed. The earlier look is believed only as long as
        // the clock has not been put back behind that one too.
        start = sent <= now ? sent : firstLook.map { min($0, now) } ?? now
        let (milliseconds, isLong) = Int64(clamping: max(seconds, 0)).multipliedReportingOverflow(by: 1_000)
        let (end, isTooLong) = start.addingReportingOverflow(milliseconds)
        self.end = isLong || isTooLong ? .max : end
    }

    public func isOver(at now: Timestamp) -> Bool { now >= end }
}
