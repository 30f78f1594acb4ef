/// Reads metadata documents: CSDL XML of V2, V3, V4 and 4.01, in the `edmx` envelope or as a bare `Schema`, and CSDL
/// JSON of V4 and 4.01.
///
/// Reading has three steps, each a pure function of the previous one: the text becomes a bounded tree of elements
/// with their lines (`MarkupParser`; `JSONMetadata` for JSON), the tree becomes an index of declarations by name
/// (`SchemaIndex`), and the declarations become the resolved model. Elements that break a rule are omitted from the
/// model together with everything that depends on them, and listed in ``EntityDataModel/defects``.
///
/// Documents that refer to each other are read together (``read(_:references:)``). A type of a document that was not
/// read is not an error; a property of such a type has ``TypeReference/ReferencedType/unresolved(name:)``. A name in a
/// namespace that the document itself declares must resolve; otherwise it is a defect.
public struct CSDLReader: Sendable {
    /// Bounds on a document. The defaults are far above any known service and far below the memory of a device.
    public struct Limits: Sendable, Hashable {
        /// The bytes of the document.
        public var bytes = 64 << 20
        /// The nesting depth of elements. libxml2 has its own limit of 256.
        public var depth = 128
        /// The elements of the document.
        public var elements = 1_000_000
        /// The attributes of one element.
        public var attributes = 1_024
        /// The namespaces declared by an element and its ancestors.
        public var namespaces = 256
        /// The base types of one type.
        public var baseTypes = 128
        /// The properties of all types, with inherited ones counted for each type that inherits them, plus the bindings
        /// of all entity sets.
        public var properties = 4_000_000

        /// Creates limits with the default values.
        public init() {}
    }

    /// The bounds on each document.
    public var limits: Limits
    /// Whether to refuse a document that has ``EntityDataModel/defects``.
    public var isStrict: Bool
    /// Whether to refuse names in the same scope that differ only in case: ``CSDLError/Code/caseConflict``.
    public var refusesCaseConflicts: Bool
    /// The parts of the documents that are read. By default everything.
    public var options = Options()

    /// Creates a reader.
    ///
    /// - Parameters:
    ///   - limits: the bounds on each document.
    ///   - isStrict: whether a document with defects is refused.
    ///   - refusesCaseConflicts: whether names in the same scope that differ only in case are refused.
    public init(limits: Limits = Limits(), isStrict: Bool = false, refusesCaseConflicts: Bool = false) {
        self.limits = limits
        self.isStrict = isStrict
        self.refusesCaseConflicts = refusesCaseConflicts
    }

    /// A document with the name that errors contain.
    public struct Document: Sendable, Hashable {
        /// The name that errors contain, or `nil` for a document without a name.
        public let name: String?
        /// The content: CSDL XML or CSDL JSON.
        public let bytes: [UInt8]

        /// Creates a document.
        public init(name: String? = nil, bytes: [UInt8]) {
            self.name = name
            self.bytes = bytes
        }
    }

    /// Reads a document, as far as it is usable.
    ///
    /// - Throws: An error with line and column if the document is not metadata, exceeds the limits, or has nothing
    ///   usable; if the reader is strict, the first defect.
    public func read(_ bytes: [UInt8]) throws(CSDLError) -> EntityDataModel {
        try read(Document(bytes: bytes), references: [])
    }

    /// Reads a document as one model together with the documents that it refers to, directly or indirectly.
    ///
    /// The model has the schemas of all documents, those of the first document first. Its entity sets, singletons and
    /// imports are those of the first document's containers and the containers that these extend. The version is that
    /// of the first document. The limits apply to each document; shared quantities, such as properties, are limited
    /// in sum. A reference to a document that is not in `references` is not an error.
    ///
    /// - Throws: An error with document, line and column if one of the documents is not metadata or exceeds the limits,
    ///   or if nothing is usable; if the reader is strict, the first defect.
    public func read(_ document: Document, references: [Document]) throws(CSDLError) -> EntityDataModel {
        var documents: [MetadataDocument] = []
        for next in [document] + references {
            documents.append(try parse(next, position: documents.count))
            for referenced in ReferencedMetadata.parts(ClientOnlyMetadata.parts(next.bytes).service).dropFirst() {
                documents.append(try parsed(Document(bytes: referenced), position: documents.count))
            }
        }
        return try TolerantReader(limits: limits, isStrict: isStrict, refusesCaseConflicts: refusesCaseConflicts)
            .read(documents)
    }

    /// Returns the namespaces of the schemas in a document, without checking their contents.
    ///
    /// - Throws: An error with line and column if the document is not metadata or exceeds the limits.
    public func namespaces(of document: Document) throws(CSDLError) -> [String] {
        try parse(document).schemas.compactMap { $0["Namespace"] }
    }

    func parse(_ document: Document, position: Int = 0) throws(CSDLError) -> MetadataDocument {
        let (bytes, additions) = ClientOnlyMetadata.parts(document.bytes)
        let service = ReferencedMetadata.parts(bytes)[0]
        guard let additions else {
            return try parsed(Document(name: document.name, bytes: service), position: position)
        }
        let named = Document(name: ClientOnlyMetadata.documentName, bytes: additions)
        return try ClientOnlyMerge(
            into: try parsed(Document(name: document.name, bytes: service), position: position)
        ).merge(try parsed(named, position: position))
    }

    private func parsed(_ document: Document, position: Int) throws(CSDLError) -> MetadataDocument {
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
        MetadataMarkupFilter(options: options).apply(to: root)
        return try MetadataDocument(root)
    }

    /// Reads a document with the default limits.
    ///
    /// - Throws: An error with line and column if the document is not metadata, exceeds the limits, or has nothing
    ///   usable.
    public static func read(_ bytes: [UInt8]) throws(CSDLError) -> EntityDataModel { try CSDLReader().read(bytes) }
}
