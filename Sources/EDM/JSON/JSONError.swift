/// The reason why bytes are not the expected JSON, with the position.
public struct JSONError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kinds of errors.
    public enum Code: String, Sendable, Hashable {
        /// The document ends inside a value, or is empty.
        case truncated
        /// A byte that RFC 8259 does not allow at this position.
        case syntax
        /// Bytes that are not valid UTF-8.
        case invalidUTF8
        /// An object has two members with the same name, which is ambiguous (RFC 8259, 4; RFC 7493, 2.3).
        case duplicateName
        /// An escape of half a surrogate pair, which represents no character.
        case loneSurrogate
        /// Objects and arrays are nested deeper than the limit.
        case tooDeep
        /// The document, an item or an object exceeds its limit.
        case tooLarge
        /// A value of another kind than the reader requested.
        case wrongKind
    }

    /// The kind of error.
    public let code: Code
    /// A sentence for a person.
    public let message: String
    /// The offset of the byte from the beginning of the document.
    public let offset: Int

    /// Creates an error at an offset from the beginning of the document, in bytes.
    public init(_ code: Code, _ message: String, at offset: Int) {
        self.code = code
        self.message = message
        self.offset = offset
    }

    public var description: String { "\(message) (byte \(offset))" }
}
