/// An entity or complex type, including inherited properties.
public final class StructuredType: Sendable {
    /// The kind of type: entity or complex.
    public let kind: StructuredTypeKind
    /// The qualified name, `Namespace.Name`, never with an alias.
    public let name: String
    /// The qualified name of the base type, if any.
    public let baseType: String?
    /// A Boolean value that indicates whether the type has no instances of its own, only those of derived types (CSDL
    /// 4.01, section 6.2).
    public let isAbstract: Bool
    /// Whether instances can have undeclared properties (CSDL 4.01, section 6.3).
    public let isOpen: Bool
    /// Whether entities of the type are media entities.
    public let hasStream: Bool
    /// Structural properties, those of base types first, in the order of the document.
    public let properties: [Property]
    /// Navigation properties, those of base types first, in the order of the document.
    public let navigationProperties: [Property]
    /// The navigation properties with a referential constraint, whose dependent properties the type has.
    package let dependentNavigationProperties: [Property]
    /// The properties that contain the key, in key order, each once. Empty for complex types and types without a key.
    ///
    /// A key value inside a complex property is represented by that property; ``keyParts`` contains the values
    /// themselves.
    public let keyProperties: [Property]
    /// The values of the key, in key order.
    public let keyParts: [KeyPart]
    /// The key as declared, including aliases.
    public let keyReferences: [KeyReference]
    /// The alternate keys of the type's entities (`Core.AlternateKeys`), including inherited ones.
    public let alternateKeys: [AlternateKey]
    /// The annotations of the type, without those of base types.
    public let annotations: [Annotation]
    /// The names of properties with unusable declarations in the type or a base type.
    ///
    /// Values for them are neither read nor sent, not even as dynamic properties of an open type.
    /// ``EntityDataModel/defects`` contains the reasons.
    public let unusableProperties: Set<String>

    private let byName: NameMap<Property>
    /// Whether each property has another name.
    private let hasDistinctNames: Bool

    /// Creates a type.
    ///
    /// The properties must include inherited ones. If no key references are passed, the key consists of
    /// `keyProperties`. If several properties have the same name, ``findProperty(_:)`` returns the first one.
    public init(
        kind: StructuredTypeKind, name: String, baseType: String? = nil, isAbstract: Bool = false, isOpen: Bool = false,
        hasStream: Bool = false, properties: [Property], navigationProperties: [Property] = [],
        keyProperties: [Property] = [], keyReferences: [KeyReference] = [], alternateKeys: [AlternateKey] = [],
        annotations: [Annotation] = [], unusableProperties: Set<String> = []
    ) {
        self.kind = kind
        self.name = name
        self.baseType = baseType
        self.isAbstract = isAbstract
        self.isOpen = isOpen
        self.hasStream = hasStream
        self.properties = properties
        self.navigationProperties = navigationProperties
        dependentNavigationProperties = navigationProperties.filter { $0.navigation?.constraints.isEmpty == false }
        self.keyProperties = keyProperties
        self.keyReferences = keyReferences
        self.alternateKeys = alternateKeys
        self.annotations = annotations
        self.unusableProperties = unusableProperties
        let byName = NameMap((properties + navigationProperties).map { ($0.name, $0) })
        self.byName = byName
        hasDistinctNames = byName.count == properties.count + navigationProperties.count
        keyParts =
            keyReferences.isEmpty
            ? keyProperties.map { KeyPart(name: $0.name, path: $0.name, type: $0.type) }
            : keyReferences.map { KeyPart($0, type: $0.type ?? byName[$0.path]?.type) }
    }

    /// Returns the structural or navigation property with the given name, including inherited ones, or `nil` if there
    /// is none.
    public func findProperty(_ name: String) -> Property? { byName[name] }

    /// Returns the structural or navigation property with the given name, or `nil` if there is none.
    ///
    /// - Parameter place: the index in ``properties`` at or shortly after which the property is found fastest. Becomes
    ///   the index after it.
    func findProperty(_ name: String, expectedAt place: inout Int) -> Property? {
        guard hasDistinctNames else { return findProperty(name) }
        for candidate in place..<min(place + 4, properties.count) where properties[candidate].name == name {
            place = candidate + 1
            return properties[candidate]
        }
        return findProperty(name)
    }

    /// Returns whether instances can have an undeclared property with the given name.
    public func isOpen(to name: String) -> Bool { isOpen && !unusableProperties.contains(name) }

    /// The name without its namespace.
    public var localName: String {
        String(name[(name.lastIndex(of: ".").map { name.index(after: $0) } ?? name.startIndex)...])
    }
}

/// The kinds of structured types.
public enum StructuredTypeKind: Sendable, Hashable { case entity, complex }

/// An entity type.
public typealias EntityType = StructuredType
/// A complex type.
public typealias ComplexType = StructuredType

extension StructuredType: Hashable {
    public static func == (a: StructuredType, b: StructuredType) -> Bool {
        a === b || (a.name == b.name && a.kind == b.kind)
    }
    public func hash(into hasher: inout Hasher) { hasher.combine(name) }
}

extension StructuredType: CustomStringConvertible {
    public var description: String { name }
}
