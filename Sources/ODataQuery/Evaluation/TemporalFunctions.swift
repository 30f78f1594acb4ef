internal import EDM

/// The functions that return parts of dates, times and durations.
///
/// For a point in time with an offset, they return the parts of its local date and time.
enum TemporalFunctions {
    static func apply(_ function: CanonicalFunction, _ value: Value) throws(EvaluationError) -> Value {
        switch function {
        case .year, .years, .month, .months, .day: return try datePart(function, value)
        case .days:
            if case .duration(let duration) = value { return .integer(signed(duration.seconds / 86_400, duration)) }
            return try datePart(.day, value)
        case .hour, .hours, .minute, .minutes, .second, .seconds, .fractionalseconds:
            return try timePart(function, value)
        case .totalseconds:
            guard case .duration(let duration) = value else { throw wrong(function, value) }
            return .decimal(try ValueArithmetic.checked(TimeSpan(duration).decimal.normalized))
        case .date:
            guard let date = date(value) else { throw wrong(function, value) }
            return .date(date)
        case .time:
            guard let time = time(value) else { throw wrong(function, value) }
            return .timeOfDay(time)
        case .totaloffsetminutes:
            switch value {
            case .dateTimeOffset(let moment): return .integer(Int64(moment.offsetMinutes))
            case .dateTime: return .integer(0)
            default: throw wrong(function, value)
            }
        default: throw wrong(function, value)
        }
    }

    private static func wrong(_ function: CanonicalFunction, _ value: Value) -> EvaluationError {
        EvaluationError(.wrongOperand, "\(function.rawValue) cannot be applied to \(value.kindName).")
    }

    private static func signed(_ number: Int64, _ duration: DayTimeDuration) -> Int64 {
        duration.isNegative ? -number : number
    }

    private static func datePart(_ function: CanonicalFunction, _ value: Value) throws(EvaluationError) -> Value {
        guard let date = date(value) else { throw wrong(function, value) }
        switch function {
        case .year, .years: return .integer(Int64(date.year))
        case .month, .months: return .integer(Int64(date.month))
        default: return .integer(Int64(date.day))
        }
    }

    private static func timePart(_ function: CanonicalFunction, _ value: Value) throws(EvaluationError) -> Value {
        let (seconds, picoseconds, sign): (Int64, Int64, Int64)
        switch value {
        // An Edm.Time of V2 is a time of day in the form of a duration.
        case .duration(let duration):
            (seconds, picoseconds, sign) = (
                duration.seconds % 86_400, duration.picoseconds, duration.isNegative ? -1 : 1
            )
        default:
            guard let time = time(value) else { throw wrong(function, value) }
            seconds = time.picoseconds / LocalTime.picosecondsPerSecond
            picoseconds = time.picosecond
            sign = 1
        }
        switch function {
        case .hour, .hours: return .integer(sign * (seconds / 3600))
        case .minute, .minutes: return .integer(sign * (seconds / 60 % 60))
        case .second, .seconds: return .integer(sign * (seconds % 60))
        default:
            let fraction = TimeSpan(seconds: 0, picoseconds: picoseconds).decimal.normalized
            return .decimal(try ValueArithmetic.checked(sign < 0 ? fraction.negated : fraction))
        }
    }

    private static func date(_ value: Value) -> LocalDate? {
        switch value {
        case .date(let date): date
        case .dateTime(let dateTime): dateTime.date
        case .dateTimeOffset(let dateTime): dateTime.local.date
        default: nil
        }
    }

    private static func time(_ value: Value) -> LocalTime? {
        switch value {
        case .timeOfDay(let time): time
        case .dateTime(let dateTime): dateTime.time
        case .dateTimeOffset(let dateTime): dateTime.local.time
        default: nil
        }
    }
}
