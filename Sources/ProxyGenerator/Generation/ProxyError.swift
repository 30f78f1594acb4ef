internal import EDM

/// Why nothing was generated.
public enum ProxyError: Error, Sendable, Hashable {
    /// The document's bytes are no UTF-8.
    case notUTF8(document: String?)
    /// What is wrong in a metadata document, and where.
    case metadata(InputPlace, String)
    /// Two elements have names that differ in case only, and the options do not allow that.
    case caseConflict(InputPlace, String)
    /// What is wrong with an annotation that chooses a name, and where it stands.
    case annotation(InputPlace, String)
    /// A document that was asked for could not be read; the sentence says which.
    case unreadable(String)
    /// The documents refer to more others than are read.
    case tooManyReferences(document: String?)
    /// The document declares no entity type.
    case noEntityTypes(document: String?)
    /// The name of an option (`--service`) and what was given.
    case invalidName(option: String, name: String)

    init(_ error: CSDLError) {
        let place = InputPlace(document: error.document, line: error.line, column: error.column)
        self = error.code == .caseConflict ? .caseConflict(place, error.message) : .metadata(place, error.message)
    }
}

extension ProxyError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .notUTF8(let document):
            Self.sentence(
                "The metadata is not encoded as UTF-8. Convert it first, the XML declaration included.", document)
        case .metadata(let place, let message), .annotation(let place, let message): "\(place): \(message)"
        case .caseConflict(let place, let message):
            "\(place): \(message.hasSuffix(".") ? String(message.dropLast()) : message); "
                + "-parser:ALLOW_CASE_CONFLICTS allows it."
        case .unreadable(let sentence): sentence
        case .tooManyReferences(let document):
            Self.sentence("The metadata needs more than \(ReferencedDocuments.most) other documents.", document)
        case .noEntityTypes(let document):
            Self.sentence("The metadata declares no entity type, so there is nothing to generate.", document)
        case .invalidName(let option, let name):
            "\(option) must be a Swift identifier that is not in use otherwise, not '\(name)'."
        }
    }

    private static func sentence(_ text: String, _ document: String?) -> String {
        document.map { "\($0): \(text)" } ?? text
    }
}
