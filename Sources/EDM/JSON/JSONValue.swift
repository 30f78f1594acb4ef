/// A JSON value as the document has it: numbers keep their text, objects their order and repeated names.
public enum JSONValue: Sendable, Hashable {
    case null
    case boolean(Bool)
    /// The number's text, always in the grammar of RFC 8259.
    case number(String)
    case string(String)
    case array([JSONValue])
    case object(JSONObject)

    /// A member of an object; nil for every other kind of value. Of several of one name the last wins.
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

    /// A whole number, whether the document has it as a number or (V2, IEEE754Compatible) as a string.
    public var integer: Int64? {
        switch self {
        case .number(let text), .string(let text): Int64(text)
        default: nil
        }
    }

    /// What a person calls the kind of value, for messages.
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

    /// Of several members of one name the last wins, as in the common readers. Cost: linear.
    public subscript(name: String) -> JSONValue? { members.last { $0.name == name }?.value }

    public func contains(_ name: String) -> Bool { members.contains { $0.name == name } }
}

extension JSONValue {
    /// Reads a whole document (RFC 8259). A byte order mark before it is passed over.
    ///
    /// - Parameter allowsRepeatedNames: whether objects with several members of one name are read, of which the last wins.
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
