internal import EDM

/// The arithmetic of expressions (OData 4.01 Part 2, section 5.1.1.2). Callers handle null operands.
///
/// Integer results stay integers and become decimals if they exceed 64 bits. A decimal combined with a floating-point
/// number results in a floating-point number.
enum ValueArithmetic {
    static func apply(_ operation: ArithmeticOperator, _ a: Value, _ b: Value) throws(EvaluationError) -> Value {
        if isTemporal(a) || isTemporal(b) { return try TemporalArithmetic.apply(operation, a, b) }
        switch (a, b) {
        case (.integer(let x), .integer(let y)): return try integers(operation, x, y)
        case (.single(let x), .single(let y)): return .single(Float(try floats(operation, Double(x), Double(y))))
        case (.single, .integer), (.integer, .single):
            return .single(Float(try floats(operation, double(a), double(b))))
        case (.double, _), (_, .double), (.single, _), (_, .single):
            return .double(try floats(operation, double(a), double(b)))
        default: return .decimal(try decimals(operation, try decimal(a), try decimal(b)))
        }
    }

    static func negate(_ value: Value) throws(EvaluationError) -> Value {
        switch value {
        case .integer(let number):
            let (result, overflow) = Int64(0).subtractingReportingOverflow(number)
            return overflow ? try negate(.decimal(DecimalValue(number))) : .integer(result)
        case .single(let number): return .single(-number)
        case .double(let number): return .double(-number)
        case .decimal(let number): return .decimal(-number)
        case .duration(let duration):
            let negated = DayTimeDuration(
                isNegative: !duration.isNegative, seconds: duration.seconds, picoseconds: duration.picoseconds)
            return .duration(negated ?? duration)
        default: throw EvaluationError(.wrongOperand, "\(value.kindName) cannot be negated.")
        }
    }

    private static func isTemporal(_ value: Value) -> Bool {
        switch value {
        case .date, .dateTime, .dateTimeOffset, .duration, .timeOfDay: true
        default: false
        }
    }

    private static func integers(
        _ operation: ArithmeticOperator, _ x: Int64, _ y: Int64
    ) throws(EvaluationError) -> Value {
        let (result, overflow): (Int64, Bool)
        switch operation {
        case .add: (result, overflow) = x.addingReportingOverflow(y)
        case .sub: (result, overflow) = x.subtractingReportingOverflow(y)
        case .mul: (result, overflow) = x.multipliedReportingOverflow(by: y)
        case .div, .mod:
            guard y != 0 else { throw EvaluationError(.divisionByZero, "Division of \(x) by zero.") }
            // The only quotient that overflows is that of the minimum and -1; its remainder is 0.
            if operation == .mod { return .integer(y == -1 ? 0 : x % y) }
            (result, overflow) = x.dividedReportingOverflow(by: y)
        // In contrast to `div`, it does not fail (5.1.1.2.5).
        case .divby where y == 0: return .decimal(x == 0 ? .notANumber : x < 0 ? .negativeInfinity : .infinity)
        case .divby: return .decimal(try decimals(.div, DecimalValue(x), DecimalValue(y)))
        }
        return overflow ? .decimal(try decimals(operation, DecimalValue(x), DecimalValue(y))) : .integer(result)
    }

    private static func floats(
        _ operation: ArithmeticOperator, _ x: Double, _ y: Double
    ) throws(EvaluationError) -> Double {
        switch operation {
        case .add: return x + y
        case .sub: return x - y
        case .mul: return x * y
        // The sign of the result depends on the left operand only (5.1.1.2.5): columns do not preserve the sign of a
        // zero.
        case .div, .divby: return x / (y == 0 ? 0 : y)
        case .mod:
            // A floating-point quotient may be infinite, but a remainder must be a number (5.1.1.2.6).
            guard y != 0 else { throw EvaluationError(.divisionByZero, "Division of \(x) by zero.") }
            return x.truncatingRemainder(dividingBy: y)
        }
    }

    private static func decimals(
        _ operation: ArithmeticOperator, _ x: DecimalValue, _ y: DecimalValue
    ) throws(EvaluationError) -> DecimalValue {
        guard let a = BigDecimal(x), let b = BigDecimal(y) else {
            return try special(operation, x, y)
        }
        switch operation {
        case .add: return try checked(a + b)
        case .sub: return try checked(a + b.negated)
        case .mul: return try checked(a * b)
        case .div, .divby, .mod:
            guard !b.isZero else { throw EvaluationError(.divisionByZero, "Division of \(x) by zero.") }
            return try checked(operation == .mod ? a.remainder(dividingBy: b) : a.divided(by: b))
        }
    }

    /// Returns the result if an operand is INF or NaN.
    private static func special(
        _ operation: ArithmeticOperator, _ x: DecimalValue, _ y: DecimalValue
    ) throws(EvaluationError) -> DecimalValue {
        switch operation {
        case .add: return x + y
        case .sub: return x - y
        case .mul: return x * y
        case .div, .divby: return x.divided(by: y, scale: 0)
        case .mod:
            guard !y.isZero else { throw EvaluationError(.divisionByZero, "Division of \(x) by zero.") }
            return x.quotientAndRemainder(dividingBy: y).remainder
        }
    }

    static func checked(_ number: BigDecimal) throws(EvaluationError) -> DecimalValue {
        guard let value = number.value else {
            throw EvaluationError(.outOfRange, "A decimal result has too many digits.")
        }
        return value
    }

    private static func double(_ value: Value) throws(EvaluationError) -> Double {
        switch value {
        case .integer(let number): return Double(number)
        case .single(let number): return Double(number)
        case .double(let number): return number
        case .decimal(let number): return number.doubleValue
        default: throw EvaluationError(.wrongOperand, "\(value.kindName) is not a number.")
        }
    }

    private static func decimal(_ value: Value) throws(EvaluationError) -> DecimalValue {
        guard let decimal = value.decimalValue else {
            throw EvaluationError(.wrongOperand, "\(value.kindName) is not a number.")
        }
        return decimal
    }

    /// Rounds to an integer of the same kind of value.
    static func round(_ value: Value, _ rule: FloatingPointRoundingRule) throws(EvaluationError) -> Value {
        switch value {
        case .integer: return value
        case .single(let number): return .single(number.rounded(rule))
        case .double(let number): return .double(number.rounded(rule))
        case .decimal(let number):
            guard let big = BigDecimal(number) else { return value }
            return .decimal(try checked(big.rounded(rule)))
        default: throw EvaluationError(.wrongOperand, "\(value.kindName) cannot be rounded.")
        }
    }
}
