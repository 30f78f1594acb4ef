package import ODataWire
package import Operations

/// The header field `Retry-After` (RFC 9110, section 10.2.3).
package enum RetryAfter {
    /// Returns the delay that the service requests, or nil if the header is missing or unreadable. A date in the past
    /// is a delay of zero.
    ///
    /// - Parameter now: The current time. A date is compared with the response's own `Date` if it has one, so that a
    ///   wrong local clock does no harm.
    package static func delay(_ headers: HTTPHeaders, now: Timestamp) -> Duration? {
        guard let text = headers["Retry-After"] else { return nil }
        if !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) {
            // A number with more digits than fit exceeds any useful delay.
            return .seconds(min(Int64(text) ?? .max, longest))
        }
        guard let date = HTTPDate.milliseconds(text) else { return nil }
        let sent = headers["Date"].flatMap { HTTPDate.milliseconds($0) } ?? now
        let (difference, overflow) = date.subtractingReportingOverflow(sent)
        return overflow ? .zero : .milliseconds(min(max(difference, 0), longest * 1_000))
    }

    /// The longest delay in seconds.
    private static var longest: Int64 { 1_000_000_000 }
}
