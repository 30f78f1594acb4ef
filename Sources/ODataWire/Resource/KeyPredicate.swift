public import EDM

/// The key of an entity within its set: every value of the key, in the order of the type's key; or one of its alternate
/// keys.
public struct KeyPredicate: Sendable, Hashable {
    /// The values by the names that URLs use: a property's name, or the alias that the key gives a path.
    public let values: [(name: String, value: Value)]
    /// Where an entity has each of the values, see ``KeyPart/path``.
    private let paths: [String]

    /// A key whose values are properties of the entity itself.
    public init(_ values: [(name: String, value: Value)]) {
        self.values = values
        paths = values.map(\.name)
    }

    init(_ parts: [(part: KeyPart, value: Value)]) {
        values = parts.map { ($0.part.name, $0.value) }
        paths = parts.map(\.part.path)
    }

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
    /// The key among `properties`, or nil if a value of the key is unset or null (or the type has no key).
    public init?(of type: EntityType, in properties: PropertyValues) {
        guard !type.keyParts.isEmpty else { return nil }
        var values: [(part: KeyPart, value: Value)] = []
        values.reserveCapacity(type.keyParts.count)
        for part in type.keyParts {
            guard let value = properties.value(at: part.path), value != .null else { return nil }
            values.append((part, value))
        }
        self.init(values)
    }

    /// The values with the paths at which an entity of the type has them, to search rows by.
    public func located(in type: EntityType?) -> [(property: String, value: Value)] {
        zip(values, paths).map { named, path in
            // A key that was made by hand may use the alias.
            let part = path == named.name ? type?.keyParts.first { $0.name == named.name } : nil
            return (part?.path ?? path, named.value)
        }
    }

    /// The values as properties of an entity of the type, those within complex properties at their paths.
    public func properties(of type: EntityType?) -> PropertyValues {
        located(in: type).reduce(into: PropertyValues()) { $0.set($1.value, at: $1.property) }
    }

    /// Whether it is the type's own key, and no alternate one.
    public func isPrimary(of type: EntityType) -> Bool {
        values.count == type.keyParts.count && zip(values, type.keyParts).allSatisfy { $0.name == $1.name }
    }

    /// Whether an entity has these values.
    public func matches(_ properties: PropertyValues, of type: EntityType?) -> Bool {
        located(in: type).allSatisfy { properties.value(at: $0.property) == $0.value }
    }
}
