/// Counts the attributes of each tag of an XML text without parsing it, by the quotation marks that open values.
struct AttributeCount {
    let limit: Int

    /// Returns the line of the first tag with more attributes than the limit, or `nil` if there is none.
    func excess(in bytes: [UInt8]) -> Int? {
        // In UTF-16, a byte that looks like a quotation mark can be half of a character.
        let isWide = bytes.prefix(4).contains { $0 == 0 || $0 >= 0xFE }
        return bytes.withUnsafeBufferPointer { isWide ? excessOfMarks(in: $0) : excessOfValues(in: $0) }
    }

    private func excessOfValues(in bytes: UnsafeBufferPointer<UInt8>) -> Int? {
        var position = 0
        var line = 1
        while position < bytes.count {
            guard bytes[position] == UInt8(ascii: "<") else {
                if bytes[position] == 0x0A { line += 1 }
                position += 1
                continue
            }
            if let end = Self.ends.first(where: { Self.matches($0.start, bytes, at: position) })?.end {
                while position < bytes.count, !Self.matches(end, bytes, at: position) {
                    if bytes[position] == 0x0A { line += 1 }
                    position += 1
                }
                continue
            }
            position += 1
            guard !passTag(bytes, &position, &line) else { return line }
        }
        return nil
    }

    /// Constructs that are not tags and do not end with the next `>`.
    private static let ends: [(start: StaticString, end: StaticString)] = [
        ("<!--", "-->"), ("<![CDATA[", "]]>"), ("<?", "?>"),
    ]

    private static func matches(
        _ text: StaticString, _ bytes: UnsafeBufferPointer<UInt8>, at position: Int
    ) -> Bool {
        guard bytes.count - position >= text.utf8CodeUnitCount else { return false }
        return (0..<text.utf8CodeUnitCount).allSatisfy { text.utf8Start[$0] == bytes[position + $0] }
    }

    /// Advances to the end of a tag. Returns whether it has too many attributes.
    private func passTag(_ bytes: UnsafeBufferPointer<UInt8>, _ position: inout Int, _ line: inout Int) -> Bool {
        var count = 0
        var quote: UInt8 = 0
        while position < bytes.count {
            let byte = bytes[position]
            switch byte {
            // Not allowed even in a value.
            case UInt8(ascii: "<"): return false
            case 0x0A: line += 1
            case quote where quote != 0: quote = 0
            case UInt8(ascii: ">") where quote == 0: return false
            case UInt8(ascii: "\""), UInt8(ascii: "'"):
                guard quote == 0 else { break }
                quote = byte
                count += 1
                if count > limit { return true }
            default: break
            }
            position += 1
        }
        return false
    }

    /// Returns the line in which the number of quotation marks before the next `<` exceeds twice the limit.
    private func excessOfMarks(in bytes: UnsafeBufferPointer<UInt8>) -> Int? {
        let most = limit.multipliedReportingOverflow(by: 2).partialValue
        var line = 1
        var marks = 0
        for byte in bytes {
            switch byte {
            case UInt8(ascii: "<"): marks = 0
            case UInt8(ascii: "\""), UInt8(ascii: "'"):
                marks += 1
                if marks > most { return line }
            case 0x0A: line += 1
            default: break
            }
        }
        return nil
    }
}
