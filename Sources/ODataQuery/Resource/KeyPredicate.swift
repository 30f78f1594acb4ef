public import EDM

/// The key of an entity within its set: all values of the primary key in the order of the type, or those of an
/// alternate key.
public struct KeyPredicate: Sendable, Hashable {
    /// The values by their names in URLs: the name of a property, or the alias that the key assigns to a path.
    public let values: [(name: String, value: Value)]
    /// The path of each value in an entity; see ``KeyPart/path``.
    private let paths: [String]
    /// The values by which keys are equal, or nil if they are ``values``; see ``KeyPart/identity(of:)``.
    private let identities: [Value]?

    /// Creates a key whose values are properties of the entity itself.
    public init(_ values: [(name: String, value: Value)]) {
        self.values = values
        paths = values.map(\.name)
        identities = nil
    }

    init(_ parts: [(part: KeyPart, value: Value)]) {
        values = parts.map { ($0.part.name, $0.value) }
        paths = parts.map(\.part.path)
        let hasEnumeration = parts.contains { $0.part.isEnumeration }
        identities = hasEnumeration ? parts.map { $0.part.identity(of: $0.value) } : nil
    }

    public static func == (a: KeyPredicate, b: KeyPredicate) -> Bool {
        a.values.count == b.values.count
            && a.values.indices.allSatisfy {
                a.values[$0].name == b.values[$0].name && a.identity($0) == b.identity($0)
            }
    }

    public func hash(into hasher: inout Hasher) {
        for place in values.indices {
            hasher.combine(values[place].name)
            hasher.combine(identity(place))
        }
    }

    /// Returns the value at a place in the form by which keys are equal.
    package func identity(_ place: Int) -> Value { identities?[place] ?? values[place].value }
}

extension KeyPredicate {
    /// Creates the key from an entity's properties, or returns nil if a key value is unset or null (or the type has no
    /// key).
    package init?(of type: EntityType, in properties: PropertyValues) {
        guard let located = Self.located(of: type, in: properties) else { return nil }
        values = zip(type.keyParts, located).map { ($0.name, $1.value) }
        paths = located.map(\.property)
        let hasEnumeration = type.keyParts.contains { $0.isEnumeration }
        identities = hasEnumeration ? zip(type.keyParts, located).map { $0.identity(of: $1.value) } : nil
    }

    /// Returns the key with the declared types of its values, which a key that was created by the app lacks.
    package func declared(in type: EntityType?) -> KeyPredicate {
        guard let type, identities == nil, type.keyParts.contains(where: { $0.isEnumeration }), isPrimary(of: type)
        else { return self }
        return KeyPredicate(zip(type.keyParts, values).map { ($0, $1.value) })
    }

    /// Returns the values of the key of an entity with their paths, for searching rows, or nil if it has no key; see
    /// ``init(of:in:)``.
    package static func located(
        of type: EntityType, in properties: PropertyValues
    ) -> [(property: String, value: Value)]? {
        guard !type.keyParts.isEmpty else { return nil }
        var values: [(property: String, value: Value)] = []
        values.reserveCapacity(type.keyParts.count)
        for part in type.keyParts {
            guard let value = properties.value(at: part.path), value != .null else { return nil }
            values.append((part.path, value))
        }
        return values
    }

    /// Returns the values with their paths in an entity of the type, for searching rows.
    package func located(in type: EntityType?) -> [(property: String, value: Value)] {
        zip(values, paths).map { named, path in
            // A key that was created by the app may use the alias.
            let part = path == named.name ? type?.keyParts.first { $0.name == named.name } : nil
            return (part?.path ?? path, named.value)
        }
    }

    /// Returns the values as properties of an entity of the type, with nested ones at their paths.
    package func properties(of type: EntityType?) -> PropertyValues {
        located(in: type).reduce(into: PropertyValues()) { $0.set($1.value, at: $1.property) }
    }

    /// Returns whether this is the primary key of the type, as opposed to an alternate key.
    package func isPrimary(of type: EntityType) -> Bool {
        values.count == type.keyParts.count && zip(values, type.keyParts).allSatisfy { $0.name == $1.name }
    }

    /// Returns whether an entity has these values.
    package func matches(_ properties: PropertyValues, of type: EntityType?) -> Bool {
        located(in: type).allSatisfy { property, wanted in
            guard let value = properties.value(at: property) else { return false }
            // An alternate key may contain a part of the primary key.
            guard let part = type?.keyParts.first(where: { $0.path == property }) else { return value == wanted }
            return part.identity(of: value) == part.identity(of: wanted)
        }
    }
}
