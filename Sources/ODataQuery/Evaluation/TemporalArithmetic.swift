internal import EDM

/// A signed time span: whole seconds, rounded down, and the remainder.
struct TimeSpan {
    static let perSecond = LocalTime.picosecondsPerSecond

    var seconds: Int64
    /// The remainder, from 0 to less than one second.
    var picoseconds: Int64

    init(seconds: Int64, picoseconds: Int64) {
        self.seconds = seconds
        self.picoseconds = picoseconds
    }

    init(_ duration: DayTimeDuration) {
        seconds = duration.isNegative ? -duration.seconds : duration.seconds
        picoseconds = duration.picoseconds
        if duration.isNegative, picoseconds > 0 {
            // Cannot overflow, because the seconds of a duration are not negative.
            seconds -= 1
            picoseconds = Self.perSecond - picoseconds
        }
    }

    init(_ instant: Instant) { self.init(seconds: instant.secondsSince1970, picoseconds: instant.picoseconds) }

    static func + (a: TimeSpan, b: TimeSpan) -> TimeSpan? {
        var picoseconds = a.picoseconds + b.picoseconds
        let carry: Int64 = picoseconds >= perSecond ? 1 : 0
        picoseconds -= carry * perSecond
        let (sum, overflow) = a.seconds.addingReportingOverflow(b.seconds)
        let (seconds, again) = sum.addingReportingOverflow(carry)
        return overflow || again ? nil : TimeSpan(seconds: seconds, picoseconds: picoseconds)
    }

    var negated: TimeSpan? {
        let (seconds, overflow) = Int64(picoseconds > 0 ? -1 : 0).subtractingReportingOverflow(seconds)
        return overflow
            ? nil : TimeSpan(seconds: seconds, picoseconds: picoseconds > 0 ? Self.perSecond - picoseconds : 0)
    }

    var duration: DayTimeDuration? {
        guard seconds < 0 else { return DayTimeDuration(seconds: seconds, picoseconds: picoseconds) }
        guard let magnitude = negated else { return nil }
        return DayTimeDuration(isNegative: true, seconds: magnitude.seconds, picoseconds: magnitude.picoseconds)
    }

    /// The date and time after this span since the beginning of 1970, or nil if it is out of range.
    var moment: LocalDateTime? {
        var (days, inDay) = seconds.quotientAndRemainder(dividingBy: 86_400)
        if inDay < 0 { (days, inDay) = (days - 1, inDay + 86_400) }
        let digits = DayTimeDuration(seconds: 0, picoseconds: picoseconds)?.significantDigits ?? 0
        guard let date = LocalDate(daysSince1970: days),
            let time = LocalTime(
                picoseconds: inDay * Self.perSecond + picoseconds, fractionDigits: UInt8(clamping: digits))
        else { return nil }
        return LocalDateTime(date: date, time: time)
    }

    /// The exact number of seconds.
    var decimal: BigDecimal { BigDecimal(seconds) + Self.fraction(picoseconds) }

    private static func fraction(_ picoseconds: Int64) -> BigDecimal {
        BigDecimal(isNegative: false, magnitude: BigDecimal(picoseconds).magnitude, scale: 12)
    }

    /// Creates a span, truncated to picoseconds. Returns nil if the seconds exceed 64 bits.
    init?(seconds decimal: BigDecimal) {
        let whole = decimal.rounded(.down)
        let rest = decimal + whole.negated
        let picoseconds = BigDecimal(
            isNegative: false, magnitude: rest.magnitude.timesPowerOfTen(12), scale: rest.scale
        ).rounded(.down)
        guard let seconds = whole.value?.int64Value, let fraction = picoseconds.value?.int64Value,
            (0..<Self.perSecond).contains(fraction)
        else { return nil }
        self.init(seconds: seconds, picoseconds: fraction)
    }
}

/// Sums and differences of points in time and durations, and multiples of durations.
enum TemporalArithmetic {
    static func apply(_ operation: ArithmeticOperator, _ a: Value, _ b: Value) throws(EvaluationError) -> Value {
        let tooLarge = EvaluationError(.outOfRange, "The result is outside the range of dates and durations.")
        switch (operation, a, b) {
        case (.add, .duration(let x), .duration(let y)):
            guard let sum = (TimeSpan(x) + TimeSpan(y))?.duration else { throw tooLarge }
            return .duration(sum)
        case (.sub, .duration(let x), .duration(let y)):
            guard let negated = TimeSpan(y).negated, let sum = (TimeSpan(x) + negated)?.duration else { throw tooLarge }
            return .duration(sum)
        case (.add, .duration, .dateTime), (.add, .duration, .dateTimeOffset), (.add, .duration, .date):
            return try apply(.add, b, a)
        case (.add, _, .duration(let duration)):
            guard let result = try move(a, by: TimeSpan(duration)) else { throw tooLarge }
            return result
        case (.sub, _, .duration(let duration)):
            guard let span = TimeSpan(duration).negated, let result = try move(a, by: span) else { throw tooLarge }
            return result
        case (.sub, _, _) where instant(a) != nil && instant(b) != nil:
            guard let x = instant(a), let y = instant(b), let negated = TimeSpan(y).negated,
                let difference = (TimeSpan(x) + negated)?.duration
            else { throw tooLarge }
            return .duration(difference)
        case (.mul, .duration(let duration), _), (.div, .duration(let duration), _),
            (.divby, .duration(let duration), _):
            return try scale(duration, by: b, operation)
        case (.mul, _, .duration(let duration)): return try scale(duration, by: a, .mul)
        default:
            throw EvaluationError(
                .wrongOperand, "\(operation.rawValue) cannot be applied to \(a.kindName) and \(b.kindName).")
        }
    }

    private static func instant(_ value: Value) -> Instant? {
        switch value {
        case .date(let date): LocalDateTime(date: date, time: .midnight).instant
        case .dateTime(let dateTime): dateTime.instant
        case .dateTimeOffset(let dateTime): dateTime.instant
        default: nil
        }
    }

    private static func move(_ value: Value, by span: TimeSpan) throws(EvaluationError) -> Value? {
        switch value {
        case .date(let date):
            return (TimeSpan(LocalDateTime(date: date, time: .midnight).instant) + span)?.moment.map { .date($0.date) }
        case .dateTime(let dateTime):
            return (TimeSpan(dateTime.instant) + span)?.moment.map { .dateTime($0) }
        case .dateTimeOffset(let dateTime):
            // The local time changes; the offset stays.
            guard let local = (TimeSpan(dateTime.local.instant) + span)?.moment else { return nil }
            return GlobalDateTime(local: local, offsetMinutes: dateTime.offsetMinutes).map { .dateTimeOffset($0) }
        default:
            throw EvaluationError(.wrongOperand, "A duration cannot be added to \(value.kindName).")
        }
    }

    private static func scale(
        _ duration: DayTimeDuration, by factor: Value, _ operation: ArithmeticOperator
    ) throws(EvaluationError) -> Value {
        guard let decimal = factor.decimalValue, let number = BigDecimal(decimal) else {
            throw EvaluationError(.wrongOperand, "A duration cannot be multiplied by \(factor.kindName).")
        }
        if operation != .mul, number.isZero {
            throw EvaluationError(.divisionByZero, "Division of a duration by zero.")
        }
        let seconds = TimeSpan(duration).decimal
        let result = operation == .mul ? seconds * number : seconds.divided(by: number)
        guard let span = TimeSpan(seconds: result), let duration = span.duration else {
            throw EvaluationError(.outOfRange, "The result is outside the range of durations.")
        }
        return .duration(duration)
    }
}
