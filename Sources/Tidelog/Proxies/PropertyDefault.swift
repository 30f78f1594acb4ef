import EDM
import ODataWire

extension StructuralProperty {
    /// What the property reads as where it must not be null and has no value: the default of the metadata, or else of the
    /// Swift type.
    var defaultValue: Value {
        property.declaredDefault.flatMap { Value(propertyValue: $0) } ?? Value.propertyDefault
    }
}

extension Property {
    /// The default that the metadata give; nil where they give none, or one that is no value of the type.
    var declaredDefault: EDM.Value? {
        guard let text = facets.defaultValue, !type.isCollection else { return nil }
        if case .enumeration = type.kind { return .enumeration(Self.members(text)) }
        return type.primitive.flatMap { Self.literal(text, $0) }
    }

    /// As V4 writes defaults, and as V2 documents are seen to: with the literals of URLs, or in the forms of [MC-CSDL].
    private static func literal(_ text: String, _ type: PrimitiveType) -> EDM.Value? {
        func read(_ text: String, _ version: ODataVersion, _ form: PrimitiveLiteral.Form) -> EDM.Value? {
            try? PrimitiveLiteral.parse(text, as: type, facets: nil, version: version, form: form)
        }
        switch type {
        // Otherwise it would be taken for base64.
        case .binary where text.hasPrefix("0x"): return read("X'\(text.dropFirst(2))'", .v2, .url)
        case .boolean where text == "1" || text == "0": return .boolean(text == "1")
        // A date and a time with a space between them, and perhaps a Z though there is no zone.
        case .dateTime where text.contains(" "):
            let joined = text.replacing(" ", with: "T")
            return read(joined.hasSuffix("Z") ? String(joined.dropLast()) : joined, .v2, .text)
        case .dateTimeOffset where text.contains(" "): return read(text.replacing(" ", with: "T"), .v4, .json)
        default: return read(text, .v4, .json) ?? read(text, .v2, .text) ?? read(text, .v2, .url)
        }
    }

    /// The members, where they come with the type in front as in URLs.
    private static func members(_ text: String) -> String {
        guard text.hasSuffix("'"), let quote = text.firstIndex(of: "'") else { return text }
        return String(text[text.index(after: quote)...].dropLast())
    }
}

extension EntityValue {
    /// The value of a property that must not be null. Where it is unset, or of another kind, that is the default of the
    /// metadata, or else of its Swift type (0, "", false, the first member, the start of 1970).
    public subscript<Owner, T>(required property: StructuralProperty<Owner, T>) -> T {
        get { self[property] ?? property.defaultValue }
        set { self[property] = newValue }
    }
}
