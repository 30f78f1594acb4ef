public import EDM

/// The key of an entity within its set: every key property's value, in the order of the type's key.
public struct KeyPredicate: Sendable, Hashable {
    public let values: [(name: String, value: Value)]

    public init(_ values: [(name: String, value: Value)]) { self.values = values }

    public static func == (a: KeyPredicate, b: KeyPredicate) -> Bool {
        a.values.count == b.values.count
            && zip(a.values, b.values).allSatisfy { $0.name == $1.name && $0.value == $1.value }
    }

    public func hash(into hasher: inout Hasher) {
        for (name, value) in values {
            hasher.combine(name)
            hasher.combine(value)
        }
    }
}

extension KeyPredicate {
    /// The key among `properties`, or nil if a key property is unset or null (or the type has no key).
    public init?(of type: EntityType, in properties: PropertyValues) {
        guard !type.keyProperties.isEmpty else { return nil }
        var values: [(name: String, value: Value)] = []
        for property in type.keyProperties {
            guard let value = properties[property.name], value != .null else { return nil }
            values.append((property.name, value))
        }
        self.init(values)
    }
}
