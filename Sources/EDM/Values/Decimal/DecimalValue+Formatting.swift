extension DecimalValue {
    /// Returns the number as text for display: `1,234.50`.
    ///
    /// The text does not depend on the locale of the device. For the conventions of a locale or a currency, convert the
    /// number to `Decimal` of Foundation and use its format styles.
    ///
    /// - Parameters:
    ///   - scale: the number of digits after the point. If it is `nil`, the text has all digits of the number.
    ///   - rule: the rounding of further digits.
    ///   - decimalSeparator: the text between integral part and fraction.
    ///   - groupingSeparator: the text between groups of three digits; empty for no groups.
    public func formatted(
        scale: Int? = nil, rounding rule: FloatingPointRoundingRule = .toNearestOrAwayFromZero,
        decimalSeparator: String = ".", groupingSeparator: String = ""
    ) -> String {
        guard isFinite else { return text }
        let number = scale.map { rounded(toScale: $0, rule) } ?? self
        let digits = number.magnitude.text.split(separator: ".", maxSplits: 1)
        guard let whole = digits.first else { return number.text }
        var formatted = number.isNegative ? "-" : ""
        for (index, digit) in whole.enumerated() {
            if index > 0, (whole.utf8.count - index) % 3 == 0 { formatted += groupingSeparator }
            formatted.append(digit)
        }
        if digits.count > 1 { formatted += decimalSeparator + digits[1] }
        return formatted
    }
}
