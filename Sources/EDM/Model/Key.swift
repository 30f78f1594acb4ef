/// One `PropertyRef` of a key, as declared (CSDL 4.01, section 6.5).
public struct KeyReference: Sendable, Hashable {
    /// The property's name, or a path to a property of a complex property (V4).
    public let path: String
    /// The name in key predicates instead of the path; `nil` if the path is the name.
    public let alias: String?
    /// The type of the property, or `nil` if the document does not declare it.
    public let type: TypeReference?
    /// The enumeration that is the type of the property, or nil.
    let enumeration: EnumerationType?

    /// Creates a reference to a key property.
    public init(path: String, alias: String? = nil, type: TypeReference? = nil) {
        self.init(path: path, alias: alias, type: type, enumeration: nil)
    }

    init(path: String, alias: String?, type: TypeReference?, enumeration: EnumerationType?) {
        self.path = path
        self.alias = alias
        self.type = type
        self.enumeration = enumeration
    }
}

/// One value of a key, with its name in URLs and its location in an entity.
public struct KeyPart: Sendable, Hashable {
    /// The name in key predicates: the alias if there is one, otherwise the property's name.
    public let name: String
    /// The location of the value: the name of a property, or a path such as `Address/Street`.
    public let path: String
    /// The type of the value; `Edm.PrimitiveType` if the document does not declare the property.
    public let type: TypeReference
    /// The enumeration that is the type of the value. At most one element, because parts are copied for each row.
    private let enumerations: [EnumerationType]

    /// Creates a value of a key.
    public init(name: String, path: String, type: TypeReference) {
        self.init(name: name, path: path, type: type, enumerations: [])
    }

    private init(name: String, path: String, type: TypeReference, enumerations: [EnumerationType]) {
        self.name = name
        self.path = path
        self.type = type
        self.enumerations = enumerations
    }

    init(_ reference: KeyReference, type: TypeReference?) {
        self.init(
            name: reference.alias ?? reference.path, path: reference.path,
            type: type ?? TypeReference(.primitive(.primitiveType)),
            enumerations: reference.enumeration.map { [$0] } ?? [])
    }

    /// Whether the value is a member of a declared enumeration, which has several notations.
    package var isEnumeration: Bool { !enumerations.isEmpty }

    /// Returns whether equal values of this part are equal values of the other one.
    package func hasSameNotations(as other: KeyPart) -> Bool {
        let (own, others) = (enumerations.first, other.enumerations.first)
        return own?.isFlags == others?.isFlags && own?.members.map(\.name) == others?.members.map(\.name)
            && own?.members.map(\.value) == others?.members.map(\.value)
    }

    /// Returns the value by which keys are equal. A service may write an enumeration member by its name or its number,
    /// and combined members in any order (OData JSON 4.01, section 7.1).
    package func identity(of value: Value) -> Value {
        enumerations.isEmpty ? value : enumerations[0].canonical(value)
    }

    /// A Boolean value that indicates whether the value is inside a complex property.
    public var isNested: Bool { path.utf8.contains(UInt8(ascii: "/")) }

    /// The name of the entity's property that is or contains the value.
    package var propertyName: String { isNested ? String(path.prefix { $0 != "/" }) : path }
}

/// An additional key of an entity (`Org.OData.Core.V1.AlternateKeys`; OData 4.01 Part 1, section 10.4).
///
/// It addresses an entity by its current values, which may change; it is not the entity's identity.
public struct AlternateKey: Sendable, Hashable {
    /// The values of the key, in the order of the annotation.
    public let parts: [KeyPart]

    /// Creates an alternate key.
    public init(_ parts: [KeyPart]) { self.parts = parts }
}
