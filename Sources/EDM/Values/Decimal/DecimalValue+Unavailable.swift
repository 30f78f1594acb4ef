/// Operators that do not exist, with the reason as the error of the compiler.
///
/// Without them, the compiler reports the first generic operator that does not fit, of which there are many.
extension DecimalValue {
    /// Unavailable, because a quotient requires a scale. Use ``divided(by:scale:rounding:)``.
    @available(
        *, unavailable,
        message: "A quotient may have infinitely many digits. Choose the scale: a.divided(by: b, scale: 2)"
    )
    public static func / (a: DecimalValue, b: DecimalValue) -> DecimalValue { a.divided(by: b, scale: 28) }

    /// Unavailable. Convert the other number to a `DecimalValue` first.
    @available(*, unavailable, message: "Convert the other number: a + DecimalValue(b)")
    public static func + (a: DecimalValue, b: some Numeric) -> DecimalValue { a }
    /// Unavailable. Convert the other number to a `DecimalValue` first.
    @available(*, unavailable, message: "Convert the other number: DecimalValue(a) + b")
    public static func + (a: some Numeric, b: DecimalValue) -> DecimalValue { b }
    /// Unavailable. Convert the other number to a `DecimalValue` first.
    @available(*, unavailable, message: "Convert the other number: a - DecimalValue(b)")
    public static func - (a: DecimalValue, b: some Numeric) -> DecimalValue { a }
    /// Unavailable. Convert the other number to a `DecimalValue` first.
    @available(*, unavailable, message: "Convert the other number: DecimalValue(a) - b")
    public static func - (a: some Numeric, b: DecimalValue) -> DecimalValue { b }
    /// Unavailable. Convert the other number to a `DecimalValue` first.
    @available(*, unavailable, message: "Convert the other number: a * DecimalValue(b)")
    public static func * (a: DecimalValue, b: some Numeric) -> DecimalValue { a }
    /// Unavailable. Convert the other number to a `DecimalValue` first.
    @available(*, unavailable, message: "Convert the other number: DecimalValue(a) * b")
    public static func * (a: some Numeric, b: DecimalValue) -> DecimalValue { b }
}
