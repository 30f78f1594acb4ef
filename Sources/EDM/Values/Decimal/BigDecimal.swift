/// A finite decimal number of any size, for exact arithmetic with ``DecimalValue``.
package struct BigDecimal: Sendable {
    /// Whether the number is negative. Zero may be marked as negative; its ``value`` is not.
    package var isNegative: Bool
    /// The digits without the decimal point.
    package var magnitude: DecimalMagnitude
    /// The number of digits after the decimal point, 0 or more.
    package var scale: Int

    package init(isNegative: Bool, magnitude: DecimalMagnitude, scale: Int) {
        self.isNegative = isNegative
        self.magnitude = magnitude
        self.scale = scale
    }

    /// Creates a number, or returns `nil` for INF and NaN.
    package init?(_ value: DecimalValue) {
        guard value.isFinite else { return nil }
        var digits: [UInt8] = []
        digits.reserveCapacity(value.text.utf8.count)
        var pointIndex: Int?
        for byte in value.text.utf8 {
            switch byte {
            case UInt8(ascii: "-"): break
            case UInt8(ascii: "."): pointIndex = digits.count
            default: digits.append(byte)
            }
        }
        self.init(
            isNegative: value.text.utf8.first == UInt8(ascii: "-"), magnitude: DecimalMagnitude(digits: digits),
            scale: pointIndex.map { digits.count - $0 } ?? 0)
    }

    /// Creates an integer.
    package init(_ number: Int64) {
        let magnitude = DecimalMagnitude(digits: Array(String(number.magnitude).utf8))
        self.init(isNegative: number < 0, magnitude: magnitude, scale: 0)
    }

    package var isZero: Bool { magnitude.isZero }

    /// The decimal value, or `nil` if the number has more digits than a decimal may have.
    package var value: DecimalValue? {
        guard max(wholeDigits, 1) + scale <= DecimalValue.maximumDigits else { return nil }
        return DecimalValue(unchecked: text)
    }

    /// The number of digits before the decimal point, without leading zeros; 0 or less if there are none.
    package var wholeDigits: Int { magnitude.digitCount - scale }

    /// The canonical text of a ``DecimalValue``, of any length.
    private var text: String {
        let digits = magnitude.digits
        var text: [UInt8] = []
        text.reserveCapacity(max(digits.count, scale) + 3)
        if isNegative, !isZero { text.append(UInt8(ascii: "-")) }
        let whole = digits.prefix(max(0, digits.count - scale))
        text += whole.isEmpty ? [0x30] : whole
        if scale > 0 {
            text.append(UInt8(ascii: "."))
            text += repeatElement(0x30, count: max(0, scale - digits.count))
            text += digits.suffix(min(scale, digits.count))
        }
        return String(decoding: text, as: UTF8.self)
    }
}

extension BigDecimal {
    package var negated: BigDecimal { BigDecimal(isNegative: !isNegative, magnitude: magnitude, scale: scale) }

    /// Returns the magnitudes with the same number of digits after the point.
    private static func aligned(
        _ a: BigDecimal, _ b: BigDecimal
    ) -> (a: DecimalMagnitude, b: DecimalMagnitude, scale: Int) {
        let scale = max(a.scale, b.scale)
        return (a.magnitude.timesPowerOfTen(scale - a.scale), b.magnitude.timesPowerOfTen(scale - b.scale), scale)
    }

    package static func + (a: BigDecimal, b: BigDecimal) -> BigDecimal {
        let (x, y, scale) = aligned(a, b)
        if a.isNegative == b.isNegative {
            return BigDecimal(isNegative: a.isNegative, magnitude: x + y, scale: scale)
        }
        return BigDecimal(isNegative: x < y ? b.isNegative : a.isNegative, magnitude: x.distance(to: y), scale: scale)
    }

    package static func * (a: BigDecimal, b: BigDecimal) -> BigDecimal {
        BigDecimal(
            isNegative: a.isNegative != b.isNegative, magnitude: a.magnitude * b.magnitude, scale: a.scale + b.scale)
    }

    /// Returns the quotient with `scale` digits after the point. `divisor` must not be zero.
    package func quotient(
        dividingBy divisor: BigDecimal, scale: Int, rounding: FloatingPointRoundingRule
    ) -> BigDecimal {
        let places = scale + divisor.scale - self.scale
        let dividend = magnitude.timesPowerOfTen(places)
        let by = divisor.magnitude.timesPowerOfTen(-places)
        let (quotient, rest) = dividend.dividedWithRemainder(by: by)
        let isNegative = isNegative != divisor.isNegative
        return BigDecimal(isNegative: isNegative, magnitude: quotient, scale: scale)
            .rounded(rounding, rest: rest, of: by)
    }

    /// Returns the quotient, rounded half to even. `b` must not be zero.
    ///
    /// The quotient has 28 digits after the point, or as many as an operand if it has more. Trailing zeros beyond those
    /// of the operands are dropped.
    package func divided(by b: BigDecimal) -> BigDecimal {
        let places = max(28, scale, b.scale)
        var result = quotient(dividingBy: b, scale: places, rounding: .toNearestOrEven)
        result.dropTrailingZeros(keeping: max(scale, b.scale))
        return result
    }

    /// The number without trailing zeros in its fraction.
    package var normalized: BigDecimal {
        var result = self
        result.dropTrailingZeros(keeping: 0)
        return result
    }

    private mutating func dropTrailingZeros(keeping places: Int) {
        let dropped = isZero ? scale - places : min(magnitude.trailingZeros, scale - places)
        guard dropped > 0 else { return }
        magnitude = magnitude.dividedByPowerOfTen(dropped).quotient
        scale -= dropped
    }

    /// Returns the remainder of the division, with the sign of the dividend. `b` must not be zero.
    package func remainder(dividingBy b: BigDecimal) -> BigDecimal {
        let (x, y, scale) = Self.aligned(self, b)
        return BigDecimal(isNegative: isNegative, magnitude: x.dividedWithRemainder(by: y).remainder, scale: scale)
    }
}

extension BigDecimal {
    /// Returns the integer that the rule selects.
    package func rounded(_ rule: FloatingPointRoundingRule) -> BigDecimal {
        scale > 0 ? rounded(toScale: 0, rule) : self
    }

    /// Returns the number with `places` digits after the point. Negative places round before the point: -2 rounds to
    /// hundreds.
    package func rounded(toScale places: Int, _ rule: FloatingPointRoundingRule) -> BigDecimal {
        guard places < scale else {
            return BigDecimal(
                isNegative: isNegative, magnitude: magnitude.timesPowerOfTen(places - scale), scale: places)
        }
        let (quotient, rest) = magnitude.dividedByPowerOfTen(scale - places)
        let unit = DecimalMagnitude.one.timesPowerOfTen(scale - places)
        let rounded = BigDecimal(isNegative: isNegative, magnitude: quotient, scale: 0)
            .rounded(rule, rest: rest, of: unit)
        return BigDecimal(
            isNegative: isNegative, magnitude: rounded.magnitude.timesPowerOfTen(-places), scale: max(0, places))
    }

    /// Returns the number, which was truncated, moved by one unit in its last place if the rule demands it.
    ///
    /// - Parameters:
    ///   - rest: the part that was cut off.
    ///   - unit: the size of one unit in the last place, in the scale of `rest`.
    private func rounded(
        _ rule: FloatingPointRoundingRule, rest: DecimalMagnitude, of unit: DecimalMagnitude
    ) -> BigDecimal {
        guard !rest.isZero else { return self }
        let double = rest + rest
        let isAway =
            switch rule {
            case .up: !isNegative
            case .down: isNegative
            case .towardZero: false
            case .awayFromZero: true
            case .toNearestOrEven: unit < double || (unit == double && magnitude.isOdd)
            case .toNearestOrAwayFromZero: unit <= double
            @unknown default: unit <= double
            }
        guard isAway else { return self }
        return BigDecimal(isNegative: isNegative, magnitude: magnitude + .one, scale: scale)
    }
}
