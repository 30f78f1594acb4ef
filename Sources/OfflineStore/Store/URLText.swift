/// Functions for URLs, including ones that users type.
package enum URLText {
    /// Percent-encodes characters that a URL cannot contain, such as spaces, quotation marks and non-ASCII characters.
    /// Existing encodings do not change.
    package static func encoded(_ text: String) -> String {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.utf8.count + 32)
        for byte in text.utf8 {
            switch byte {
            case 0x21, 0x23...0x3B, 0x3D, 0x3F...0x5B, 0x5D, 0x5F, 0x61...0x7A, 0x7E:
                bytes.append(byte)
            default:
                bytes.append(UInt8(ascii: "%"))
                bytes.append(hexDigit(byte >> 4))
                bytes.append(hexDigit(byte & 15))
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func hexDigit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "A") + value - 10
    }

    /// Returns the URL without query, user and password, so that errors may contain it.
    package static func withoutSecrets(_ url: String) -> String {
        var text = String(url.prefix { $0 != "?" && $0 != "#" })
        if let start = schemeEnd(text) {
            let authority = text[start...].prefix { $0 != "/" }
            if let mark = authority.lastIndex(of: "@") { text.removeSubrange(start...mark) }
        }
        return text
    }

    /// Returns the index after `://`.
    private static func schemeEnd(_ text: String) -> String.Index? {
        guard let colon = text.firstIndex(of: ":"), text[colon...].hasPrefix("://") else { return nil }
        return text.index(colon, offsetBy: 3)
    }
}
