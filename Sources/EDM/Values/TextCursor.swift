/// Parses fixed grammars from UTF-8 text. Each step either consumes its element, or consumes nothing and reports the
/// failure.
package struct TextCursor {
    package let bytes: [UInt8]
    package private(set) var index = 0

    package init(_ text: String) { bytes = Array(text.utf8) }

    package init(_ bytes: [UInt8]) { self.bytes = bytes }

    package var isAtEnd: Bool { index == bytes.count }
    package var next: UInt8? { index < bytes.count ? bytes[index] : nil }

    package mutating func skip() { if index < bytes.count { index += 1 } }

    package mutating func consume(_ character: Character) -> Bool {
        guard index < bytes.count, bytes[index] == character.asciiValue else { return false }
        index += 1
        return true
    }

    /// Consumes the letters of `word`, which must be ASCII.
    package mutating func consume(_ word: String, ignoringCase: Bool = false) -> Bool {
        var position = index
        for letter in word.utf8 {
            guard position < bytes.count else { return false }
            let byte = bytes[position]
            guard byte == letter || (ignoringCase && (byte | 0x20) == (letter | 0x20) && isLetter(byte)) else {
                return false
            }
            position += 1
        }
        index = position
        return true
    }

    /// Parses `count.lowerBound` to `count.upperBound` digits. Returns `nil` and consumes nothing if there are fewer
    /// or more. At most eighteen digits, so that the value fits.
    package mutating func digits(_ count: ClosedRange<Int>) -> Int64? {
        var position = index
        var value: Int64 = 0
        while position < bytes.count, isDigit(bytes[position]) {
            guard position - index < min(count.upperBound, 18) else { return nil }
            value = value * 10 + Int64(bytes[position] - 0x30)
            position += 1
        }
        guard position - index >= count.lowerBound else { return nil }
        index = position
        return value
    }

    package mutating func digits(_ count: Int) -> Int64? { digits(count...count) }

    /// Parses the one to twelve digits of a fraction. Returns the picoseconds and the number of digits.
    package mutating func picoseconds() -> (value: Int64, digits: UInt8)? {
        let start = index
        guard let value = digits(1...12) else { return nil }
        let count = index - start
        return (value * powersOfTen[12 - count], UInt8(count))
    }

    private func isLetter(_ byte: UInt8) -> Bool { (0x41...0x5A).contains(byte & 0xDF) }
}

package func isDigit(_ byte: UInt8) -> Bool { byte >= 0x30 && byte <= 0x39 }

package let powersOfTen: [Int64] = (0...18).map { power in (0..<power).reduce(Int64(1)) { value, _ in value * 10 } }

/// Returns `number` in decimal, padded with zeros on the left.
package func padded(_ number: Int64, _ width: Int) -> String {
    if number >= 0, number < 100, width == 2 {
        return String(unsafeUninitializedCapacity: 2) { text in
            text[0] = UInt8(0x30 + number / 10)
            text[1] = UInt8(0x30 + number % 10)
            return 2
        }
    }
    let text = String(number.magnitude)
    let zeros = String(repeating: "0", count: max(0, width - text.utf8.count))
    return (number < 0 ? "-" : "") + zeros + text
}

/// Returns the number of fractional digits that `picoseconds` needs, 0 to 12.
func neededDigits(_ picoseconds: Int64) -> Int {
    guard picoseconds != 0 else { return 0 }
    var digits = 12
    while picoseconds % powersOfTen[13 - digits] == 0 { digits -= 1 }
    return digits
}
