/// Why bytes are not the JSON that was wanted, and where.
public struct JSONError: Error, Sendable, Hashable, CustomStringConvertible {
    public enum Code: String, Sendable, Hashable {
        /// The document ends inside a value, or holds nothing.
        case truncated
        /// A byte that RFC 8259 does not allow at this place.
        case syntax
        /// Bytes that are not UTF-8.
        case invalidUTF8
        /// An object has two members of one name, so that nobody can tell which one holds (RFC 8259, 4; RFC 7493, 2.3).
        case duplicateName
        /// An escape of half a surrogate pair, which stands for no character.
        case loneSurrogate
        case tooDeep
        case tooLarge
        /// A value of another kind than the reader asked for.
        case wrongKind
    }

    public let code: Code
    /// A sentence for a person.
    public let message: String
    /// The byte, counted from the beginning of the document.
    public let offset: Int

    public init(_ code: Code, _ message: String, at offset: Int) {
        self.code = code
        self.message = message
        self.offset = offset
    }

    public var description: String { "\(message) (byte \(offset))" }
}
