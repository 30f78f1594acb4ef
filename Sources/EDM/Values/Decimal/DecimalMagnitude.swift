/// An unsigned integer of any size in base 10⁹, for exact decimal arithmetic.
///
/// A decimal base makes scaling by powers of ten, rounding and the conversion to text cheap.
package struct DecimalMagnitude: Sendable, Hashable {
    /// The limbs, least significant first, each below 10⁹. The last one is not zero; zero has no limbs.
    private(set) var limbs: [UInt32]

    static let base: UInt64 = 1_000_000_000
    static let digitsPerLimb = 9

    package static let zero = DecimalMagnitude(limbs: [])
    package static let one = DecimalMagnitude(limbs: [1])

    /// - Parameter limbs: limbs below 10⁹, least significant first. Leading zeros are removed.
    init(limbs: [UInt32]) {
        self.limbs = limbs
        while self.limbs.last == 0 { self.limbs.removeLast() }
    }

    /// Creates a number from ASCII digits, most significant first.
    package init(digits: [UInt8]) {
        var limbs: [UInt32] = []
        limbs.reserveCapacity(digits.count / Self.digitsPerLimb + 1)
        var end = digits.count
        while end > 0 {
            let start = max(0, end - Self.digitsPerLimb)
            limbs.append(digits[start..<end].reduce(0) { $0 * 10 + UInt32($1 &- 0x30) })
            end = start
        }
        self.init(limbs: limbs)
    }

    package var isZero: Bool { limbs.isEmpty }
    package var isOdd: Bool { limbs.first.map { $0 % 2 == 1 } ?? false }

    /// The number of decimal digits; 0 for zero.
    package var digitCount: Int {
        guard let top = limbs.last else { return 0 }
        return (limbs.count - 1) * Self.digitsPerLimb + Self.digitCount(top)
    }

    /// The number of zeros at the end of the decimal digits; 0 for zero.
    package var trailingZeros: Int {
        guard let index = limbs.firstIndex(where: { $0 != 0 }) else { return 0 }
        var zeros = 0
        var limb = limbs[index]
        while limb % 10 == 0 {
            zeros += 1
            limb /= 10
        }
        return index * Self.digitsPerLimb + zeros
    }

    /// The ASCII digits, most significant first; none for zero.
    package var digits: [UInt8] {
        let count = digitCount
        var digits = [UInt8](repeating: 0x30, count: count)
        for (index, limb) in limbs.enumerated() {
            var rest = limb
            var place = count - index * Self.digitsPerLimb - 1
            while rest > 0, place >= 0 {
                digits[place] = 0x30 + UInt8(rest % 10)
                rest /= 10
                place -= 1
            }
        }
        return digits
    }

    private static func digitCount(_ limb: UInt32) -> Int {
        var count = 0
        var rest = limb
        while rest > 0 {
            count += 1
            rest /= 10
        }
        return count
    }
}

extension DecimalMagnitude: Comparable {
    package static func < (a: DecimalMagnitude, b: DecimalMagnitude) -> Bool {
        if a.limbs.count != b.limbs.count { return a.limbs.count < b.limbs.count }
        for index in a.limbs.indices.reversed() where a.limbs[index] != b.limbs[index] {
            return a.limbs[index] < b.limbs[index]
        }
        return false
    }
}

extension DecimalMagnitude {
    package static func + (a: DecimalMagnitude, b: DecimalMagnitude) -> DecimalMagnitude {
        let (long, short) = a.limbs.count >= b.limbs.count ? (a.limbs, b.limbs) : (b.limbs, a.limbs)
        var sum = long
        var carry: UInt32 = 0
        for index in sum.indices {
            guard index < short.count || carry > 0 else { break }
            // Below 2 · 10⁹ + 1, which fits.
            let total = sum[index] + (index < short.count ? short[index] : 0) + carry
            carry = total >= UInt32(base) ? 1 : 0
            sum[index] = total - carry * UInt32(base)
        }
        if carry > 0 { sum.append(carry) }
        return DecimalMagnitude(limbs: sum)
    }

    /// Returns the absolute difference of the numbers.
    package func distance(to other: DecimalMagnitude) -> DecimalMagnitude {
        let (large, small) = self < other ? (other.limbs, limbs) : (limbs, other.limbs)
        var difference = large
        var borrow: UInt32 = 0
        for index in difference.indices {
            guard index < small.count || borrow > 0 else { break }
            let subtrahend = (index < small.count ? small[index] : 0) + borrow
            borrow = difference[index] < subtrahend ? 1 : 0
            difference[index] = difference[index] + borrow * UInt32(Self.base) - subtrahend
        }
        return DecimalMagnitude(limbs: difference)
    }

    package static func * (a: DecimalMagnitude, b: DecimalMagnitude) -> DecimalMagnitude {
        guard !a.isZero, !b.isZero else { return .zero }
        var product = [UInt32](repeating: 0, count: a.limbs.count + b.limbs.count)
        for (i, x) in a.limbs.enumerated() where x != 0 {
            var carry: UInt64 = 0
            for (j, y) in b.limbs.enumerated() {
                let total = UInt64(x) * UInt64(y) + UInt64(product[i + j]) + carry
                product[i + j] = UInt32(total % base)
                carry = total / base
            }
            product[i + b.limbs.count] = UInt32(carry)
        }
        return DecimalMagnitude(limbs: product)
    }

    /// Returns the number times 10 to the power of `places`, which is not negative.
    package func timesPowerOfTen(_ places: Int) -> DecimalMagnitude {
        guard places > 0, !isZero else { return self }
        let whole = [UInt32](repeating: 0, count: places / Self.digitsPerLimb)
        return DecimalMagnitude(limbs: whole + times(Self.power(places % Self.digitsPerLimb)).limbs)
    }

    /// Returns the number divided by 10 to the power of `places`, which is not negative, and the remainder.
    package func dividedByPowerOfTen(_ places: Int) -> (quotient: DecimalMagnitude, remainder: DecimalMagnitude) {
        guard places > 0 else { return (self, .zero) }
        guard places < digitCount else { return (.zero, self) }
        let whole = places / Self.digitsPerLimb
        let upper = DecimalMagnitude(limbs: Array(limbs[whole...]))
        let (quotient, rest) = upper.dividedWithRemainder(by: Self.power(places % Self.digitsPerLimb))
        return (quotient, DecimalMagnitude(limbs: limbs[..<whole] + [rest]))
    }

    /// Returns the product with a factor of at most 10⁹.
    func times(_ factor: UInt32) -> DecimalMagnitude {
        var product = limbs
        var carry: UInt64 = 0
        for index in product.indices {
            let total = UInt64(product[index]) * UInt64(factor) + carry
            product[index] = UInt32(total % Self.base)
            carry = total / Self.base
        }
        if carry > 0 { product.append(UInt32(carry)) }
        return DecimalMagnitude(limbs: product)
    }

    private static func power(_ exponent: Int) -> UInt32 { UInt32(powersOfTen[exponent]) }
}
