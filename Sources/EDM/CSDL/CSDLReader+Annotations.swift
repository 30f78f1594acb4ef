/// An annotation with its location and its target.
public struct PlacedAnnotation: Sendable, Hashable {
    /// The kind of place where the annotation is applied.
    public enum Placement: Sendable, Hashable {
        /// The name of the CSDL element that contains it: `EntityType`, `Property`, `EntityContainer`.
        case element(String)
        /// An annotation block with a target of any kind.
        case target
    }

    /// The path of the model element, its namespaces without alias: `Namespace.Type/Property`.
    public let target: String
    /// The kind of place where the annotation is applied.
    public let kind: Placement
    /// The term; as written if its namespace is unknown.
    public let term: String
    /// The constant, if the annotation has one.
    public let value: String?
    /// The qualifier, which can be that of the block; `nil` if there is none (CSDL 4.01, section 14.2.1).
    public let qualifier: String?
    /// The document's name, if it has one.
    public let document: String?
    /// The line of the annotation, starting at 1.
    public let line: Int
    /// The character in the line, starting at 1.
    public let column: Int
}

extension CSDLReader {
    /// Returns the annotations of a document with terms of one namespace, in document order, with their locations.
    ///
    /// The document is metadata or a file of annotations for it. The result includes blocks (`Annotations`) and the
    /// annotations within types, their properties, enumeration members, containers and sets. Only aliases are
    /// resolved.
    ///
    /// - Parameters:
    ///   - document: the document.
    ///   - namespace: the namespace of the terms.
    ///   - alias: the alias to assume for the namespace if the document does not include it. Annotations found by it
    ///     have their term as written.
    /// - Returns: The annotations, and whether the document includes or declares the namespace.
    /// - Throws: An error with line and column if the document is not metadata or exceeds the limits; if the reader is
    ///   strict, the first defect.
    public func annotations(
        of document: Document, in namespace: String, alias: String
    ) throws(CSDLError) -> (found: [PlacedAnnotation], includesNamespace: Bool) {
        let document = try parse(document)
        let index = try SchemaIndex([document], limits: limits, log: DefectLog(isStrict: isStrict))
        var found: [PlacedAnnotation] = []
        for source in index.sources {
            // An explicit stack instead of recursion. Children are pushed in reverse, to be visited in document
            // order.
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

    /// Returns the path by which annotations name the element, or `nil` if it is not a model element.
    private static func target(
        of element: MarkupElement, _ parent: String, _ index: SchemaIndex
    ) throws(CSDLError) -> (path: String, kind: PlacedAnnotation.Placement)? {
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
