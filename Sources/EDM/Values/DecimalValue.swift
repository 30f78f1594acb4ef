/// An `Edm.Decimal`: any number of digits, none lost, trailing zeros kept. `1.50` and `1.5` are equal and hash alike.
///
/// Also holds the `INF`, `-INF` and `NaN` that a floating decimal of 4.01 may take.
public struct DecimalValue: Sendable {
    /// The canonical text of the number as it was given: an optional minus, digits, an optional fraction, never an exponent.
    public let text: String

    init(unchecked text: String) { self.text = text }
}
