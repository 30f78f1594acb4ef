#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif
public import Tidelog

/// Conversions between `Date` and points in time.
///
/// A `Date` counts seconds since 2001 in binary. It has no offset, and cannot represent every decimal fraction: its
/// resolution is a quarter of a microsecond or better until the year 2069. Conversions from `Date` therefore round to
/// milliseconds unless the call has another number of fractional digits; a value with milliseconds in the years 1 to
/// 9999 survives the way to a `Date` and back. Leap seconds do not exist in either type.
extension Instant {
    /// Creates the point in time of a date, rounded. Returns `nil` for a date that is not finite, or beyond the years
    /// that dates of Tidelog support.
    ///
    /// - Parameter fractionDigits: the number of digits of the fraction of a second, 0 to 12.
    public init?(_ date: Date, fractionDigits: Int = 3) {
        let seconds = date.timeIntervalSinceReferenceDate
        // Beyond this there are no whole seconds in binary; NaN is never less.
        guard seconds.magnitude < 0x1p53 else { return nil }
        let whole = seconds.rounded(.down)
        let unit = Self.powersOfTen[min(max(0, fractionDigits), 12)]
        let fraction = Int64(((seconds - whole) * Double(unit)).rounded())
        // Rounding can complete a second.
        self.init(
            secondsSince1970: Int64(whole) + Self.referenceDate + fraction / unit,
            picoseconds: fraction % unit * (Self.powersOfTen[12] / unit))
    }

    /// 1 January 2001, the zero of `Date`, in seconds since 1970.
    static let referenceDate: Int64 = 978_307_200

    private static let powersOfTen = (0...12).map { power in (0..<power).reduce(Int64(1)) { number, _ in number * 10 } }
}

extension Date {
    /// Creates the date nearest to a point in time.
    public init(_ instant: Instant) {
        let seconds = Double(instant.secondsSince1970.subtractingReportingOverflow(Instant.referenceDate).partialValue)
        self.init(timeIntervalSinceReferenceDate: seconds + Double(instant.picoseconds) / 1e12)
    }

    /// Creates the date nearest to a point in time. Loses the offset, and digits beyond the resolution of `Date`.
    public init(_ moment: GlobalDateTime) { self.init(moment.instant) }

    /// Creates the date nearest to a date and time in UTC, which is the usual meaning of `Edm.DateTime` of V2.
    public init(utc dateTime: LocalDateTime) { self.init(dateTime.instant) }

    /// Creates a date from milliseconds since 1970, the form of the times of operations and log records.
    public init(millisecondsSince1970 milliseconds: Int64) {
        self.init(timeIntervalSince1970: Double(milliseconds) / 1000)
    }
}

extension GlobalDateTime {
    /// Creates the value of a date, in UTC or at an offset. Returns `nil` for a date that is not finite or beyond the
    /// supported years, and for an offset of a day or more.
    ///
    /// - Parameter fractionDigits: the number of digits of the fraction of a second, 0 to 12. The date is rounded.
    public init?(_ date: Date, offsetMinutes: Int = 0, fractionDigits: Int = 3) {
        guard let instant = Instant(date, fractionDigits: fractionDigits) else { return nil }
        self.init(instant, offsetMinutes: offsetMinutes)
    }

    /// Creates the value of a date at the offset that the time zone has then.
    ///
    /// An offset with seconds, as before the introduction of standard time, is rounded toward zero to minutes; the
    /// point in time is unchanged.
    public init?(_ date: Date, in timeZone: TimeZone, fractionDigits: Int = 3) {
        guard let instant = Instant(date, fractionDigits: fractionDigits) else { return nil }
        self.init(instant, offsetMinutes: timeZone.secondsFromGMT(for: date) / 60)
    }
}

extension LocalDateTime {
    /// Creates the date and time of a date in UTC, which is the usual meaning of `Edm.DateTime` of V2. Returns `nil`
    /// for a date that is not finite or beyond the supported years.
    ///
    /// - Parameter fractionDigits: the number of digits of the fraction of a second, 0 to 12. The date is rounded.
    public init?(utc date: Date, fractionDigits: Int = 3) {
        guard let instant = Instant(date, fractionDigits: fractionDigits) else { return nil }
        self.init(utc: instant)
    }
}
