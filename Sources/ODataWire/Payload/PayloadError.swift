internal import EDM

/// Why a payload is not what it should be, and where.
public struct PayloadError: Error, Sendable, Hashable, CustomStringConvertible {
    public enum Code: String, Sendable, Hashable {
        /// The bytes are no JSON; ``offset`` says where.
        case malformedJSON
        /// An item of a page, or the document, has more bytes or values than ``JSONScanner/Limits`` allow.
        case tooLarge
        /// JSON, but not of the shape that was asked for: no collection where a feed was expected, and the like.
        case unexpectedShape
        /// A property's value is not of the property's type.
        case typeMismatch
        /// A property that a closed type does not declare. Only in request bodies; in responses it is ignored.
        case unknownProperty
        /// The payload names a type that the model does not know, or one that does not fit.
        case unknownType
        /// The service says in the midst of a success that it failed (OData 4.01 Part 1, 9.5): the whole answer is in error.
        case serviceError
    }

    public let code: Code
    /// A sentence for a person.
    public let message: String
    /// Where in the document: names and indexes behind slashes, as a JSON Pointer (RFC 6901); empty for the whole.
    public internal(set) var path: String
    /// The byte, for ``Code/malformedJSON``.
    public let offset: Int?

    public init(_ code: Code, _ message: String, path: String = "", offset: Int? = nil) {
        self.code = code
        self.message = message
        self.path = path
        self.offset = offset
    }

    init(_ error: JSONError) {
        self.init(error.code == .tooLarge ? .tooLarge : .malformedJSON, error.message, offset: error.offset)
    }

    /// - Parameter error: what the service says of its failure, the value of `error`.
    static func inStream(_ error: JSONValue) -> PayloadError {
        let found = ServiceErrorReader.read(error)
        let words = [found?.code, found?.message].compactMap { $0 }.filter { !$0.isEmpty }.joined(separator: ": ")
        return PayloadError(
            .serviceError,
            "The service says within the answer that it failed\(words.isEmpty ? "" : " (\(words))").",
            path: "/error")
    }

    public var description: String {
        let place = offset.map { " (byte \($0))" } ?? (path.isEmpty ? "" : " (at \(path))")
        return message + place
    }

    /// The same error seen from one level further up.
    func below(_ step: String) -> PayloadError {
        var error = self
        error.path = "/" + step + path
        return error
    }

    func below(_ index: Int) -> PayloadError { below(String(index)) }
}

extension JSONValue {
    static func payload(_ bytes: [UInt8]) throws(PayloadError) -> JSONValue {
        do { return try parse(bytes) } catch { throw PayloadError(error) }
    }
}
