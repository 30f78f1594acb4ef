/// A reference between metadata documents (CSDL 4.01, section 4.1). The other document is never fetched.
public struct DocumentReference: Sendable, Hashable {
    /// The URI of the other document as written, which can be relative.
    public let uri: String
    /// The schemas of the other document that this one uses (CSDL 4.01, section 4.2).
    public let includes: [Include]
    /// The annotations of the other document that apply to this one (CSDL 4.01, section 4.3).
    public let annotationIncludes: [AnnotationInclude]
    /// The annotations of the reference.
    public let annotations: [Annotation]

    /// Creates a reference.
    public init(
        uri: String, includes: [Include] = [], annotationIncludes: [AnnotationInclude] = [],
        annotations: [Annotation] = []
    ) {
        self.uri = uri
        self.includes = includes
        self.annotationIncludes = annotationIncludes
        self.annotations = annotations
    }

    /// A schema of the other document that this one uses.
    public struct Include: Sendable, Hashable {
        /// The namespace of the schema.
        public let namespace: String
        /// The alias of the schema in this document, or `nil` if there is none.
        public let alias: String?

        /// Creates an inclusion of a schema.
        public init(namespace: String, alias: String? = nil) {
            self.namespace = namespace
            self.alias = alias
        }
    }

    /// Annotations of the other document that apply to this one.
    public struct AnnotationInclude: Sendable, Hashable {
        /// The namespace of the terms whose annotations are included.
        public let termNamespace: String
        /// The qualifier to which the inclusion is restricted; `nil` for annotations with any qualifier or none.
        public let qualifier: String?
        /// The namespace of the annotated elements to which the inclusion is restricted; `nil` for all.
        public let targetNamespace: String?

        /// Creates an inclusion of annotations.
        public init(termNamespace: String, qualifier: String? = nil, targetNamespace: String? = nil) {
            self.termNamespace = termNamespace
            self.qualifier = qualifier
            self.targetNamespace = targetNamespace
        }
    }
}
