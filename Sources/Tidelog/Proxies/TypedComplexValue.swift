public import EDM

/// A Swift type that represents a complex type: a struct that wraps the value, with its properties as members.
/// Generated code conforms to it.
///
/// The struct of a base type can also contain a complete value of a derived type: `CompanyAddress(address)` returns
/// it as such, or `nil`.
public protocol TypedComplexValue: PropertyConvertible, Hashable {
    /// The complex type of the metadata.
    static var complexType: ComplexType { get }
    /// The metadata from which the type was generated; contains its derived types.
    static var embeddedMetadata: EmbeddedMetadata { get }
    /// The wrapped value. Its type is `nil` if it is ``complexType`` and that has no base type.
    var complexValue: ComplexValue { get set }
    /// Creates a value without checking its type.
    init(complexValue: ComplexValue)
}

extension TypedComplexValue {
    /// Creates a value.
    ///
    /// - Parameter withDefaults: whether properties that are non-nullable or have a default in the metadata receive
    ///   their default.
    public init(withDefaults: Bool = true) {
        let type = Self.complexType
        self.init(
            complexValue: ComplexValue(
                type: type.baseType == nil ? nil : type.name,
                properties: withDefaults ? DefaultValues(model: Self.embeddedMetadata.model).of(type) : PropertyValues()
            ))
    }

    /// Converts a value to a base type, or to a derived type if the value is of that type. Returns `nil` otherwise.
    public init?<Other: TypedComplexValue>(_ other: Other) {
        var value = other.complexValue
        value.type = value.type ?? Other.complexType.name
        guard Self.takes(value) else { return nil }
        self.init(complexValue: Self.named(value))
    }

    /// Creates a value from a value of this type or a derived one; returns `nil` for any other value.
    public init?(propertyValue: Value) {
        guard case .complex(let value) = propertyValue, Self.takes(value) else { return nil }
        self.init(complexValue: Self.named(value))
    }

    /// The wrapped value as the value of a property.
    public var propertyValue: Value { .complex(complexValue) }
    /// A value without properties.
    public static var propertyDefault: Self { Self() }

    /// Returns whether the value is of this type or a derived one. Types that the embedded metadata does not contain
    /// are accepted.
    private static func takes(_ value: ComplexValue) -> Bool {
        guard let name = value.type, name != complexType.name else { return true }
        let model = embeddedMetadata.model
        return model.findComplexType(name) == nil || model.isType(name, derivedFrom: complexType.name)
    }

    /// Returns the value with a normalized type name, so that equal values compare equal. The name is present only if
    /// the Swift type does not imply it.
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

    /// The value of the property; `nil` if it is unset, null, or of another type.
    ///
    /// Setting `nil` sets the property to null. The value is checked when its entity is saved.
    public subscript<Owner, T>(property: StructuralProperty<Owner, T>) -> T? {
        get { self[property.property.name].flatMap { $0.isNull ? nil : T(propertyValue: $0) } }
        set { self[property.property.name] = newValue?.value(for: property.property) ?? .null }
    }

    /// The value of a non-nullable property, with the same defaults as in an entity.
    public subscript<Owner, T>(required property: StructuralProperty<Owner, T>) -> T {
        get { self[property] ?? property.defaultValue }
        set { self[property] = newValue }
    }

    /// The value of a declared property or, for open types, a dynamic one. Setting `nil` unsets the property.
    public subscript(name: String) -> Value? {
        get { complexValue.properties[name] }
        set { complexValue.properties[name] = newValue }
    }
}
