public import EDM

/// A Swift type whose values can be literals in conditions.
public protocol QueryLiteral: Sendable {
    /// The type that makes operands of different Swift types comparable: they can be compared if their `Comparand` is
    /// the same. All numbers share one; every other type has itself.
    associatedtype Comparand = Self

    /// The literal for a comparison with an operand of an unknown type.
    var queryValue: Value { get }
    /// Returns the literal for a comparison with an operand of the given type. By default ``queryValue``.
    func queryValue(comparedTo type: TypeReference) -> Value
}

extension QueryLiteral {
    /// Returns ``queryValue``, for types that have only one form.
    public func queryValue(comparedTo type: TypeReference) -> Value { queryValue }
}

/// Values with an order, as `lt` and `gt` define it: numbers, strings, booleans, dates, times and durations.
///
/// Enumerations and GUIDs support only equality: OData does not define the order of GUIDs, and the numbers of an
/// enumeration are internal to the service.
public protocol OrderedLiteral: QueryLiteral {}

/// Numbers, which OData compares and calculates with regardless of their types.
public protocol NumberLiteral: OrderedLiteral, SummableLiteral where Comparand == DecimalValue, Summand == Self {}

/// Values that support addition: a number to a number, a duration to a duration, a date or a point in time.
public protocol SummableLiteral: OrderedLiteral {
    /// The type of the values that can be added and subtracted.
    associatedtype Summand: QueryLiteral
}

/// Values with a year, a month and a day.
public protocol CalendarLiteral: SummableLiteral where Summand == DayTimeDuration {}

/// Values with hours, minutes and seconds.
public protocol ClockLiteral: OrderedLiteral {}

/// Values with a date and a time of day.
public protocol DateTimeLiteral: CalendarLiteral, ClockLiteral {}

extension String: OrderedLiteral { public var queryValue: Value { .string(self) } }
extension Bool: OrderedLiteral { public var queryValue: Value { .boolean(self) } }
extension GuidValue: QueryLiteral { public var queryValue: Value { .guid(self) } }
extension Value: QueryLiteral { public var queryValue: Value { self } }

extension Int: NumberLiteral { public var queryValue: Value { .integer(Int64(self)) } }
extension Int64: NumberLiteral { public var queryValue: Value { .integer(self) } }
extension Float: NumberLiteral { public var queryValue: Value { .single(self) } }
extension Double: NumberLiteral { public var queryValue: Value { .double(self) } }
extension DecimalValue: NumberLiteral { public var queryValue: Value { .decimal(self) } }

extension LocalDate: CalendarLiteral { public var queryValue: Value { .date(self) } }
extension LocalTime: ClockLiteral { public var queryValue: Value { .timeOfDay(self) } }
extension LocalDateTime: DateTimeLiteral { public var queryValue: Value { .dateTime(self) } }
extension GlobalDateTime: DateTimeLiteral { public var queryValue: Value { .dateTimeOffset(self) } }
extension DayTimeDuration: SummableLiteral, ClockLiteral {
    /// The type of the values that can be added and subtracted.
    public typealias Summand = DayTimeDuration
    /// The value of `Edm.Duration`.
    public var queryValue: Value { .duration(self) }
}

extension Duration: SummableLiteral, ClockLiteral {
    /// The comparison type, shared with `DayTimeDuration`.
    public typealias Comparand = DayTimeDuration
    /// The type of the values that can be added and subtracted.
    public typealias Summand = Duration
    /// The value of `Edm.Duration`.
    public var queryValue: Value { propertyValue }
}

/// A value of `Edm.Binary`.
extension Array: QueryLiteral where Element == UInt8 { public var queryValue: Value { .binary(self) } }

extension DecimalValue {
    /// Creates a decimal for a variable that is compared with a decimal property; literals need no conversion.
    public init(_ value: Int) { self.init(Int64(value)) }
}
