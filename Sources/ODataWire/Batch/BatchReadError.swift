/// The reason why bytes cannot be read as a batch.
package struct BatchReadError: Error, Sendable, Hashable, CustomStringConvertible {
    package enum Code: Sendable, Hashable {
        /// The Content-Type is not multipart/mixed or has no boundary.
        case contentType
        /// No line is a delimiter with the boundary (for the strict reader: or no part is between them).
        case noDelimiter
        /// The close delimiter is missing (strict reading only).
        case notClosed
        /// The head of a part is malformed or does not declare the content of the part.
        case partHead
        /// A request line or status line is malformed.
        case startLine
        /// A header line of a request or response is malformed (strict reading only).
        case header
        /// A body is present although none is allowed (strict reading only).
        case unexpectedBody
        /// A change set contains a query (strict reading only).
        case queryInChangeSet
        /// A change set contains a multipart.
        case nesting
        /// The bytes are not JSON or not a JSON batch (JSON format only).
        case json
        /// A limit of the reader is exceeded.
        case tooLarge
    }

    package var code: Code
    /// A description of the error for the user, as one sentence.
    package var message: String
    /// The position of the error, in bytes from the beginning of the body.
    package var offset: Int

    init(_ code: Code, _ message: String, at offset: Int) {
        self.code = code
        self.message = message
        self.offset = offset
    }

    package var description: String { "\(message) (byte \(offset) of the batch)" }
}
