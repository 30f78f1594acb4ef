internal import EDM
internal import ODataQuery

/// Dates in header fields (RFC 9110, section 5.6.7), as milliseconds since 1970 in UTC.
package enum HTTPDate {
    /// Returns the date in the form `Sun, 06 Nov 1994 08:49:37 GMT`, truncated to seconds, or nil if the year does not
    /// have four digits.
    package static func text(millisecondsSince1970 milliseconds: Int64) -> String? {
        guard let moment = LocalDateTime(millisecondsSince1970: milliseconds), (0...9999).contains(moment.date.year)
        else {
            return nil
        }
        let seconds = moment.time.picoseconds / 1_000_000_000_000
        let clock = [seconds / 3600, seconds / 60 % 60, seconds % 60].map { padded($0, 2) }.joined(separator: ":")
        let date = moment.date
        return "\(days[weekday(of: date)]), \(padded(Int64(date.day), 2)) \(months[date.month - 1]) "
            + "\(padded(Int64(date.year), 4)) \(clock) GMT"
    }

    /// Parses a date, or returns nil.
    ///
    /// Accepts the three forms that recipients must support: the form above, that of RFC 850 (`Sunday, 06-Nov-94
    /// 08:49:37 GMT`), and C's asctime (`Sun Nov  6 08:49:37 1994`). The name of the day is not checked. A two-digit
    /// year is interpreted as 1970 to 2069, so that the result does not depend on the current date.
    package static func milliseconds(_ text: String) -> Int64? {
        let words = text.split { $0 == " " || $0 == "-" || $0 == "," }.map(String.init)
        switch words.count {
        case 6 where words[5].equalsIgnoringCase("GMT") || words[5].equalsIgnoringCase("UTC"):
            return milliseconds(day: words[1], month: words[2], year: words[3], clock: words[4])
        case 5: return milliseconds(day: words[2], month: words[1], year: words[4], clock: words[3])
        default: return nil
        }
    }

    private static func milliseconds(day: String, month: String, year: String, clock: String) -> Int64? {
        let parts = clock.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
        guard let day = number(day, 1...2), let month = months.firstIndex(where: { $0.equalsIgnoringCase(month) }),
            var years = number(year, 2...4), year.utf8.count != 3, parts.count == 3,
            let hours = number(parts[0], 1...2),
            let minutes = number(parts[1], 2...2), let seconds = number(parts[2], 2...2), hours < 24, minutes < 60,
            seconds <= 60
        else { return nil }
        if year.utf8.count == 2 { years += years < 70 ? 2000 : 1900 }
        guard let date = LocalDate(year: years, month: month + 1, day: day) else { return nil }
        return (date.daysSince1970 * 86_400 + Int64(hours * 3600 + minutes * 60 + seconds)) * 1000
    }

    private static func number(_ text: String, _ digits: ClosedRange<Int>) -> Int? {
        guard digits.contains(text.utf8.count), text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return Int(text)
    }

    private static func padded(_ number: Int64, _ digits: Int) -> String {
        let text = String(number)
        return String(repeating: "0", count: max(0, digits - text.utf8.count)) + text
    }

    /// 1 January 1970 was a Thursday.
    private static func weekday(of date: LocalDate) -> Int { Int(((date.daysSince1970 % 7) + 11) % 7) }

    private static let days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]
}
