extension DecimalMagnitude {
    /// Returns the integral quotient and the remainder. Division by zero returns zero and the dividend.
    ///
    /// Knuth, The Art of Computer Programming, volume 2, section 4.3.1, algorithm D. Cost: the product of the lengths
    /// of quotient and divisor.
    package func dividedWithRemainder(
        by divisor: DecimalMagnitude
    ) -> (quotient: DecimalMagnitude, remainder: DecimalMagnitude) {
        guard !divisor.isZero, divisor <= self else { return (.zero, self) }
        if divisor.limbs.count == 1 {
            let (quotient, remainder) = dividedWithRemainder(by: divisor.limbs[0])
            return (quotient, DecimalMagnitude(limbs: [remainder]))
        }
        // The top limb of the divisor becomes at least half of the base, so that an estimated digit of the quotient is
        // at most two too large.
        let factor = UInt32(Self.base / (UInt64(divisor.limbs[divisor.limbs.count - 1]) + 1))
        let divisorLimbs = divisor.times(factor).limbs
        var rest = times(factor).limbs
        rest += [UInt32](repeating: 0, count: limbs.count + 1 - rest.count)
        var quotient = [UInt32](repeating: 0, count: rest.count - divisorLimbs.count)
        for place in quotient.indices.reversed() {
            let digit = Self.estimate(rest, divisorLimbs, place)
            quotient[place] = Self.subtract(divisorLimbs, times: digit, from: &rest, at: place)
        }
        let (remainder, _) = DecimalMagnitude(limbs: rest).dividedWithRemainder(by: factor)
        return (DecimalMagnitude(limbs: quotient), remainder)
    }

    /// Returns the quotient and the remainder of the division by a number from 1 to 10⁹.
    func dividedWithRemainder(by divisor: UInt32) -> (quotient: DecimalMagnitude, remainder: UInt32) {
        var quotient = limbs
        var rest: UInt64 = 0
        for index in quotient.indices.reversed() {
            let dividend = rest * Self.base + UInt64(quotient[index])
            quotient[index] = UInt32(dividend / UInt64(divisor))
            rest = dividend % UInt64(divisor)
        }
        return (DecimalMagnitude(limbs: quotient), UInt32(rest))
    }

    /// Returns a digit of the quotient, at most one too large, from the top limbs (step D3).
    private static func estimate(_ rest: [UInt32], _ divisor: [UInt32], _ place: Int) -> UInt64 {
        let (first, second) = (UInt64(divisor[divisor.count - 1]), UInt64(divisor[divisor.count - 2]))
        let top = place + divisor.count
        let dividend = UInt64(rest[top]) * base + UInt64(rest[top - 1])
        var digit = dividend / first
        var remainder = dividend % first
        while digit >= base || digit * second > remainder * base + UInt64(rest[top - 2]) {
            digit -= 1
            remainder += first
            if remainder >= base { break }
        }
        return digit
    }

    /// Subtracts a multiple of the divisor, and adds the divisor back if the digit was too large (steps D4 to D6).
    ///
    /// - Returns: the exact digit.
    private static func subtract(
        _ divisor: [UInt32], times digit: UInt64, from rest: inout [UInt32], at place: Int
    ) -> UInt32 {
        let base = Int64(Self.base)
        var carry: UInt64 = 0
        var borrow: Int64 = 0
        for index in 0...divisor.count {
            let product = index < divisor.count ? digit * UInt64(divisor[index]) + carry : carry
            carry = product / Self.base
            let difference = Int64(rest[place + index]) - Int64(product % Self.base) - borrow
            borrow = difference < 0 ? 1 : 0
            rest[place + index] = UInt32(difference + borrow * base)
        }
        guard borrow > 0 else { return UInt32(digit) }
        var overflow: UInt64 = 0
        for index in 0...divisor.count {
            let sum =
                UInt64(rest[place + index]) + (index < divisor.count ? UInt64(divisor[index]) : 0) + overflow
            rest[place + index] = UInt32(sum % Self.base)
            overflow = sum / Self.base
        }
        return UInt32(digit - 1)
    }
}
