/// A JSON value with its location.
struct LocatedJSON {
    indirect enum JSONNode {
        case null
        case boolean(Bool)
        case number(String)
        case string(String)
        case array([LocatedJSON])
        case object([Member])
    }

    struct Member {
        let name: String
        let value: LocatedJSON
    }

    let content: JSONNode
    let line: Int
    let column: Int

    var members: [Member]? {
        if case .object(let members) = content { members } else { nil }
    }

    var items: [LocatedJSON]? {
        if case .array(let items) = content { items } else { nil }
    }

    var string: String? {
        if case .string(let text) = content { text } else { nil }
    }

    /// The value as the text of an XML attribute, or `nil` if it has none.
    var text: String? {
        switch content {
        case .string(let text), .number(let text): text
        case .boolean(let flag): flag ? "true" : "false"
        case .null, .array, .object: nil
        }
    }

    /// The kind of value, for messages.
    var kindName: String {
        switch content {
        case .null: "null"
        case .boolean: "a Boolean"
        case .number: "a number"
        case .string: "a string"
        case .array: "an array"
        case .object: "an object"
        }
    }
}

/// Reads JSON with the locations of its values, within the limits of metadata.
struct LocatedJSONReader {
    private let bytes: [UInt8]
    private let limits: CSDLReader.Limits
    private var scanner: JSONScanner
    private var values = 0
    /// The offset that `line` and `column` correspond to.
    private var counted = 0
    private var line = 1
    private var column = 1

    static func read(_ bytes: [UInt8], limits: CSDLReader.Limits) throws(CSDLError) -> LocatedJSON {
        do throws(JSONError) {
            let scanner = try JSONScanner(
                bytes, limits: JSONScanner.Limits(depth: limits.depth, size: limits.bytes))
            var reader = LocatedJSONReader(bytes: bytes, limits: limits, scanner: scanner)
            let value = try reader.value()
            try reader.scanner.end()
            return value
        } catch {
            var places = LocatedJSONReader(bytes: bytes, limits: limits, scanner: JSONScanner(limits: .init()))
            let (line, column) = places.place(at: min(error.offset, bytes.count))
            let (code, message): (CSDLError.Code, String) =
                switch error.code {
                case .tooLarge: (.tooLarge, error.message)
                case .tooDeep: (.tooDeep, error.message)
                default: (.malformedJSON, "The document is not well-formed JSON: \(error.message)")
                }
            throw CSDLError(code, message, line: line, column: column)
        }
    }

    private init(bytes: [UInt8], limits: CSDLReader.Limits, scanner: JSONScanner) {
        self.bytes = bytes
        self.limits = limits
        self.scanner = scanner
        counted = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
    }

    private mutating func value() throws(JSONError) -> LocatedJSON {
        let kind = try scanner.peek()
        let (line, column) = place(at: scanner.offset)
        values += 1
        guard values <= limits.elements else {
            throw JSONError(.tooLarge, "The document has more than \(limits.elements) values.", at: scanner.offset)
        }
        return LocatedJSON(content: try content(kind), line: line, column: column)
    }

    private mutating func content(_ kind: JSONScanner.ValueKind) throws(JSONError) -> LocatedJSON.JSONNode {
        switch kind {
        case .null:
            try scanner.null()
            return .null
        case .boolean: return .boolean(try scanner.boolean())
        case .number: return .number(try scanner.number())
        case .string: return .string(try scanner.string())
        case .array:
            var items: [LocatedJSON] = []
            try scanner.beginArray()
            while try scanner.nextItem() { items.append(try value()) }
            return .array(items)
        case .object:
            var members: [LocatedJSON.Member] = []
            try scanner.beginObject()
            while let name = try scanner.nextName() {
                members.append(LocatedJSON.Member(name: name, value: try value()))
            }
            return .object(members)
        }
    }

    /// Returns the location of an offset, counting from the previous one, so that the document is counted once.
    private mutating func place(at offset: Int) -> (line: Int, column: Int) {
        while counted < offset {
            let byte = bytes[counted]
            if byte == 0x0A {
                line += 1
                column = 1
            } else if byte & 0xC0 != 0x80 {
                column += 1
            }
            counted += 1
        }
        return (line, column)
    }
}
