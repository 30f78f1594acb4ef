public import EDM

/// A Swift type that determines the type of a declared property.
public protocol DeclarableValue: PropertyConvertible {
    /// The type of a property with such values.
    static var declaredType: TypeReference { get }
    /// The facets of a property with such values.
    static var declaredFacets: Facets { get }
}

extension DeclarableValue {
    /// No facets, unless the type declares its own.
    public static var declaredFacets: Facets { Facets() }
}

extension String: DeclarableValue {
    /// The type `Edm.String`.
    public static var declaredType: TypeReference { TypeReference(.primitive(.string)) }
}

extension Bool: DeclarableValue {
    /// The type `Edm.Boolean`.
    public static var declaredType: TypeReference { TypeReference(.primitive(.boolean)) }
}

extension Int: DeclarableValue {
    /// The type `Edm.Int64`.
    public static var declaredType: TypeReference { TypeReference(.primitive(.int64)) }
}

extension Int64: DeclarableValue {
    /// The type `Edm.Int64`.
    public static var declaredType: TypeReference { TypeReference(.primitive(.int64)) }
}

extension Double: DeclarableValue {
    /// The type `Edm.Double`.
    public static var declaredType: TypeReference { TypeReference(.primitive(.double)) }
}

extension Float: DeclarableValue {
    /// The type `Edm.Single`.
    public static var declaredType: TypeReference { TypeReference(.primitive(.single)) }
}

extension DecimalValue: DeclarableValue {
    /// The type `Edm.Decimal`.
    public static var declaredType: TypeReference { TypeReference(.primitive(.decimal)) }
    /// A variable scale.
    public static var declaredFacets: Facets { Facets(scale: .variable) }
}

extension GuidValue: DeclarableValue {
    /// The type `Edm.Guid`.
    public static var declaredType: TypeReference { TypeReference(.primitive(.guid)) }
}

extension LocalDate: DeclarableValue {
    /// The type `Edm.Date`.
    public static var declaredType: TypeReference { TypeReference(.primitive(.date)) }
}

extension LocalTime: DeclarableValue {
    /// The type `Edm.TimeOfDay`.
    public static var declaredType: TypeReference { TypeReference(.primitive(.timeOfDay)) }
    /// A precision of 12 fractional digits.
    public static var declaredFacets: Facets { Facets(precision: 12) }
}

extension GlobalDateTime: DeclarableValue {
    /// The type `Edm.DateTimeOffset`.
    public static var declaredType: TypeReference { TypeReference(.primitive(.dateTimeOffset)) }
    /// A precision of 12 fractional digits.
    public static var declaredFacets: Facets { Facets(precision: 12) }
}

extension DayTimeDuration: DeclarableValue {
    /// The type `Edm.Duration`.
    public static var declaredType: TypeReference { TypeReference(.primitive(.duration)) }
    /// A precision of 12 fractional digits.
    public static var declaredFacets: Facets { Facets(precision: 12) }
}

/// Bytes as the item of an array are a binary value.
extension UInt8: DeclarableValue {
    /// The type `Edm.Byte`.
    public static var declaredType: TypeReference { TypeReference(.primitive(.byte)) }
}

extension Array: DeclarableValue where Element: DeclarableValue {
    /// The type `Edm.Binary` for bytes, otherwise a collection of the items' type.
    public static var declaredType: TypeReference {
        Element.self == UInt8.self
            ? TypeReference(.primitive(.binary)) : TypeReference(Element.declaredType.kind, isCollection: true)
    }
    /// The facets of the items; none for bytes.
    public static var declaredFacets: Facets { Element.self == UInt8.self ? Facets() : Element.declaredFacets }
}
