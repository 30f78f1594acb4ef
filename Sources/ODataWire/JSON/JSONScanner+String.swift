internal import EDM

extension JSONScanner {
    /// The string whose opening quotation mark is at the offset.
    mutating func quoted() throws(JSONError) -> String {
        let start = offset + 1
        var end = start
        // Most strings have no escape: find the end and copy once.
        while end < bytes.count {
            let byte = bytes[end]
            if byte == UInt8(ascii: "\"") {
                offset = end + 1
                return try text(start..<end)
            }
            if byte == UInt8(ascii: "\\") || byte < 0x20 { break }
            end += 1
        }
        return try escaped(from: start, firstEscape: end)
    }

    private func text(_ range: Range<Int>) throws(JSONError) -> String {
        guard let text = String(validating: bytes[range], as: UTF8.self) else { throw invalidUTF8(in: range) }
        return text
    }

    private mutating func escaped(from start: Int, firstEscape: Int) throws(JSONError) -> String {
        var content = Array(bytes[start..<firstEscape])
        var index = firstEscape
        var runStart = firstEscape
        while index < bytes.count {
            let byte = bytes[index]
            if byte == UInt8(ascii: "\"") {
                content += bytes[runStart..<index]
                offset = index + 1
                guard let text = String(validating: content, as: UTF8.self) else {
                    throw invalidUTF8(in: start..<index)
                }
                return text
            }
            if byte == UInt8(ascii: "\\") {
                content += bytes[runStart..<index]
                index = try escape(at: index, into: &content)
                runStart = index
            } else if byte < 0x20 {
                throw JSONError(.syntax, "A control character in a string must be escaped.", at: index)
            } else {
                index += 1
            }
        }
        throw JSONError(.truncated, "The document ends inside a string.", at: bytes.count)
    }

    /// Appends what the escape at `index` stands for.
    ///
    /// - Returns: the index behind it.
    private func escape(at index: Int, into content: inout [UInt8]) throws(JSONError) -> Int {
        guard index + 1 < bytes.count else {
            throw JSONError(.truncated, "The document ends inside a string.", at: bytes.count)
        }
        switch bytes[index + 1] {
        case UInt8(ascii: "\""): content.append(UInt8(ascii: "\""))
        case UInt8(ascii: "\\"): content.append(UInt8(ascii: "\\"))
        case UInt8(ascii: "/"): content.append(UInt8(ascii: "/"))
        case UInt8(ascii: "b"): content.append(0x08)
        case UInt8(ascii: "f"): content.append(0x0C)
        case UInt8(ascii: "n"): content.append(0x0A)
        case UInt8(ascii: "r"): content.append(0x0D)
        case UInt8(ascii: "t"): content.append(0x09)
        case UInt8(ascii: "u"): return try unicodeEscape(at: index, into: &content)
        default: throw JSONError(.syntax, "A backslash must be followed by one of \"\\/bfnrtu.", at: index)
        }
        return index + 2
    }

    private func unicodeEscape(at index: Int, into content: inout [UInt8]) throws(JSONError) -> Int {
        let unit = try codeUnit(at: index)
        var scalar = UInt32(unit)
        var next = index + 6
        if (0xD800...0xDFFF).contains(unit) {
            let isHigh = unit < 0xDC00
            guard isHigh, next + 1 < bytes.count, bytes[next] == UInt8(ascii: "\\"),
                bytes[next + 1] == UInt8(ascii: "u")
            else { throw JSONError(.loneSurrogate, "Half a surrogate pair stands for no character.", at: index) }
            let low = try codeUnit(at: next)
            guard (0xDC00...0xDFFF).contains(low) else {
                throw JSONError(.loneSurrogate, "Half a surrogate pair stands for no character.", at: index)
            }
            scalar = 0x10000 + (UInt32(unit - 0xD800) << 10 | UInt32(low - 0xDC00))
            next += 6
        }
        guard let character = Unicode.Scalar(scalar) else {
            throw JSONError(.syntax, "The escape stands for no character.", at: index)
        }
        content += Array(String(character).utf8)
        return next
    }

    /// The four hexadecimal digits of the `\u` at `index`.
    private func codeUnit(at index: Int) throws(JSONError) -> UInt16 {
        guard index + 6 <= bytes.count else {
            throw JSONError(.truncated, "The document ends inside a string.", at: bytes.count)
        }
        var unit: UInt16 = 0
        for position in index + 2..<index + 6 {
            guard let digit = hexadecimalValue(bytes[position]) else {
                throw JSONError(.syntax, "\\u must be followed by four hexadecimal digits.", at: index)
            }
            unit = unit << 4 | UInt16(digit)
        }
        return unit
    }

    private func invalidUTF8(in range: Range<Int>) -> JSONError {
        var index = range.lowerBound
        // The longest valid beginning; only walked when there is an error to place.
        var decoder = UTF8()
        var iterator = bytes[range].makeIterator()
        while case .scalarValue(let scalar) = decoder.decode(&iterator) { index += UTF8.width(scalar) }
        return JSONError(.invalidUTF8, "These bytes are not UTF-8.", at: index)
    }
}
