internal import EDM

/// Exact arithmetic for `Edm.Decimal` with up to ``DecimalValue/maximumDigits`` decimal digits.
///
/// Numbers in business documents have at most a few dozen digits, for which one digit per element is simple and fast
/// enough.
struct BigDecimal {
    var isNegative: Bool
    /// The digits, least significant first and without leading zeros. Empty for zero.
    var digits: [UInt8]
    /// The number of digits after the decimal point.
    var scale: Int

    /// Creates a number, or returns nil for INF and NaN.
    init?(_ value: DecimalValue) {
        guard value.isFinite else { return nil }
        isNegative = false
        digits = []
        scale = 0
        var seenPoint = false
        for byte in value.text.utf8 {
            switch byte {
            case UInt8(ascii: "-"): isNegative = true
            case UInt8(ascii: "."): seenPoint = true
            default:
                digits.append(byte - UInt8(ascii: "0"))
                if seenPoint { scale += 1 }
            }
        }
        digits.reverse()
        Self.trim(&digits)
    }

    init(isNegative: Bool, digits: [UInt8], scale: Int) {
        self.isNegative = isNegative
        self.digits = digits
        self.scale = scale
        Self.trim(&self.digits)
    }

    private static func trim(_ digits: inout [UInt8]) { while digits.last == 0 { digits.removeLast() } }

    var isZero: Bool { digits.isEmpty }

    /// The decimal value, or nil if the number has more digits than a decimal may have.
    var value: DecimalValue? {
        guard max(digits.count, scale) <= DecimalValue.maximumDigits else { return nil }
        var padded = digits
        while padded.count <= scale { padded.append(0) }
        var text = isNegative && !isZero ? "-" : ""
        for (index, digit) in padded.enumerated().reversed() {
            text.unicodeScalars.append(Unicode.Scalar(digit + UInt8(ascii: "0")))
            if index == scale, scale > 0 { text += "." }
        }
        return DecimalValue(text)
    }

    /// Aligns two numbers to the same number of digits after the point.
    private static func align(_ a: inout BigDecimal, _ b: inout BigDecimal) {
        if a.scale < b.scale { a.shift(by: b.scale - a.scale) } else { b.shift(by: a.scale - b.scale) }
    }

    private mutating func shift(by places: Int) {
        if !isZero { digits.insert(contentsOf: [UInt8](repeating: 0, count: places), at: 0) }
        scale += places
    }

    private static func compareMagnitude(_ a: [UInt8], _ b: [UInt8]) -> Int {
        if a.count != b.count { return a.count < b.count ? -1 : 1 }
        for index in a.indices.reversed() where a[index] != b[index] { return a[index] < b[index] ? -1 : 1 }
        return 0
    }

    private static func addMagnitude(_ a: [UInt8], _ b: [UInt8]) -> [UInt8] {
        var result: [UInt8] = []
        var carry: UInt8 = 0
        for index in 0..<max(a.count, b.count) {
            let sum = (index < a.count ? a[index] : 0) + (index < b.count ? b[index] : 0) + carry
            result.append(sum % 10)
            carry = sum / 10
        }
        if carry > 0 { result.append(carry) }
        return result
    }

    /// Returns the difference. `a` must not be smaller than `b`.
    private static func subtractMagnitude(_ a: [UInt8], _ b: [UInt8]) -> [UInt8] {
        var result = a
        var borrow: UInt8 = 0
        for index in result.indices {
            let subtrahend = (index < b.count ? b[index] : 0) + borrow
            borrow = result[index] < subtrahend ? 1 : 0
            result[index] = result[index] + borrow * 10 - subtrahend
        }
        trim(&result)
        return result
    }

    var negated: BigDecimal { BigDecimal(isNegative: !isNegative, digits: digits, scale: scale) }

    static func + (a: BigDecimal, b: BigDecimal) -> BigDecimal {
        var (a, b) = (a, b)
        align(&a, &b)
        if a.isNegative == b.isNegative {
            return BigDecimal(isNegative: a.isNegative, digits: addMagnitude(a.digits, b.digits), scale: a.scale)
        }
        let isSmaller = compareMagnitude(a.digits, b.digits) < 0
        let (large, small) = isSmaller ? (b, a) : (a, b)
        return BigDecimal(
            isNegative: large.isNegative, digits: subtractMagnitude(large.digits, small.digits), scale: a.scale)
    }

    static func * (a: BigDecimal, b: BigDecimal) -> BigDecimal {
        var sums = [Int](repeating: 0, count: a.digits.count + b.digits.count + 1)
        for (i, x) in a.digits.enumerated() where x != 0 {
            for (j, y) in b.digits.enumerated() { sums[i + j] += Int(x) * Int(y) }
        }
        var digits: [UInt8] = []
        var carry = 0
        for sum in sums {
            let total = sum + carry
            digits.append(UInt8(total % 10))
            carry = total / 10
        }
        return BigDecimal(isNegative: a.isNegative != b.isNegative, digits: digits, scale: a.scale + b.scale)
    }

    /// Returns the quotient and the remainder of the digits as integers.
    private static func divide(_ a: [UInt8], _ b: [UInt8]) -> (quotient: [UInt8], remainder: [UInt8]) {
        var quotient: [UInt8] = []
        var remainder: [UInt8] = []
        for digit in a.reversed() {
            if !remainder.isEmpty || digit != 0 { remainder.insert(digit, at: 0) }
            var count: UInt8 = 0
            while compareMagnitude(remainder, b) >= 0 {
                remainder = subtractMagnitude(remainder, b)
                count += 1
            }
            quotient.append(count)
        }
        quotient.reverse()
        trim(&quotient)
        return (quotient, remainder)
    }

    /// Returns the quotient, rounded half to even. `b` must not be zero.
    ///
    /// The quotient has 28 digits after the point, or as many as an operand if it has more. Trailing zeros beyond those
    /// of the operands are dropped.
    func divided(by b: BigDecimal) -> BigDecimal {
        let places = max(28, scale, b.scale)
        var dividend = self
        dividend.shift(by: places + b.scale - scale + 1)
        // One additional digit determines the rounding.
        var (quotient, remainder) = Self.divide(dividend.digits, b.digits)
        let last = quotient.first ?? 0
        if !quotient.isEmpty { quotient.removeFirst() }
        let isOdd = (quotient.first ?? 0) % 2 == 1
        if last > 5 || last == 5 && (isOdd || !remainder.isEmpty) { quotient = Self.addMagnitude(quotient, [1]) }
        var result = BigDecimal(isNegative: isNegative != b.isNegative, digits: quotient, scale: places)
        result.dropTrailingZeros(keeping: max(scale, b.scale))
        return result
    }

    /// The number without trailing zeros in its fraction.
    var normalized: BigDecimal {
        var result = self
        result.dropTrailingZeros(keeping: 0)
        return result
    }

    private mutating func dropTrailingZeros(keeping places: Int) {
        let zeros = digits.prefix { $0 == 0 }.count
        let dropped = isZero ? scale - places : min(zeros, scale - places)
        guard dropped > 0 else { return }
        if !isZero { digits.removeFirst(dropped) }
        scale -= dropped
    }

    /// Returns the remainder of the division, with the sign of the dividend. `b` must not be zero.
    func remainder(dividingBy b: BigDecimal) -> BigDecimal {
        var (a, b) = (self, b)
        Self.align(&a, &b)
        return BigDecimal(isNegative: a.isNegative, digits: Self.divide(a.digits, b.digits).remainder, scale: a.scale)
    }

    enum Rounding { case down, up, nearest }

    /// Returns the integer below, above, or nearest to the number. Halves are rounded away from zero.
    func rounded(_ rounding: Rounding) -> BigDecimal {
        guard scale > 0 else { return self }
        let fraction = digits.prefix(scale)
        let whole = BigDecimal(isNegative: isNegative, digits: Array(digits.dropFirst(scale)), scale: 0)
        let awayFromZero =
            switch rounding {
            case .down: isNegative && fraction.contains { $0 != 0 }
            case .up: !isNegative && fraction.contains { $0 != 0 }
            case .nearest: digits.count >= scale && digits[scale - 1] >= 5
            }
        guard awayFromZero else { return whole }
        return BigDecimal(isNegative: isNegative, digits: Self.addMagnitude(whole.digits, [1]), scale: 0)
    }
}
