extension SchemaIndex {
    /// What one document says of namespaces: its schemas, and how names in them and in those that it includes are written.
    struct Names {
        let sources: [Source]
        /// Every namespace that a name may be written with, and what it stands for.
        let namespaces: [String: String]
        /// Declared here and not also included.
        let own: Set<String>

        init(_ document: MetadataDocument) throws(CSDLError) {
            var sources: [Source] = []
            var namespaces: [String: String] = [:]
            for element in document.schemas {
                let namespace = try element.required("Namespace")
                guard !namespace.trimmed.isEmpty else {
                    throw CSDLError(.invalidName, "The schema's namespace is empty.", at: element)
                }
                sources.append(Source(element: element, namespace: namespace, alias: element["Alias"]))
                namespaces[namespace] = namespace
            }
            var included: Set<String> = []
            for (alias, namespace, element) in Self.aliases(sources, document) {
                if element.name == "Include" { included.insert(namespace) }
                guard let alias else { continue }
                if let known = namespaces[alias], known != namespace {
                    throw CSDLError(
                        .duplicateName, "The alias \"\(alias)\" stands for \"\(known)\" already.", at: element)
                }
                namespaces[alias] = namespace
            }
            self.sources = sources
            self.namespaces = namespaces
            own = Set(sources.map(\.namespace)).subtracting(included)
        }

        private static func aliases(
            _ sources: [Source], _ document: MetadataDocument
        ) -> [(alias: String?, namespace: String, element: MarkupElement)] {
            sources.map { ($0.alias, $0.namespace, $0.element) }
                + document.includes.compactMap { include in
                    include["Namespace"].map { (include["Alias"], $0, include) }
                }
        }
    }
}
