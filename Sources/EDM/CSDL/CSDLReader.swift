/// Reads metadata documents: CSDL XML of V2, V3, V4 and 4.01, in the `edmx` envelope or as a bare `Schema`, and CSDL JSON of
/// V4 and 4.01.
///
/// A document goes through three steps, each a pure function of the one before: the text becomes a bounded tree of
/// elements with their lines (`MarkupParser`; `JSONMetadata` for JSON), the tree becomes an index of what is declared under
/// which name (`SchemaIndex`), and the declarations become the resolved model. What of a document breaks a rule is left out of
/// the model with everything that depends on it, and listed in ``EntityDataModel/defects``.
///
/// Documents that refer to each other are read together (``read(_:references:)``). Types of documents that were not read
/// are not an error; a property of such a type has
/// ``TypeReference/Kind/unresolved(name:)``. A name in a namespace that the document itself declares must
/// resolve; otherwise it is a defect.
public struct CSDLReader: Sendable {
    /// How much a document may ask for. The defaults are far beyond any known service and far below a machine's memory.
    public struct Limits: Sendable, Hashable {
        /// Of the document.
        public var bytes = 64 << 20
        /// Elements within elements. libxml2 itself has a limit of 256.
        public var depth = 128
        /// In the document.
        public var elements = 1_000_000
        /// Of one element.
        public var attributes = 1_024
        /// Declared by an element and those around it.
        public var namespaces = 256
        /// Base types above one type.
        public var baseTypes = 128
        /// Properties of all types together, inherited ones counted with each type that inherits them; bindings of all
        /// entity sets likewise.
        public var properties = 4_000_000

        public init() {}
    }

    public var limits: Limits
    /// Whether to refuse a document with ``EntityDataModel/defects``.
    public var isStrict: Bool
    /// Whether to refuse names that differ in case only, where both could be meant: ``CSDLError/Code/caseConflict``.
    public var refusesCaseConflicts: Bool

    public init(limits: Limits = Limits(), isStrict: Bool = false, refusesCaseConflicts: Bool = false) {
        self.limits = limits
        self.isStrict = isStrict
        self.refusesCaseConflicts = refusesCaseConflicts
    }

    /// A document under the name that errors call it by.
    public struct Document: Sendable, Hashable {
        public let name: String?
        public let bytes: [UInt8]

        public init(name: String? = nil, bytes: [UInt8]) {
            self.name = name
            self.bytes = bytes
        }
    }

    /// Reads a document, as far as it can be used.
    ///
    /// - Throws: an error with line and column if the document is no metadata, exceeds the limits, or has nothing that can be
    ///   used; in a strict reading, the first defect.
    public func read(_ bytes: [UInt8]) throws(CSDLError) -> EntityDataModel {
        try read(Document(bytes: bytes), references: [])
    }

    /// Reads a document together with others, which it or they refer to, as one model.
    ///
    /// The model has the schemas of all of them, those of the document first. Entity sets, singletons and imports are
    /// those of the document's own containers and of what they extend. The version is the document's. Each document may
    /// be as large as the limits say; what they have in common, such as properties, is limited in sum. A reference whose
    /// document is not among those given is no error.
    public func read(_ document: Document, references: [Document]) throws(CSDLError) -> EntityDataModel {
        var documents: [MetadataDocument] = []
        for (position, next) in ([document] + references).enumerated() {
            documents.append(try parse(next, position: position))
        }
        return try TolerantReading(limits: limits, isStrict: isStrict, refusesCaseConflicts: refusesCaseConflicts)
            .read(documents)
    }

    /// The namespaces of the schemas that a document declares, whether or not these make sense.
    public func namespaces(of document: Document) throws(CSDLError) -> [String] {
        try parse(document).schemas.compactMap { $0["Namespace"] }
    }

    func parse(_ document: Document, position: Int = 0) throws(CSDLError) -> MetadataDocument {
        let isJSON = JSONMetadata.isObject(document.bytes)
        let origin = MarkupOrigin(name: document.name, position: position, isJSON: isJSON)
        let root: MarkupElement
        do throws(CSDLError) {
            root =
                isJSON
                ? try JSONMetadata(limits: limits, origin: origin).parse(document.bytes)
                : try MarkupParser(limits: limits, origin: origin).parse(document.bytes)
        } catch {
            throw CSDLError(
                error.code, error.message, line: error.line, column: error.column, document: document.name)
        }
        return try MetadataDocument(root)
    }

    /// Reads a document with the default limits.
    public static func read(_ bytes: [UInt8]) throws(CSDLError) -> EntityDataModel { try CSDLReader().read(bytes) }
}
