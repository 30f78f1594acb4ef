import EDM
import Operations

/// Returns the time in ISO 8601, in UTC, with milliseconds, or nil for years that the form does not support.
func iso8601(_ time: Timestamp) -> String? {
    let (quotient, remainder) = time.quotientAndRemainder(dividingBy: 1000)
    let milliseconds = remainder < 0 ? remainder + 1000 : remainder
    let (whole, overflow) = (remainder < 0 ? quotient - 1 : quotient).multipliedReportingOverflow(by: 1000)
    guard !overflow, let second = LocalDateTime(millisecondsSince1970: whole) else { return nil }
    let digits = String(milliseconds)
    return "\(second)." + String(repeating: "0", count: 3 - digits.count) + digits + "Z"
}
