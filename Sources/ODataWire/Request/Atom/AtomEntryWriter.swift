internal import EDM
internal import ODataQuery

/// Writes the body of a create or an update in Atom (MS-ODATA 2.2.6.2).
struct AtomEntryWriter {
    let version: ODataVersion
    let model: EntityDataModel
    let urls: EntityURLWriter
    private(set) var xml = XMLWriter()

    /// Required by Atom and ignored by services. Constant, so that the same modification always has the same bytes.
    private static let updated = "1970-01-01T00:00:00Z"

    init(version: ODataVersion, model: EntityDataModel, urls: EntityURLWriter) {
        self.version = version
        self.model = model
        self.urls = urls
    }

    /// Writes a document with one entry.
    mutating func write(_ body: EntityBody) { write(body, isRoot: true) }

    /// Writes a document with the URL of an entity, for `$links`.
    mutating func write(reference url: String) {
        xml.begin("uri")
        xml.attribute("xmlns", AtomNames.data)
        xml.text(url)
        xml.end()
    }

    private mutating func write(_ body: EntityBody, isRoot: Bool) {
        xml.begin("entry")
        if isRoot {
            xml.attribute("xmlns", AtomNames.atom)
            xml.attribute("xmlns:d", AtomNames.data)
            xml.attribute("xmlns:m", AtomNames.metadata)
        }
        // Unlike JSON, an entry always states its type: WCF Data Services requires it if types have a hierarchy.
        xml.begin("category")
        xml.attribute("term", body.type.name)
        xml.attribute("scheme", AtomNames.scheme)
        xml.end()
        element("id", "")
        let mappings = SyndicationMapping.all(of: body.type)
        writeSyndication(body, mappings)
        writeLinks(body)
        if body.type.hasStream {
            writeProperties(body, mappings)
        } else {
            xml.begin("content")
            xml.attribute("type", "application/xml")
            writeProperties(body, mappings)
            xml.end()
        }
        xml.end()
    }

    private mutating func element(_ name: String, _ text: String) {
        xml.begin(name)
        xml.text(text)
        xml.end()
    }

    // MARK: Elements of the entry

    /// Writes the elements that Atom requires, and those to which the metadata map properties.
    ///
    /// An update may omit a mapped property. Then its element is omitted as well, because it would set the property.
    private mutating func writeSyndication(_ body: EntityBody, _ mappings: [SyndicationMapping]) {
        var texts: [String: String] = [:]
        for mapping in mappings {
            guard let value = body.values[mapping.property.name], value != .null else { continue }
            texts[mapping.path] = text(of: value, mapping.property.type)
        }
        let mapped = Set(mappings.map(\.path))
        for (name, standard) in [
            ("title", ""), ("summary", nil), ("rights", nil), ("published", nil), ("updated", Self.updated),
        ] {
            if let text = texts[name] ?? (mapped.contains(name) ? nil : standard) { element(name, text) }
        }
        for person in ["author", "contributor"] {
            let parts = ["name", "email", "uri"].filter { texts["\(person)/\($0)"] != nil }
            guard !parts.isEmpty || person == "author" && !mapped.contains("author/name") else { continue }
            xml.begin(person)
            if !mapped.contains("\(person)/name") { element("name", "") }
            for part in parts { element(part, texts["\(person)/\(part)"] ?? "") }
            xml.end()
        }
    }

    // MARK: Links

    private mutating func writeLinks(_ body: EntityBody) {
        for binding in body.bindings {
            if binding.targets.isEmpty {
                beginLink(binding.navigation, nil)
                xml.begin("m:inline")
                xml.end()
                xml.end()
            }
            for target in binding.targets {
                beginLink(binding.navigation, urls.absolute(target))
                xml.end()
            }
        }
        for inline in body.inline {
            beginLink(inline.navigation, nil)
            xml.begin("m:inline")
            if inline.navigation.isCollection { xml.begin("feed") }
            for entity in inline.entities { write(entity, isRoot: false) }
            if inline.navigation.isCollection { xml.end() }
            xml.end()
            xml.end()
        }
    }

    private mutating func beginLink(_ navigation: Property, _ url: String?) {
        xml.begin("link")
        xml.attribute("rel", AtomNames.related + navigation.name)
        xml.attribute("type", "application/atom+xml;type=\(navigation.isCollection ? "feed" : "entry")")
        xml.attribute("title", navigation.name)
        if let url { xml.attribute("href", url) }
    }

    // MARK: Properties

    private mutating func writeProperties(_ body: EntityBody, _ mappings: [SyndicationMapping]) {
        // Null has no other form than that of a property.
        let elsewhere = Set(mappings.filter { !$0.isInContent }.map(\.property.name))
        xml.begin("m:properties")
        for (name, value) in body.values where value == .null || !elsewhere.contains(name) {
            property("d:" + name, value, body.type.findProperty(name)?.type)
        }
        xml.end()
    }

    private mutating func property(_ name: String, _ value: Value, _ type: TypeReference?) {
        xml.begin(name)
        if let typeName = typeName(of: value, type) { xml.attribute("m:type", typeName) }
        switch value {
        case .null: xml.attribute("m:null", "true")
        case .complex(let complex):
            let members = model.findComplexType(complex.type ?? type?.name ?? "")
            for (name, value) in complex.properties {
                property("d:" + name, value, members?.findProperty(name)?.type)
            }
        case .collection(let items):
            for item in items { property("d:element", item, type?.item) }
        default:
            let text = text(of: value, type)
            if text.first?.isWhitespace == true || text.last?.isWhitespace == true {
                xml.attribute("xml:space", "preserve")
            }
            xml.text(text)
        }
        xml.end()
    }

    /// Returns the type to write, or nil for a string, which is the default.
    private func typeName(of value: Value, _ type: TypeReference?) -> String? {
        if case .complex(let complex) = value { return complex.type ?? type?.name }
        let name: String
        if let type {
            name = type.isCollection ? "Collection(\(type.name))" : type.name
        } else {
            if value == .null { return nil }
            name = PrimitiveLiteral.naturalType(of: value, version: version).rawValue
        }
        return name == PrimitiveType.string.rawValue || name == PrimitiveType.untyped.rawValue ? nil : name
    }

    private func text(of value: Value, _ type: TypeReference?) -> String {
        PrimitiveLiteral.format(value, as: type?.primitive, version: version, form: .text)
    }
}
