internal import EDM
internal import ODataQuery

extension PayloadReader {
    /// Returns a reader for Atom, if the bytes are XML and this reader is not one already.
    ///
    /// The content decides and not the requested format, because some V2 services have only one.
    func forMarkup(_ bytes: [UInt8]) -> PayloadReader? {
        guard markup == nil, version.isLegacy, XMLText.begins(bytes) else { return nil }
        var reader = self
        reader.markup = AtomConverter()
        return reader
    }
}

extension AtomConverter {
    /// Reads a primitive value from the text of an element.
    func primitive(_ json: JSONValue, _ type: PrimitiveType, _ reader: PropertyValueReader) throws(PayloadError)
        -> Value
    {
        if type == .primitiveType || type == .untyped { return try reader.dynamicValue(json, typeName: nil) }
        guard let text = json.string else {
            throw PayloadError(
                .typeMismatch, "Expected the text of a value of type \(type.rawValue), not \(json.kindName).")
        }
        if type == .string || type == .stream { return .string(text) }
        do throws(LiteralError) {
            return try PrimitiveLiteral.parse(Self.trimmed(text), as: type, version: reader.version, form: .text)
        } catch {
            throw PayloadError(.typeMismatch, error.message)
        }
    }

    /// Whether the value is an element without content, which may also be an empty complex value or collection.
    func isBlank(_ json: JSONValue) -> Bool { json.string.map(Self.trimmed) == "" }

    private static func trimmed(_ text: String) -> String {
        guard text.utf8.contains(where: { $0 <= 0x20 }) else { return text }
        let bytes = text.utf8.drop { $0 <= 0x20 }
        guard let end = bytes.lastIndex(where: { $0 > 0x20 }) else { return "" }
        return String(decoding: bytes[...end], as: UTF8.self)
    }
}

/// A property that is an element of the entry itself, such as its title.
struct SyndicationMapping {
    let property: Property
    /// The element, with its parent if it belongs to a person: `title`, `author/name`.
    let path: String
    /// Whether the property is among the other properties, too.
    let isInContent: Bool

    /// Adds the properties that the metadata map to elements of the entry (customizable feeds, MS-ODATA 2.2.3.7.2.1).
    static func take(
        _ object: JSONObject, _ type: EntityType, _ reader: PropertyValueReader, _ payload: inout EntityPayload
    ) throws(PayloadError) {
        guard reader.markup != nil, let texts = object[AtomNames.syndication]?.object else { return }
        for mapped in all(of: type) where !payload.values.names.contains(mapped.property.name) {
            guard let text = texts[mapped.path] else { continue }
            do throws(PayloadError) {
                payload.values[mapped.property.name] = try reader.value(text, type: mapped.property.type)
            } catch {
                throw error.below(mapped.property.name)
            }
        }
    }

    /// Returns the mappings that a type declares for its properties. Elements of other namespaces are not supported.
    static func all(of type: EntityType) -> [SyndicationMapping] {
        var result: [SyndicationMapping] = []
        for property in type.properties {
            let values = Dictionary(
                property.annotations.compactMap { note in note.value.map { (note.term, $0) } },
                uniquingKeysWith: { first, _ in first })
            guard let path = values["m:FC_TargetPath"].flatMap({ paths[$0] }) else { continue }
            result.append(
                SyndicationMapping(
                    property: property, path: path, isInContent: values["m:FC_KeepInContent"] != "false"))
        }
        // Mappings of the type itself name the property; a number distinguishes several ones.
        let own = Dictionary(
            type.annotations.compactMap { note in note.value.map { (note.term, $0) } },
            uniquingKeysWith: { first, _ in first })
        for (term, source) in own.sorted(by: { $0.key < $1.key }) where term.hasPrefix("m:FC_SourcePath") {
            let number = term.dropFirst("m:FC_SourcePath".count)
            guard let path = own["m:FC_TargetPath\(number)"].flatMap({ paths[$0] }),
                let property = type.findProperty(source), !property.isNavigation
            else { continue }
            result.append(
                SyndicationMapping(
                    property: property, path: path, isInContent: own["m:FC_KeepInContent\(number)"] != "false"))
        }
        return result
    }

    private static let paths = [
        "SyndicationTitle": "title", "SyndicationSummary": "summary", "SyndicationRights": "rights",
        "SyndicationPublished": "published", "SyndicationUpdated": "updated",
        "SyndicationAuthorName": "author/name", "SyndicationAuthorEmail": "author/email",
        "SyndicationAuthorUri": "author/uri", "SyndicationContributorName": "contributor/name",
        "SyndicationContributorEmail": "contributor/email", "SyndicationContributorUri": "contributor/uri",
    ]
}
