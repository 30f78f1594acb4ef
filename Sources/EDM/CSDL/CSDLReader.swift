/// Reads metadata documents: CSDL XML of V2, V3, V4 and 4.01, in the `edmx` envelope or as a bare `Schema`.
///
/// A document goes through three steps, each a pure function of the one before: the text becomes a bounded tree of
/// elements with their lines (``MarkupParser``), the tree becomes an index of what is declared under which name
/// (``SchemaIndex``), and the declarations become the resolved model.
///
/// Types of documents that were not read are not an error; a property of such a type has
/// ``TypeReference/Kind/unresolved(name:)``. A name in a namespace that the document itself declares must resolve.
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
    /// Whether to refuse what ``EntityDataModel/defects`` would list.
    public var isStrict: Bool

    public init(limits: Limits = Limits(), isStrict: Bool = false) {
        self.limits = limits
        self.isStrict = isStrict
    }

    /// Reads a document. Throws the first error in it, with line and column.
    public func read(_ bytes: [UInt8]) throws(CSDLError) -> EntityDataModel {
        let root = try MarkupParser(limits: limits).parse(bytes)
        let document = try MetadataDocument(root)
        let index = try SchemaIndex(document, limits: limits, isStrict: isStrict)
        return try ModelBuilder(document: document, index: index).build()
    }

    /// Reads a document with the default limits.
    public static func read(_ bytes: [UInt8]) throws(CSDLError) -> EntityDataModel { try CSDLReader().read(bytes) }
}
