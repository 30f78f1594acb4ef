/// A defect of a metadata document that is used nevertheless, and the element that is omitted because of it.
///
/// The model equals that of the same document without the omitted elements.
public struct MetadataDefect: Sendable, Hashable {
    /// The violated rule as a sentence, and the location.
    public let fault: CSDLError
    /// The element that the model omits, or `nil` if the model is complete.
    public let omitted: OmittedElement?

    /// The kind of the violated rule.
    public var code: CSDLError.Code { fault.code }
    /// A sentence with the actual and the expected content.
    public var message: String { fault.message }
    /// The name of the document, if several were read together.
    public var document: String? { fault.document }
    /// The line, starting at 1.
    public var line: Int { fault.line }
    /// The character in the line, starting at 1.
    public var column: Int { fault.column }

    /// An element or attribute of the document.
    public struct OmittedElement: Sendable, Hashable {
        /// The name of the element or attribute in CSDL XML, also for JSON documents: `EntitySet`, `MaxLength`.
        public let kind: String
        /// The qualified name of the element, or a path that begins with one: `NS.Type/Property`, `NS.Container/Set`.
        public let path: String

        /// Creates a description of an omitted element or attribute.
        public init(kind: String, path: String) {
            self.kind = kind
            self.path = path
        }
    }

    /// Creates a defect.
    ///
    /// - Parameters:
    ///   - fault: the violated rule and the location.
    ///   - omitted: the element that the model omits, or `nil` if the model is complete.
    public init(_ fault: CSDLError, omitted: OmittedElement? = nil) {
        self.fault = fault
        self.omitted = omitted
    }
}

extension MetadataDefect: CustomStringConvertible {
    public var description: String { "\(fault)\(omitted.map { " Omitted: \($0)." } ?? "")" }
}

extension MetadataDefect.OmittedElement: CustomStringConvertible {
    public var description: String { "\(kind) \(path)" }
}
