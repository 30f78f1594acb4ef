internal import EDM

/// Reads and validates the annotations that choose names. The target of each must exist and have the term only once,
/// and the chosen name must be an identifier.
struct NameAnnotations {
    /// The namespace of the terms, as in the SDK that Tidelog follows.
    static let namespace = "com.sap.cloud.client.odata.proxy"
    /// The alias of the namespace in documents that include it.
    static let alias = "Proxy"

    let model: EntityDataModel
    private(set) var names = ChosenNames()
    private var places: [String: InputLocation] = [:]

    init(model: EntityDataModel) { self.model = model }

    /// Reads the annotations in metadata, which may contain none.
    mutating func read(in source: MetadataSource) throws(ProxyError) {
        guard source.contains(Self.namespace) || source.contains("Term=\"\(Self.alias).") else { return }
        try take(try annotations(of: source))
    }

    /// Reads an annotation file, which must have at least one annotation.
    mutating func read(file source: MetadataSource) throws(ProxyError) {
        let found = try annotations(of: source)
        guard !found.isEmpty else {
            throw .annotation(
                InputLocation(document: source.name, line: 1, column: 1),
                "The document has no annotation with a term of \(Self.namespace).")
        }
        try take(found)
    }

    private func annotations(of source: MetadataSource) throws(ProxyError) -> [PlacedAnnotation] {
        let document = try source.document()
        do throws(CSDLError) {
            let (found, isIncluded) = try CSDLReader().annotations(of: document, in: Self.namespace, alias: Self.alias)
            guard let first = found.first, !isIncluded else { return found }
            throw CSDLError(
                .invalidAnnotation,
                "The term '\(first.term)' requires a Reference with "
                    + "<edmx:Include Namespace=\"\(Self.namespace)\" Alias=\"\(Self.alias)\"/>.",
                line: first.line, column: first.column, document: first.document)
        } catch {
            throw ProxyError(error)
        }
    }

    private mutating func take(_ annotations: [PlacedAnnotation]) throws(ProxyError) {
        for annotation in annotations {
            let place = InputLocation(document: annotation.document, line: annotation.line, column: annotation.column)
            let term = annotation.term.split(separator: ".").last.map(String.init) ?? annotation.term
            guard let name = annotation.value else {
                throw .annotation(place, "The annotation \(term) of \(annotation.target) has no String.")
            }
            guard SwiftName.isIdentifier(name) else {
                throw .annotation(
                    place, "The \(term) of \(annotation.target) must be a Swift identifier, not '\(name)'.")
            }
            if let first = places.updateValue(place, forKey: "\(term) \(annotation.target)") {
                throw .annotation(place, "\(annotation.target) already has a \(term), in \(first).")
            }
            let choice = ChosenNames.Choice(name: name, place: place)
            switch term {
            case "ClassName": try chooseClass(choice, annotation.target)
            case "PropertyName": try chooseProperty(choice, annotation.target)
            default:
                throw .annotation(
                    place, "\(Self.namespace) has no term \(term); the terms are ClassName and PropertyName.")
            }
        }
    }

    private mutating func chooseClass(_ choice: ChosenNames.Choice, _ target: String) throws(ProxyError) {
        if model.findEntityType(target) != nil || model.findComplexType(target) != nil
            || model.enumerationType(named: target) != nil
        {
            names.choose(class: choice, of: target)
        } else if model.schemas.contains(where: { $0.containers.contains { $0.name == target } }) {
            names.choose(service: choice, of: target)
        } else {
            throw .annotation(
                choice.place,
                "The target \(target) of a ClassName is not an entity, complex or enumeration type or an entity container."
            )
        }
    }

    private mutating func chooseProperty(_ choice: ChosenNames.Choice, _ target: String) throws(ProxyError) {
        let parts = target.split(separator: "/", maxSplits: 1).map(String.init)
        let type = parts.first.flatMap { name -> StructuredType? in
            model.findEntityType(name) ?? model.findComplexType(name)
        }
        guard parts.count == 2, let type, let property = type.findProperty(parts[1]) else {
            throw .annotation(choice.place, "The target \(target) of a PropertyName is not a property.")
        }
        guard property.declaringType == type.name else {
            throw .annotation(
                choice.place,
                "The property \(parts[1]) is declared by \(property.declaringType), which must have its PropertyName.")
        }
        names.choose(property: choice, property.name, of: type.name)
    }
}
