/// A JSON value as written in the document: numbers keep their text, objects their order and duplicate names.
public enum JSONValue: Sendable, Hashable {
    case null
    case boolean(Bool)
    /// The number's text, always in the grammar of RFC 8259.
    case number(String)
    case string(String)
    case array([JSONValue])
    case object(JSONObject)

    /// The value of an object's member, or `nil` for other kinds of value. The last of several members with the same
    /// name is used.
    public subscript(name: String) -> JSONValue? {
        if case .object(let object) = self { object[name] } else { nil }
    }

    public var string: String? {
        if case .string(let text) = self { text } else { nil }
    }

    public var array: [JSONValue]? {
        if case .array(let items) = self { items } else { nil }
    }

    public var object: JSONObject? {
        if case .object(let object) = self { object } else { nil }
    }

    /// The value as an integer, whether it is a number or (V2, IEEE754Compatible) a string in the document.
    public var integer: Int64? {
        switch self {
        case .number(let text), .string(let text): Int64(text)
        default: nil
        }
    }

    /// The kind of value, for messages.
    public var kindName: String {
        switch self {
        case .null: "null"
        case .boolean: "a Boolean"
        case .number: "a number"
        case .string: "a string"
        case .array: "an array"
        case .object: "an object"
        }
    }
}

/// The members of a JSON object in the order of the document.
public struct JSONObject: Sendable, Hashable {
    public struct Member: Sendable, Hashable {
        public var name: String
        public var value: JSONValue

        public init(name: String, value: JSONValue) {
            self.name = name
            self.value = value
        }
    }

    public var members: [Member]

    public init(_ members: [Member] = []) { self.members = members }

    /// The value of the last member with that name, as in most readers. Cost: O(n).
    public subscript(name: String) -> JSONValue? { members.last { $0.name == name }?.value }

    public func contains(_ name: String) -> Bool { members.contains { $0.name == name } }
}

extension JSONValue {
    /// Reads a whole document (RFC 8259). A leading byte order mark is skipped.
    ///
    /// - Parameters:
    ///   - bytes: the document.
    ///   - limits: bounds on the document.
    ///   - allowsRepeatedNames: whether objects with duplicate names are accepted. The last of the members is used.
    /// - Throws: A ``JSONError`` with the offset: `truncated`, `syntax`, `invalidUTF8` or `loneSurrogate` if the bytes
    ///   are not one JSON value; `tooDeep` or `tooLarge` if they exceed the limits; `duplicateName` if names are
    ///   repeated and `allowsRepeatedNames` is `false`.
    public static func parse(
        _ bytes: [UInt8], limits: JSONScanner.Limits = JSONScanner.Limits(), allowsRepeatedNames: Bool = true
    ) throws(JSONError) -> JSONValue {
        var scanner = try JSONScanner(bytes, limits: limits)
        scanner.checksNames = !allowsRepeatedNames
        let value = try scanner.value()
        try scanner.end()
        return value
    }

    /// The value as compact JSON.
    public var text: String {
        var writer = JSONWriter()
        writer.value(self)
        return writer.text
    }
}
