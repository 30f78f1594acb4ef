/// An `Edm.DateTime` of V2: a date and time of day without an offset.
public struct LocalDateTime: Sendable, Hashable {
    /// The date.
    public let date: LocalDate
    /// The time of day.
    public let time: LocalTime

    /// Creates a date and time of day.
    public init(date: LocalDate, time: LocalTime) {
        self.date = date
        self.time = time
    }

    /// Creates a value from milliseconds since 1970-01-01T00:00:00, as in `/Date(…)/`. Returns `nil` beyond the
    /// supported years.
    public init?(millisecondsSince1970 milliseconds: Int64) {
        let day = floorDivision(milliseconds, 86_400_000)
        guard let date = LocalDate(daysSince1970: day.quotient),
            let time = LocalTime(picoseconds: day.remainder * 1_000_000_000)
        else { return nil }
        self.init(date: date, time: time)
    }

    /// Milliseconds since 1970-01-01T00:00:00, rounded down.
    public var millisecondsSince1970: Int64 { date.daysSince1970 * 86_400_000 + time.picoseconds / 1_000_000_000 }

    /// Whether ``millisecondsSince1970`` is exact.
    public var isWholeMilliseconds: Bool { time.picoseconds % 1_000_000_000 == 0 }

    /// The point in time, interpreted as UTC.
    public var instant: Instant {
        Instant(
            unchecked: date.daysSince1970 * 86_400 + time.picoseconds / LocalTime.picosecondsPerSecond,
            picoseconds: time.picosecond)
    }

    /// Returns the value plus the given seconds, or `nil` beyond the supported years.
    func adding(seconds: Int64) -> LocalDateTime? {
        let total = floorDivision(instant.secondsSince1970 + seconds, 86_400)
        guard let date = LocalDate(daysSince1970: total.quotient) else { return nil }
        let picoseconds = total.remainder * LocalTime.picosecondsPerSecond + time.picosecond
        return LocalDateTime(
            date: date, time: LocalTime(unchecked: picoseconds, fractionDigits: time.fractionDigits))
    }
}

/// A point in time, for comparison.
public struct Instant: Sendable, Hashable, Comparable {
    /// The seconds since 1970-01-01T00:00:00Z, rounded down; negative before 1970.
    public let secondsSince1970: Int64
    /// The fraction of a second, 0 to 999,999,999,999, counted forward also before 1970.
    public let picoseconds: Int64

    init(unchecked secondsSince1970: Int64, picoseconds: Int64) {
        self.secondsSince1970 = secondsSince1970
        self.picoseconds = picoseconds
    }

    /// Creates a point in time. Returns `nil` if the picoseconds are negative or amount to a second or more.
    public init?(secondsSince1970: Int64, picoseconds: Int64 = 0) {
        guard (0..<LocalTime.picosecondsPerSecond).contains(picoseconds) else { return nil }
        self.init(unchecked: secondsSince1970, picoseconds: picoseconds)
    }

    public static func < (a: Instant, b: Instant) -> Bool {
        (a.secondsSince1970, a.picoseconds) < (b.secondsSince1970, b.picoseconds)
    }
}

extension LocalDateTime: Comparable, CustomStringConvertible {
    /// Parses `YYYY-MM-DDThh:mm[:ss[.f]]`. A leap second is read as the following second.
    public init?(_ text: String) {
        var cursor = TextCursor(text)
        guard let value = LocalDateTime(&cursor), cursor.isAtEnd else { return nil }
        self = value
    }

    init?(_ cursor: inout TextCursor) {
        guard let date = LocalDate(&cursor), cursor.consume("T") || cursor.consume("t"),
            let (time, isLeapSecond) = LocalTime.read(&cursor)
        else { return nil }
        let written = LocalDateTime(date: date, time: time)
        guard let value = isLeapSecond ? written.adding(seconds: 1) : written else { return nil }
        self = value
    }

    public static func < (a: LocalDateTime, b: LocalDateTime) -> Bool { (a.date, a.time) < (b.date, b.time) }

    public var description: String { ShortText.string { write(&$0) } }

    /// - Parameter isCanonical: As for ``LocalTime/write(_:isCanonical:)``.
    package func write(_ text: inout ShortText, isCanonical: Bool = false) {
        date.write(&text)
        text.add("T")
        time.write(&text, isCanonical: isCanonical)
    }
}

func floorDivision(_ value: Int64, _ divisor: Int64) -> (quotient: Int64, remainder: Int64) {
    let (quotient, remainder) = value.quotientAndRemainder(dividingBy: divisor)
    return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
}
