/// Conversions between the types of V2 (`Edm.DateTime`, `Edm.Time`) and those of V4 (`Edm.DateTimeOffset`, `Edm.Date`,
/// `Edm.TimeOfDay`, `Edm.Duration`).
extension LocalDateTime {
    /// Creates the date and time of a point in time in UTC. Loses the offset. Returns `nil` beyond the supported
    /// years.
    ///
    /// ``GlobalDateTime/local`` is the date and time at the value's own offset.
    public init?(utc moment: GlobalDateTime) {
        guard let value = moment.local.adding(seconds: Int64(-moment.offsetMinutes) * 60) else { return nil }
        self = value
    }

    /// Creates the date and time of a point in time in UTC. Returns `nil` beyond the supported years.
    public init?(utc instant: Instant) {
        let day = floorDivision(instant.secondsSince1970, 86_400)
        guard let date = LocalDate(daysSince1970: day.quotient),
            let time = LocalTime(
                picoseconds: day.remainder * LocalTime.picosecondsPerSecond + instant.picoseconds)
        else { return nil }
        self.init(date: date, time: time)
    }

    /// Returns the value with at most `digits` fractional digits; further digits are cut off.
    public func truncated(toFractionDigits digits: Int) -> LocalDateTime {
        LocalDateTime(date: date, time: time.truncated(toFractionDigits: digits))
    }
}

extension GlobalDateTime {
    /// Creates the value of a point in time at an offset. Returns `nil` beyond the supported years, and for an offset
    /// of a day or more.
    public init?(_ instant: Instant, offsetMinutes: Int = 0) {
        guard let utc = LocalDateTime(utc: instant), Self.offsets.contains(Int64(offsetMinutes)),
            let local = utc.adding(seconds: Int64(offsetMinutes) * 60)
        else { return nil }
        self.init(local: local, offsetMinutes: offsetMinutes)
    }

    /// Returns the same point in time at another offset. Returns `nil` beyond the supported years, and for an offset
    /// of a day or more.
    public func moved(toOffsetMinutes offset: Int) -> GlobalDateTime? {
        guard Self.offsets.contains(Int64(offset)),
            let local = local.adding(seconds: Int64(offset - offsetMinutes) * 60)
        else { return nil }
        return GlobalDateTime(local: local, offsetMinutes: offset)
    }

    /// Returns the value with at most `digits` fractional digits; further digits are cut off.
    public func truncated(toFractionDigits digits: Int) -> GlobalDateTime {
        GlobalDateTime(local: local.truncated(toFractionDigits: digits), offsetMinutes: offsetMinutes) ?? self
    }

    @available(
        *, unavailable, message: "Two values can be the same point in time: compare a.instant < b.instant"
    )
    public static func < (a: GlobalDateTime, b: GlobalDateTime) -> Bool { a.instant < b.instant }

    // An available member would take the place of the query function `now()` in `Order.placedAt < .now`.
    /// Unavailable, because this module reads no clock. Use `GlobalDateTime(.now)` of TidelogFoundation.
    @available(*, unavailable, message: "Write GlobalDateTime(.now), which is part of TidelogFoundation")
    public static var now: GlobalDateTime { GlobalDateTime(utc: LocalDateTime(date: .epoch, time: .midnight)) }
}

extension LocalTime {
    /// Creates the time of day of an `Edm.Time` of V2, which has the format of a duration. Returns `nil` if it is
    /// negative, or a day or more.
    public init?(_ duration: DayTimeDuration) {
        guard !duration.isNegative, duration.seconds < 86_400 else { return nil }
        self.init(picoseconds: duration.seconds * Self.picosecondsPerSecond + duration.picoseconds)
    }

    /// Returns the value with at most `digits` fractional digits; further digits are cut off.
    ///
    /// - Parameter digits: 0 to 12. Numbers outside count as the nearest of these.
    public func truncated(toFractionDigits digits: Int) -> LocalTime {
        let digits = min(max(0, digits), 12)
        let unit = powersOfTen[12 - digits]
        return LocalTime(
            unchecked: picoseconds / unit * unit, fractionDigits: min(fractionDigits, UInt8(digits)))
    }
}

extension DayTimeDuration {
    /// Creates the duration from midnight to a time of day, the form in which V2 writes an `Edm.Time`. Loses only
    /// ``LocalTime/fractionDigits``.
    public init(_ time: LocalTime) {
        self.init(
            unchecked: time.picoseconds / LocalTime.picosecondsPerSecond, picoseconds: time.picosecond,
            isNegative: false)
    }

    /// Creates the duration of a Swift `Duration`, rounded toward zero to picoseconds.
    ///
    /// Returns `nil` for more than `Int64.max` seconds, about 292 billion years.
    public init?(_ duration: Duration) {
        let picoseconds = duration.attoseconds / 1_000_000
        let (seconds, rest) = picoseconds.magnitude.quotientAndRemainder(
            dividingBy: UInt128(LocalTime.picosecondsPerSecond))
        guard let seconds = Int64(exactly: seconds) else { return nil }
        self.init(unchecked: seconds, picoseconds: Int64(rest), isNegative: picoseconds < 0)
    }
}

extension Duration {
    /// Creates the duration of an `Edm.Duration`, without loss.
    public init(_ duration: DayTimeDuration) {
        let attoseconds =
            Int128(duration.seconds) * 1_000_000_000_000_000_000 + Int128(duration.picoseconds) * 1_000_000
        self.init(attoseconds: duration.isNegative ? -attoseconds : attoseconds)
    }
}
