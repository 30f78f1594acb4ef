/// Why a metadata document was refused or is not used as a whole, and where in the document.
public struct CSDLError: Error, Sendable, Hashable {
    /// What to branch on. The first group is about the text, the second about the model that the text describes.
    public enum Code: String, Sendable, Hashable, CaseIterable {
        /// Not well-formed XML: cut off, mismatched tags, an undeclared prefix, an undefined entity.
        case malformedXML
        /// No JSON by RFC 8259: cut off, a comma too many.
        case malformedJSON
        /// The document has a DOCTYPE, which metadata never needs.
        case doctypeRefused
        /// Elements or base types are nested beyond the limit.
        case tooDeep
        /// More bytes, elements, attributes or inherited properties than the limit.
        case tooLarge
        /// Nothing in the document is metadata: empty, a login page, some other XML or JSON.
        case notMetadata
        /// The envelope names a version of the protocol that is not known.
        case unknownVersion

        /// An attribute or element that the standard requires is missing.
        case missing
        /// A name that is no identifier, or a type name that is no qualified name.
        case invalidName
        /// A value outside of what its attribute allows: a facet, a Boolean, an enumeration member's number.
        case invalidValue
        /// A multiplicity that is none of `0..1`, `1` and `*`.
        case unknownMultiplicity
        /// Two declarations share a name that must be unique.
        case duplicateName
        /// Two declarations have names that differ in case only, and the reader was asked to refuse that.
        case caseConflict
        /// A type, or an action, function or association, that the document's own namespace should declare and does not.
        case unresolvedName
        /// A name that means a type of another kind than is allowed in its place.
        case wrongKind
        /// A type that derives from itself.
        case inheritanceCycle
        /// A key, constraint, partner or path names a property that does not exist.
        case unknownProperty
        /// A key that is declared twice, or of properties that cannot be one.
        case invalidKey
        /// An association without two ends, or a role that is none of them.
        case invalidAssociation
        /// A partner that leads somewhere else.
        case invalidPartner
        /// An entity set that the container does not have.
        case unknownEntitySet
        /// An action or function whose binding parameter or overload breaks the rules.
        case invalidOperation
        /// An annotation without term, or a target or path that is no path.
        case invalidAnnotation
    }

    public let code: Code
    /// A sentence that names what was found and what was expected.
    public let message: String
    /// The name of the document, where several were read together.
    public let document: String?
    /// The line, from 1.
    public let line: Int
    /// The character in the line, from 1.
    public let column: Int

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
