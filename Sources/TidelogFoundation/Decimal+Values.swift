#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif
public import Tidelog

/// Conversions between `Decimal` and decimals of OData, which never use binary floating point.
extension DecimalValue {
    /// Creates a decimal with all digits. `Decimal.nan` becomes `NaN`.
    public init(_ decimal: Decimal) {
        // At most 39 digits, and 128 zeros before or after them.
        self = DecimalValue(decimal.description) ?? .notANumber
    }
}

extension Decimal {
    /// Creates the number nearest to a decimal, rounded half to even to the 38 digits that every `Decimal` can hold.
    ///
    /// Returns `nil` for `INF` and `-INF`, and for numbers of 166 digits before the point or with more than 127 zeros
    /// before it. Trailing zeros after the point are lost. Digits after the 128th place become zero.
    public init?(_ value: DecimalValue) {
        guard !value.isNaN else {
            self = .nan
            return
        }
        guard !value.isInfinite else { return nil }
        // Some numbers of 39 digits fit 128 bits.
        for digits in [39, 38] {
            let scale = min(digits - (value.precision - value.scale), Self.maximumScale)
            let rounded = value.scale > scale ? value.rounded(toScale: scale, .toNearestOrEven) : value
            if let number = Decimal(digitsOf: rounded) {
                self = number
                return
            }
        }
        return nil
    }

    /// Creates the same number. Returns `nil` if it has more digits than a `Decimal` holds, or is out of range.
    public init?(exactly value: DecimalValue) {
        guard let number = Decimal(value), DecimalValue(number) == value else { return nil }
        self = number
    }

    /// Creates the number, or returns `nil` if its digits do not fit 128 bits or its exponent does not fit 8.
    private init?(digitsOf value: DecimalValue) {
        let number = value.normalized
        var digits = number.magnitude.text.utf8.filter { $0 != 0x2E }.drop { $0 == 0x30 }
        var exponent = -number.scale
        while digits.last == 0x30 {
            digits.removeLast()
            exponent += 1
        }
        guard
            digits.count < Self.maximumSignificand.count || !Self.maximumSignificand.lexicographicallyPrecedes(digits),
            digits.count <= Self.maximumSignificand.count, exponent <= Self.maximumExponent
        else { return nil }
        let significand = digits.reduce(Decimal(0)) { $0 * 10 + Decimal(Int($1 - 0x30)) }
        self.init(sign: number.isNegative ? .minus : .plus, exponent: exponent, significand: significand)
    }

    /// 2¹²⁸ − 1.
    private static let maximumSignificand = Array("340282366920938463463374607431768211455".utf8)
    private static let maximumExponent = 127
    private static let maximumScale = 128
}

/// A `Decimal` as the type of a property of type `Edm.Decimal`.
///
/// A value that a `Decimal` cannot hold exactly reads as `nil`, and stays unchanged in the entity.
extension Decimal: PropertyConvertible, NumberLiteral {
    /// The comparison type, shared with all numbers.
    public typealias Comparand = DecimalValue
    /// The type of the values that can be added and subtracted.
    public typealias Summand = Decimal

    /// Creates a number from a value of `Edm.Decimal`; returns `nil` for any other value or if it is not exact.
    public init?(propertyValue: Value) {
        guard case .decimal(let value) = propertyValue else { return nil }
        self.init(exactly: value)
    }
    /// The value of `Edm.Decimal`.
    public var propertyValue: Value { .decimal(DecimalValue(self)) }
    /// Zero.
    public static var propertyDefault: Decimal { 0 }
    /// The literal in a condition.
    public var queryValue: Value { propertyValue }
}
