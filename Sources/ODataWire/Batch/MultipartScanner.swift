/// Finds lines, delimiters and heads in the bytes of a multipart body. All positions are offsets into the whole body.
struct MultipartScanner {
    let bytes: [UInt8]
    let limits: MultipartBatchReader.Limits

    /// The content between the delimiters of one boundary.
    struct Parts {
        var preamble: Range<Int>
        /// The parts, without the line break before the next delimiter, which belongs to the delimiter.
        var parts: [Range<Int>] = []
        var isClosed = false
        var epilogue: Range<Int>
    }

    /// Header fields, with the position and the kind of their end.
    struct Head {
        var headers = HTTPHeaders()
        /// The first byte after the head, which belongs to the body or to a line that is not a header.
        var end: Int
        var ending = Ending.end

        enum Ending { case blankLine, malformedLine, end }
    }

    /// Splits at the delimiter lines of `boundary`. Returns nil if there is none.
    func split(_ range: Range<Int>, boundary: [UInt8]) throws(BatchReadError) -> Parts? {
        var result = Parts(preamble: range, epilogue: range.upperBound..<range.upperBound)
        var open: Int?
        var found = false
        var position = range.lowerBound
        while position < range.upperBound {
            let line = self.line(at: position, limit: range.upperBound)
            guard let closes = delimiter(position..<line.end, boundary) else {
                position = line.next
                continue
            }
            if !found { result.preamble = range.lowerBound..<position }
            found = true
            if let open { result.parts.append(open..<max(open, withoutLineBreak(position, from: open))) }
            if result.parts.count > limits.parts {
                throw BatchReadError(.tooLarge, "The batch has more than \(limits.parts) parts.", at: position)
            }
            open = line.next
            position = line.next
            if closes {
                result.isClosed = true
                result.epilogue = position..<range.upperBound
                return result
            }
        }
        if let open, open < range.upperBound { result.parts.append(open..<range.upperBound) }
        return found ? result : nil
    }

    /// Returns the boundary in the first line of the form `--…`.
    func firstBoundary(in range: Range<Int>) -> [UInt8]? {
        var position = range.lowerBound
        while position < range.upperBound {
            let line = self.line(at: position, limit: range.upperBound)
            var slice = bytes[position..<line.end]
            position = line.next
            guard slice.starts(with: Self.dashes) else { continue }
            slice = slice.dropFirst(2)
            while let last = slice.last, last.isBlank { slice.removeLast() }
            if slice.suffix(2).elementsEqual(Self.dashes) { slice = slice.dropLast(2) }
            if !slice.isEmpty { return Array(slice) }
        }
        return nil
    }

    /// Reads `Name: value` lines up to a blank line, a line of a different form, or the end.
    func head(_ range: Range<Int>) throws(BatchReadError) -> Head {
        var head = Head(end: range.lowerBound)
        var fields: [(name: String, value: String)] = []
        fields.reserveCapacity(8)
        while head.end < range.upperBound {
            let line = self.line(at: head.end, limit: range.upperBound)
            if line.next - range.lowerBound > limits.headBytes || fields.count > limits.headerFields {
                throw BatchReadError(.tooLarge, "The head of a part is too large.", at: head.end)
            }
            if line.end == head.end {
                head.end = line.next
                head.ending = .blankLine
                break
            }
            if bytes[head.end].isBlank, !fields.isEmpty {
                // A folded line continues the preceding value.
                fields[fields.count - 1].value += " " + text(head.end..<line.end)
            } else if let field = field(head.end..<line.end) {
                fields.append(field)
            } else {
                head.ending = .malformedLine
                break
            }
            head.end = line.next
        }
        head.headers = HTTPHeaders(fields: fields)
        return head
    }

    /// Returns the end of the line without its line break, and the start of the next line. CRLF and LF end a line.
    func line(at start: Int, limit: Int) -> (end: Int, next: Int) {
        var position = start
        while position < limit, bytes[position] != 0x0A { position += 1 }
        let end = position > start && bytes[position - 1] == 0x0D ? position - 1 : position
        return (end, min(position + 1, limit))
    }

    /// Returns the range as text, without leading and trailing blanks.
    func text(_ range: Range<Int>) -> String {
        var slice = bytes[range]
        while let first = slice.first, first.isBlank { slice.removeFirst() }
        while let last = slice.last, last.isBlank { slice.removeLast() }
        return String(decoding: slice, as: UTF8.self)
    }

    func isBlank(_ range: Range<Int>) -> Bool { bytes[range].allSatisfy { $0.isBlank || $0.isLineBreak } }

    private static let dashes: [UInt8] = [0x2D, 0x2D]

    /// Returns whether the line is the close delimiter, or nil if it is not a delimiter of the boundary.
    private func delimiter(_ line: Range<Int>, _ boundary: [UInt8]) -> Bool? {
        let slice = bytes[line]
        guard slice.count >= boundary.count + 2, slice.starts(with: Self.dashes),
            slice.dropFirst(2).starts(with: boundary)
        else { return nil }
        var rest = slice.dropFirst(2 + boundary.count)
        let closes = rest.starts(with: Self.dashes)
        if closes { rest = rest.dropFirst(2) }
        return rest.allSatisfy(\.isBlank) ? closes : nil
    }

    private func withoutLineBreak(_ end: Int, from start: Int) -> Int {
        guard end > start, bytes[end - 1] == 0x0A else { return end }
        return end - 1 > start && bytes[end - 2] == 0x0D ? end - 2 : end - 1
    }

    private func field(_ line: Range<Int>) -> (name: String, value: String)? {
        guard let colon = bytes[line].firstIndex(of: UInt8(ascii: ":")) else { return nil }
        let name = text(line.lowerBound..<colon)
        guard !name.isEmpty, name.utf8.allSatisfy(Self.isToken) else { return nil }
        return (name, text(colon + 1..<line.upperBound))
    }

    /// Returns whether the byte may occur in a token (RFC 9110, section 5.6.2).
    static func isToken(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "-"):
            true
        default: "!#$%&'*+.^_`|~".utf8.contains(byte)
        }
    }
}
