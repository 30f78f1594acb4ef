public import EDM

/// A Swift type whose values can stand in a condition.
public protocol QueryLiteral: Sendable {
    /// Operands of different Swift types can be compared with each other where this is the same for both. All numbers share
    /// one; every other type has itself.
    associatedtype Comparand = Self

    var queryValue: Value { get }
}

/// Values of which one is less than another, as `lt` and `gt` have it: numbers, strings, booleans, dates, times and
/// durations.
///
/// Enumerations and GUIDs are compared for equality only: OData does not say how to order a GUID, and the numbers behind an
/// enumeration are the service's matter.
public protocol OrderedLiteral: QueryLiteral {}

/// Numbers, which OData compares and calculates with whatever their kinds.
public protocol NumberLiteral: OrderedLiteral, SummableLiteral where Comparand == DecimalValue, Summand == Self {}

/// Values that something can be added to: a number to a number, a duration to a duration, a date or a point in time.
public protocol SummableLiteral: OrderedLiteral {
    associatedtype Summand: QueryLiteral
}

/// Values that have a year, a month and a day.
public protocol CalendarLiteral: SummableLiteral where Summand == DayTimeDuration {}

/// Values that have hours, minutes and seconds.
public protocol ClockLiteral: OrderedLiteral {}

/// Values that have a date and a time of day.
public protocol DateTimeLiteral: CalendarLiteral, ClockLiteral {}

extension String: OrderedLiteral { public var queryValue: Value { .string(self) } }
extension Bool: OrderedLiteral { public var queryValue: Value { .boolean(self) } }
extension GuidValue: QueryLiteral { public var queryValue: Value { .guid(self) } }
extension Value: QueryLiteral { public var queryValue: Value { self } }

extension Int: NumberLiteral { public var queryValue: Value { .integer(Int64(self)) } }
extension Float: NumberLiteral { public var queryValue: Value { .single(self) } }
extension Double: NumberLiteral { public var queryValue: Value { .double(self) } }
extension DecimalValue: NumberLiteral { public var queryValue: Value { .decimal(self) } }

extension LocalDate: CalendarLiteral { public var queryValue: Value { .date(self) } }
extension LocalTime: ClockLiteral { public var queryValue: Value { .timeOfDay(self) } }
extension LocalDateTime: DateTimeLiteral { public var queryValue: Value { .dateTime(self) } }
extension GlobalDateTime: DateTimeLiteral { public var queryValue: Value { .dateTimeOffset(self) } }
extension DayTimeDuration: SummableLiteral, ClockLiteral {
    public typealias Summand = DayTimeDuration
    public var queryValue: Value { .duration(self) }
}

/// A value of `Edm.Binary`.
extension Array: QueryLiteral where Element == UInt8 { public var queryValue: Value { .binary(self) } }

extension DecimalValue {
    /// For a variable that is compared with a decimal property; literals need no conversion.
    public init(_ value: Int) { self.init(Int64(value)) }
}
