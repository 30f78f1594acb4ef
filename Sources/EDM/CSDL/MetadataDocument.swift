/// The envelope of a metadata document: its version, schemas and references.
struct MetadataDocument {
    let root: MarkupElement
    let version: ODataVersion
    let schemas: [MarkupElement]
    let references: [MarkupElement]

    init(_ root: MarkupElement) throws(CSDLError) {
        self.root = root
        if root.isModel("Schema") {
            schemas = [root]
            references = []
        } else if root.vocabulary == .edmx, root.name == "Edmx" {
            schemas = Self.schemas(of: root)
            references = root.children.filter { $0.vocabulary == .edmx && $0.name == "Reference" }
        } else {
            throw Self.refusal(of: root) ?? CSDLError(.notMetadata, "The document is not OData metadata.", at: root)
        }
        guard let first = schemas.first else {
            throw CSDLError(.notMetadata, "The metadata has no schema.", at: root)
        }
        version = try Self.version(root, first)
    }

    /// The `Include` elements of all references.
    var includes: [MarkupElement] {
        references.flatMap(\.children).filter { $0.vocabulary == .edmx && $0.name == "Include" }
    }

    /// Returns the schemas, which are children of `DataServices`, or of `Runtime/ConceptualModels` in files of design
    /// tools.
    private static func schemas(of root: MarkupElement) -> [MarkupElement] {
        var result: [MarkupElement] = []
        for child in root.children where child.vocabulary == .edmx {
            switch child.name {
            case "DataServices": result += child.children("Schema")
            case "Runtime":
                for models in child.children where models.vocabulary == .edmx && models.name == "ConceptualModels" {
                    result += models.children("Schema")
                }
            default: break
            }
        }
        return result
    }

    private static func version(_ root: MarkupElement, _ schema: MarkupElement) throws(CSDLError) -> ODataVersion {
        if schema.namespace == MarkupNamespace.edm {
            guard root.name == "Edmx", root.namespace == MarkupNamespace.edmx else { return .v4 }
            let version = try root.required("Version")
            switch version.trimmed {
            case "4.0": return .v4
            // A later minor version of the protocol only adds features.
            case let later where later.hasPrefix("4."): return .v401
            default:
                throw CSDLError(
                    .unknownVersion, "The Edmx version \"\(version)\" is neither 4.0 nor 4.01.", at: root)
            }
        }
        for services in root.children where services.name == "DataServices" {
            for name in ["DataServiceVersion", "MaxDataServiceVersion"] {
                if services.anyAttribute(name)?.trimmed == "3.0" { return .v3 }
            }
        }
        return .v2
    }

    static let webPage = "The document is an HTML page, possibly a login page, instead of metadata."

    /// Returns why a document with this root cannot be metadata.
    ///
    /// Called as soon as the root has been read: a web page is seldom well-formed, and a syntax error would be
    /// misleading.
    static func refusal(of root: MarkupElement) -> CSDLError? {
        if root.isModel("Schema") || (root.vocabulary == .edmx && root.name == "Edmx") { return nil }
        return CSDLError(.notMetadata, describe(root), at: root)
    }

    private static func describe(_ root: MarkupElement) -> String {
        if root.name.lowercased() == "html" { return webPage }
        if root.name == "Edmx" || root.name == "Schema" {
            return
                "The \(root.name) element is in the namespace \"\(root.namespace ?? "")\", which is not an OData namespace."
        }
        return "The root element of the XML document is \"\(root.name)\" instead of Edmx or Schema."
    }
}
