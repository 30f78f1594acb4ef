#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif
public import Tidelog

/// Conversions between `DateComponents` and dates and times without a time zone.
extension DateComponents {
    /// Creates the components year, month and day.
    public init(_ date: LocalDate) { self.init(year: date.year, month: date.month, day: date.day) }

    /// Creates the components hour, minute, second and nanosecond. Digits below a nanosecond are cut off.
    public init(_ time: LocalTime) {
        self.init(
            hour: time.hour, minute: time.minute, second: time.second, nanosecond: Int(time.picosecond / 1000))
    }

    /// Creates the components from year to nanosecond. Digits below a nanosecond are cut off.
    public init(_ dateTime: LocalDateTime) {
        self.init(dateTime.time)
        (year, month, day) = (dateTime.date.year, dateTime.date.month, dateTime.date.day)
    }

    /// Whether the components are of a calendar with other years or months than those of OData.
    fileprivate var isForeign: Bool {
        guard let calendar else { return false }
        return calendar.identifier != .gregorian && calendar.identifier != .iso8601
    }
}

extension LocalDate {
    /// Creates the date of the components year, month and day. The other components do not matter.
    ///
    /// Returns `nil` if one of them is missing, if there is no such day, and for a calendar other than the Gregorian
    /// one. Dates of OData are Gregorian also before 1582, while formatters of Foundation then use the Julian calendar.
    public init?(_ components: DateComponents) {
        guard !components.isForeign, let year = components.year, let month = components.month,
            let day = components.day, year.magnitude <= UInt(Self.yearLimit)
        else { return nil }
        // Era 0 counts backward: its year 1 precedes the year 1.
        self.init(year: components.era == 0 ? 1 - year : year, month: month, day: day)
    }
}

extension LocalTime {
    /// Creates the time of the components hour and minute, with second and nanosecond if they are set.
    ///
    /// Returns `nil` if hour or minute is missing, or outside of a day. A leap second is outside.
    public init?(_ components: DateComponents) {
        guard let hour = components.hour, let minute = components.minute,
            let nanosecond = Optional(components.nanosecond ?? 0), (0..<1_000_000_000).contains(nanosecond)
        else { return nil }
        self.init(
            hour: hour, minute: minute, second: components.second ?? 0, picosecond: Int64(nanosecond) * 1000)
    }
}

extension LocalDateTime {
    /// Creates the date and time of the components; see `LocalDate.init(_:)` and `LocalTime.init(_:)`. A time zone in
    /// the components does not matter.
    public init?(_ components: DateComponents) {
        guard let date = LocalDate(components), let time = LocalTime(components) else { return nil }
        self.init(date: date, time: time)
    }
}
