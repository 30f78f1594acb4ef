/// Why bytes are not a batch.
public struct BatchReadError: Error, Sendable, Hashable, CustomStringConvertible {
    public enum Code: Sendable, Hashable {
        /// The Content-Type is not multipart/mixed or names no boundary.
        case contentType
        /// No line is a delimiter of the boundary (for the strict reader: or no part is between them).
        case noDelimiter
        /// The close delimiter is missing (strict reading only).
        case notClosed
        /// A part's head is malformed, or does not say what the part holds.
        case partHead
        /// A request line or status line is malformed.
        case startLine
        /// A header line of a request or response is malformed (strict reading only).
        case header
        /// A body where none may be (strict reading only).
        case unexpectedBody
        /// A query inside a change set (strict reading only).
        case queryInChangeSet
        /// A multipart inside a change set.
        case nesting
        /// Bytes that are no JSON, or not that of a batch (JSON format only).
        case json
        /// A limit of the reader is exceeded.
        case tooLarge
    }

    public var code: Code
    /// A sentence for a person.
    public var message: String
    /// Where in the body, in bytes from its beginning.
    public var offset: Int

    init(_ code: Code, _ message: String, at offset: Int) {
        self.code = code
        self.message = message
        self.offset = offset
    }

    public var description: String { "\(message) (byte \(offset) of the batch)" }
}
