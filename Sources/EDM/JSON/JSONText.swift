/// Low-level functions for JSON strings.
package enum JSONText {
    /// Returns the index of the first quotation mark, backslash or control character, and whether all bytes before it
    /// are ASCII.
    ///
    /// The loop processes nearly every byte of every payload, so it reads eight bytes at a time without bounds
    /// checks, from `start` to the end of the buffer at most.
    package static func plainRun(in bytes: UnsafeRawBufferPointer, from start: Int) -> (end: Int, isASCII: Bool) {
        let highBits: UInt64 = 0x8080_8080_8080_8080
        let ones: UInt64 = 0x0101_0101_0101_0101
        var seen: UInt64 = 0
        var index = start
        while index + 8 <= bytes.count {
            let word = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self))
            // A byte that equals the subtracted one becomes zero and borrows from its high bit. Only bytes after such
            // a byte can be false positives.
            let quote = word ^ (ones &* 0x22)
            let backslash = word ^ (ones &* 0x5C)
            let found =
                (((quote &- ones) & ~quote) | ((backslash &- ones) & ~backslash) | ((word &- ones &* 0x20) & ~word))
                & highBits
            if found != 0 {
                let place = found.trailingZeroBitCount & ~7
                seen |= word & ((1 << UInt64(place)) &- 1)
                return (index + place / 8, seen & highBits == 0)
            }
            seen |= word
            index += 8
        }
        while index < bytes.count {
            let byte = bytes[index]
            if byte == 0x22 || byte == 0x5C || byte < 0x20 { break }
            seen |= UInt64(byte)
            index += 1
        }
        return (index, seen & highBits == 0)
    }

    /// Creates a string from bytes that are known to be valid UTF-8.
    package static func string(_ bytes: UnsafeRawBufferPointer) -> String {
        String(unsafeUninitializedCapacity: bytes.count) { target in
            UnsafeMutableRawBufferPointer(target).copyMemory(from: bytes)
            return bytes.count
        }
    }

    /// Returns the character of an escape sequence of one letter, or `nil` for `u` and invalid letters.
    package static func unescaped(_ letter: UInt8) -> UInt8? {
        switch letter {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): letter
        case UInt8(ascii: "b"): 0x08
        case UInt8(ascii: "f"): 0x0C
        case UInt8(ascii: "n"): 0x0A
        case UInt8(ascii: "r"): 0x0D
        case UInt8(ascii: "t"): 0x09
        default: nil
        }
    }
}
