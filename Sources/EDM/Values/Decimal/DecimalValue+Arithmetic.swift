/// Exact arithmetic.
///
/// Sums, differences and products keep all digits: the sum of `1.50` and `1.50` is `3.00`. No calculation uses binary
/// floating point, and none traps. A result with more than ``maximumDigits`` digits is rounded half to even, and is
/// infinite if its integral part alone is too long. `INF` and `NaN` follow the rules of IEEE 754: `INF - INF` is `NaN`.
extension DecimalValue: SignedNumeric {
    /// Creates the decimal number of any integer. Returns `nil` if it has more than ``maximumDigits`` digits.
    public init?(exactly source: some BinaryInteger) { self.init(String(source)) }

    /// Returns the sum.
    public static func + (a: DecimalValue, b: DecimalValue) -> DecimalValue {
        guard let x = BigDecimal(a), let y = BigDecimal(b) else { return special(sumOf: a, b) }
        return DecimalValue(bounded: x + y)
    }

    /// Returns the difference.
    public static func - (a: DecimalValue, b: DecimalValue) -> DecimalValue { a + -b }

    /// Returns the product.
    public static func * (a: DecimalValue, b: DecimalValue) -> DecimalValue {
        guard let x = BigDecimal(a), let y = BigDecimal(b) else { return special(productOf: a, b) }
        return DecimalValue(bounded: x * y)
    }

    /// Adds a number.
    public static func += (a: inout DecimalValue, b: DecimalValue) { a = a + b }
    /// Subtracts a number.
    public static func -= (a: inout DecimalValue, b: DecimalValue) { a = a - b }
    /// Multiplies by a number.
    public static func *= (a: inout DecimalValue, b: DecimalValue) { a = a * b }

    /// Returns the number with the opposite sign. Zero has no sign.
    public static prefix func - (a: DecimalValue) -> DecimalValue {
        switch a.text {
        case "INF": return .negativeInfinity
        case "-INF": return .infinity
        case "NaN": return a
        default:
            if a.text.utf8.first == 0x2D { return DecimalValue(unchecked: String(a.text.dropFirst())) }
            return a.isZero ? a : DecimalValue(unchecked: "-" + a.text)
        }
    }

    /// Replaces the number with the one of the opposite sign.
    public mutating func negate() { self = -self }

    /// The number without its sign.
    public var magnitude: DecimalValue { isNegative ? -self : self }
}

extension DecimalValue {
    /// Returns the quotient with exactly `scale` digits after the point: 10 divided by 3 to 2 digits is `3.33`.
    ///
    /// Division by zero returns `INF`, `-INF` or, for zero, `NaN`, as `divby` of OData does.
    ///
    /// - Parameters:
    ///   - scale: the number of digits after the point; a negative number counts as 0.
    ///   - rule: the rounding of further digits; by default halves are rounded away from zero.
    public func divided(
        by divisor: DecimalValue, scale: Int, rounding rule: FloatingPointRoundingRule = .toNearestOrAwayFromZero
    ) -> DecimalValue {
        let scale = min(max(0, scale), Self.maximumDigits)
        guard let x = BigDecimal(self), let y = BigDecimal(divisor) else {
            return special(dividedBy: divisor).rounded(toScale: scale)
        }
        guard !y.isZero else {
            return x.isZero ? .notANumber : isNegative ? .negativeInfinity : .infinity
        }
        return DecimalValue(bounded: x.quotient(dividingBy: y, scale: scale, rounding: rule))
    }

    /// Returns the integral quotient, truncated, and the remainder with the sign of this number.
    ///
    /// The quotient times the divisor plus the remainder is this number. Division by zero returns the quotient of
    /// ``divided(by:scale:rounding:)`` and `NaN`.
    public func quotientAndRemainder(
        dividingBy divisor: DecimalValue
    ) -> (quotient: DecimalValue, remainder: DecimalValue) {
        guard let x = BigDecimal(self), let y = BigDecimal(divisor), !y.isZero else {
            let remainder = isFinite && divisor.isInfinite ? self : .notANumber
            return (divided(by: divisor, scale: 0, rounding: .towardZero), remainder)
        }
        return (
            DecimalValue(bounded: x.quotient(dividingBy: y, scale: 0, rounding: .towardZero)),
            DecimalValue(bounded: x.remainder(dividingBy: y))
        )
    }
}

extension DecimalValue {
    /// A Boolean value that indicates whether the number is zero, with any number of fractional digits.
    public var isZero: Bool { isFinite && text.utf8.allSatisfy { $0 == 0x30 || $0 == 0x2E } }
    /// A Boolean value that indicates whether the number is less than zero. `false` for zero and NaN.
    public var isNegative: Bool { text.utf8.first == 0x2D }
    /// A Boolean value that indicates whether the value is `NaN`.
    public var isNaN: Bool { text == "NaN" }
    /// A Boolean value that indicates whether the value is `INF` or `-INF`.
    public var isInfinite: Bool { text == "INF" || text == "-INF" }

    /// Creates the nearest value with at most ``maximumDigits`` digits, rounded half to even; infinite if the integral
    /// part is longer.
    package init(bounded number: BigDecimal) {
        if let value = number.value {
            self = value
            return
        }
        var rounded = number
        // Rounding can add a digit before the point. The second time only a zero is cut off.
        for _ in 0..<2 where rounded.scale > 0 {
            let places = max(0, Self.maximumDigits - max(1, rounded.wholeDigits))
            if places < rounded.scale { rounded = rounded.rounded(toScale: places, .toNearestOrEven) }
        }
        self = rounded.value ?? (number.isNegative ? .negativeInfinity : .infinity)
    }

    private static func special(sumOf a: DecimalValue, _ b: DecimalValue) -> DecimalValue {
        if a.isNaN || b.isNaN || (a.isInfinite && b.isInfinite && a.isNegative != b.isNegative) { return .notANumber }
        return a.isInfinite ? a : b
    }

    private static func special(productOf a: DecimalValue, _ b: DecimalValue) -> DecimalValue {
        if a.isNaN || b.isNaN || a.isZero || b.isZero { return .notANumber }
        return a.isNegative == b.isNegative ? .infinity : .negativeInfinity
    }

    private func special(dividedBy divisor: DecimalValue) -> DecimalValue {
        if isNaN || divisor.isNaN || (isInfinite && divisor.isInfinite) { return .notANumber }
        if divisor.isInfinite { return 0 }
        return isNegative == divisor.isNegative ? .infinity : .negativeInfinity
    }
}
