/// A URL, resource path, query option or expression that is not OData, or that the model does not allow.
public struct URLSyntaxError: Error, Sendable, Hashable {
    public enum Code: String, Sendable, Hashable, CaseIterable {
        /// `%` without two hexadecimal digits, or octets that are no UTF-8.
        case malformedEncoding
        /// The URL does not lie below the service root.
        case outsideService
        case unexpectedText
        case malformedLiteral
        case unknownFunction
        case wrongArgumentCount
        case wrongArgumentType
        case unknownSegment
        case unknownProperty
        case unknownType
        /// The segment exists but may not follow what is before it.
        case misplacedSegment
        case invalidKey
        case invalidParameter
        case unknownOption
        case repeatedOption
        case invalidOptionValue
        /// The query uses something that the protocol version has no words for.
        case notExpressible
        /// The text nests more deeply, or is longer, than is accepted.
        case tooComplex
    }

    public let code: Code
    /// One sentence.
    public let message: String
    /// The text in which ``offset`` counts: a path, an option's value or an expression, percent-decoded.
    public let text: String
    /// Where in ``text``, in bytes of UTF-8; nil where the fault has no one place.
    public let offset: Int?

    public init(_ code: Code, _ message: String, in text: String, at offset: Int? = nil) {
        self.code = code
        self.message = message
        self.text = text
        self.offset = offset
    }
}

extension URLSyntaxError: CustomStringConvertible {
    public var description: String {
        guard let offset else { return "\(message) In: \(text)" }
        return "\(message) At \(offset) in: \(text)"
    }
}
