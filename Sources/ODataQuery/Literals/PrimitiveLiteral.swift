package import EDM

/// Primitive values as text: in URLs, in JSON strings, and in the plain text of XML, `$value` and default values.
///
/// URL text is decoded text: the code that splits and joins URLs applies and removes percent-encoding.
package enum PrimitiveLiteral {
    /// The context of the text. V2 and V4 write a value differently in each one.
    package enum LiteralContext: Sendable, Hashable {
        /// In a URL, with quotes, prefixes and suffixes: `datetime'2020-01-01T00:00'`, `1.5M`, `'O''Neil'`.
        case url
        /// The content of a JSON string or the text of a JSON number: `/Date(0)/`, `PT1S`, `1.5`.
        case json
        /// The text of an XML element, a `$value` response or a default value: `1970-01-01T00:00:00`.
        case text
    }

    /// The tolerance for deviations when text is parsed.
    package enum Strictness: Sendable, Hashable {
        /// Accepts the output of real services if its meaning is clear: a V2 number without its suffix in a URL, more
        /// fractional digits than the reference implementation supports, prefixes in any case. Facets apply if they are
        /// specified.
        case tolerant
        /// Matches the reference implementation, Apache Olingo: V2 number suffixes are mandatory, V2 offsets and times
        /// have at most milliseconds, and in V4 an unspecified Scale of a decimal or Precision of a duration is 0.
        case strict
    }
}

/// The reason why a text is not a literal of the type.
package struct LiteralError: Error, Sendable, Hashable, CustomStringConvertible {
    package enum Code: String, Sendable, Hashable {
        /// The text does not match the grammar of the type.
        case malformed
        /// The number or date is out of the range of the type.
        case outOfRange
        /// The value violates MaxLength, Precision, Scale or Unicode.
        case facets
        /// Values of the type have no literal form.
        case unsupportedType
    }

    package let code: Code
    /// A description of the error for the user, as one sentence.
    package let message: String
    package let type: PrimitiveType

    package init(_ code: Code, _ message: String, type: PrimitiveType) {
        self.code = code
        self.message = message
        self.type = type
    }

    package var description: String { message }
}

extension PrimitiveLiteral {
    /// Parses `text` as a value of `type`. In URLs, `null` is the null value of every type.
    ///
    /// - Parameter facets: The facets that the value must satisfy; see ``Strictness`` for unspecified ones.
    package static func parse(
        _ text: String, as type: PrimitiveType, facets: Facets? = nil, version: ODataVersion, form: LiteralContext,
        strictness: Strictness = .tolerant
    ) throws(LiteralError) -> Value {
        if form == .url, text == "null" { return .null }
        let reader = LiteralReader(type: type, version: version, form: form, isStrict: strictness == .strict)
        let value = try form == .url ? reader.url(text) : reader.content(text)
        var bounds = facets ?? Facets()
        if strictness == .strict, !version.isLegacy {
            if type == .decimal, bounds.scale == nil { bounds.scale = .fixed(0) }
            if type == .duration, bounds.precision == nil { bounds.precision = 0 }
        }
        if let reason = bounds.mismatch(of: value) {
            throw LiteralError(.facets, "The \(type.rawValue) \(clipped(text)) \(reason).", type: type)
        }
        return value
    }
}
