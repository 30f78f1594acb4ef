/// Base64 in both alphabets (RFC 4648, sections 4 and 5).
package enum Base64 {
    package enum Alphabet { case standard, urlSafe }

    /// Decodes text in either alphabet, with or without padding.
    ///
    /// Returns nil if the text contains other characters or misplaced padding, or if its length is impossible.
    package static func decode(_ text: [UInt8]) -> [UInt8]? {
        var digits = text[...]
        var padding = 0
        while digits.last == UInt8(ascii: "="), padding < 2 {
            digits.removeLast()
            padding += 1
        }
        guard padding == 0 || text.count % 4 == 0, digits.count % 4 != 1 else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(digits.count / 4 * 3 + 2)
        var bits: UInt32 = 0
        var count = 0
        for digit in digits {
            guard let value = value(of: digit) else { return nil }
            bits = bits << 6 | UInt32(value)
            count += 6
            if count >= 8 {
                count -= 8
                bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(count)))
            }
        }
        return bytes
    }

    package static func encode(_ bytes: [UInt8], _ alphabet: Alphabet) -> String {
        let digits =
            Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789".utf8)
            + Array((alphabet == .standard ? "+/" : "-_").utf8)
        var text: [UInt8] = []
        text.reserveCapacity((bytes.count + 2) / 3 * 4)
        var index = 0
        while index < bytes.count {
            let group = bytes[index..<min(index + 3, bytes.count)]
            var bits: UInt32 = 0
            for offset in 0..<3 { bits = bits << 8 | (offset < group.count ? UInt32(group[index + offset]) : 0) }
            for position in 0..<4 {
                text.append(
                    position <= group.count ? digits[Int(bits >> UInt32(18 - 6 * position) & 63)] : UInt8(ascii: "="))
            }
            index += 3
        }
        return String(decoding: text, as: UTF8.self)
    }

    private static func value(of digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): digit - UInt8(ascii: "A")
        case UInt8(ascii: "a")...UInt8(ascii: "z"): digit - UInt8(ascii: "a") + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0") + 52
        case UInt8(ascii: "+"), UInt8(ascii: "-"): 62
        case UInt8(ascii: "/"), UInt8(ascii: "_"): 63
        default: nil
        }
    }
}
