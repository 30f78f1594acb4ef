public import EDM

/// Primitive values as text: in URLs, in JSON strings, and in the plain text of XML, `$value` and default values.
///
/// URL text here is decoded text: percent-encoding is put on and taken off by whoever splits and joins the URL.
public enum PrimitiveLiteral {
    /// Where the text stands. V2 and V4 both write a value differently in each place.
    public enum Form: Sendable, Hashable {
        /// In a URL, with quotes, prefixes and suffixes: `datetime'2020-01-01T00:00'`, `1.5M`, `'O''Neil'`.
        case url
        /// The content of a JSON string or the text of a JSON number: `/Date(0)/`, `PT1S`, `1.5`.
        case json
        /// The text of an XML element, a `$value` response or a default value: `1970-01-01T00:00:00`.
        case text
    }

    /// How much is forgiven when text is read.
    public enum Strictness: Sendable, Hashable {
        /// Takes what real services write, as long as its meaning is clear: a V2 number without its suffix in a URL, more
        /// fractional digits than the reference implementation holds, prefixes in any case. Facets bind where they are
        /// given.
        case tolerant
        /// Judges as the reference implementation, Apache Olingo, does: V2 number suffixes are mandatory, V2 offsets and
        /// times have milliseconds at most, and in V4 an unstated Scale of a decimal or Precision of a duration is 0.
        case strict
    }
}

/// Why a text is no literal of the type.
public struct LiteralError: Error, Sendable, Hashable, CustomStringConvertible {
    public enum Code: String, Sendable, Hashable {
        /// The text is not in the grammar of the type.
        case malformed
        /// A number or date that the type cannot hold.
        case outOfRange
        /// MaxLength, Precision, Scale or Unicode is broken.
        case facets
        /// Values of the type have no literal form.
        case unsupportedType
    }

    public let code: Code
    /// A sentence for a person.
    public let message: String
    public let type: PrimitiveType

    public init(_ code: Code, _ message: String, type: PrimitiveType) {
        self.code = code
        self.message = message
        self.type = type
    }

    public var description: String { message }
}

extension PrimitiveLiteral {
    /// Reads `text` as a value of `type`. In URLs `null` is the null value of every type.
    ///
    /// - Parameter facets: bind where they are given; see ``Strictness`` for where they are not.
    public static func parse(
        _ text: String, as type: PrimitiveType, facets: Facets? = nil, version: ODataVersion, form: Form,
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
