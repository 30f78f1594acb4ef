import ODataQuery

/// HTTP header fields in order. Names are compared case-insensitively and may occur more than once.
public struct HTTPHeaders: Sendable, Hashable {
    /// The fields in the order in which they are sent or were received. A name can occur more than once.
    public private(set) var fields: [(name: String, value: String)]

    /// No fields.
    public static let empty = HTTPHeaders()

    /// Creates headers without fields.
    public init() { fields = [] }

    /// Creates headers from pairs of names and values, in this order. Names can repeat.
    public init(_ fields: [(String, String)]) { self.fields = fields.map { (name: $0.0, value: $0.1) } }

    /// Creates headers from an array that is not converted.
    init(fields: [(name: String, value: String)]) { self.fields = fields }

    /// The first value of the name. Setting it replaces all values of the name; nil removes them.
    public subscript(name: String) -> String? {
        get { fields.first { $0.name.equalsIgnoringCase(name) }?.value }
        set {
            guard let newValue else { return removeAll { $0.equalsIgnoringCase(name) } }
            guard let index = fields.firstIndex(where: { $0.name.equalsIgnoringCase(name) }) else {
                return fields.append((name, newValue))
            }
            fields[index].value = newValue
            while let last = fields.lastIndex(where: { $0.name.equalsIgnoringCase(name) }), last > index {
                fields.remove(at: last)
            }
        }
    }

    /// Returns the values of all fields with the name, in order. The case of the name is ignored.
    public func values(_ name: String) -> [String] {
        fields.filter { $0.name.equalsIgnoringCase(name) }.map(\.value)
    }

    /// Appends a field, and keeps existing fields with the same name.
    public mutating func add(name: String, value: String) { fields.append((name, value)) }

    /// Removes the fields whose names satisfy the condition.
    mutating func removeAll(where isRemoved: (String) -> Bool) {
        // Most headers are shared and keep all their fields.
        if fields.contains(where: { isRemoved($0.name) }) { fields.removeAll { isRemoved($0.name) } }
    }

    /// Sets every field of `other`, replacing fields with the same name.
    public mutating func merge(_ other: HTTPHeaders) {
        for field in other.fields { self[field.name] = field.value }
    }

    public static func == (a: HTTPHeaders, b: HTTPHeaders) -> Bool {
        a.fields.count == b.fields.count
            && zip(a.fields, b.fields).allSatisfy { $0.name.equalsIgnoringCase($1.name) && $0.value == $1.value }
    }

    public func hash(into hasher: inout Hasher) {
        for field in fields {
            hasher.combine(field.name.lowercased())
            hasher.combine(field.value)
        }
    }
}

extension HTTPHeaders: ExpressibleByDictionaryLiteral {
    /// Creates headers from a literal, in its order.
    public init(dictionaryLiteral elements: (String, String)...) { self.init(elements) }
}
