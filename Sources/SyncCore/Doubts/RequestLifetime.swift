package import Operations

/// The period in which a request without a response may still be running.
package struct RequestLifetime: Sendable, Hashable {
    /// The beginning of the period.
    package let start: Timestamp
    /// The end of the period. After it, the service can be assumed not to be processing the request.
    package let end: Timestamp

    /// Computes the period.
    ///
    /// - Parameters:
    ///   - sent: The time of transmission according to the log.
    ///   - firstLook: The time of the first search during which the clock was before `sent`; nil if there was none.
    ///   - now: The current time.
    ///   - seconds: The longest time that a request may run.
    package init(sent: Timestamp, firstLook: Timestamp?, now: Timestamp, seconds: Int) {
        // A clock that was set back does not measure elapsed time. The time of the first search is used only while
        // the clock is not before that too.
        start = sent <= now ? sent : firstLook.map { min($0, now) } ?? now
        let (milliseconds, isLong) = Int64(clamping: max(seconds, 0)).multipliedReportingOverflow(by: 1_000)
        let (end, isTooLong) = start.addingReportingOverflow(milliseconds)
        self.end = isLong || isTooLong ? .max : end
    }

    package func isOver(at now: Timestamp) -> Bool { now >= end }
}
