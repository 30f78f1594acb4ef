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
    /// Returns the duration from the other operand to this one.
    public func subtracting(_ other: some TypedOperand<Value>) -> TypedFunction<DayTimeDuration> {
        TypedFunction(arithmetic(.sub, other.syntax))
    }
    /// Returns the duration from `b` to `a`.
    public static func - (a: Self, b: Value) -> TypedFunction<DayTimeDuration> { a.subtracting(b) }
    /// Returns the duration from `b` to `a`.
    public static func - <Other: TypedOperand<Value>>(a: Self, b: Other) -> TypedFunction<DayTimeDuration> {
        a.subtracting(b)
    }
}

extension TypedOperand where Value: ClockLiteral {
    /// Returns the hour, from 0 to 23.
    public func hour() -> TypedFunction<Int> { TypedFunction(.hour, [syntax], .int32) }
    /// Returns the minute, from 0 to 59.
    public func minute() -> TypedFunction<Int> { TypedFunction(.minute, [syntax], .int32) }
    /// Returns the second without its fraction, from 0 to 59.
    public func second() -> TypedFunction<Int> { TypedFunction(.second, [syntax], .int32) }
    /// Returns the fraction of the second, from 0 to 1 exclusive.
    public func fractionalSeconds() -> TypedFunction<DecimalValue> {
        TypedFunction(.fractionalseconds, [syntax], .decimal)
    }
}

extension TypedOperand where Value: DateTimeLiteral {
    /// Returns the date without the time.
    public func date() -> TypedFunction<LocalDate> { TypedFunction(.date, [syntax], .date) }
    /// Returns the time of day without the date.
    public func time() -> TypedFunction<LocalTime> { TypedFunction(.time, [syntax], .timeOfDay) }
}

extension TypedOperand where Value == GlobalDateTime {
    /// Returns the offset from UTC in minutes, which is negative west of Greenwich.
    public func totalOffsetMinutes() -> TypedFunction<Int> {
        TypedFunction(.totaloffsetminutes, [syntax], .int32)
    }
}

extension TypedOperand where Value == DayTimeDuration {
    /// Returns the duration in seconds, including fractions.
    public func totalSeconds() -> TypedFunction<DecimalValue> {
        TypedFunction(.totalseconds, [syntax], .decimal)
    }

    /// Returns the duration multiplied by a number.
    public func multiplied(by factor: DecimalValue) -> TypedFunction<DayTimeDuration> {
        TypedFunction(arithmetic(.mul, plain(factor)))
    }
    /// Returns the duration divided by a number.
    public func divided(by divisor: DecimalValue) -> TypedFunction<DayTimeDuration> {
        TypedFunction(arithmetic(.div, plain(divisor)))
    }
    /// Returns the duration multiplied by a number.
    public static func * (a: Self, factor: DecimalValue) -> TypedFunction<DayTimeDuration> { a.multiplied(by: factor) }
    /// Returns the duration divided by a number.
    public static func / (a: Self, divisor: DecimalValue) -> TypedFunction<DayTimeDuration> { a.divided(by: divisor) }

    /// Returns the duration with the opposite sign.
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
