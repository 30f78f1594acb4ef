/// The primitive types of OData V2 to V4.01 (CSDL 4.01, section 3.3, and CSDL V2, section 2.2.1).
///
/// `Edm.Float`, which some V2 services use, is read as ``double``.
public enum PrimitiveType: String, Sendable, Hashable, CaseIterable {
    case binary = "Edm.Binary"
    case boolean = "Edm.Boolean"
    case byte = "Edm.Byte"
    case date = "Edm.Date"
    /// V2 and V3 only: a point in time without an offset.
    case dateTime = "Edm.DateTime"
    case dateTimeOffset = "Edm.DateTimeOffset"
    case decimal = "Edm.Decimal"
    case double = "Edm.Double"
    case duration = "Edm.Duration"
    case guid = "Edm.Guid"
    case int16 = "Edm.Int16"
    case int32 = "Edm.Int32"
    case int64 = "Edm.Int64"
    case sbyte = "Edm.SByte"
    case single = "Edm.Single"
    case stream = "Edm.Stream"
    case string = "Edm.String"
    /// V2 and V3 only: a time of day in the wire format of `Edm.Duration`.
    case time = "Edm.Time"
    case timeOfDay = "Edm.TimeOfDay"
    case geography = "Edm.Geography"
    case geographyPoint = "Edm.GeographyPoint"
    case geographyLineString = "Edm.GeographyLineString"
    case geographyPolygon = "Edm.GeographyPolygon"
    case geographyMultiPoint = "Edm.GeographyMultiPoint"
    case geographyMultiLineString = "Edm.GeographyMultiLineString"
    case geographyMultiPolygon = "Edm.GeographyMultiPolygon"
    case geographyCollection = "Edm.GeographyCollection"
    case geometry = "Edm.Geometry"
    case geometryPoint = "Edm.GeometryPoint"
    case geometryLineString = "Edm.GeometryLineString"
    case geometryPolygon = "Edm.GeometryPolygon"
    case geometryMultiPoint = "Edm.GeometryMultiPoint"
    case geometryMultiLineString = "Edm.GeometryMultiLineString"
    case geometryMultiPolygon = "Edm.GeometryMultiPolygon"
    case geometryCollection = "Edm.GeometryCollection"
    /// The abstract base of all primitive types. Its values have their own type.
    case primitiveType = "Edm.PrimitiveType"
    /// `Edm.Untyped` and the paths of vocabularies, whose values are kept as raw JSON.
    case untyped = "Edm.Untyped"

    /// Whether values are geographical or geometrical, and so kept as raw JSON.
    public var isGeo: Bool { rawValue.hasPrefix("Edm.Geo") }

    /// Whether values are integers, stored in ``Value/integer(_:)``.
    public var isInteger: Bool {
        switch self {
        case .byte, .sbyte, .int16, .int32, .int64: true
        default: false
        }
    }
}
