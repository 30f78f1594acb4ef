/// An `Edm.Date`: a day of the proleptic Gregorian calendar, years −9999 to 9999 and beyond.
public struct LocalDate: Sendable, Hashable {
    public var year: Int
    /// 1 to 12.
    public var month: Int
    /// 1 to the month's last day.
    public var day: Int
}

/// An `Edm.TimeOfDay`.
public struct LocalTime: Sendable, Hashable {
    /// From midnight, in units of 10⁻¹² seconds (twelve fractional digits are the most that OData allows).
    public var picoseconds: Int64
    /// How many fractional digits the text had, so that it is written back alike.
    public var fractionDigits: UInt8
}

/// An `Edm.DateTime` of V2: a date and time of day without an offset.
public struct LocalDateTime: Sendable, Hashable {
    public var date: LocalDate
    public var time: LocalTime
}

/// An `Edm.DateTimeOffset`: a local date and time with its offset from UTC. Two values are equal when date, time, offset
/// and written precision are; compare ``instant`` for the same point in time.
public struct GlobalDateTime: Sendable, Hashable {
    public var local: LocalDateTime
    /// In minutes, −840 to 840. `Z` and `+00:00` are both 0.
    public var offsetMinutes: Int
}

/// An `Edm.Duration` (days, hours, minutes, seconds), and `Edm.Time` of V2.
public struct DayTimeDuration: Sendable, Hashable {
    public var isNegative: Bool
    /// Whole seconds, never negative.
    public var seconds: Int64
    /// 0 to 999,999,999,999.
    public var picoseconds: Int64
}
