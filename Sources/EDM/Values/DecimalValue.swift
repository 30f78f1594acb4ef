/// An `Edm.Decimal`. All digits are kept, including trailing zeros. `1.50` and `1.5` are equal and have equal
/// hashes.
///
/// It can also be `INF`, `-INF` or `NaN`, the special values of a floating decimal in 4.01. In `==` and `<`, as in a
/// sort order, `NaN` is equal to itself and greater than all other values.
public struct DecimalValue: Sendable {
    /// The number as text: an optional minus, digits and an optional fraction, never an exponent.
    public let text: String

    init(unchecked text: String) { self.text = text }

    /// Creates a number from text that is known to be canonical: an optional minus, digits without a leading zero,
    /// and optionally a point followed by digits; at most ``maximumDigits`` in total.
    package init(canonical text: String) { self.text = text }

    /// The maximum number of digits. It bounds the memory that an exponent can request.
    public static let maximumDigits = 4096

    /// Positive infinity, written as `INF`.
    public static let infinity = DecimalValue(unchecked: "INF")
    /// Negative infinity, written as `-INF`.
    public static let negativeInfinity = DecimalValue(unchecked: "-INF")
    /// The result of an undefined calculation, written as `NaN`.
    public static let notANumber = DecimalValue(unchecked: "NaN")
}

extension DecimalValue {
    /// Parses `[+-]digits[.digits][e[+-]digits]`, `INF`, `-INF` or `NaN`.
    ///
    /// An exponent is expanded exactly. Returns `nil` for any other text, and for more than ``maximumDigits`` digits.
    public init?(_ text: String) {
        // Nearly all texts are canonical already.
        if text.utf8.withContiguousStorageIfAvailable(Self.isText) == true {
            self.init(unchecked: text)
        } else {
            guard let parts = Parts(text) else { return nil }
            self.init(unchecked: parts.text)
        }
    }

    /// Whether the bytes are a canonical ``text``: an optional minus except before zero, digits without superfluous
    /// leading zeros, no exponent; or `INF`, `-INF`, `NaN`.
    static func isText(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        let start = text.first == 0x2D ? 1 : 0
        var digits = 0
        var fraction: Int?
        var isZero = true
        for place in start..<text.count {
            switch text[place] {
            case 0x31...0x39: isZero = false
            case 0x30: break
            case 0x2E where digits > 0 && fraction == nil:
                fraction = 0
                continue
            default: return isNotFinite(text)
            }
            digits += 1
            fraction? += 1
        }
        let whole = digits - (fraction ?? 0)
        return digits > 0 && digits <= maximumDigits && fraction != 0 && (whole == 1 || text[start] != 0x30)
            && (start == 0 || !isZero)
    }

    private static func isNotFinite(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        text.elementsEqual("INF".utf8) || text.elementsEqual("-INF".utf8) || text.elementsEqual("NaN".utf8)
    }

    /// Creates the decimal number of an integer.
    public init(_ value: Int64) { self.init(unchecked: String(value)) }

    /// Creates the shortest decimal number that converts back to `value`.
    public init(_ value: Double) {
        if value.isNaN {
            self = .notANumber
        } else if value.isInfinite {
            self = value < 0 ? .negativeInfinity : .infinity
        } else {
            // A finite Double has at most 17 digits and an exponent below 400, always within the limits.
            self = DecimalValue("\(value)".dropTrailingZeroFraction) ?? DecimalValue(0)
        }
    }

    /// A Boolean value that indicates whether the value is a number, and neither infinite nor `NaN`.
    public var isFinite: Bool { text.utf8.last.map(isDigit) ?? false }

    /// The nearest `Double`; infinite if the number is out of its range.
    public var doubleValue: Double {
        switch text {
        case "INF": .infinity
        case "-INF": -.infinity
        case "NaN": .nan
        default: Double(text) ?? .nan
        }
    }

    /// The number as an `Int64`, or `nil` if it is not an integer in range.
    public var int64Value: Int64? {
        guard isFinite else { return nil }
        let (whole, fraction, isNegative) = components
        return fraction.isEmpty ? Int64((isNegative ? "-" : "") + whole) : nil
    }

    /// The number of digits after the decimal point, without trailing zeros.
    public var scale: Int { components.fraction.utf8.count }

    /// The number of digits, without leading zeros and without trailing zeros of the fraction; at least 1.
    public var precision: Int {
        let (whole, fraction, _) = components
        if whole != "0" { return whole.utf8.count + fraction.utf8.count }
        return max(1, fraction.utf8.drop { $0 == 0x30 }.count)
    }

    /// The digits before the point without leading zeros, and those after it without trailing zeros.
    private var components: (whole: Substring, fraction: Substring, isNegative: Bool) {
        guard isFinite else { return ("0", "", false) }
        let isNegative = text.utf8.first == 0x2D
        let number = isNegative ? text.dropFirst() : text[...]
        guard let point = number.utf8.firstIndex(of: 0x2E) else { return (number, "", isNegative && number != "0") }
        var fraction = number[number.utf8.index(after: point)...]
        while fraction.utf8.last == 0x30 { fraction = fraction.dropLast() }
        let whole = number[..<point]
        return (whole, fraction, isNegative && !(whole == "0" && fraction.isEmpty))
    }

    /// Returns -1 if the number is less than `other`, 0 if equal, 1 if greater.
    func compare(_ other: DecimalValue) -> Int {
        if text == other.text { return 0 }
        if !isFinite || !other.isFinite {
            let (a, b) = (rank, other.rank)
            return a < b ? -1 : a == b ? 0 : 1
        }
        let (a, b) = (components, other.components)
        if a.isNegative != b.isNegative { return a.isNegative ? -1 : 1 }
        let magnitude = Self.compareMagnitude(a.whole, a.fraction, b.whole, b.fraction)
        return a.isNegative ? -magnitude : magnitude
    }

    private var rank: Int { text == "-INF" ? 0 : text == "INF" ? 2 : text == "NaN" ? 3 : 1 }

    private static func compareMagnitude(_ a: Substring, _ af: Substring, _ b: Substring, _ bf: Substring) -> Int {
        if a.utf8.count != b.utf8.count { return a.utf8.count < b.utf8.count ? -1 : 1 }
        for (x, y) in [(a, b), (af, bf)] {
            if x.utf8.lexicographicallyPrecedes(y.utf8) { return -1 }
            if y.utf8.lexicographicallyPrecedes(x.utf8) { return 1 }
        }
        return 0
    }
}

extension DecimalValue: Comparable, Hashable, CustomStringConvertible {
    public static func == (a: DecimalValue, b: DecimalValue) -> Bool { a.compare(b) == 0 }
    public static func < (a: DecimalValue, b: DecimalValue) -> Bool { a.compare(b) < 0 }

    public func hash(into hasher: inout Hasher) {
        guard isFinite else { return hasher.combine(text) }
        let (whole, fraction, isNegative) = components
        hasher.combine(isNegative)
        hasher.combine(whole)
        hasher.combine(fraction)
    }

    public var description: String { text }
}

extension DecimalValue: ExpressibleByIntegerLiteral {
    /// Creates the decimal number of an integer literal.
    public init(integerLiteral value: Int64) { self.init(unchecked: String(value)) }
}

/// Swift converts such a literal to a `Double` first. Up to 15 significant digits are exact, apart from trailing
/// zeros; create longer numbers from text.
extension DecimalValue: ExpressibleByFloatLiteral {
    /// Creates a decimal number from a literal with a fraction or an exponent.
    public init(floatLiteral value: Double) { self.init(value) }
}

extension DecimalValue {
    /// The parts of a number's text, for writing it without exponent, plus sign and leading zeros.
    private struct Parts {
        var isNegative = false
        var whole: [UInt8] = []
        var fraction: [UInt8] = []

        init?(_ text: String) {
            var cursor = TextCursor(text)
            guard cursor.bytes.count <= DecimalValue.maximumDigits + 32 else { return nil }
            isNegative = cursor.consume("-")
            if !isNegative { _ = cursor.consume("+") }
            whole = Self.takeDigits(&cursor)
            guard !whole.isEmpty else { return nil }
            if cursor.consume(".") {
                fraction = Self.takeDigits(&cursor)
                guard !fraction.isEmpty else { return nil }
            }
            if cursor.consume("e") || cursor.consume("E") {
                let isDown = cursor.consume("-")
                if !isDown { _ = cursor.consume("+") }
                guard let exponent = Self.exponent(&cursor) else { return nil }
                guard shift(isDown ? -exponent : exponent) else { return nil }
            }
            guard cursor.isAtEnd else { return nil }
            whole = Array(whole.drop { $0 == 0x30 })
            if whole.isEmpty { whole = [0x30] }
            guard whole.count + fraction.count <= DecimalValue.maximumDigits else { return nil }
        }

        private static func takeDigits(_ cursor: inout TextCursor) -> [UInt8] {
            var digits: [UInt8] = []
            while let byte = cursor.next, isDigit(byte) {
                digits.append(byte)
                cursor.skip()
            }
            return digits
        }

        private static func exponent(_ cursor: inout TextCursor) -> Int? {
            let digits = takeDigits(&cursor)
            guard !digits.isEmpty else { return nil }
            // Such an exponent is valid only for zero; its exact value does not matter.
            let significant = digits.drop { $0 == 0x30 }
            return significant.count > 6 ? 1_000_000 : significant.reduce(0) { $0 * 10 + Int($1 - 0x30) }
        }

        /// Moves the point to the right by `places`. Returns `false` if the result exceeds the maximum number of
        /// digits.
        private mutating func shift(_ places: Int) -> Bool {
            if (whole + fraction).allSatisfy({ $0 == 0x30 }) { return true }
            guard abs(places) <= DecimalValue.maximumDigits else { return false }
            if places > 0 {
                let moved = fraction.prefix(places)
                whole += moved
                whole += Array(repeating: 0x30, count: places - moved.count)
                fraction.removeFirst(moved.count)
            } else if places < 0 {
                let missing = max(0, -places - whole.count)
                let digits = Array(repeating: UInt8(0x30), count: missing) + whole
                fraction = digits.suffix(-places) + fraction
                whole = Array(digits.dropLast(-places))
            }
            return true
        }

        var text: String {
            let isZero = whole == [0x30] && fraction.allSatisfy { $0 == 0x30 }
            let sign = isNegative && !isZero ? "-" : ""
            let digits = String(decoding: whole, as: UTF8.self)
            return fraction.isEmpty ? sign + digits : sign + digits + "." + String(decoding: fraction, as: UTF8.self)
        }
    }
}

extension String {
    /// The text without a trailing `.0`: `8` for `8.0`, as OData writes integral floating point numbers.
    package var dropTrailingZeroFraction: String { hasSuffix(".0") ? String(dropLast(2)) : self }
}
