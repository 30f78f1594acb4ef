extension DecimalValue {
    /// Returns the number with exactly `scale` digits after the point: `1.005` to 2 digits is `1.01`, and `1.5` is
    /// `1.50`.
    ///
    /// `INF` and `NaN` stay as they are. A result never is a negative zero. Zeros are appended only as far as
    /// ``maximumDigits`` permits.
    ///
    /// - Parameters:
    ///   - scale: the number of digits after the point. A negative number rounds before the point: -2 rounds to
    ///     hundreds.
    ///   - rule: the rounding rule; by default halves are rounded away from zero, as `round` in a query does.
    public func rounded(
        toScale scale: Int = 0, _ rule: FloatingPointRoundingRule = .toNearestOrAwayFromZero
    ) -> DecimalValue {
        guard let number = BigDecimal(self) else { return self }
        // Beyond these limits the result is the same as at them.
        let limit = Self.maximumDigits + 1
        return DecimalValue(bounded: number.rounded(toScale: min(max(scale, -limit), limit), rule))
    }

    /// The number without trailing zeros after the point: `1.5` for `1.50`. The values are equal.
    public var normalized: DecimalValue { BigDecimal(self)?.normalized.value ?? self }
}
