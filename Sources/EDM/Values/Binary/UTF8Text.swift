package enum UTF8Text {
    /// Returns the string, or `nil` if the bytes are not UTF-8. ASCII, the usual case, has a fast path.
    package static func string(_ bytes: UnsafeRawBufferPointer) -> String? {
        isASCII(bytes) ? String(decoding: bytes, as: UTF8.self) : String(validating: bytes, as: UTF8.self)
    }

    /// Whether the bytes are valid UTF-8 (Unicode 16.0, table 3-7). Creates no string.
    package static func isValid(_ bytes: UnsafeRawBufferPointer) -> Bool {
        if isASCII(bytes) { return true }
        var at = 0
        while at < bytes.count {
            let lead = bytes[at]
            let length: Int
            switch lead {
            case 0x00...0x7F: length = 1
            case 0xC2...0xDF: length = 2
            case 0xE0...0xEF: length = 3
            case 0xF0...0xF4: length = 4
            default: return false
            }
            guard bytes.count - at >= length else { return false }
            if length > 1 {
                // Overlong forms, surrogates and values beyond the last scalar are detected in the second byte.
                let second: ClosedRange<UInt8> =
                    switch lead {
                    case 0xE0: 0xA0...0xBF
                    case 0xED: 0x80...0x9F
                    case 0xF0: 0x90...0xBF
                    case 0xF4: 0x80...0x8F
                    default: 0x80...0xBF
                    }
                guard second.contains(bytes[at + 1]) else { return false }
                for index in at + 2..<at + max(2, length) where bytes[index] & 0xC0 != 0x80 { return false }
            }
            at += length
        }
        return true
    }

    /// Checks eight bytes at a time; the last word can overlap the previous one.
    static func isASCII(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard let start = bytes.baseAddress else { return true }
        let count = bytes.count
        var seen: UInt64 = 0
        var at = 0
        while count - at >= 8 {
            seen |= start.loadUnaligned(fromByteOffset: at, as: UInt64.self)
            at += 8
        }
        if count >= 8 {
            seen |= start.loadUnaligned(fromByteOffset: count - 8, as: UInt64.self)
        } else if count >= 4 {
            seen |= UInt64(
                start.loadUnaligned(as: UInt32.self) | start.loadUnaligned(fromByteOffset: count - 4, as: UInt32.self))
        } else {
            while at < count {
                seen |= UInt64(start.load(fromByteOffset: at, as: UInt8.self))
                at += 1
            }
        }
        return seen & 0x8080_8080_8080_8080 == 0
    }
}
