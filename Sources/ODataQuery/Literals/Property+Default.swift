package import EDM

extension Property {
    /// The default in the metadata, or `nil` if there is none or it is not a value of the type.
    package var declaredDefault: Value? {
        guard let text = facets.defaultValue, !type.isCollection else { return nil }
        if case .enumeration = type.kind { return .enumeration(Self.members(text)) }
        return type.primitive.flatMap { Self.literal(text, $0) }
    }

    /// Parses a default in V4 notation, or in the notations found in V2 documents: URL literals or the forms of
    /// [MC-CSDL].
    private static func literal(_ text: String, _ type: PrimitiveType) -> Value? {
        func read(_ text: String, _ version: ODataVersion, _ form: PrimitiveLiteral.LiteralContext) -> Value? {
            try? PrimitiveLiteral.parse(text, as: type, facets: nil, version: version, form: form)
        }
        switch type {
        // Otherwise it would be parsed as base64.
        case .binary where text.hasPrefix("0x"): return read("X'\(text.dropFirst(2))'", .v2, .url)
        case .boolean where text == "1" || text == "0": return .boolean(text == "1")
        // Date and time separated by a space, optionally with a Z although the type has no time zone.
        case .dateTime where text.contains(" "):
            let joined = text.replacing(" ", with: "T")
            return read(joined.hasSuffix("Z") ? String(joined.dropLast()) : joined, .v2, .text)
        case .dateTimeOffset where text.contains(" "): return read(text.replacing(" ", with: "T"), .v4, .json)
        default: return read(text, .v4, .json) ?? read(text, .v2, .text) ?? read(text, .v2, .url)
        }
    }

    /// Returns the members without the type prefix of URL literals.
    private static func members(_ text: String) -> String {
        guard text.hasSuffix("'"), let quote = text.firstIndex(of: "'") else { return text }
        return String(text[text.index(after: quote)...].dropLast())
    }
}
