internal import EDM

/// The reason why a payload is invalid, and the position of the error.
package struct PayloadError: Error, Sendable, Hashable, CustomStringConvertible {
    package enum Code: String, Sendable, Hashable {
        /// The bytes are not JSON; ``offset`` is the position.
        case malformedJSON
        /// The bytes are not well-formed XML, or an Atom entry contains a property twice.
        case malformedXML
        /// An item of a page, or the document, has more bytes or values than ``JSONScanner/Limits`` allow.
        case tooLarge
        /// The JSON has an unexpected structure, such as no collection although a feed was expected.
        case unexpectedShape
        /// The value of a property does not match the property's type.
        case typeMismatch
        /// A closed type does not declare the property. Occurs only in request bodies; in responses such properties are
        /// ignored.
        case unknownProperty
        /// The payload contains a type name that is unknown or does not fit.
        case unknownType
        /// The service reports its failure inside of a successful response (OData 4.01 Part 1, 9.5): the whole response
        /// is invalid.
        case serviceError
    }

    package let code: Code
    /// A description of the error for the user, as one sentence.
    package let message: String
    /// The position in the document: names and indexes after slashes, as in a JSON Pointer (RFC 6901). Empty for the
    /// whole document.
    package internal(set) var path: String
    /// The byte offset, for ``Code/malformedJSON``.
    package let offset: Int?

    package init(_ code: Code, _ message: String, path: String = "", offset: Int? = nil) {
        self.code = code
        self.message = message
        self.path = path
        self.offset = offset
    }

    init(_ error: JSONError) {
        self.init(error.code == .tooLarge ? .tooLarge : .malformedJSON, error.message, offset: error.offset)
    }

    /// Returns the error for a failure inside of a response.
    ///
    /// - Parameter error: The value of the member `error`.
    static func inStream(_ error: JSONValue) -> PayloadError {
        let found = ServiceErrorReader.read(error)
        let words = [found?.code, found?.message].compactMap { $0 }.filter { !$0.isEmpty }.joined(separator: ": ")
        return PayloadError(
            .serviceError,
            "The service reports within the response that it failed\(words.isEmpty ? "" : " (\(words))").",
            path: "/error")
    }

    package var description: String {
        let place = offset.map { " (byte \($0))" } ?? (path.isEmpty ? "" : " (at \(path))")
        return message + place
    }

    /// Returns the same error as seen from one level higher.
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
