/// What is wrong with a metadata document that is used all the same, and what of the document is not used because of it.
///
/// The model of such a document is that of the same document without the elements that are left out.
public struct MetadataDefect: Sendable, Hashable {
    /// The rule that the document breaks, in a sentence, and the place.
    public let fault: CSDLError
    /// What the model does not have because of it; nil if the model is not the poorer for it.
    public let leftOut: LeftOut?

    /// The rule that the document breaks.
    public var code: CSDLError.Code { fault.code }
    /// A sentence that names what was found and what was expected.
    public var message: String { fault.message }
    /// The name of the document, if several were read together.
    public var document: String? { fault.document }
    /// The line, from 1.
    public var line: Int { fault.line }
    /// The character in the line, from 1.
    public var column: Int { fault.column }

    /// An element of the document, or an attribute of one.
    public struct LeftOut: Sendable, Hashable {
        /// The name of the element or attribute in CSDL XML, whichever format the document has: `EntitySet`, `MaxLength`.
        public let kind: String
        /// The qualified name of the element, or a path that begins with one: `NS.Type/Property`, `NS.Container/Set`.
        public let path: String

        public init(kind: String, path: String) {
            self.kind = kind
            self.path = path
        }
    }

    public init(_ fault: CSDLError, leftOut: LeftOut? = nil) {
        self.fault = fault
        self.leftOut = leftOut
    }
}

extension MetadataDefect: CustomStringConvertible {
    public var description: String { "\(fault)\(leftOut.map { " Left out: \($0)." } ?? "")" }
}

extension MetadataDefect.LeftOut: CustomStringConvertible {
    public var description: String { "\(kind) \(path)" }
}
