public import EDM

/// A Swift type that determines the type of a declared property.
public protocol DeclarableValue: PropertyConvertible {
    /// The type of a property with such values.
    static var declaredType: TypeReference { get }
    /// The facets of a property with such values.
    static var declaredFacets: Facets { get }
}

extension DeclarableValue {
    public static var declaredFacets: Facets { Facets() }
}

extension String: DeclarableValue {
    public static var declaredType: TypeReference { TypeReference(.primitive(.string)) }
}

extension Bool: DeclarableValue {
    public static var declaredType: TypeReference { TypeReference(.primitive(.boolean)) }
}

extension Int: DeclarableValue {
    public static var declaredType: TypeReference { TypeReference(.primitive(.int64)) }
}

extension Int64: DeclarableValue {
    public static var declaredType: TypeReference { TypeReference(.primitive(.int64)) }
}

extension Double: DeclarableValue {
    public static var declaredType: TypeReference { TypeReference(.primitive(.double)) }
}

extension Float: DeclarableValue {
    public static var declaredType: TypeReference { TypeReference(.primitive(.single)) }
}

extension DecimalValue: DeclarableValue {
    public static var declaredType: TypeReference { TypeReference(.primitive(.decimal)) }
    public static var declaredFacets: Facets { Facets(scale: .variable) }
}

extension GuidValue: DeclarableValue {
    public static var declaredType: TypeReference { TypeReference(.primitive(.guid)) }
}

extension LocalDate: DeclarableValue {
    public static var declaredType: TypeReference { TypeReference(.primitive(.date)) }
}

extension LocalTime: DeclarableValue {
    public static var declaredType: TypeReference { TypeReference(.primitive(.timeOfDay)) }
    public static var declaredFacets: Facets { Facets(precision: 12) }
}

extension GlobalDateTime: DeclarableValue {
    public static var declaredType: TypeReference { TypeReference(.primitive(.dateTimeOffset)) }
    public static var declaredFacets: Facets { Facets(precision: 12) }
}

extension DayTimeDuration: DeclarableValue {
    public static var declaredType: TypeReference { TypeReference(.primitive(.duration)) }
    public static var declaredFacets: Facets { Facets(precision: 12) }
}

/// Bytes as the item of an array are a binary value.
extension UInt8: DeclarableValue {
    public static var declaredType: TypeReference { TypeReference(.primitive(.byte)) }
}

extension Array: DeclarableValue where Element: DeclarableValue {
    public static var declaredType: TypeReference {
        Element.self == UInt8.self
            ? TypeReference(.primitive(.binary)) : TypeReference(Element.declaredType.kind, isCollection: true)
    }
    public static var declaredFacets: Facets { Element.self == UInt8.self ? Facets() : Element.declaredFacets }
}
