extension JSONScanner {
    /// Returns the string whose opening quotation mark is at the offset.
    mutating func quoted() throws(JSONError) -> String {
        let start = offset + 1
        let (end, isASCII) = runOfPlainBytes(from: start)
        // Most strings have no escapes: copy them once.
        if end < bytes.count, bytes[end] == UInt8(ascii: "\"") {
            offset = end + 1
            if !isASCII, let invalid = firstInvalidUTF8(bytes[start..<end]) {
                try tolerate(invalidUTF8(at: invalid))
                return String(decoding: bytes[start..<end], as: UTF8.self)
            }
            return makeString(start..<end)
        }
        return try escaped(from: start, firstEscape: end)
    }

    /// Skips a string without creating it. Escapes are checked.
    ///
    /// - Returns: Whether the string has no escapes.
    @discardableResult
    mutating func skipQuoted() throws(JSONError) -> Bool {
        let start = offset + 1
        let (end, isASCII) = runOfPlainBytes(from: start)
        if end < bytes.count, bytes[end] == UInt8(ascii: "\"") {
            offset = end + 1
            if !isASCII, let invalid = firstInvalidUTF8(bytes[start..<end]) { try tolerate(invalidUTF8(at: invalid)) }
            return true
        }
        _ = try escaped(from: start, firstEscape: end)
        return false
    }

    private func runOfPlainBytes(from start: Int) -> (end: Int, isASCII: Bool) {
        bytes.withUnsafeBytes { JSONText.plainRun(in: $0, from: start) }
    }

    /// Returns the bytes of `range`, which must be valid UTF-8, as a string.
    func makeString(_ range: Range<Int>) -> String {
        bytes.withUnsafeBytes { JSONText.string(UnsafeRawBufferPointer(rebasing: $0[range])) }
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
                if let text = String(validating: content, as: UTF8.self) { return text }
                try tolerate(invalidUTF8(at: firstInvalidUTF8(bytes[start..<index]) ?? start))
                return String(decoding: content, as: UTF8.self)
            }
            if byte == UInt8(ascii: "\\") {
                content += bytes[runStart..<index]
                do { index = try escape(at: index, into: &content) } catch {
                    guard error.code == .loneSurrogate else { throw error }
                    try tolerate(error)
                    content += Array("\u{FFFD}".utf8)
                    index += 6
                }
                runStart = index
            } else if byte < 0x20 {
                throw JSONError(.syntax, "A control character in a string is not escaped.", at: index)
            } else {
                index += 1
            }
        }
        throw JSONError(.truncated, "The document ends inside a string.", at: bytes.count)
    }

    /// Records the error of an invalid string, or throws it.
    private mutating func tolerate(_ error: JSONError) throws(JSONError) {
        guard toleratesBadText else { throw error }
        badText = badText ?? error
    }

    /// Appends the character that the escape at `index` represents.
    ///
    /// - Returns: The index after the escape.
    private func escape(at index: Int, into content: inout [UInt8]) throws(JSONError) -> Int {
        guard index + 1 < bytes.count else {
            throw JSONError(.truncated, "The document ends inside a string.", at: bytes.count)
        }
        let letter = bytes[index + 1]
        if letter == UInt8(ascii: "u") { return try unicodeEscape(at: index, into: &content) }
        guard let byte = JSONText.unescaped(letter) else {
            throw JSONError(.syntax, "A backslash is not followed by one of \"\\/bfnrtu.", at: index)
        }
        content.append(byte)
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
            else {
                throw JSONError(.loneSurrogate, "A surrogate without its counterpart is not a character.", at: index)
            }
            let low = try codeUnit(at: next)
            guard (0xDC00...0xDFFF).contains(low) else {
                throw JSONError(.loneSurrogate, "A surrogate without its counterpart is not a character.", at: index)
            }
            scalar = 0x10000 + (UInt32(unit - 0xD800) << 10 | UInt32(low - 0xDC00))
            next += 6
        }
        guard let character = Unicode.Scalar(scalar) else {
            throw JSONError(.syntax, "The escape is not a character.", at: index)
        }
        content += Array(String(character).utf8)
        return next
    }

    /// Returns the value of the four hexadecimal digits of the `\u` at `index`.
    private func codeUnit(at index: Int) throws(JSONError) -> UInt16 {
        guard index + 6 <= bytes.count else {
            throw JSONError(.truncated, "The document ends inside a string.", at: bytes.count)
        }
        var unit: UInt16 = 0
        for position in index + 2..<index + 6 {
            guard let digit = hexadecimalValue(bytes[position]) else {
                throw JSONError(.syntax, "\\u is not followed by four hexadecimal digits.", at: index)
            }
            unit = unit << 4 | UInt16(digit)
        }
        return unit
    }

    private func invalidUTF8(at index: Int) -> JSONError {
        JSONError(.invalidUTF8, "The string is not valid UTF-8.", at: index)
    }
}

/// Returns the index of the first bytes that are not valid UTF-8, including overlong forms, surrogates and scalars
/// beyond U+10FFFF (RFC 3629).
func firstInvalidUTF8(_ bytes: ArraySlice<UInt8>) -> Int? {
    var index = bytes.startIndex
    while index < bytes.endIndex {
        let first = bytes[index]
        if first < 0x80 {
            index += 1
            continue
        }
        let (length, second): (Int, ClosedRange<UInt8>)
        switch first {
        case 0xC2...0xDF: (length, second) = (2, 0x80...0xBF)
        case 0xE0: (length, second) = (3, 0xA0...0xBF)
        case 0xED: (length, second) = (3, 0x80...0x9F)
        case 0xE1...0xEF: (length, second) = (3, 0x80...0xBF)
        case 0xF0: (length, second) = (4, 0x90...0xBF)
        case 0xF1...0xF3: (length, second) = (4, 0x80...0xBF)
        case 0xF4: (length, second) = (4, 0x80...0x8F)
        default: return index
        }
        guard index + length <= bytes.endIndex, second.contains(bytes[index + 1]),
            bytes[index + 2..<max(index + 2, index + length)].allSatisfy({ $0 & 0xC0 == 0x80 })
        else { return index }
        index += length
    }
    return nil
}
