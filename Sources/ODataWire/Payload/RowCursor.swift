internal import EDM

/// Goes over the bytes of a row. Each step passes what it is about or, where there is anything else, says so; what it passed
/// then has no meaning.
struct RowCursor {
    /// Only as long as whoever made the cursor has them. Each access looks first whether it is among them.
    private let bytes: UnsafeRawBufferPointer
    private(set) var offset: Int

    init(_ bytes: UnsafeRawBufferPointer, at offset: Int) {
        self.bytes = bytes
        self.offset = offset
    }

    /// The next byte; 0, which is nowhere in JSON, at the end.
    var next: UInt8 { offset < bytes.count ? bytes[offset] : 0 }

    mutating func skipWhitespace() {
        while true {
            switch next {
            case 0x20, 0x0A, 0x0D, 0x09: offset += 1
            default: return
            }
        }
    }

    mutating func take(_ byte: UInt8) -> Bool {
        guard next == byte else { return false }
        offset += 1
        return true
    }

    mutating func take(_ word: StaticString) -> Bool {
        take(UnsafeRawBufferPointer(start: word.utf8Start, count: word.utf8CodeUnitCount))
    }

    private mutating func take(_ word: UnsafeRawBufferPointer) -> Bool {
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

    /// The name, the colon behind it and the comma in front of it, and all white space around them.
    ///
    /// - Parameter range: of the text: `"ID":`, or `,"ID":` where others stand in front of it.
    mutating func takeName(_ text: UnsafeRawBufferPointer, _ range: Range<Int>) -> Bool {
        let whole = UnsafeRawBufferPointer(rebasing: text[range])
        if !take(whole) {
            skipWhitespace()
            var name = range.lowerBound..<range.upperBound - 1
            if text[name.lowerBound] == UInt8(ascii: ",") {
                guard take(UInt8(ascii: ",")) else { return false }
                skipWhitespace()
                name = name.lowerBound + 1..<name.upperBound
            }
            guard take(UnsafeRawBufferPointer(rebasing: text[name])) else { return false }
            skipWhitespace()
            guard take(UInt8(ascii: ":")) else { return false }
        }
        skipWhitespace()
        return true
    }

    // MARK: Strings

    /// The bytes of a string without escapes, all of them ASCII.
    mutating func plainText() -> UnsafeRawBufferPointer? {
        guard take(UInt8(ascii: "\"")) else { return nil }
        let start = offset
        let (end, isASCII) = JSONText.plainRun(in: bytes, from: start)
        guard isASCII, end < bytes.count, bytes[end] == UInt8(ascii: "\"") else { return nil }
        offset = end + 1
        return UnsafeRawBufferPointer(rebasing: bytes[start..<end])
    }

    mutating func string() -> String? {
        guard take(UInt8(ascii: "\"")) else { return nil }
        let start = offset
        let (end, isASCII) = JSONText.plainRun(in: bytes, from: start)
        guard end < bytes.count else { return nil }
        if bytes[end] == UInt8(ascii: "\"") {
            offset = end + 1
            let text = UnsafeRawBufferPointer(rebasing: bytes[start..<end])
            return isASCII ? JSONText.string(text) : String(validating: text, as: UTF8.self)
        }
        return escapedString(from: start, escape: end)
    }

    /// With the escapes that one letter stands for; others are left to the general way.
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
        return String(validating: text, as: UTF8.self)
    }

    // MARK: Numbers

    /// A number without fraction and exponent, of so few digits that it fits.
    mutating func wholeNumber() -> Int64? {
        let isNegative = take(UInt8(ascii: "-"))
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

    /// A number without exponent.
    mutating func decimal() -> DecimalValue? {
        let start = offset
        guard passPlainNumber() != nil, offset - start <= 40 else { return nil }
        let text = UnsafeRawBufferPointer(rebasing: bytes[start..<offset])
        // Zero in front is left to who knows the ways to write it.
        let first = text[0] == UInt8(ascii: "-") ? text[1] : text[0]
        let string = JSONText.string(text)
        return first == UInt8(ascii: "0") ? DecimalValue(string) : DecimalValue(canonical: string)
    }

    /// A number whose digits and power of ten a `Double` both holds exactly, so that one division rounds as it should
    /// (W. D. Clinger, How to Read Floating Point Numbers Accurately, 1990).
    mutating func exactDouble() -> Double? {
        let start = offset
        guard let fraction = passPlainNumber(), offset - start <= 17, fraction <= 15 else { return nil }
        var digits: Int64 = 0
        for byte in bytes[start..<offset] where isDigit(byte) { digits = digits &* 10 &+ Int64(byte - 0x30) }
        guard digits <= 1 << 53 else { return nil }
        let value = Double(digits) / Double(powersOfTen[fraction])
        return bytes[start] == UInt8(ascii: "-") ? -value : value
    }

    /// Passes `-?(0|[1-9][0-9]*)(\.[0-9]+)?`; how many digits the fraction has.
    private mutating func passPlainNumber() -> Int? {
        _ = take(UInt8(ascii: "-"))
        let start = offset
        passDigits()
        guard hasDigits(from: start) else { return nil }
        var fraction = 0
        if take(UInt8(ascii: ".")) {
            let point = offset
            passDigits()
            fraction = offset - point
            guard fraction > 0 else { return nil }
        }
        return isAtEndOfNumber ? fraction : nil
    }

    private mutating func passDigits() { while next &- 0x30 < 10 { offset += 1 } }

    /// At least one, and no zero in front of others.
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
