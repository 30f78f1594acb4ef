package import EDM

/// The representation of a value in a column, which determines how it is read and compared.
package enum StoredKind: Int64, Sendable, Hashable, CaseIterable {
    case boolean, integer, single, double, decimal, string, binary, guid, date, timeOfDay, duration, dateTime,
        dateTimeOffset

    /// Nil for types without a column.
    package init?(_ type: PrimitiveType) {
        switch type {
        case .boolean: self = .boolean
        case .byte, .sbyte, .int16, .int32, .int64: self = .integer
        case .single: self = .single
        case .double: self = .double
        case .decimal: self = .decimal
        case .string: self = .string
        case .binary: self = .binary
        case .guid: self = .guid
        case .date: self = .date
        case .timeOfDay: self = .timeOfDay
        case .duration, .time: self = .duration
        case .dateTime: self = .dateTime
        case .dateTimeOffset: self = .dateTimeOffset
        default: return nil
        }
    }

    /// Nil for null, and for values that no column contains.
    init?(_ value: Value) {
        switch value {
        case .boolean: self = .boolean
        case .integer: self = .integer
        case .single: self = .single
        case .double: self = .double
        case .decimal: self = .decimal
        case .string, .enumeration: self = .string
        case .binary: self = .binary
        case .guid: self = .guid
        case .date: self = .date
        case .timeOfDay: self = .timeOfDay
        case .duration: self = .duration
        case .dateTime: self = .dateTime
        case .dateTimeOffset: self = .dateTimeOffset
        case .null, .raw, .complex, .collection: return nil
        }
    }

    /// Returns the value of a column. Null for unreadable content, because the file is only a copy of the log.
    func value(_ stored: SQLValue) -> Value {
        switch (self, stored) {
        case (.boolean, .integer(let number)): .boolean(number != 0)
        case (.integer, .integer(let number)): .integer(number)
        case (.single, .real(let number)): .single(Float(number))
        case (.single, .notANumber): .single(.nan)
        case (.double, .real(let number)): .double(number)
        case (.double, .notANumber): .double(.nan)
        case (.binary, .blob(let bytes)): .binary(bytes)
        case (.string, .text(let text)): .string(text)
        case (.decimal, .text(let text)): DecimalValue(text).map { .decimal($0) } ?? .null
        case (.guid, .text(let text)): GuidValue(text).map { .guid($0) } ?? .null
        case (.date, .text(let text)): LocalDate(text).map { .date($0) } ?? .null
        case (.timeOfDay, .text(let text)): LocalTime(text).map { .timeOfDay($0) } ?? .null
        case (.duration, .text(let text)): DayTimeDuration(text).map { .duration($0) } ?? .null
        case (.dateTime, .text(let text)): LocalDateTime(text).map { .dateTime($0) } ?? .null
        case (.dateTimeOffset, .text(let text)): GlobalDateTime(text).map { .dateTimeOffset($0) } ?? .null
        default: .null
        }
    }

    /// Whether the kind includes NaN. Decimals of floating scale do.
    var hasNaN: Bool { self == .single || self == .double || self == .decimal }

    /// The families of kinds that plain SQL can compare with each other, directly or by their ``SortKey``.
    enum Family { case boolean, number, decimal, text, guid, binary, moment, time }

    var family: Family {
        switch self {
        case .boolean: .boolean
        case .integer, .single, .double: .number
        case .decimal: .decimal
        case .string: .text
        case .guid: .guid
        case .binary: .binary
        case .date, .dateTime, .dateTimeOffset: .moment
        case .timeOfDay, .duration: .time
        }
    }

    /// Whether only the sort key, and not the stored form, has the order of the values.
    var needsSortKey: Bool { family == .moment || family == .time }
}

/// Bytes that are equal and ordered like the points in time or durations that they represent.
enum SortKey {
    static func bytes(_ value: Value) -> [UInt8]? {
        switch value {
        case .date(let date): bytes(LocalDateTime(date: date, time: .midnight).instant)
        case .dateTime(let dateTime): bytes(dateTime.instant)
        case .dateTimeOffset(let dateTime): bytes(dateTime.instant)
        case .timeOfDay(let time):
            bytes(seconds: time.picoseconds / LocalTime.picosecondsPerSecond, picoseconds: time.picosecond)
        case .duration(let duration):
            if !duration.isNegative {
                bytes(seconds: duration.seconds, picoseconds: duration.picoseconds)
            } else if duration.picoseconds == 0 {
                bytes(seconds: -duration.seconds, picoseconds: 0)
            } else {
                // Whole seconds rounded down, so that the remainder is positive. The seconds are not negative: no
                // overflow.
                bytes(
                    seconds: -duration.seconds - 1, picoseconds: LocalTime.picosecondsPerSecond - duration.picoseconds)
            }
        default: nil
        }
    }

    private static func bytes(_ instant: Instant) -> [UInt8] {
        bytes(seconds: instant.secondsSince1970, picoseconds: instant.picoseconds)
    }

    /// Returns the numbers in big-endian order, the first with an inverted sign bit.
    private static func bytes(seconds: Int64, picoseconds: Int64) -> [UInt8] {
        let parts = [UInt64(bitPattern: seconds) ^ 1 << 63, UInt64(bitPattern: picoseconds)]
        return parts.flatMap { part in (0..<8).map { UInt8(truncatingIfNeeded: part >> UInt64(56 - 8 * $0)) } }
    }
}
