/// An `Edm.DateTimeOffset`: a local date and time with its offset from UTC.
///
/// Two values are equal if date, time and offset are equal, regardless of the number of fractional digits; compare
/// ``instant`` for the same point in time.
public struct GlobalDateTime: Sendable, Hashable {
    /// The date and time of day at the offset.
    public let local: LocalDateTime
    /// The offset in minutes, −1439 to 1439. `Z` and `+00:00` are both 0.
    public var offsetMinutes: Int { Int(storedOffset) }

    private let storedOffset: Int16

    /// The valid offsets in minutes.
    static var offsets: ClosedRange<Int64> { -1439...1439 }

    /// Creates a value from a date and time in UTC.
    public init(utc: LocalDateTime) {
        local = utc
        storedOffset = 0
    }

    /// Creates a value. Returns `nil` for an offset of a day or more.
    public init?(local: LocalDateTime, offsetMinutes: Int) {
        guard Self.offsets.contains(Int64(offsetMinutes)) else { return nil }
        self.local = local
        storedOffset = Int16(offsetMinutes)
    }

    /// Creates a value from UTC milliseconds since 1970 and the offset, as in `/Date(…+0060)/`.
    public init?(millisecondsSince1970 milliseconds: Int64, offsetMinutes: Int = 0) {
        guard let utc = LocalDateTime(millisecondsSince1970: milliseconds),
            let local = utc.adding(seconds: Int64(offsetMinutes) * 60)
        else { return nil }
        self.init(local: local, offsetMinutes: offsetMinutes)
    }

    /// UTC milliseconds since 1970, rounded down.
    public var millisecondsSince1970: Int64 { local.millisecondsSince1970 - Int64(offsetMinutes) * 60_000 }

    /// The same point in time with the offset 0, or the value itself if its date would be outside of the range.
    package var inUTC: GlobalDateTime {
        guard storedOffset != 0, let utc = local.adding(seconds: -60 * Int64(storedOffset)) else { return self }
        return GlobalDateTime(utc: utc)
    }

    /// The point in time, independent of the offset.
    public var instant: Instant {
        let instant = local.instant
        return Instant(
            unchecked: instant.secondsSince1970 - Int64(offsetMinutes) * 60, picoseconds: instant.picoseconds)
    }
}

extension GlobalDateTime {
    /// Parses the usual form `YYYY-MM-DDThh:mm:ss[.f]Z` from bytes. Returns `nil` for any other text, even if it is
    /// valid in another form.
    package init?(plain bytes: UnsafeRawBufferPointer) {
        guard bytes.count >= 20, bytes.count <= 33, bytes[4] == 0x2D, bytes[7] == 0x2D, bytes[10] == 0x54,
            bytes[13] == 0x3A, bytes[16] == 0x3A, bytes[bytes.count - 1] == 0x5A
        else { return nil }
        var areDigits = true
        func number(_ range: Range<Int>) -> Int {
            var value = 0
            for index in range {
                let digit = bytes[index] &- 0x30
                areDigits = areDigits && digit < 10
                value = value &* 10 &+ Int(digit)
            }
            return value
        }
        let fractionDigits = max(0, bytes.count - 21)
        if bytes.count > 20 { guard bytes[19] == 0x2E, fractionDigits > 0 else { return nil } }
        let picosecond = Int64(number(20..<20 + fractionDigits)) &* powersOfTen[12 - fractionDigits]
        let (year, month, day) = (number(0..<4), number(5..<7), number(8..<10))
        let (hour, minute, second) = (number(11..<13), number(14..<16), number(17..<19))
        guard areDigits, let date = LocalDate(year: year, month: month, day: day),
            let time = LocalTime(
                hour: hour, minute: minute, second: second, picosecond: picosecond,
                fractionDigits: UInt8(fractionDigits))
        else { return nil }
        self.init(local: LocalDateTime(date: date, time: time), offsetMinutes: 0)
    }
}

extension GlobalDateTime: CustomStringConvertible {
    /// Parses `YYYY-MM-DDThh:mm[:ss[.f]]` and `Z` or `±hh:mm`. A leap second is read as the following second.
    public init?(_ text: String) {
        var cursor = TextCursor(text)
        guard let local = LocalDateTime(&cursor) else { return nil }
        if cursor.consume("Z") || cursor.consume("z") {
            self.init(local: local, offsetMinutes: 0)
        } else {
            let isNegative = cursor.consume("-")
            guard isNegative || cursor.consume("+"), let hours = cursor.digits(2), hours < 24, cursor.consume(":"),
                let minutes = cursor.digits(2), minutes < 60
            else { return nil }
            let offset = Int(hours * 60 + minutes)
            self.init(local: local, offsetMinutes: isNegative ? -offset : offset)
        }
        guard cursor.isAtEnd else { return nil }
    }

    public var description: String { ShortText.string { write(&$0) } }

    /// - Parameter isCanonical: As for ``LocalTime/write(_:isCanonical:)``. The offset is written as it is, because it
    ///   is significant for equality.
    package func write(_ text: inout ShortText, isCanonical: Bool = false) {
        local.write(&text, isCanonical: isCanonical)
        guard offsetMinutes != 0 else { return text.add("Z") }
        let offset = Int64(offsetMinutes.magnitude)
        text.add(offsetMinutes < 0 ? "-" : "+")
        text.add(offset / 60, width: 2)
        text.add(":")
        text.add(offset % 60, width: 2)
    }
}
