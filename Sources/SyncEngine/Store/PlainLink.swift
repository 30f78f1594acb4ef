/// A link of the most frequent form, `Orders(5)`: a set, and a key that is one number.
struct PlainLink {
    let set: String
    let key: Int64

    /// Nil for every other form.
    init?(_ link: String) {
        let parsed = link.utf8.withContiguousStorageIfAvailable { bytes -> (end: Int, key: Int64)? in
            guard bytes.count <= 200, bytes.last == UInt8(ascii: ")"),
                let open = bytes.firstIndex(of: UInt8(ascii: "("))
            else { return nil }
            // 18 digits are no overflow.
            let digits = bytes[(open + 1)..<(bytes.count - 1)]
            guard open > 0, (1...18).contains(digits.count) else { return nil }
            var key: Int64 = 0
            for byte in digits {
                guard (0x30...0x39).contains(byte) else { return nil }
                key = key * 10 + Int64(byte - 0x30)
            }
            for byte in bytes[..<open] where byte == UInt8(ascii: "/") || byte == UInt8(ascii: "%") { return nil }
            return (open, key)
        }
        guard case .some(.some(let found)) = parsed else { return nil }
        set = String(decoding: link.utf8.prefix(found.end), as: UTF8.self)
        key = found.key
    }
}
