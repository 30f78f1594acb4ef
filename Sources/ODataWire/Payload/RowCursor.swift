internal import EDM

/// A cursor over the bytes of a row.
///
/// Each operation consumes the expected text or reports a mismatch. After a mismatch the position is undefined.
struct RowCursor {
    /// The bytes, which are valid only as long as the creator of the cursor keeps them. Every access checks the bounds.
    private let bytes: UnsafeRawBufferPointer
    private(set) var offset: Int

    init(_ bytes: UnsafeRawBufferPointer, at offset: Int) {
        self.bytes = bytes
        self.offset = offset
    }

    /// The next byte, or 0, which does not occur in JSON, at the end.
    var next: UInt8 { offset < bytes.count ? bytes[offset] : 0 }

    mutating func skipWhitespace() {
        while true {
            switch next {
            case 0x20, 0x0A, 0x0D, 0x09: offset += 1
            default: return
            }
        }
    }

    mutating func consume(_ byte: UInt8) -> Bool {
        guard next == byte else { return false }
        offset += 1
        return true
    }

    mutating func consume(_ word: StaticString) -> Bool {
        consume(UnsafeRawBufferPointer(start: word.utf8Start, count: word.utf8CodeUnitCount))
    }

    private mutating func consume(_ word: UnsafeRawBufferPointer) -> Bool {
        guard word.count <= bytes.count - offset else { return false }
        var index = 0
        while index + 8 <= word.count {
            guard
                word.loadUnaligned(fromByteOffset: index, as: UInt64.self)
                    == bytes.loadUnaligned(fromByteOffset: offset + index, as: UInt64.self)
            else { return false }
            index += 8
        }
        while index < word.count {
            guard word[index] == bytes[offset + index] else { return false }
            index += 1
        }
        offset += word.count
        return true
    }

    /// Consumes a name with its colon, the comma before it, and all white space around them.
    ///
    /// - Parameter range: The range in the text: `"ID":`, or `,"ID":` if other members precede it.
    mutating func takeName(_ text: UnsafeRawBufferPointer, _ range: Range<Int>) -> Bool {
        let whole = UnsafeRawBufferPointer(rebasing: text[range])
        if !consume(whole) {
            skipWhitespace()
            var name = range.lowerBound..<range.upperBound - 1
            if text[name.lowerBound] == UInt8(ascii: ",") {
                guard consume(UInt8(ascii: ",")) else { return false }
                skipWhitespace()
                name = name.lowerBound + 1..<name.upperBound
            }
            guard consume(UnsafeRawBufferPointer(rebasing: text[name])) else { return false }
            skipWhitespace()
            guard consume(UInt8(ascii: ":")) else { return false }
        }
        skipWhitespace()
        return true
    }

    // MARK: Strings

    /// Consumes a string without escapes that is entirely ASCII, and returns its bytes.
    mutating func plainText() -> UnsafeRawBufferPointer? {
        guard consume(UInt8(ascii: "\"")) else { return nil }
        let start = offset
        let (end, isASCII) = JSONText.plainRun(in: bytes, from: start)
        guard isASCII, end < bytes.count, bytes[end] == UInt8(ascii: "\"") else { return nil }
        offset = end + 1
        return UnsafeRawBufferPointer(rebasing: bytes[start..<end])
    }

    mutating func string() -> RowString? {
        guard consume(UInt8(ascii: "\"")) else { return nil }
        let start = offset
        let (end, isASCII) = JSONText.plainRun(in: bytes, from: start)
        guard end < bytes.count else { return nil }
        guard bytes[end] == UInt8(ascii: "\"") else {
            return escapedString(from: start, escape: end).map(RowString.unescaped)
        }
        offset = end + 1
        let text = UnsafeRawBufferPointer(rebasing: bytes[start..<end])
        return isASCII || UTF8Text.isValid(text) ? .inPlace(text) : nil
    }

    /// Consumes a string with single-letter escapes. Other escapes are left to the general parser.
    private mutating func escapedString(from start: Int, escape: Int) -> String? {
        var text = Array(bytes[start..<escape])
        var index = escape
        while index + 1 < bytes.count, bytes[index] == UInt8(ascii: "\\") {
            guard let byte = JSONText.unescaped(bytes[index + 1]) else { return nil }
            text.append(byte)
            let end = JSONText.plainRun(in: bytes, from: index + 2).end
            text += bytes[index + 2..<end]
            index = end
        }
        guard index < bytes.count, bytes[index] == UInt8(ascii: "\"") else { return nil }
        offset = index + 1
        return text.withUnsafeBytes(UTF8Text.string)
    }

    // MARK: Numbers

    /// Consumes a number without fraction and exponent, with few enough digits to fit.
    mutating func wholeNumber() -> Int64? {
        let isNegative = consume(UInt8(ascii: "-"))
        let start = offset
        var value: Int64 = 0
        while true {
            let digit = next &- 0x30
            guard digit < 10 else { break }
            value = value &* 10 &+ Int64(digit)
            offset += 1
        }
        guard hasDigits(from: start), offset - start <= 18, isAtEndOfNumber else { return nil }
        return isNegative ? -value : value
    }

    /// Consumes a number without exponent.
    mutating func decimal() -> RowString? {
        let start = offset
        guard passPlainNumber() != nil, offset - start <= 40 else { return nil }
        let text = UnsafeRawBufferPointer(rebasing: bytes[start..<offset])
        // Leading zeroes are left to the general initializer, which handles their variants.
        let first = text[0] == UInt8(ascii: "-") ? text[1] : text[0]
        guard first == UInt8(ascii: "0") else { return .inPlace(text) }
        return DecimalValue(JSONText.string(text)).map { .unescaped($0.text) }
    }

    /// Consumes a number whose digits and power of ten are both exactly representable as `Double`, so that one division
    /// rounds correctly (W. D. Clinger, How to Read Floating Point Numbers Accurately, 1990).
    mutating func exactDouble() -> Double? {
        let start = offset
        guard let fraction = passPlainNumber(), offset - start <= 17, fraction <= 15 else { return nil }
        var digits: Int64 = 0
        for byte in bytes[start..<offset] where isDigit(byte) { digits = digits &* 10 &+ Int64(byte - 0x30) }
        guard digits <= 1 << 53 else { return nil }
        let value = Double(digits) / Double(powersOfTen[fraction])
        return bytes[start] == UInt8(ascii: "-") ? -value : value
    }

    /// Consumes `-?(0|[1-9][0-9]*)(\.[0-9]+)?` and returns the number of fractional digits.
    private mutating func passPlainNumber() -> Int? {
        _ = consume(UInt8(ascii: "-"))
        let start = offset
        passDigits()
        guard hasDigits(from: start) else { return nil }
        var fraction = 0
        if consume(UInt8(ascii: ".")) {
            let point = offset
            passDigits()
            fraction = offset - point
            guard fraction > 0 else { return nil }
        }
        return isAtEndOfNumber ? fraction : nil
    }

    private mutating func passDigits() { while next &- 0x30 < 10 { offset += 1 } }

    /// Returns whether there is at least one digit and no leading zero before other digits.
    private func hasDigits(from start: Int) -> Bool {
        offset > start && (offset == start + 1 || bytes[start] != UInt8(ascii: "0"))
    }

    private var isAtEndOfNumber: Bool {
        switch next {
        case UInt8(ascii: ","), UInt8(ascii: "}"), 0x20, 0x0A, 0x0D, 0x09: true
        default: false
        }
    }
}

/// A text in a row.
enum RowString {
    /// The bytes, which are valid UTF-8, and valid only as long as those of the cursor.
    case inPlace(UnsafeRawBufferPointer)
    /// A text that differs from its bytes.
    case unescaped(String)

    var text: String {
        switch self {
        case .inPlace(let bytes): JSONText.string(bytes)
        case .unescaped(let text): text
        }
    }
}
