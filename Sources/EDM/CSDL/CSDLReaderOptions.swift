extension CSDLReader {
    /// The parts of a document that are read.
    public struct Options: Sendable, Hashable {
        /// The annotations that are read.
        public enum Annotations: String, Sendable, Hashable, CaseIterable {
            /// All annotations.
            case all
            /// Only elements such as `Annotation`, and not attributes of other vocabularies (`sap:label`).
            case elements
            /// Only attributes of other vocabularies.
            case attributes
            /// No annotations.
            case none
        }

        /// The annotations that are read. By default all.
        public var annotations = Annotations.all
        /// Whether elements of a different CSDL version than that of the first schema are read, such as annotations of V4
        /// in a document of V2. Otherwise they are ignored.
        public var readsMixedVersions = true
        /// Whether elements with the annotation `com.sap.cloud.server.odata.sql.v1.ServerOnly` are ignored.
        public var excludesServerOnlyElements = false

        /// Creates options. By default everything is read.
        public init(
            annotations: Annotations = .all, readsMixedVersions: Bool = true,
            excludesServerOnlyElements: Bool = false
        ) {
            self.annotations = annotations
            self.readsMixedVersions = readsMixedVersions
            self.excludesServerOnlyElements = excludesServerOnlyElements
        }
    }
}

/// Removes the parts of a document that the options exclude, before the document is read.
struct MetadataMarkupFilter {
    let options: CSDLReader.Options

    /// The recursion depth is bounded by that of the document.
    func apply(to root: MarkupElement) {
        guard options != CSDLReader.Options() else { return }
        let isCurrent = Self.firstSchema(root).map { $0.namespace == MarkupNamespace.edm }
        prune(root, isCurrent: options.readsMixedVersions ? nil : isCurrent)
    }

    /// - Parameter isCurrent: Whether only elements of V4 are read, or only elements of earlier versions; nil for all.
    private func prune(_ element: MarkupElement, isCurrent: Bool?) {
        element.remove { child in
            if child.vocabulary == .edm, let isCurrent,
                (child.namespace == MarkupNamespace.edm) != isCurrent
            {
                return true
            }
            let hidesElements = options.annotations == .attributes || options.annotations == .none
            if hidesElements, child.vocabulary == .edm, Self.names.contains(child.name) { return true }
            return options.excludesServerOnlyElements && Self.isServerOnly(child)
        }
        if options.annotations == .elements || options.annotations == .none {
            // Attributes of the protocol's own namespace are declarations, such as `m:HasStream`.
            element.removeAttributes { $0.namespace != nil && $0.namespace != MarkupNamespace.metadata }
        }
        for child in element.children { prune(child, isCurrent: isCurrent) }
    }

    private static let names: Set<String> = [
        "Annotation", "Annotations", "ValueAnnotation", "TypeAnnotation",
    ]

    private static func isServerOnly(_ element: MarkupElement) -> Bool {
        element.children.contains {
            $0.isModel("Annotation") && $0["Term"] == "com.sap.cloud.server.odata.sql.v1.ServerOnly"
                && $0["Bool"] != "false"
        }
    }

    private static func firstSchema(_ element: MarkupElement) -> MarkupElement? {
        if element.isModel("Schema") { return element }
        for child in element.children where child.vocabulary == .edmx || child.isModel("Schema") {
            if let found = firstSchema(child) { return found }
        }
        return nil
    }
}
