/// Reads alternate keys from the annotations of a type or set (`Core.AlternateKeys`, a collection of
/// `Core.AlternateKey`).
///
/// Malformed annotations are ignored: an annotation is a hint and no reason to refuse a document.
struct AlternateKeyReader {
    let index: SchemaIndex

    /// The terms of the standard and of the draft on which some services are based.
    private static let terms = ["Org.OData.Core.V1.AlternateKeys", "OData.Community.Keys.V1.AlternateKeys"]

    /// - Parameter type: the qualified name of the entity type that has the keys.
    func keys(_ annotations: [Annotation], of type: String) -> [AlternateKey] {
        annotations.filter { Self.terms.contains($0.term) }
            .flatMap { $0.expression.flatMap(Self.records) }
            .compactMap { key($0, of: type) }
    }

    /// Returns the records of a collection, or a single record.
    private static func records(_ element: Annotation.Element) -> [Annotation.Element] {
        switch element.name {
        case "Record": [element]
        case "Collection": element.children.filter { $0.name == "Record" }
        default: []
        }
    }

    private func key(_ record: Annotation.Element, of type: String) -> AlternateKey? {
        guard let key = Self.value("Key", of: record), key.name == "Collection" else { return nil }
        let references = key.children.filter { $0.name == "Record" }
        let parts = references.compactMap { part($0, of: type) }
        let names = Set(parts.map(\.name))
        guard !parts.isEmpty, parts.count == references.count, names.count == parts.count else { return nil }
        return AlternateKey(parts)
    }

    private func part(_ record: Annotation.Element, of type: String) -> KeyPart? {
        guard let path = Self.text("Name", of: record), !path.isEmpty else { return nil }
        guard let property = index.property(at: path, of: type) else { return nil }
        return KeyPart(KeyReference(path: path, alias: Self.text("Alias", of: record)), type: property)
    }

    private static func value(_ name: String, of record: Annotation.Element) -> Annotation.Element? {
        record.children.first { $0.name == "PropertyValue" && $0.attributes["Property"] == name }?.children.first
    }

    /// Returns a constant or path, which is an attribute or a child element.
    private static func text(_ name: String, of record: Annotation.Element) -> String? {
        guard
            let element = record.children.first(where: {
                $0.name == "PropertyValue" && $0.attributes["Property"] == name
            })
        else { return nil }
        let attribute = ["PropertyPath", "String", "Path"].lazy.compactMap { element.attributes[$0] }.first
        return attribute ?? element.children.first { ["PropertyPath", "String", "Path"].contains($0.name) }?.text
    }
}

extension SchemaIndex {
    /// Returns the type of the structural property at a path, or `nil` if the document does not declare it.
    func property(at path: String, of type: String) -> TypeReference? {
        guard let declaration = types[type],
            case .found(let property) = walk(path, from: type, at: declaration.element), property.name == "Property",
            let text = property["Type"]
        else { return nil }
        return try? self.type(text, at: property)
    }
}
