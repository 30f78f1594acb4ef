extension SchemaIndex {
    /// The namespaces of one document: its schemas, and the aliases for them and for included namespaces.
    struct SchemaNames {
        let sources: [Source]
        /// Namespaces that are declared here and not also included, so that their names must resolve; also ambiguous
        /// aliases.
        let own: Set<String>
        /// The namespace for every namespace and alias that names can be written with.
        private let namespaces: [String: String]
        /// The aliases local to a schema of V2 or V3, by schema number: those of `Using`, and its own alias if
        /// another schema has the same.
        private let usings: [Int: [String: String]]

        var hasUsings: Bool { !usings.isEmpty }

        init(_ document: MetadataDocument, _ log: DefectLog) throws(CSDLError) {
            var sources: [Source] = []
            var namespaces: [String: String] = [:]
            for element in document.schemas {
                let namespace = try log.salvage(element) { () throws(CSDLError) in try Self.namespace(of: element) }
                guard let namespace else { continue }
                sources.append(Source(element: element, namespace: namespace, alias: element["Alias"]))
                namespaces[namespace] = namespace
            }
            var included: Set<String> = []
            var ambiguous: Set<String> = []
            for (alias, namespace, element) in Self.aliases(sources, document) {
                if element.name == "Include" { included.insert(namespace) }
                guard let alias else { continue }
                if let known = namespaces[alias], known != namespace {
                    // In V2 and V3 an alias is local to its schema.
                    if element.name != "Schema" || !document.version.isLegacy {
                        try log.tolerate(
                            .duplicateName, "The alias \"\(alias)\" already stands for \"\(known)\".", at: element,
                            leavingOut: "Alias")
                    }
                    if known != alias { ambiguous.insert(alias) }
                    continue
                }
                namespaces[alias] = namespace
            }
            for alias in ambiguous { namespaces[alias] = nil }
            self.sources = sources
            self.namespaces = namespaces
            usings = try Self.usings(sources, log, ambiguous: document.version.isLegacy ? ambiguous : [])
            own = Set(sources.map(\.namespace)).subtracting(included).union(ambiguous)
        }

        /// Returns the namespace of a namespace or alias in that schema of the document, or `nil` if it is neither.
        func namespace(_ prefix: String, in schema: Int) -> String? { usings[schema]?[prefix] ?? namespaces[prefix] }

        private static func namespace(of schema: MarkupElement) throws(CSDLError) -> String {
            let namespace = try schema.required("Namespace")
            guard !namespace.trimmed.isEmpty else {
                throw CSDLError(.invalidName, "The schema's namespace is empty.", at: schema)
            }
            return namespace
        }

        private static func aliases(
            _ sources: [Source], _ document: MetadataDocument
        ) -> [(alias: String?, namespace: String, element: MarkupElement)] {
            sources.map { ($0.alias, $0.namespace, $0.element) }
                + document.includes.compactMap { include in
                    include["Namespace"].map { (include["Alias"], $0, include) }
                }
        }

        /// Returns the aliases of `Using` elements. Such an alias must differ from the schema's own and from its
        /// other aliases (MC-CSDL 2.1.13).
        private static func usings(
            _ sources: [Source], _ log: DefectLog, ambiguous: Set<String>
        ) throws(CSDLError) -> [Int: [String: String]] {
            var result: [Int: [String: String]] = [:]
            for source in sources {
                var aliases = source.alias.map { [$0: source.namespace] } ?? [:]
                for element in source.element.children("Using") {
                    let names = try log.salvage(element) { () throws(CSDLError) in
                        (alias: try element.required("Alias"), namespace: try element.required("Namespace"))
                    }
                    guard let (alias, namespace) = names else { continue }
                    if let known = aliases.updateValue(namespace, forKey: alias), known != namespace {
                        let message = "The alias \"\(alias)\" already stands for \"\(known)\"."
                        try log.leaveOut(element, because: CSDLError(.duplicateName, message, at: element))
                    }
                    result[source.element.origin.schema] = aliases
                }
                if let alias = source.alias, ambiguous.contains(alias) {
                    result[source.element.origin.schema] = aliases
                }
            }
            return result
        }
    }
}
