/// An `Edm.TimeOfDay`. How many fractional digits were written is kept but is no part of equality.
public struct LocalTime: Sendable {
    /// From midnight, in units of 10⁻¹² seconds (twelve fractional digits are the most that OData allows).
    public let picoseconds: Int64
    /// How many fractional digits the text had, so that it is written back alike. 0 to 12.
    public let fractionDigits: UInt8

    public static let picosecondsPerSecond: Int64 = 1_000_000_000_000
    public static let picosecondsPerDay: Int64 = 86_400 * picosecondsPerSecond
    public static let midnight = LocalTime(unchecked: 0, fractionDigits: 0)

    init(unchecked picoseconds: Int64, fractionDigits: UInt8) {
        self.picoseconds = picoseconds
        self.fractionDigits = fractionDigits
    }

    /// Nil outside a day. At least as many fractional digits are written as the value needs.
    public init?(picoseconds: Int64, fractionDigits: UInt8 = 0) {
        guard (0..<Self.picosecondsPerDay).contains(picoseconds), fractionDigits <= 12 else { return nil }
        // As a rule what is given is enough, and one division says so.
        if picoseconds % powersOfTen[12 - Int(fractionDigits)] == 0 {
            self.init(unchecked: picoseconds, fractionDigits: fractionDigits)
            return
        }
        let needed = UInt8(neededDigits(picoseconds % Self.picosecondsPerSecond))
        self.init(unchecked: picoseconds, fractionDigits: max(needed, fractionDigits))
    }

    /// Nil outside a day: hours 0 to 23, minutes and seconds 0 to 59, picoseconds below a second.
    public init?(hour: Int, minute: Int, second: Int = 0, picosecond: Int64 = 0, fractionDigits: UInt8 = 0) {
        guard (0..<24).contains(hour), (0..<60).contains(minute), (0..<60).contains(second),
            (0..<Self.picosecondsPerSecond).contains(picosecond)
        else { return nil }
        let seconds = Int64(hour * 3600 + minute * 60 + second)
        self.init(picoseconds: seconds * Self.picosecondsPerSecond + picosecond, fractionDigits: fractionDigits)
    }

    public var hour: Int { Int(picoseconds / (3600 * Self.picosecondsPerSecond)) }
    public var minute: Int { Int(picoseconds / (60 * Self.picosecondsPerSecond) % 60) }
    public var second: Int { Int(picoseconds / Self.picosecondsPerSecond % 60) }
    /// Below the second.
    public var picosecond: Int64 { picoseconds % Self.picosecondsPerSecond }
    /// How many fractional digits the value needs, whatever was written.
    public var significantDigits: Int { neededDigits(picosecond) }
}

extension LocalTime: Comparable, Hashable, CustomStringConvertible {
    /// Reads `hh:mm[:ss[.f]]` with one to twelve fractional digits.
    public init?(_ text: String) {
        var cursor = TextCursor(text)
        guard let (time, isLeap) = Self.read(&cursor), !isLeap, cursor.isAtEnd else { return nil }
        self = time
    }

    /// Reads a time; second 60 gives the second before and says that it was a leap second.
    static func read(_ cursor: inout TextCursor) -> (time: LocalTime, isLeapSecond: Bool)? {
        guard let hour = cursor.digits(2), cursor.take(":"), let minute = cursor.digits(2) else { return nil }
        var second: Int64 = 0
        var fraction: (value: Int64, digits: UInt8) = (0, 0)
        if cursor.take(":") {
            guard let seconds = cursor.digits(2) else { return nil }
            second = seconds
            if cursor.take(".") {
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

    public var description: String { ShortText.string(write) }

    package func write(_ text: inout ShortText) {
        let seconds = picoseconds / Self.picosecondsPerSecond
        text.add(seconds / 3600, width: 2)
        text.add(":")
        text.add(seconds / 60 % 60, width: 2)
        text.add(":")
        text.add(seconds % 60, width: 2)
        text.add(picoseconds: picosecond, digits: Int(fractionDigits))
    }
}
