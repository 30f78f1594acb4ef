/// A JSON value as written in the document: numbers keep their text, objects their order and duplicate names.
public enum JSONValue: Sendable, Hashable {
    /// The literal `null`.
    case null
    /// The literal `true` or `false`.
    case boolean(Bool)
    /// The number's text, always in the grammar of RFC 8259.
    case number(String)
    /// A string, with its escapes decoded.
    case string(String)
    /// The items of an array, in order.
    case array([JSONValue])
    /// The members of an object, in the order of the document.
    case object(JSONObject)

    /// The value of an object's member, or `nil` for other kinds of value. The last of several members with the same
    /// name is used.
    public subscript(name: String) -> JSONValue? {
        if case .object(let object) = self { object[name] } else { nil }
    }

    /// The string, or `nil` for other kinds of value.
    public var string: String? {
        if case .string(let text) = self { text } else { nil }
    }

    /// The items of an array, or `nil` for other kinds of value.
    public var array: [JSONValue]? {
        if case .array(let items) = self { items } else { nil }
    }

    /// The object, or `nil` for other kinds of value.
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
    /// A name and its value. Names can repeat in an object.
    public struct Member: Sendable, Hashable {
        /// The name, with its escapes decoded.
        public var name: String
        /// The value.
        public var value: JSONValue

        /// Creates a member.
        public init(name: String, value: JSONValue) {
            self.name = name
            self.value = value
        }
    }

    /// The members in order, including those with repeated names.
    public var members: [Member]

    /// Creates an object from members, which are not checked for repeated names.
    public init(_ members: [Member] = []) { self.members = members }

    /// The value of the last member with that name, as in most readers. Cost: O(n).
    public subscript(name: String) -> JSONValue? { members.last { $0.name == name }?.value }

    /// Returns whether the object has a member with the given name. Cost: O(n).
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
