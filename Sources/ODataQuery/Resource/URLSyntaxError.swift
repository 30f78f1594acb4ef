/// A URL, resource path, query option or expression that is not valid OData or not permitted by the model.
package struct URLSyntaxError: Error, Sendable, Hashable {
    package enum Code: String, Sendable, Hashable, CaseIterable {
        /// `%` without two hexadecimal digits, or octets that are not UTF-8.
        case malformedEncoding
        /// The URL is outside of the service root.
        case outsideService
        case unexpectedText
        case malformedLiteral
        case unknownFunction
        case wrongArgumentCount
        case wrongArgumentType
        case unknownSegment
        case unknownProperty
        case unknownType
        /// The segment exists but must not follow its predecessor.
        case misplacedSegment
        case invalidKey
        case invalidParameter
        case unknownOption
        case repeatedOption
        case invalidOptionValue
        /// The protocol version cannot express a construct of the query.
        case notExpressible
        /// The text is nested too deeply or too long.
        case tooComplex
    }

    package let code: Code
    /// The reason as one sentence.
    package let message: String
    /// The text that ``offset`` refers to: a path, an option's value or an expression, without percent-encoding.
    package let text: String
    /// The position in ``text`` in UTF-8 bytes, or nil if the error has no single position.
    package let offset: Int?

    package init(_ code: Code, _ message: String, in text: String, at offset: Int? = nil) {
        self.code = code
        self.message = message
        self.text = text
        self.offset = offset
    }
}

extension URLSyntaxError: CustomStringConvertible {
    package var description: String {
        guard let offset else { return "\(message) In: \(text)" }
        return "\(message) At \(offset) in: \(text)"
    }
}
