/// An `Edm.Guid`: sixteen bytes, written in lower case with hyphens.
public struct GuidValue: Sendable, Hashable {
    /// The first eight bytes: the first 16 hexadecimal digits of the text.
    public let high: UInt64
    /// The last eight bytes: the last 16 hexadecimal digits of the text.
    public let low: UInt64

    /// Creates a GUID from its first and last eight bytes.
    public init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// Parses `8-4-4-4-12` hexadecimal digits in any case. Returns `nil` for any other text.
    public init?(_ text: String) {
        var high: UInt64 = 0
        var low: UInt64 = 0
        var position = 0
        for byte in text.utf8 {
            if position == 8 || position == 13 || position == 18 || position == 23 {
                guard byte == 0x2D else { return nil }
            } else {
                guard position < 36, let digit = hexadecimalValue(byte) else { return nil }
                if position < 18 { high = high << 4 | UInt64(digit) } else { low = low << 4 | UInt64(digit) }
            }
            position += 1
        }
        guard position == 36 else { return nil }
        self.init(high: high, low: low)
    }
}

extension GuidValue {
    /// Parses the same form from bytes.
    package init?(utf8 bytes: UnsafeRawBufferPointer) {
        guard bytes.count == 36, bytes[8] == 0x2D, bytes[13] == 0x2D, bytes[18] == 0x2D, bytes[23] == 0x2D else {
            return nil
        }
        var isRight = true
        func digits(_ range: Range<Int>) -> UInt64 {
            var value: UInt64 = 0
            for index in range {
                let byte = bytes[index]
                // Letters in any case: 1 to 6 in the low bits, and 0x40 set.
                let isLetter = (byte | 0x20) &- 0x61 < 6
                isRight = isRight && (isLetter || byte &- 0x30 < 10)
                value = value << 4 | UInt64((byte & 0xF) &+ (isLetter ? 9 : 0))
            }
            return value
        }
        let high = digits(0..<8) << 32 | digits(9..<13) << 16 | digits(14..<18)
        let low = digits(19..<23) << 48 | digits(24..<36)
        guard isRight else { return nil }
        self.init(high: high, low: low)
    }
}

extension GuidValue: Comparable, CustomStringConvertible {
    public static func < (a: GuidValue, b: GuidValue) -> Bool { (a.high, a.low) < (b.high, b.low) }

    public var description: String { ShortText.string(write) }

    package func write(_ text: inout ShortText) {
        for digit in 0..<32 {
            if digit == 8 || digit == 12 || digit == 16 || digit == 20 { text.add("-") }
            let value = UInt8((digit < 16 ? high : low) >> UInt64(60 - digit % 16 * 4) & 0xF)
            text.add(value < 10 ? 0x30 + value : 0x57 + value)
        }
    }
}

/// Returns the value of a hexadecimal digit, 0 to 15, or `nil` for any other byte.
package func hexadecimalValue(_ byte: UInt8) -> UInt8? {
    switch byte {
    case 0x30...0x39: byte - 0x30
    case 0x41...0x46: byte - 0x41 + 10
    case 0x61...0x66: byte - 0x61 + 10
    default: nil
    }
}
