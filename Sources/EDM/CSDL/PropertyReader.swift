/// Reads the attributes that properties, parameters, terms and results share: type, nullability and facets.
struct PropertyReader {
    let index: SchemaIndex

    /// Returns the type of the element. V3 also marks collections with `CollectionKind`.
    func type(of element: MarkupElement, attribute: String = "Type") throws(CSDLError) -> TypeReference {
        let type = try index.type(try element.required(attribute), at: element)
        switch element["CollectionKind"] {
        case nil, "None"?: return type
        default: return TypeReference(type.kind, isCollection: true)
        }
    }

    func facets(of element: MarkupElement) throws(CSDLError) -> Facets {
        var facets = Facets()
        for attribute in element.attributes where attribute.namespace == nil {
            do throws(CSDLError) { try read(attribute, of: element, &facets) } catch {
                try index.log.tolerate(error, at: element, leavingOut: attribute.name)
            }
        }
        if let precision = facets.precision, case .fixed(let scale)? = facets.scale, scale > precision {
            try index.log.tolerate(
                .invalidValue, "The scale \(scale) of the \(element.label) exceeds its precision \(precision).",
                at: element)
        }
        return facets
    }

    private func read(
        _ attribute: MarkupElement.Attribute, of element: MarkupElement, _ facets: inout Facets
    ) throws(CSDLError) {
        switch attribute.name {
        case "MaxLength":
            let isMax = attribute.value.trimmed.lowercased() == "max"
            facets.maxLength = isMax ? .max : try element.count("MaxLength")
        case "Precision": facets.precision = try element.count("Precision")
        case "Scale": facets.scale = try scale(attribute.value, element)
        case "Unicode": facets.isUnicode = try element.boolean("Unicode", default: true)
        case "SRID": facets.srid = try srid(attribute.value, element)
        case "DefaultValue": facets.defaultValue = attribute.value
        case "ConcurrencyMode": facets.isConcurrencyToken = attribute.value == "Fixed"
        default: break
        }
    }

    /// Whether null is allowed; also true if the document has no valid declaration.
    ///
    /// For a collection of entities, nullability has no meaning and must not be declared (CSDL 4.01, 12.8): JSON
    /// without it is read like XML without it.
    func isNullable(_ element: MarkupElement, _ type: TypeReference? = nil) throws(CSDLError) -> Bool {
        if element.origin.isJSON, let type, type.isCollection, case .entity = type.kind { return true }
        do throws(CSDLError) { return try element.boolean("Nullable", default: true) } catch {
            try index.log.tolerate(error, at: element, leavingOut: "Nullable")
            return true
        }
    }

    private func scale(_ text: String, _ element: MarkupElement) throws(CSDLError) -> Facets.Scale? {
        switch text.trimmed.lowercased() {
        case "variable": .variable
        case "floating": .floating
        default: try element.count("Scale").map { .fixed($0) }
        }
    }

    private func srid(_ text: String, _ element: MarkupElement) throws(CSDLError) -> String {
        if text.trimmed.lowercased() != "variable" { _ = try element.count("SRID") }
        return text
    }
}
