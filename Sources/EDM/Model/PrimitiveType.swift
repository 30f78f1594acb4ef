/// The primitive types of OData V2 to V4.01 (CSDL 4.01, section 3.3, and CSDL V2, section 2.2.1).
///
/// `Edm.Float`, which some V2 services use, is read as ``double``.
public enum PrimitiveType: String, Sendable, Hashable, CaseIterable {
    /// A sequence of bytes.
    case binary = "Edm.Binary"
    /// True or false.
    case boolean = "Edm.Boolean"
    /// An unsigned integer of 8 bits.
    case byte = "Edm.Byte"
    /// A date without an offset.
    case date = "Edm.Date"
    /// V2 and V3 only: a point in time without an offset.
    case dateTime = "Edm.DateTime"
    /// A point in time with an offset from UTC.
    case dateTimeOffset = "Edm.DateTimeOffset"
    /// An exact decimal number.
    case decimal = "Edm.Decimal"
    /// A binary floating point number of 64 bits (IEEE 754).
    case double = "Edm.Double"
    /// A signed duration in days, hours, minutes and seconds.
    case duration = "Edm.Duration"
    /// A GUID of 16 bytes.
    case guid = "Edm.Guid"
    /// A signed integer of 16 bits.
    case int16 = "Edm.Int16"
    /// A signed integer of 32 bits.
    case int32 = "Edm.Int32"
    /// A signed integer of 64 bits.
    case int64 = "Edm.Int64"
    /// A signed integer of 8 bits.
    case sbyte = "Edm.SByte"
    /// A binary floating point number of 32 bits (IEEE 754).
    case single = "Edm.Single"
    /// A stream of bytes, which is read and written with requests of its own.
    case stream = "Edm.Stream"
    /// A text of Unicode characters.
    case string = "Edm.String"
    /// V2 and V3 only: a time of day in the wire format of `Edm.Duration`.
    case time = "Edm.Time"
    /// A time of day, from 00:00 up to but not including 24:00.
    case timeOfDay = "Edm.TimeOfDay"
    /// The abstract base of the types of shapes on the earth.
    case geography = "Edm.Geography"
    /// A point on the earth.
    case geographyPoint = "Edm.GeographyPoint"
    /// A line on the earth.
    case geographyLineString = "Edm.GeographyLineString"
    /// A polygon on the earth.
    case geographyPolygon = "Edm.GeographyPolygon"
    /// A set of points on the earth.
    case geographyMultiPoint = "Edm.GeographyMultiPoint"
    /// A set of lines on the earth.
    case geographyMultiLineString = "Edm.GeographyMultiLineString"
    /// A set of polygons on the earth.
    case geographyMultiPolygon = "Edm.GeographyMultiPolygon"
    /// A collection of shapes of any kind on the earth.
    case geographyCollection = "Edm.GeographyCollection"
    /// The abstract base of the types of shapes in a plane.
    case geometry = "Edm.Geometry"
    /// A point in a plane.
    case geometryPoint = "Edm.GeometryPoint"
    /// A line in a plane.
    case geometryLineString = "Edm.GeometryLineString"
    /// A polygon in a plane.
    case geometryPolygon = "Edm.GeometryPolygon"
    /// A set of points in a plane.
    case geometryMultiPoint = "Edm.GeometryMultiPoint"
    /// A set of lines in a plane.
    case geometryMultiLineString = "Edm.GeometryMultiLineString"
    /// A set of polygons in a plane.
    case geometryMultiPolygon = "Edm.GeometryMultiPolygon"
    /// A collection of shapes of any kind in a plane.
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
