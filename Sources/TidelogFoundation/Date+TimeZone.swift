#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif
public import Tidelog

/// Conversions that depend on a time zone: a point in time has another day and another time of day in each zone.
extension LocalDateTime {
    /// Creates the date and time that clocks in the time zone show. Returns `nil` for a date that is not finite or
    /// beyond the supported years.
    ///
    /// - Parameter fractionDigits: the number of digits of the fraction of a second, 0 to 12. The date is rounded.
    public init?(_ date: Date, in timeZone: TimeZone, fractionDigits: Int = 3) {
        guard let instant = Instant(date, fractionDigits: fractionDigits) else { return nil }
        let (seconds, overflow) = instant.secondsSince1970.addingReportingOverflow(
            Int64(timeZone.secondsFromGMT(for: date)))
        guard !overflow, let local = Instant(secondsSince1970: seconds, picoseconds: instant.picoseconds) else {
            return nil
        }
        self.init(utc: local)
    }

    /// Unavailable, because the conversion needs a time zone.
    @available(*, unavailable, message: "Choose a time zone: LocalDateTime(utc: date) or LocalDateTime(date, in: zone)")
    public init?(_ date: Date) { return nil }
}

extension LocalDate {
    /// Creates the day of a date in the time zone. Returns `nil` for a date that is not finite or beyond the supported
    /// years.
    public init?(_ date: Date, in timeZone: TimeZone) {
        guard let local = LocalDateTime(date, in: timeZone, fractionDigits: 12) else { return nil }
        self = local.date
    }

    /// Unavailable, because the day depends on the time zone.
    @available(*, unavailable, message: "The day depends on the time zone: LocalDate(date, in: .current)")
    public init?(_ date: Date) { return nil }
}

extension LocalTime {
    /// Creates the time of day of a date in the time zone. Returns `nil` for a date that is not finite or beyond the
    /// supported years.
    ///
    /// - Parameter fractionDigits: the number of digits of the fraction of a second, 0 to 12. The date is rounded, so
    ///   that the last half of a millisecond of a day is midnight.
    public init?(_ date: Date, in timeZone: TimeZone, fractionDigits: Int = 3) {
        guard let local = LocalDateTime(date, in: timeZone, fractionDigits: fractionDigits) else { return nil }
        self = local.time
    }

    /// Unavailable, because the time of day depends on the time zone.
    @available(*, unavailable, message: "The time of day depends on the time zone: LocalTime(date, in: .current)")
    public init?(_ date: Date) { return nil }
}

extension Date {
    /// Creates the date at which clocks in the time zone show the date and time.
    ///
    /// A time that is skipped when the clocks are set forward counts as if they had not been: 02:30 becomes 03:30. If a
    /// time occurs twice, the first occurrence is chosen.
    public init(_ dateTime: LocalDateTime, in timeZone: TimeZone) {
        let local = dateTime.instant
        func offset(at seconds: Int64) -> Int64 {
            Int64(timeZone.secondsFromGMT(for: Date(timeIntervalSince1970: Double(seconds))))
        }
        // The offsets on both sides of a change of the clocks on this day.
        let earlier = offset(at: local.secondsSince1970 - 86_400)
        let later = offset(at: local.secondsSince1970 + 86_400)
        let valid = [earlier, later].first { offset(at: local.secondsSince1970 - $0) == $0 }
        let seconds = local.secondsSince1970 - (valid ?? earlier) - Instant.referenceDate
        self.init(timeIntervalSinceReferenceDate: Double(seconds) + Double(local.picoseconds) / 1e12)
    }

    /// Creates the date at which the day begins in the time zone: midnight, or the first time after it if the clocks
    /// skip midnight.
    public init(startOf day: LocalDate, in timeZone: TimeZone) {
        self.init(LocalDateTime(date: day, time: .midnight), in: timeZone)
    }

    /// Unavailable, because a day has no time zone.
    @available(*, unavailable, message: "A day has no time zone: Date(startOf: day, in: .current)")
    public init(_ day: LocalDate) { self.init(timeIntervalSince1970: 0) }

    /// Unavailable, because the conversion needs a time zone.
    @available(*, unavailable, message: "Choose a time zone: Date(utc: dateTime) or Date(dateTime, in: zone)")
    public init(_ dateTime: LocalDateTime) { self.init(timeIntervalSince1970: 0) }
}
