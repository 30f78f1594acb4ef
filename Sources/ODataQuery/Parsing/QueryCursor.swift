/// A position in the UTF-8 of an expression or option, with the scanning functions that all of their grammars share.
struct QueryCursor {
    let text: String
    let bytes: [UInt8]
    /// The offsets of semicolons that were percent-encoded in the URL. They may be part of a search word.
    var encodedSemicolons: Set<Int> = []
    var offset = 0

    init(_ text: String) throws(URLSyntaxError) {
        self.text = text
        bytes = Array(text.utf8)
        guard bytes.count <= QueryLimits.length else {
            throw URLSyntaxError(.tooComplex, "The text is longer than \(QueryLimits.length) bytes.", in: "")
        }
    }

    var isAtEnd: Bool { offset >= bytes.count }

    /// Returns the byte `ahead` of the position, or 0 after the end. None of the grammars contains a zero byte.
    func peek(_ ahead: Int = 0) -> UInt8 { offset + ahead < bytes.count ? bytes[offset + ahead] : 0 }

    func starts(with text: StaticString) -> Bool {
        guard offset + text.utf8CodeUnitCount <= bytes.count else { return false }
        return text.withUTF8Buffer { $0.elementsEqual(bytes[offset..<offset + $0.count]) }
    }

    mutating func skip(_ text: StaticString) -> Bool {
        guard starts(with: text) else { return false }
        offset += text.utf8CodeUnitCount
        return true
    }

    mutating func skip(_ character: Character) -> Bool {
        guard let byte = character.asciiValue, offset < bytes.count, bytes[offset] == byte else { return false }
        offset += 1
        return true
    }

    mutating func expect(_ character: Character, _ purpose: String) throws(URLSyntaxError) {
        guard skip(character) else { throw error("Expected \"\(character)\" \(purpose).") }
    }

    /// Skips spaces and tabs, and returns whether there were any.
    @discardableResult
    mutating func skipWhitespace() -> Bool {
        let start = offset
        while peek() == 0x20 || peek() == 0x09 { offset += 1 }
        return offset > start
    }

    /// Consumes an OData identifier (a letter or underscore, then letters, digits and underscores), or returns nil.
    mutating func identifier() -> String? {
        guard offset < bytes.count, peek().isIdentifierStart else { return nil }
        let start = offset
        while offset < bytes.count, peek().isIdentifierPart { offset += 1 }
        return slice(from: start)
    }

    /// Consumes identifiers joined with dots. A dot at the end is not consumed.
    mutating func qualifiedName() -> String? {
        let start = offset
        guard identifier() != nil else { return nil }
        while peek() == UInt8(ascii: "."), peek(1).isIdentifierStart {
            offset += 1
            _ = identifier()
        }
        return slice(from: start)
    }

    /// Consumes the name of an annotation, with its qualifier after `#` if it has one.
    mutating func annotationName() -> String? {
        guard var name = qualifiedName() else { return nil }
        if skip("#" as Character) {
            guard let qualifier = identifier() else { return nil }
            name += "#" + qualifier
        }
        return name
    }

    /// Consumes decimal digits. Returns nil if there are none or if the number overflows.
    mutating func digits() -> Int64? {
        let start = offset
        while peek().isDigit { offset += 1 }
        guard offset > start, let number = Int64(slice(from: start)) else {
            offset = start
            return nil
        }
        return number
    }

    func slice(from start: Int) -> String { String(decoding: bytes[start..<offset], as: UTF8.self) }

    func error(_ message: String, _ code: URLSyntaxError.Code = .unexpectedText, at place: Int? = nil) -> URLSyntaxError
    {
        URLSyntaxError(code, message, in: text, at: place ?? offset)
    }

    func expectEnd() throws(URLSyntaxError) {
        guard isAtEnd else { throw error("There is text after the end of the expression.") }
    }
}
