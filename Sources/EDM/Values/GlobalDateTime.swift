/// An `Edm.DateTimeOffset`: a local date and time with its offset from UTC. Two values are equal when date, time and offset
/// are, however many fractional digits were written; compare ``instant`` for the same point in time.
public struct GlobalDateTime: Sendable, Hashable {
    public let local: LocalDateTime
    /// In minutes, −1439 to 1439. `Z` and `+00:00` are both 0.
    public var offsetMinutes: Int { Int(storedOffset) }

    private let storedOffset: Int16

    /// Nil for an offset of a day or more.
    public init?(local: LocalDateTime, offsetMinutes: Int) {
        guard (-1439...1439).contains(offsetMinutes) else { return nil }
        self.local = local
        storedOffset = Int16(offsetMinutes)
    }

    /// UTC milliseconds from 1970 and the offset to show them in, as `/Date(…+0060)/` has them.
    public init?(millisecondsSince1970 milliseconds: Int64, offsetMinutes: Int = 0) {
        guard let utc = LocalDateTime(millisecondsSince1970: milliseconds),
            let local = utc.adding(seconds: Int64(offsetMinutes) * 60)
        else { return nil }
        self.init(local: local, offsetMinutes: offsetMinutes)
    }

    /// UTC milliseconds from 1970; what is finer is cut off, towards the past.
    public var millisecondsSince1970: Int64 { local.millisecondsSince1970 - Int64(offsetMinutes) * 60_000 }

    public var instant: Instant {
        let instant = local.instant
        return Instant(
            secondsSince1970: instant.secondsSince1970 - Int64(offsetMinutes) * 60, picoseconds: instant.picoseconds)
    }
}

extension GlobalDateTime: CustomStringConvertible {
    /// Reads `YYYY-MM-DDThh:mm[:ss[.f]]` and `Z` or `±hh:mm`. A leap second is taken for the second that follows it.
    public init?(_ text: String) {
        var cursor = TextCursor(text)
        guard let local = LocalDateTime(&cursor) else { return nil }
        if cursor.take("Z") || cursor.take("z") {
            self.init(local: local, offsetMinutes: 0)
        } else {
            let isNegative = cursor.take("-")
            guard isNegative || cursor.take("+"), let hours = cursor.digits(2), hours < 24, cursor.take(":"),
                let minutes = cursor.digits(2), minutes < 60
            else { return nil }
            let offset = Int(hours * 60 + minutes)
            self.init(local: local, offsetMinutes: isNegative ? -offset : offset)
        }
        guard cursor.isAtEnd else { return nil }
    }

    public var description: String { ShortText.string(write) }

    package func write(_ text: inout ShortText) {
        local.write(&text)
        guard offsetMinutes != 0 else { return text.add("Z") }
        let offset = Int64(offsetMinutes.magnitude)
        text.add(offsetMinutes < 0 ? "-" : "+")
        text.add(offset / 60, width: 2)
        text.add(":")
        text.add(offset % 60, width: 2)
    }
}
