public import EDM

/// A complex type as a Swift type: a struct around the value, with its properties as members. Generated code conforms to it.
///
/// A base type's struct also holds values of derived types, whole: `CompanyAddress(address)` tells whether it does.
public protocol TypedComplexValue: PropertyConvertible, Hashable {
    static var complexType: ComplexType { get }
    /// What the type was generated from, where the types that derive from it are.
    static var embeddedMetadata: EmbeddedMetadata { get }
    /// The value itself. Its type is nil where it is ``complexType`` and that has no base type.
    var complexValue: ComplexValue { get set }
    /// Takes the value as it is, whatever its type says.
    init(complexValue: ComplexValue)
}

extension TypedComplexValue {
    /// - Parameter withDefaults: gives every property that must not be null, and every one that the metadata give a default
    ///   for, its default.
    public init(withDefaults: Bool = true) {
        let type = Self.complexType
        self.init(
            complexValue: ComplexValue(
                type: type.baseType == nil ? nil : type.name,
                properties: withDefaults ? DefaultValues(model: Self.embeddedMetadata.model).of(type) : PropertyValues()
            ))
    }

    /// The value as one of another type: of a base type, or of a derived one where it is of that. Nil where it is neither.
    public init?<Other: TypedComplexValue>(_ other: Other) {
        var value = other.complexValue
        value.type = value.type ?? Other.complexType.name
        guard Self.takes(value) else { return nil }
        self.init(complexValue: Self.named(value))
    }

    public init?(propertyValue: Value) {
        guard case .complex(let value) = propertyValue, Self.takes(value) else { return nil }
        self.init(complexValue: Self.named(value))
    }

    public var propertyValue: Value { .complex(complexValue) }
    public static var propertyDefault: Self { Self() }

    /// Whether the value is of this type or one that derives from it. Nothing can be said against a type that came later.
    private static func takes(_ value: ComplexValue) -> Bool {
        guard let name = value.type, name != complexType.name else { return true }
        let model = embeddedMetadata.model
        return model.findComplexType(name) == nil || model.isType(name, derivedFrom: complexType.name)
    }

    /// The same value with its type where the Swift type does not tell it, so that equal values are equal.
    private static func named(_ value: ComplexValue) -> ComplexValue {
        var value = value
        let type = complexType
        if type.baseType == nil, value.type == type.name {
            value.type = nil
        } else if type.baseType != nil, value.type == nil {
            value.type = type.name
        }
        return value
    }

    // MARK: Values

    /// The property's value; nil where it is unset, null, or of another kind. Setting nil means null; the value is checked
    /// when the entity is saved that it belongs to.
    public subscript<Owner, T>(property: StructuralProperty<Owner, T>) -> T? {
        get { self[property.property.name].flatMap { $0.isNull ? nil : T(propertyValue: $0) } }
        set {
            let type = property.property.type
            self[property.property.name] = newValue.map { $0.propertyValue.adapted(toItemsOf: type) } ?? .null
        }
    }

    /// The value of a property that must not be null, as in an entity.
    public subscript<Owner, T>(required property: StructuralProperty<Owner, T>) -> T {
        get { self[property] ?? property.defaultValue }
        set { self[property] = newValue }
    }

    /// The value under a name, declared or, for open types, dynamic. Setting nil unsets.
    public subscript(name: String) -> Value? {
        get { complexValue.properties[name] }
        set { complexValue.properties[name] = newValue }
    }
}
