/// The reason why a metadata document is refused or only partly used, with its location.
public struct CSDLError: Error, Sendable, Hashable {
    /// The kind of error. The first group concerns the text, the second the model that it describes.
    public enum Code: String, Sendable, Hashable, CaseIterable {
        /// The document is not well-formed XML: truncated, mismatched tags, an undeclared prefix, an undefined
        /// entity.
        case malformedXML
        /// The document is not valid JSON (RFC 8259): truncated, a superfluous comma.
        case malformedJSON
        /// The document has a DOCTYPE, which metadata never needs.
        case doctypeRefused
        /// Elements or base types are nested beyond the limit.
        case tooDeep
        /// The document has more bytes, elements, attributes or inherited properties than the limit.
        case tooLarge
        /// The document is not metadata: it is empty, a login page, or other XML or JSON.
        case notMetadata
        /// The envelope has an unknown protocol version.
        case unknownVersion

        /// An attribute or element that the standard requires is missing.
        case missing
        /// A name is not an identifier, or a type name is not a qualified name.
        case invalidName
        /// A value is not allowed for its attribute: a facet, a Boolean, the number of an enumeration member.
        case invalidValue
        /// A multiplicity is not `0..1`, `1` or `*`.
        case unknownMultiplicity
        /// Two declarations have the same name, which must be unique.
        case duplicateName
        /// Two declarations have names that differ only in case, and the reader is configured to refuse this.
        case caseConflict
        /// A type, action, function or association in the document's own namespace is not declared.
        case unresolvedName
        /// A name refers to a type of a kind that is not allowed here.
        case wrongKind
        /// A type derives from itself.
        case inheritanceCycle
        /// A key, constraint, partner or path names a property that does not exist.
        case unknownProperty
        /// A key is declared twice, or has properties that are not allowed in a key.
        case invalidKey
        /// An association does not have two ends, or has an unknown role.
        case invalidAssociation
        /// A partner leads to a wrong property.
        case invalidPartner
        /// An entity set does not exist in the container.
        case unknownEntitySet
        /// The binding parameter or overload of an action or function is invalid.
        case invalidOperation
        /// An annotation has no term, or an invalid target or path.
        case invalidAnnotation
    }

    /// The kind of error.
    public let code: Code
    /// A sentence with the actual and the expected content.
    public let message: String
    /// The name of the document, if several were read together.
    public let document: String?
    /// The line, starting at 1.
    public let line: Int
    /// The character in the line, starting at 1.
    public let column: Int

    /// Creates an error at a position in a document.
    ///
    /// - Parameters:
    ///   - code: the kind of error.
    ///   - message: a sentence with the actual and the expected content.
    ///   - line: the line, starting at 1.
    ///   - column: the character in the line, starting at 1.
    ///   - document: the name of the document, if several are read together.
    public init(_ code: Code, _ message: String, line: Int, column: Int, document: String? = nil) {
        self.code = code
        self.message = message
        self.document = document
        self.line = line
        self.column = column
    }

    init(_ code: Code, _ message: String, at element: MarkupElement) {
        self.init(code, message, line: element.line, column: element.column, document: element.origin.name)
    }
}

extension CSDLError: CustomStringConvertible {
    public var description: String { "\(document.map { "\($0): " } ?? "")line \(line), column \(column): \(message)" }
}
