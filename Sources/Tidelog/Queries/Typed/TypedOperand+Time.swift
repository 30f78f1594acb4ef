public import EDM

/// Functions of dates, points in time and durations.
extension TypedOperand where Value: CalendarLiteral {
    /// Returns the year.
    public func year() -> TypedFunction<Int> { TypedFunction(.year, [syntax], .int32) }
    /// Returns the month, from 1 to 12.
    public func month() -> TypedFunction<Int> { TypedFunction(.month, [syntax], .int32) }
    /// Returns the day of the month, from 1 to 31.
    public func day() -> TypedFunction<Int> { TypedFunction(.day, [syntax], .int32) }

    /// Returns the duration from the other value to this one.
    public func subtracting(_ value: Value) -> TypedFunction<DayTimeDuration> {
        TypedFunction(arithmetic(.sub, literal(value)))
    }
    public func subtracting(_ other: some TypedOperand<Value>) -> TypedFunction<DayTimeDuration> {
        TypedFunction(arithmetic(.sub, other.syntax))
    }
    public static func - (a: Self, b: Value) -> TypedFunction<DayTimeDuration> { a.subtracting(b) }
    public static func - <Other: TypedOperand<Value>>(a: Self, b: Other) -> TypedFunction<DayTimeDuration> {
        a.subtracting(b)
    }
}

extension TypedOperand where Value: ClockLiteral {
    /// Returns the hour, from 0 to 23.
    public func hour() -> TypedFunction<Int> { TypedFunction(.hour, [syntax], .int32) }
    public func minute() -> TypedFunction<Int> { TypedFunction(.minute, [syntax], .int32) }
    public func second() -> TypedFunction<Int> { TypedFunction(.second, [syntax], .int32) }
    /// Returns the fraction of the second, from 0 to 1 exclusive.
    public func fractionalSeconds() -> TypedFunction<DecimalValue> {
        TypedFunction(.fractionalseconds, [syntax], .decimal)
    }
}

extension TypedOperand where Value: DateTimeLiteral {
    public func date() -> TypedFunction<LocalDate> { TypedFunction(.date, [syntax], .date) }
    public func time() -> TypedFunction<LocalTime> { TypedFunction(.time, [syntax], .timeOfDay) }
}

extension TypedOperand where Value == GlobalDateTime {
    public func totalOffsetMinutes() -> TypedFunction<Int> {
        TypedFunction(.totaloffsetminutes, [syntax], .int32)
    }
}

extension TypedOperand where Value == DayTimeDuration {
    public func totalSeconds() -> TypedFunction<DecimalValue> {
        TypedFunction(.totalseconds, [syntax], .decimal)
    }

    public func multiplied(by factor: DecimalValue) -> TypedFunction<DayTimeDuration> {
        TypedFunction(arithmetic(.mul, plain(factor)))
    }
    public func divided(by divisor: DecimalValue) -> TypedFunction<DayTimeDuration> {
        TypedFunction(arithmetic(.div, plain(divisor)))
    }
    public static func * (a: Self, factor: DecimalValue) -> TypedFunction<DayTimeDuration> { a.multiplied(by: factor) }
    public static func / (a: Self, divisor: DecimalValue) -> TypedFunction<DayTimeDuration> { a.divided(by: divisor) }

    public static prefix func - (a: Self) -> TypedFunction<DayTimeDuration> {
        TypedFunction(.negation(a.syntax), a.queryType)
    }
}

/// Points in time without a property: `Order.placedAt < .now`.
extension TypedOperand where Self == TypedFunction<GlobalDateTime> {
    /// The time at which the query is executed.
    public static var now: TypedFunction<GlobalDateTime> { TypedFunction(.now, [], .dateTimeOffset) }
    /// The earliest possible point in time.
    public static var minimum: TypedFunction<GlobalDateTime> { TypedFunction(.mindatetime, [], .dateTimeOffset) }
    /// The latest possible point in time.
    public static var maximum: TypedFunction<GlobalDateTime> { TypedFunction(.maxdatetime, [], .dateTimeOffset) }
}
