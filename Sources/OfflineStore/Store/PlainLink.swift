/// A link of the most frequent form: a set and a number.
struct PlainLink {
    let set: String
    let key: Int64

    /// Parses a link with a key, such as `Orders(5)`. Returns nil for any other form.
    init?(_ link: String) { self.init(link, prefix: []) }

    /// Parses a link with an entity ID, such as `Orders(~5)`. Returns nil for any other form.
    init?(local link: String) { self.init(link, prefix: [UInt8(ascii: "~")]) }

    private init?(_ link: String, prefix: [UInt8]) {
        let parsed = link.utf8.withContiguousStorageIfAvailable { bytes -> (end: Int, key: Int64)? in
            guard bytes.count <= 200, bytes.last == UInt8(ascii: ")"),
                let open = bytes.firstIndex(of: UInt8(ascii: "("))
            else { return nil }
            // 18 digits cannot overflow.
            let inside = bytes[(open + 1)..<(bytes.count - 1)]
            guard open > 0, inside.starts(with: prefix) else { return nil }
            let digits = inside.dropFirst(prefix.count)
            guard (1...18).contains(digits.count) else { return nil }
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
