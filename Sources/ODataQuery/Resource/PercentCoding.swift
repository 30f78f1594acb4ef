/// Percent-encoding as in OData URLs (RFC 3986; OData 4.01 Part 2, section 2): a URL is split before its parts are
/// decoded.
package enum PercentCoding {
    /// The characters that are not encoded. All other characters become the percent-encoded octets of their UTF-8.
    package enum AllowedCharacters: Sendable {
        /// In a path segment, including the delimiters of key predicates; `/` is encoded.
        case pathSegment
        /// In the value of a query option: `&`, `+` and `#` are encoded.
        case queryValue
        /// Letters, digits and `-._~` only.
        case unreservedOnly

        func keeps(_ byte: UInt8) -> Bool {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "~"):
                return true
            case UInt8(ascii: "!"), UInt8(ascii: "$"), UInt8(ascii: "'"), UInt8(ascii: "("), UInt8(ascii: ")"),
                UInt8(ascii: "*"), UInt8(ascii: ","), UInt8(ascii: "="), UInt8(ascii: ":"), UInt8(ascii: "@"):
                return self != .unreservedOnly
            // Java servers truncate a path segment at its first semicolon.
            case UInt8(ascii: ";"):
                return self == .queryValue
            case UInt8(ascii: "/"), UInt8(ascii: "?"):
                return self == .queryValue
            default:
                return false
            }
        }
    }

    package static func encode(_ text: some StringProtocol, for place: AllowedCharacters) -> String {
        // The compiler does not specialize this function for calls from other modules, so the loops are over an array.
        let bytes = Array(text.utf8)
        if bytes.allSatisfy(place.keeps) { return String(text) }
        let digits = Array("0123456789ABCDEF".utf8)
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count)
        for byte in bytes {
            if place.keeps(byte) {
                result.append(byte)
            } else {
                result += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: result, as: UTF8.self)
    }

    /// Decodes percent-encoded text.
    ///
    /// - Parameter plusIsSpace: Whether `+` is a space, as in form encoding. OData itself does not use it.
    package static func decode(_ text: some StringProtocol, plusIsSpace: Bool = false) throws(URLSyntaxError) -> String
    {
        var result: [UInt8] = []
        result.reserveCapacity(text.utf8.count)
        let encoded = Array(text.utf8)
        var index = 0
        while index < encoded.count {
            let byte = encoded[index]
            if byte == UInt8(ascii: "%") {
                guard index + 2 < encoded.count, let high = encoded[index + 1].hexadecimalDigit,
                    let low = encoded[index + 2].hexadecimalDigit
                else {
                    throw URLSyntaxError(
                        .malformedEncoding, "A percent sign must be followed by two hexadecimal digits.",
                        in: String(text), at: index)
                }
                result.append(high << 4 | low)
                index += 3
            } else {
                result.append(plusIsSpace && byte == UInt8(ascii: "+") ? UInt8(ascii: " ") : byte)
                index += 1
            }
        }
        guard let decoded = String(validating: result, as: UTF8.self) else {
            throw URLSyntaxError(.malformedEncoding, "The percent-encoded octets are not UTF-8.", in: String(text))
        }
        return decoded
    }
}
