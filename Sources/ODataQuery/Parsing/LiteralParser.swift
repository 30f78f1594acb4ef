package import EDM

/// A parser for literals: those of URLs, whose kind the text itself determines, and strings in JSON.
struct LiteralParser: QueryGrammar {
    var cursor: QueryCursor
    var state: QueryParserState

    /// Parses a primitive or enumeration literal at the position, or returns nil if no literal begins there.
    mutating func urlLiteral() throws(URLSyntaxError) -> Expression? {
        let start = cursor.offset
        let form = literalForm()
        cursor.offset = start
        switch form {
        case nil: return nil
        case .keyword(let value, let type):
            _ = cursor.identifier()
            return .literal(value, type)
        case .enumeration:
            return try enumeration()
        case .scanned:
            guard let (value, type, length) = longestLiteral() else {
                throw cursor.error("This is not a literal of OData \(version.rawValue).", .malformedLiteral, at: start)
            }
            cursor.offset = start + length
            height = 1
            return .literal(value, type)
        }
    }

    private enum LiteralForm {
        case keyword(Value, PrimitiveType?)
        case enumeration
        case scanned
    }

    /// Looks ahead to determine whether a literal begins here. The scanner determines its exact kind.
    private mutating func literalForm() -> LiteralForm? {
        let byte = cursor.peek()
        if byte.isDigit || byte == UInt8(ascii: "'") || byte == UInt8(ascii: "-") { return .scanned }
        if byte == UInt8(ascii: "+"), cursor.peek(1).isDigit, !version.isLegacy { return .scanned }
        let start = cursor.offset
        guard let word = cursor.identifier() else { return nil }
        if cursor.peek() == UInt8(ascii: "'") { return .scanned }
        if cursor.offset - start == 8, cursor.peek() == UInt8(ascii: "-"),
            cursor.bytes[start..<cursor.offset].allSatisfy({ $0.hexadecimalDigit != nil })
        {
            return .scanned
        }
        // The names of these values are literals unless a character follows that makes them a path or a call.
        let next = cursor.peek()
        if next != UInt8(ascii: "/"), next != UInt8(ascii: "("), next != UInt8(ascii: ".") {
            if word == "null" { return .keyword(.null, nil) }
            switch version == .v401 ? word.lowercased() : word {
            case "true": return .keyword(.boolean(true), .boolean)
            case "false": return .keyword(.boolean(false), .boolean)
            default: break
            }
            switch word {
            case "INF": return .keyword(.double(.infinity), .double)
            case "NaN": return .keyword(.double(.nan), .double)
            default: return nil
            }
        }
        guard next == UInt8(ascii: ".") else { return nil }
        cursor.offset = start
        _ = cursor.qualifiedName()
        return cursor.peek() == UInt8(ascii: "'") ? .enumeration : nil
    }

    private mutating func enumeration() throws(URLSyntaxError) -> Expression {
        guard let (type, members, length) = PrimitiveLiteral.scanEnumeration(cursor.bytes[cursor.offset...]) else {
            throw cursor.error("The enumeration literal is malformed.", .malformedLiteral)
        }
        cursor.offset += length
        return .enumeration(type: type, value: members)
    }

    /// Returns the longest literal at the position.
    ///
    /// A colon is either part of a time or separates a literal from the value of a choice: `case(X gt 0:1)`.
    private mutating func longestLiteral() -> (value: Value, type: PrimitiveType, length: Int)? {
        let start = cursor.offset
        var end = cursor.bytes.count
        var isWhole = true
        while true {
            if let found = PrimitiveLiteral.scan(cursor.bytes[start..<end], version: version),
                !followsLetter(at: start + found.length)
            {
                let isTime = found.type == .timeOfDay
                if isTime { state.colons.hasReadTime = true }
                if !(isTime && isWhole && state.colons.endsTimes) { return found }
            }
            isWhole = false
            guard let colon = lastColon(from: start, before: end) else { return nil }
            end = colon
        }
    }

    /// The maximum length of a literal that contains a colon.
    private static var longestTime: Int { 64 }

    private func lastColon(from start: Int, before end: Int) -> Int? {
        let run = cursor.bytes[start..<min(end, start + Self.longestTime)].prefix { byte in
            byte.isIdentifierPart || [0x2B, 0x2D, 0x2E, 0x3A].contains(byte)
        }
        return run.lastIndex(of: UInt8(ascii: ":"))
    }

    private func followsLetter(at offset: Int) -> Bool {
        offset < cursor.bytes.count
            && (cursor.bytes[offset].isIdentifierPart || cursor.bytes[offset] == UInt8(ascii: "'"))
    }

    // MARK: JSON

    /// Parses a JSON string with its quotation marks.
    mutating func jsonText() throws(URLSyntaxError) -> String {
        let start = cursor.offset
        try cursor.expect("\"", "at the start of a JSON string")
        var units: [UInt16] = []
        var literal = cursor.offset
        func text(_ bytes: ArraySlice<UInt8>) -> String.UTF16View { String(decoding: bytes, as: UTF8.self).utf16 }
        while true {
            guard !cursor.isAtEnd else {
                throw cursor.error("The JSON string is not closed.", .malformedLiteral, at: start)
            }
            switch cursor.peek() {
            case UInt8(ascii: "\""):
                units += text(cursor.bytes[literal..<cursor.offset])
                cursor.offset += 1
                guard let string = String(validating: units, as: UTF16.self) else {
                    throw cursor.error(
                        "The JSON string contains a surrogate without its counterpart.", .malformedLiteral, at: start)
                }
                return string
            case UInt8(ascii: "\\"):
                units += text(cursor.bytes[literal..<cursor.offset])
                cursor.offset += 1
                units.append(try jsonEscape())
                literal = cursor.offset
            default:
                cursor.offset += 1
            }
        }
    }

    private mutating func jsonEscape() throws(URLSyntaxError) -> UInt16 {
        let escape = cursor.peek()
        cursor.offset += 1
        switch escape {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return UInt16(escape)
        case UInt8(ascii: "b"): return 8
        case UInt8(ascii: "f"): return 12
        case UInt8(ascii: "n"): return 10
        case UInt8(ascii: "r"): return 13
        case UInt8(ascii: "t"): return 9
        case UInt8(ascii: "u"):
            var unit: UInt16 = 0
            for _ in 0..<4 {
                guard let digit = cursor.peek().hexadecimalDigit else {
                    throw cursor.error("\\u must be followed by four hexadecimal digits.", .malformedLiteral)
                }
                unit = unit << 4 | UInt16(digit)
                cursor.offset += 1
            }
            return unit
        default:
            throw cursor.error("The escape sequence is not valid JSON.", .malformedLiteral, at: cursor.offset - 1)
        }
    }
}

/// Parses the whole text, without percent-encoding, as a URL literal of the type, or returns nil.
///
/// In V2 a number may lack its suffix if the type makes the number unambiguous.
package func readLiteral(_ text: String, as type: TypeReference, version: ODataVersion) -> Value? {
    guard !type.isCollection else { return nil }
    switch type.kind {
    case .enumeration:
        return PrimitiveLiteral.parse(enumeration: text).map { .enumeration($0) }
    case .primitive(.primitiveType), .primitive(.untyped), .unresolved:
        let bytes = Array(text.utf8)
        if let (_, members, length) = PrimitiveLiteral.scanEnumeration(bytes[...]), length == bytes.count {
            return .enumeration(members)
        }
        guard let (value, _, length) = PrimitiveLiteral.scan(bytes[...], version: version), length == bytes.count else {
            return nil
        }
        return value
    case .primitive(let primitive), .typeDefinition(_, let primitive):
        return try? PrimitiveLiteral.parse(text, as: primitive, version: version, form: .url)
    case .complex, .entity: return nil
    }
}
