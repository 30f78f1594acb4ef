/// Reads CSDL JSON (OASIS CSDL JSON 4.01) into the element tree that the same document has in XML.
///
/// If a missing member in JSON has a meaning that XML expresses by an attribute, the attribute is set: `$Nullable` is
/// false, a `$Type` is `Edm.String`, and the scale of a decimal is variable. JSON does not distinguish the kinds of
/// string constants in annotations: dates, property paths and enumeration members are read as strings.
struct JSONMetadata {
    let limits: CSDLReader.Limits
    let origin: MarkupOrigin

    /// Whether the first character is that of a JSON object.
    static func isObject(_ bytes: [UInt8]) -> Bool {
        let start = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
        return bytes[start...].first { !$0.isXMLSpace } == UInt8(ascii: "{")
    }

    func parse(_ bytes: [UInt8]) throws(CSDLError) -> MarkupElement {
        let document = try LocatedJSONReader.read(bytes, limits: limits)
        let declaration = JSONDeclaration(document)
        guard let version = declaration["Version"] else {
            throw CSDLError(
                .notMetadata, "The JSON document is not OData metadata: it has no member $Version.",
                line: document.line, column: document.column)
        }
        if let flaw = declaration.flaw {
            throw CSDLError(.invalidValue, flaw, line: document.line, column: document.column)
        }
        var root = JSONElement("Edmx", at: document, origin, vocabulary: .edmx)
        root.set("Version", version)
        for member in declaration["Reference"]?.members ?? [] { root.append(reference(member)) }
        var services = JSONElement("DataServices", at: document, origin, vocabulary: .edmx)
        for (number, member) in declaration.named.enumerated() {
            services.append(JSONSchemaReader(origin: origin.inSchema(number + 1)).schema(member))
        }
        root.append(services.element)
        return root.element
    }

    private func reference(_ member: LocatedJSON.Member) -> MarkupElement {
        let declaration = JSONDeclaration(member.value)
        let annotations = JSONAnnotationReader(origin: origin)
        var reference = JSONElement("Reference", at: member.value, origin, vocabulary: .edmx)
        reference.set("Uri", member.name)
        for (control, element, names) in [
            ("Include", "Include", ["Namespace", "Alias"]),
            ("IncludeAnnotations", "IncludeAnnotations", ["TermNamespace", "Qualifier", "TargetNamespace"]),
        ] {
            for item in declaration[control]?.items ?? [] {
                let included = JSONDeclaration(item)
                var include = JSONElement(element, at: item, origin, vocabulary: .edmx)
                for name in names { include.set(name, included[name]?.text) }
                for annotation in included.annotations { include.append(annotations.annotation(annotation)) }
                reference.append(include.element)
            }
        }
        for annotation in declaration.annotations { reference.append(annotations.annotation(annotation)) }
        return reference.element
    }
}
