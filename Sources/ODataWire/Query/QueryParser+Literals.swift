internal import EDM

extension QueryParser {
    /// A primitive or enumeration literal at the position; nil where something else begins there.
    mutating func literal() throws(URLSyntaxError) -> Expression? {
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
            guard
                let (value, type, length) = PrimitiveLiteral.scan(
                    cursor.bytes[cursor.offset..<literalLimit()], version: version),
                !followsLetter(at: start + length)
            else {
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

    /// Looks far enough to know whether a literal begins here; what kind exactly is the scanner's matter.
    private mutating func literalForm() -> LiteralForm? {
        let byte = cursor.peek()
        if byte.isDigit || byte == UInt8(ascii: "'") || byte == UInt8(ascii: "-") { return .scanned }
        let start = cursor.offset
        guard let word = cursor.identifier() else { return nil }
        if cursor.peek() == UInt8(ascii: "'") { return .scanned }
        if cursor.offset - start == 8, cursor.peek() == UInt8(ascii: "-"),
            cursor.bytes[start..<cursor.offset].allSatisfy({ $0.hexadecimalDigit != nil })
        {
            return .scanned
        }
        // The names of these values are not followed by what makes them a path or a call.
        let next = cursor.peek()
        if next != UInt8(ascii: "/"), next != UInt8(ascii: "("), next != UInt8(ascii: ".") {
            switch version == .v401 ? word.lowercased() : word {
            case "null": return .keyword(.null, nil)
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

    /// Where a literal ends at the latest: a colon without a digit behind it is no part of a time, but of
    /// `case(1:'a')`.
    private func literalLimit() -> Int {
        var index = cursor.offset
        while index < cursor.bytes.count {
            switch cursor.bytes[index] {
            case UInt8(ascii: "'"), UInt8(ascii: " "), UInt8(ascii: ","), UInt8(ascii: ")"): return cursor.bytes.count
            case UInt8(ascii: ":"):
                guard index + 1 < cursor.bytes.count, cursor.bytes[index + 1].isDigit else { return index }
            default: break
            }
            index += 1
        }
        return cursor.bytes.count
    }

    private func followsLetter(at offset: Int) -> Bool {
        offset < cursor.bytes.count
            && (cursor.bytes[offset].isIdentifierPart || cursor.bytes[offset] == UInt8(ascii: "'"))
    }
}

/// Reads the whole of percent-decoded text as a URL literal of the type; nil where it is none.
///
/// In V2 a number may lack its suffix where the type needs none to be understood.
func readLiteral(_ text: String, as type: TypeReference, version: ODataVersion) -> Value? {
    guard !type.isCollection else { return nil }
    switch type.kind {
    case .enumeration:
        return PrimitiveLiteral.parse(enumeration: text).map { .enumeration($0) }
    case .primitive(.primitiveType), .primitive(.untyped), .unresolved:
        let bytes = Array(text.utf8)
        guard let (value, _, length) = PrimitiveLiteral.scan(bytes[...], version: version), length == bytes.count else {
            return nil
        }
        return value
    case .primitive(let primitive), .typeDefinition(_, let primitive):
        return try? PrimitiveLiteral.parse(text, as: primitive, version: version, form: .url)
    case .complex, .entity: return nil
    }
}
