/// The elements that have been removed from documents because they are unusable.
struct RemovedElements {
    private(set) var defects: [MetadataDefect] = []
    /// The paths of all removed elements.
    private(set) var paths: Set<String> = []
    /// The names of the removed properties, by declaring type.
    private(set) var properties: [String: Set<String>] = [:]
    /// Whether a removed element could define which entity set a navigation property leads to.
    private(set) var hidesSets = false

    /// Removes the unusable elements of the log from the documents' trees.
    mutating func remove(_ log: DefectLog, outOf documents: [MetadataDocument]) {
        ElementPaths.visit(documents) { element, path in
            let found = element.children.filter(log.isUnusable)
            guard !found.isEmpty else { return }
            for child in found {
                record(child, ElementPaths.path(of: child, in: element, path), parent: path)
                guard let fault = log.unusable[ObjectIdentifier(child)], defects.count < DefectLog.most else {
                    continue
                }
                defects.append(
                    MetadataDefect(
                        fault, omitted: .init(kind: child.name, path: ElementPaths.path(of: child, in: element, path))))
            }
            element.remove(log.isUnusable)
        }
    }

    private mutating func record(_ element: MarkupElement, _ path: String, parent: String) {
        paths.insert(path)
        switch element.name {
        case "Property", "NavigationProperty": properties[parent, default: []].insert(element["Name"] ?? "")
        case "EntityContainer", "EntitySet", "Singleton", "AssociationSet", "NavigationPropertyBinding":
            hidesSets = true
        default: break
        }
    }

    /// Returns the defects of documents whose remaining defects are tolerated, those of removed elements first.
    func defects(with log: DefectLog, in documents: [MetadataDocument]) -> [MetadataDefect] {
        guard !log.tolerated.isEmpty else { return defects }
        let wanted = Set(log.tolerated.filter { $0.attribute != nil }.map { ObjectIdentifier($0.element) })
        var found: [ObjectIdentifier: String] = [:]
        if !wanted.isEmpty {
            ElementPaths.visit(documents) { element, path in
                if wanted.contains(ObjectIdentifier(element)) { found[ObjectIdentifier(element)] = path }
            }
        }
        let tolerated = log.tolerated.map { entry in
            MetadataDefect(
                entry.fault,
                omitted: entry.attribute.map {
                    .init(kind: $0, path: found[ObjectIdentifier(entry.element)] ?? entry.element.label)
                })
        }
        return defects + tolerated.prefix(max(0, DefectLog.most - defects.count))
    }
}

/// The paths by which defects identify the elements of a document.
enum ElementPaths {
    /// Calls the closure with each element of the documents and its path, parents first.
    static func visit(_ documents: [MetadataDocument], _ body: (MarkupElement, String) -> Void) {
        var open = documents.reversed().map { (element: $0.root, path: root(of: $0.root)) }
        while let (element, path) = open.popLast() {
            body(element, path)
            for child in element.children.reversed() where child.vocabulary != .foreign {
                open.append((child, self.path(of: child, in: element, path)))
            }
        }
    }

    private static func root(of element: MarkupElement) -> String { element["Namespace"] ?? "" }

    static func path(of element: MarkupElement, in parent: MarkupElement, _ path: String) -> String {
        if element.name == "Annotations" { return element["Target"] ?? "Annotations" }
        let name = name(of: element)
        if path.isEmpty { return name }
        return parent.isModel("Schema") ? "\(path).\(name)" : "\(path)/\(name)"
    }

    /// Returns the name of an element in paths. The envelope has none.
    private static func name(of element: MarkupElement) -> String {
        guard element.vocabulary == .edm else {
            return element.name == "Reference" ? element["Uri"] ?? element["Url"] ?? "Reference" : ""
        }
        switch element.name {
        case "Schema": return element["Namespace"] ?? "Schema"
        case "Annotation", "ValueAnnotation": return "@" + (element["Term"] ?? "")
        case "NavigationPropertyBinding": return element["Path"] ?? element.name
        case "ReferentialConstraint": return element["Property"] ?? element.name
        default: return element["Name"] ?? element.name
        }
    }
}
