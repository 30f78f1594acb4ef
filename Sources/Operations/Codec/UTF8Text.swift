enum UTF8Text {
    /// Nil where the bytes are not UTF-8. Most texts are ASCII, which takes a fraction of the time to see.
    static func string(_ bytes: UnsafeRawBufferPointer) -> String? {
        isASCII(bytes) ? String(decoding: bytes, as: UTF8.self) : String(validating: bytes, as: UTF8.self)
    }

    private static func isASCII(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var seen: UInt64 = 0
        var at = 0
        while bytes.count - at >= 8 {
            seen |= bytes.loadUnaligned(fromByteOffset: at, as: UInt64.self)
            at += 8
        }
        while at < bytes.count {
            seen |= UInt64(bytes[at])
            at += 1
        }
        return seen & 0x8080_8080_8080_8080 == 0
    }
}
