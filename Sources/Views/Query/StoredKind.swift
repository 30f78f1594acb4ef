package import EDM

/// How a value lies in a column: what it takes to read it back, and to compare it.
package enum StoredKind: Int64, Sendable, Hashable, CaseIterable {
    case boolean, integer, single, double, decimal, string, binary, guid, date, timeOfDay, duration, dateTime,
        dateTimeOffset

    /// Nil for types that have no column.
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

    /// Nil for null and for values that are stored in no column.
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

    /// What a column's content stands for; null for what cannot be read, for the file is only a copy of the log.
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

    /// Whether NaN is among its values. Decimals of floating scale have it too.
    var hasNaN: Bool { self == .single || self == .double || self == .decimal }

    /// Kinds of one family compare with each other in plain SQL, as they are or by their ``SortKey``.
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

    /// Whether the stored form has the order of the values only by its sort key.
    var needsSortKey: Bool { family == .moment || family == .time }
}

/// Bytes that are equal and ordered as the points in time, or lengths of time, that they stand for.
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
                // Whole seconds rounded down, so that the rest counts upwards. The seconds are not negative: no
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

    /// Big-endian, the sign bit turned over.
    private static func bytes(seconds: Int64, picoseconds: Int64) -> [UInt8] {
        let parts = [UInt64(bitPattern: seconds) ^ 1 << 63, UInt64(bitPattern: picoseconds)]
        return parts.flatMap { part in (0..<8).map { UInt8(truncatingIfNeeded: part >> UInt64(56 - 8 * $0)) } }
    }
}
