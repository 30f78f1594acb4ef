/// Reads certificates in PEM (RFC 7468).
enum PEM {
    private static let begin = "-----BEGIN CERTIFICATE-----"
    private static let end = "-----END CERTIFICATE-----"

    /// Returns the certificates of a text in DER, without those that are damaged.
    static func certificates(_ text: String) -> [[UInt8]] {
        var rest = text[...]
        var found: [[UInt8]] = []
        while let start = rest.firstRange(of: begin) {
            rest = rest[start.upperBound...]
            guard let stop = rest.firstRange(of: end) else { break }
            if let bytes = base64(rest[..<stop.lowerBound].utf8), !bytes.isEmpty { found.append(bytes) }
            rest = rest[stop.upperBound...]
        }
        return found
    }

    private static func base64(_ text: Substring.UTF8View) -> [UInt8]? {
        var bytes: [UInt8] = []
        var bits: UInt32 = 0
        var count = 0
        for byte in text {
            let value: UInt8
            switch byte {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"): value = byte - UInt8(ascii: "A")
            case UInt8(ascii: "a")...UInt8(ascii: "z"): value = byte - UInt8(ascii: "a") + 26
            case UInt8(ascii: "0")...UInt8(ascii: "9"): value = byte - UInt8(ascii: "0") + 52
            case UInt8(ascii: "+"): value = 62
            case UInt8(ascii: "/"): value = 63
            case UInt8(ascii: "="), 0x09, 0x0A, 0x0D, 0x20: continue
            default: return nil
            }
            bits = bits << 6 | UInt32(value)
            count += 6
            if count >= 8 {
                count -= 8
                bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(count)))
            }
        }
        return bytes
    }
}
