/// An annotation with the place where it stands and what it is about.
public struct PlacedAnnotation: Sendable, Hashable {
    /// What kind of element the annotation is applied to.
    public enum Kind: Sendable, Hashable {
        /// The name of the CSDL element that it stands in: `EntityType`, `Property`, `EntityContainer`.
        case element(String)
        /// It stands in a block that names its target, which may be anything.
        case target
    }

    /// The path of the model element, its namespaces without alias: `Namespace.Type/Property`.
    public let target: String
    public let kind: Kind
    /// The term, as it is written where its namespace is not known.
    public let term: String
    /// The constant, where the annotation is one.
    public let value: String?
    public let qualifier: String?
    /// The document's name, where it has one.
    public let document: String?
    public let line: Int
    public let column: Int
}

extension CSDLReader {
    /// The annotations of a document that apply a term of one namespace, in the order of the document, with their places.
    ///
    /// The document may be metadata, or a file of annotations for it. Looked at are blocks (`Annotations`) and what stands
    /// within types, their properties, enumeration members, containers and sets. Nothing is resolved but aliases.
    /// - Parameters:
    ///   - namespace: of the terms.
    ///   - alias: how a document calls the namespace that has forgotten to include it. Found annotations then have their
    ///     term as it is written.
    /// - Returns: the annotations, and whether the document includes or declares the namespace.
    public func annotations(
        of document: Document, in namespace: String, alias: String
    ) throws(CSDLError) -> (found: [PlacedAnnotation], includesNamespace: Bool) {
        let document = try parse(document)
        let index = try SchemaIndex([document], limits: limits, log: DefectLog(isStrict: isStrict))
        var found: [PlacedAnnotation] = []
        for source in index.sources {
            // A stack and not recursion; what is pushed is reversed so that it is taken in the order of the document.
            var open = source.element.children.reversed().map { (element: $0, parent: source.namespace + ".") }
            while let (element, parent) = open.popLast() {
                let target = try index.log.salvage(element) { () throws(CSDLError) in
                    try Self.target(of: element, parent, index)
                }
                guard case .some(.some(let (path, kind))) = target else { continue }
                for child in element.children where child.isModel("Annotation") || child.isModel("ValueAnnotation") {
                    let read = try index.log.salvage(child) { () throws(CSDLError) in
                        try AnnotationReader(index: index).annotation(
                            child, qualifier: kind == .target ? element["Qualifier"] : nil)
                    }
                    guard let annotation = read else { continue }
                    let prefix = annotation.term.split(separator: ".").dropLast().joined(separator: ".")
                    guard prefix == namespace || prefix == alias else { continue }
                    found.append(
                        PlacedAnnotation(
                            target: path, kind: kind, term: annotation.term, value: annotation.value,
                            qualifier: annotation.qualifier, document: element.origin.name, line: child.line,
                            column: child.column))
                }
                open += element.children.reversed().map { ($0, path + "/") }
            }
        }
        let declared = document.includes.contains { $0["Namespace"] == namespace }
        return (found, declared || index.sources.contains { $0.namespace == namespace })
    }

    /// The path of the element by which annotations name it; nil for elements that are none of the model's.
    private static func target(
        of element: MarkupElement, _ parent: String, _ index: SchemaIndex
    ) throws(CSDLError) -> (path: String, kind: PlacedAnnotation.Kind)? {
        guard element.vocabulary == .edm else { return nil }
        if element.name == "Annotations" {
            return (try AnnotationTargetReader(index: index).target(of: element), .target)
        }
        guard targets.contains(element.name), let name = element["Name"] else { return nil }
        return (parent + name, .element(element.name))
    }

    private static let targets: Set<String> = [
        "EntityType", "ComplexType", "EnumType", "TypeDefinition", "Member", "Property", "NavigationProperty",
        "EntityContainer", "EntitySet", "Singleton", "ActionImport", "FunctionImport", "Action", "Function",
        "Parameter",
    ]
}
