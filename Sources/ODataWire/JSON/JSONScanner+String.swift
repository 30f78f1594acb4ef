internal import EDM

extension JSONScanner {
    /// The string whose opening quotation mark is at the offset.
    mutating func quoted() throws(JSONError) -> String {
        let start = offset + 1
        let (end, isASCII) = runOfPlainBytes(from: start)
        // Most strings have no escape: copy them once.
        if end < bytes.count, bytes[end] == UInt8(ascii: "\"") {
            offset = end + 1
            if !isASCII, let invalid = firstInvalidUTF8(bytes[start..<end]) { throw invalidUTF8(at: invalid) }
            return makeString(start..<end)
        }
        return try escaped(from: start, firstEscape: end)
    }

    /// Passes over a string without making it; escapes are checked all the same.
    mutating func skipQuoted() throws(JSONError) {
        let start = offset + 1
        let (end, isASCII) = runOfPlainBytes(from: start)
        if end < bytes.count, bytes[end] == UInt8(ascii: "\"") {
            offset = end + 1
            if !isASCII, let invalid = firstInvalidUTF8(bytes[start..<end]) { throw invalidUTF8(at: invalid) }
        } else {
            _ = try escaped(from: start, firstEscape: end)
        }
    }

    /// Where the first quotation mark, backslash or control character is, and whether all bytes before it are ASCII.
    ///
    /// This loop sees nearly every byte of every payload, hence eight at a time and without bounds checks: it reads from
    /// `start` to `bytes.count` at most.
    private func runOfPlainBytes(from start: Int) -> (end: Int, isASCII: Bool) {
        bytes.withUnsafeBytes { buffer in
            let highBits: UInt64 = 0x8080_8080_8080_8080
            let ones: UInt64 = 0x0101_0101_0101_0101
            var seen: UInt64 = 0
            var index = start
            while index + 8 <= buffer.count {
                let word = buffer.loadUnaligned(fromByteOffset: index, as: UInt64.self)
                // A byte of zero borrows from its high bit, and so a byte that equals what was taken away shows there.
                let quote = word ^ (ones &* 0x22)
                let backslash = word ^ (ones &* 0x5C)
                let found =
                    ((quote &- ones) & ~quote) | ((backslash &- ones) & ~backslash) | ((word &- ones &* 0x20) & ~word)
                if found & highBits != 0 { break }
                seen |= word
                index += 8
            }
            while index < buffer.count {
                let byte = buffer[index]
                if byte == 0x22 || byte == 0x5C || byte < 0x20 { break }
                seen |= UInt64(byte)
                index += 1
            }
            return (index, seen & highBits == 0)
        }
    }

    /// The bytes of `range`, which are known to be UTF-8, as a string.
    func makeString(_ range: Range<Int>) -> String {
        bytes.withUnsafeBytes { buffer in
            String(unsafeUninitializedCapacity: range.count) { target in
                UnsafeMutableRawBufferPointer(target).copyMemory(from: .init(rebasing: buffer[range]))
                return range.count
            }
        }
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
                    throw invalidUTF8(at: firstInvalidUTF8(bytes[start..<index]) ?? start)
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

    private func invalidUTF8(at index: Int) -> JSONError {
        JSONError(.invalidUTF8, "These bytes are not UTF-8.", at: index)
    }
}

/// Where bytes that are not UTF-8 begin: overlong forms, surrogates and scalars beyond U+10FFFF among them (RFC 3629).
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
