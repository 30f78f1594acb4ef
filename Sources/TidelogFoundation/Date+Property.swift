#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif
public import Tidelog

/// A `Date` as the type of a property of type `Edm.DateTimeOffset`, or of `Edm.DateTime` of V2, which is read and
/// written as UTC.
///
/// Reading loses the offset, and digits beyond the resolution of `Date`. Writing rounds to milliseconds, to fewer
/// digits if the property has a smaller `Precision`, and to microseconds if an `Edm.DateTimeOffset` has a larger one. A
/// date that no property can represent is refused when the entity is saved. `Edm.Date` is not read as a `Date`, because
/// a day has no time zone: use `LocalDate`.
extension Date: PropertyConvertible {
    /// Creates a date from a value of `Edm.DateTimeOffset` or `Edm.DateTime`; returns `nil` for any other value.
    public init?(propertyValue: Value) {
        switch propertyValue {
        case .dateTimeOffset(let value): self.init(value)
        case .dateTime(let value): self.init(utc: value)
        default: return nil
        }
    }

    /// The value of `Edm.DateTimeOffset` in UTC, with milliseconds.
    public var propertyValue: Value { value(isLocal: false, digits: 3) }

    /// Returns the value for a property of the type, rounded to its precision.
    public func propertyValue(for type: TypeReference, _ facets: Facets) -> Value {
        let isLocal = type.primitive == .dateTime
        // V2 writes milliseconds in JSON; further digits would need another format.
        return value(isLocal: isLocal, digits: min(facets.precision ?? 3, isLocal ? 3 : 6))
    }

    /// The beginning of the day 1970-01-01 in UTC.
    public static var propertyDefault: Date { Date(timeIntervalSince1970: 0) }

    /// - Parameter isLocal: whether the value is one of `Edm.DateTime`.
    private func value(isLocal: Bool, digits: Int) -> Value {
        // A number is no value of any property for which dates are intended, and is refused with the reason.
        guard let utc = LocalDateTime(utc: self, fractionDigits: digits) else { return .double(timeIntervalSince1970) }
        return isLocal ? .dateTime(utc) : .dateTimeOffset(GlobalDateTime(utc: utc))
    }
}

/// A `Date` in a condition, with microseconds.
extension Date: DateTimeLiteral {
    /// The comparison type, shared with `GlobalDateTime`.
    public typealias Comparand = GlobalDateTime
    /// The type of the values that can be added and subtracted.
    public typealias Summand = DayTimeDuration

    /// The value of `Edm.DateTimeOffset` in UTC, with microseconds.
    public var queryValue: Value { value(isLocal: false, digits: 6) }

    /// Returns the literal in UTC: of `Edm.DateTime` for an operand of that type, otherwise of `Edm.DateTimeOffset`.
    public func queryValue(comparedTo type: TypeReference) -> Value {
        value(isLocal: type.primitive == .dateTime, digits: 6)
    }
}
