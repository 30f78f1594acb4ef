internal import EDM

/// An error that prevents the generation of sources.
package enum ProxyError: Error, Sendable, Hashable {
    /// The bytes of the document are not valid UTF-8.
    case notUTF8(document: String?)
    /// An error in a metadata document, with its position.
    case metadata(InputLocation, String)
    /// The names of two elements differ only in case, and the options do not allow this.
    case caseConflict(InputLocation, String)
    /// An error in an annotation that chooses a name, with its position.
    case annotation(InputLocation, String)
    /// A requested document could not be read; the sentence names it.
    case unreadable(String)
    /// The documents refer to more documents than the generator reads.
    case tooManyReferences(document: String?)
    /// The document declares no entity type.
    case noEntityTypes(document: String?)
    /// The value of an option is not a usable name: the option, such as `--service`, and the value.
    case invalidName(option: String, name: String)

    init(_ error: CSDLError) {
        let place = InputLocation(document: error.document, line: error.line, column: error.column)
        self = error.code == .caseConflict ? .caseConflict(place, error.message) : .metadata(place, error.message)
    }
}

extension ProxyError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .notUTF8(let document):
            Self.sentence(
                "The metadata is not encoded in UTF-8. Convert it first, including the XML declaration.", document)
        case .metadata(let place, let message), .annotation(let place, let message): "\(place): \(message)"
        case .caseConflict(let place, let message):
            "\(place): \(message.hasSuffix(".") ? String(message.dropLast()) : message); "
                + "-parser:ALLOW_CASE_CONFLICTS allows it."
        case .unreadable(let sentence): sentence
        case .tooManyReferences(let document):
            Self.sentence("The metadata refers to more than \(ReferencedDocuments.most) other documents.", document)
        case .noEntityTypes(let document):
            Self.sentence("The metadata declares no entity type to generate classes for.", document)
        case .invalidName(let option, let name):
            "\(option) must be an unused Swift identifier, not '\(name)'."
        }
    }

    private static func sentence(_ text: String, _ document: String?) -> String {
        document.map { "\($0): \(text)" } ?? text
    }
}
