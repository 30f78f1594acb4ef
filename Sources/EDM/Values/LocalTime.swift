/// An `Edm.TimeOfDay`. The number of written fractional digits is kept but does not affect equality.
public struct LocalTime: Sendable {
    /// The time since midnight in units of 10⁻¹² seconds (OData allows at most twelve fractional digits).
    public let picoseconds: Int64
    /// The number of fractional digits in the text, so that it is written in the same form. 0 to 12.
    public let fractionDigits: UInt8

    /// The number of picoseconds in a second.
    public static let picosecondsPerSecond: Int64 = 1_000_000_000_000
    /// The number of picoseconds in a day of 24 hours.
    public static let picosecondsPerDay: Int64 = 86_400 * picosecondsPerSecond
    /// The time 00:00:00, without fractional digits.
    public static let midnight = LocalTime(unchecked: 0, fractionDigits: 0)

    init(unchecked picoseconds: Int64, fractionDigits: UInt8) {
        self.picoseconds = picoseconds
        self.fractionDigits = fractionDigits
    }

    /// Creates a time. Returns `nil` outside of a day. The number of fractional digits is increased if the value
    /// needs more.
    public init?(picoseconds: Int64, fractionDigits: UInt8 = 0) {
        guard (0..<Self.picosecondsPerDay).contains(picoseconds), fractionDigits <= 12 else { return nil }
        // Usually the given number is sufficient, which one division confirms.
        if picoseconds % powersOfTen[12 - Int(fractionDigits)] == 0 {
            self.init(unchecked: picoseconds, fractionDigits: fractionDigits)
            return
        }
        let needed = UInt8(neededDigits(picoseconds % Self.picosecondsPerSecond))
        self.init(unchecked: picoseconds, fractionDigits: max(needed, fractionDigits))
    }

    /// Creates a time. Returns `nil` outside of a day: hours 0 to 23, minutes and seconds 0 to 59, picoseconds below
    /// one second.
    public init?(hour: Int, minute: Int, second: Int = 0, picosecond: Int64 = 0, fractionDigits: UInt8 = 0) {
        guard (0..<24).contains(hour), (0..<60).contains(minute), (0..<60).contains(second),
            (0..<Self.picosecondsPerSecond).contains(picosecond)
        else { return nil }
        let seconds = Int64(hour * 3600 + minute * 60 + second)
        self.init(picoseconds: seconds * Self.picosecondsPerSecond + picosecond, fractionDigits: fractionDigits)
    }

    /// The hour, from 0 to 23.
    public var hour: Int { Int(picoseconds / (3600 * Self.picosecondsPerSecond)) }
    /// The minute, from 0 to 59.
    public var minute: Int { Int(picoseconds / (60 * Self.picosecondsPerSecond) % 60) }
    /// The second, from 0 to 59.
    public var second: Int { Int(picoseconds / Self.picosecondsPerSecond % 60) }
    /// The fraction of the second.
    public var picosecond: Int64 { picoseconds % Self.picosecondsPerSecond }
    /// The number of fractional digits that the value needs, regardless of ``fractionDigits``.
    public var significantDigits: Int { neededDigits(picosecond) }
}

extension LocalTime: Comparable, Hashable, CustomStringConvertible {
    /// Parses `hh:mm[:ss[.f]]` with one to twelve fractional digits.
    public init?(_ text: String) {
        var cursor = TextCursor(text)
        guard let (time, isLeap) = Self.read(&cursor), !isLeap, cursor.isAtEnd else { return nil }
        self = time
    }

    /// Parses a time. For second 60, returns second 59 and that it was a leap second.
    static func read(_ cursor: inout TextCursor) -> (time: LocalTime, isLeapSecond: Bool)? {
        guard let hour = cursor.digits(2), cursor.consume(":"), let minute = cursor.digits(2) else { return nil }
        var second: Int64 = 0
        var fraction: (value: Int64, digits: UInt8) = (0, 0)
        if cursor.consume(":") {
            guard let seconds = cursor.digits(2) else { return nil }
            second = seconds
            if cursor.consume(".") {
                guard let digits = cursor.picoseconds() else { return nil }
                fraction = digits
            }
        }
        let isLeap = second == 60
        return LocalTime(
            hour: Int(hour), minute: Int(minute), second: Int(isLeap ? 59 : second), picosecond: fraction.value,
            fractionDigits: fraction.digits
        ).map { ($0, isLeap) }
    }

    public static func == (a: LocalTime, b: LocalTime) -> Bool { a.picoseconds == b.picoseconds }
    public static func < (a: LocalTime, b: LocalTime) -> Bool { a.picoseconds < b.picoseconds }
    public func hash(into hasher: inout Hasher) { hasher.combine(picoseconds) }

    public var description: String { ShortText.string { write(&$0) } }

    /// - Parameter isCanonical: Whether only significant fractional digits are written, so that equal times have equal
    ///   texts.
    package func write(_ text: inout ShortText, isCanonical: Bool = false) {
        let seconds = picoseconds / Self.picosecondsPerSecond
        text.add(seconds / 3600, width: 2)
        text.add(":")
        text.add(seconds / 60 % 60, width: 2)
        text.add(":")
        text.add(seconds % 60, width: 2)
        text.add(picoseconds: picosecond, digits: isCanonical ? significantDigits : Int(fractionDigits))
    }
}
