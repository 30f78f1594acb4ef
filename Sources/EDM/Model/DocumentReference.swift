/// A reference between metadata documents (CSDL 4.01, section 4.1). The other document is never fetched.
public struct DocumentReference: Sendable, Hashable {
    public let uri: String
    public let includes: [Include]
    public let annotationIncludes: [AnnotationInclude]
    public let annotations: [Annotation]

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
        public let namespace: String
        public let alias: String?

        public init(namespace: String, alias: String? = nil) {
            self.namespace = namespace
            self.alias = alias
        }
    }

    /// Annotations of the other document that apply to this one.
    public struct AnnotationInclude: Sendable, Hashable {
        public let termNamespace: String
        public let qualifier: String?
        public let targetNamespace: String?

        public init(termNamespace: String, qualifier: String? = nil, targetNamespace: String? = nil) {
            self.termNamespace = termNamespace
            self.qualifier = qualifier
            self.targetNamespace = targetNamespace
        }
    }
}
