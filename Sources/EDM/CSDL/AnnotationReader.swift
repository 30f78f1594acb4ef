/// Reads annotations: `Annotation` elements, and attributes of other vocabularies (`sap:label`).
struct AnnotationReader {
    let index: SchemaIndex

    /// Returns the annotations within an element, attributes of other vocabularies first.
    func annotations(of element: MarkupElement) throws(CSDLError) -> [Annotation] {
        var result = attributes(of: element)
        for child in element.children where child.vocabulary == .edm {
            guard child.name == "Documentation" || child.name == "Annotation" || child.name == "ValueAnnotation" else {
                continue
            }
            let found = try index.log.salvage(child) { () throws(CSDLError) in
                child.name == "Documentation"
                    ? Annotation(term: "Documentation", expression: try expressions(child.children))
                    : try annotation(child)
            }
            if let found { result.append(found) }
        }
        return result
    }

    /// Returns the attributes of other vocabularies, each with its usual prefix instead of the document's.
    func attributes(of element: MarkupElement) -> [Annotation] {
        element.attributes.compactMap { attribute in
            guard let namespace = attribute.namespace else { return nil }
            let prefix =
                switch namespace {
                case MarkupNamespace.sap: "sap"
                case MarkupNamespace.metadata: "m"
                default: attribute.prefix ?? namespace
                }
            return Annotation(term: "\(prefix):\(attribute.name)", value: attribute.value)
        }
    }

    /// Reads one annotation. Annotations in a block have the qualifier of the block.
    func annotation(_ element: MarkupElement, qualifier: String? = nil) throws(CSDLError) -> Annotation {
        guard let term = element["Term"], !term.trimmed.isEmpty else {
            throw CSDLError(.invalidAnnotation, "An annotation has no term.", at: element)
        }
        var value: String?
        var expressions: [Annotation.Element] = []
        for attribute in element.attributes where attribute.namespace == nil {
            if Self.constants.contains(attribute.name) {
                value = attribute.value
            } else if Self.paths.contains(attribute.name) {
                try refuseEmpty(attribute.name, attribute.value, element)
                expressions.append(
                    Annotation.Element(name: attribute.name, attributes: [:], text: attribute.value, children: []))
            }
        }
        let children = element.children.filter { $0.vocabulary == .edm }
        expressions += try self.expressions(children)
        let values = children.filter { $0.name != "Annotation" && $0.name != "Documentation" }
        if value == nil, values.count == 1, Self.constants.contains(values[0].name) { value = values[0].text }
        return Annotation(
            term: index.qualified(term.trimmed, at: element), qualifier: element["Qualifier"] ?? qualifier,
            value: value,
            expression: expressions)
    }

    /// Converts the elements. The parser has already bounded their depth.
    private func expressions(_ elements: [MarkupElement]) throws(CSDLError) -> [Annotation.Element] {
        var result: [Annotation.Element] = []
        result.reserveCapacity(elements.count)
        for element in elements where element.vocabulary == .edm {
            try refuseEmpty(element.name, element.text, element)
            var attributes: [String: String] = [:]
            for attribute in element.attributes where attribute.namespace == nil {
                try refuseEmpty(attribute.name, attribute.value, element)
                attributes[attribute.name] = attribute.value
            }
            result.append(
                Annotation.Element(
                    name: element.name, attributes: attributes, text: element.text,
                    children: try expressions(element.children)))
        }
        return result
    }

    /// Throws if a property path is empty. An empty navigation property path is allowed: services use it for the
    /// annotated set.
    private func refuseEmpty(_ name: String, _ text: String, _ element: MarkupElement) throws(CSDLError) {
        guard name == "PropertyPath" || name == "Path", text.trimmed.isEmpty else { return }
        throw CSDLError(.invalidAnnotation, "A \(name) in an annotation is empty.", at: element)
    }

    static let constants: Set<String> = [
        "Binary", "Bool", "Date", "DateTimeOffset", "Decimal", "Duration", "EnumMember", "Float", "Guid", "Int",
        "String", "TimeOfDay",
    ]

    static let paths: Set<String> = [
        "AnnotationPath", "AnyPropertyPath", "LabeledElementReference", "ModelElementPath", "NavigationPropertyPath",
        "Path", "PropertyPath", "UrlRef",
    ]
}
