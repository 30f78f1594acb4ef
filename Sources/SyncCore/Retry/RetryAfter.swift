public import ODataWire
public import Operations

/// The header field `Retry-After` (RFC 9110, section 10.2.3).
public enum RetryAfter {
    /// How long the service asks to wait; nil where it does not, or not in a way that can be read. A date in the past is no
    /// time at all.
    ///
    /// - Parameter now: a date is held against it, or against the answer's own `Date` where there is one: then a wrong clock
    ///   here does no harm.
    public static func delay(_ headers: HTTPHeaders, now: Timestamp) -> Duration? {
        guard let text = headers["Retry-After"] else { return nil }
        if !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) {
            // More digits than a number has are longer than anybody waits.
            return .seconds(min(Int64(text) ?? .max, longest))
        }
        guard let date = HTTPDate.milliseconds(text) else { return nil }
        let sent = headers["Date"].flatMap { HTTPDate.milliseconds($0) } ?? now
        let (difference, overflow) = date.subtractingReportingOverflow(sent)
        return overflow ? .zero : .milliseconds(min(max(difference, 0), longest * 1_000))
    }

    /// In seconds.
    private static var longest: Int64 { 1_000_000_000 }
}
