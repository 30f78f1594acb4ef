/// A value of the geo types: a point, a line, a polygon, several of one kind, or a collection.
///
/// A shape does not know whether it is geography (degrees on the earth) or geometry (coordinates in a plane); the type
/// of its property, or its reference system, determines that.
///
/// ```swift
/// site.place = .point(longitude: 8.64, latitude: 49.29)
/// site.area = .polygon([[.init(x: 0, y: 0), .init(x: 10, y: 0), .init(x: 10, y: 10), .init(x: 0, y: 0)]])
/// ```
public struct GeoShape: Hashable, Sendable {
    /// The coordinates of the kinds of shapes. A shape without positions is empty.
    public enum Coordinates: Hashable, Sendable {
        /// A position, or nil for an empty point.
        case point(GeoPosition?)
        /// The positions of a line, in order.
        case lineString([GeoPosition])
        /// The exterior ring and the rings of the holes. The last position of a ring repeats the first one.
        case polygon([[GeoPosition]])
        /// The positions of several points.
        case multiPoint([GeoPosition])
        /// The positions of several lines.
        case multiLineString([[GeoPosition]])
        /// The rings of several polygons, each polygon as in `polygon`.
        case multiPolygon([[[GeoPosition]]])
        /// Shapes of any kind, at most eight levels deep.
        indirect case collection([Coordinates])
    }

    /// The kind of shape, and its coordinates.
    public var coordinates: Coordinates
    /// The number of the coordinate reference system (SRID), or nil for the default of the type: 4326 (WGS 84) for
    /// geography, 0 (an undefined plane) for geometry.
    public var referenceSystem: Int?

    /// The maximum nesting depth of collections that are read.
    static let depthLimit = 8

    /// Creates a shape.
    ///
    /// - Parameters:
    ///   - coordinates: the kind of shape and its coordinates, which are not checked.
    ///   - referenceSystem: the number of the coordinate reference system, or nil for the default of the type.
    public init(_ coordinates: Coordinates, referenceSystem: Int? = nil) {
        self.coordinates = coordinates
        self.referenceSystem = referenceSystem
    }

    /// Creates a point on the earth, in degrees.
    public static func point(longitude: Double, latitude: Double) -> GeoShape {
        GeoShape(.point(GeoPosition(longitude: longitude, latitude: latitude)))
    }

    /// Creates a point in a plane.
    public static func point(x: Double, y: Double) -> GeoShape { GeoShape(.point(GeoPosition(x: x, y: y))) }

    /// Creates a line from its positions, in order.
    public static func lineString(_ positions: [GeoPosition]) -> GeoShape { GeoShape(.lineString(positions)) }

    /// Creates a polygon from its exterior ring and the rings of its holes. The last position of a ring repeats the
    /// first one.
    public static func polygon(_ rings: [[GeoPosition]]) -> GeoShape { GeoShape(.polygon(rings)) }

    /// The position of a point; nil for an empty point and for other shapes.
    public var position: GeoPosition? { if case .point(let position) = coordinates { position } else { nil } }
}

/// A position of a shape: two coordinates, and optionally an elevation and a measure.
public struct GeoPosition: Hashable, Sendable {
    /// The first coordinate in a plane, or the longitude in degrees.
    public var x: Double
    /// The second coordinate in a plane, or the latitude in degrees.
    public var y: Double
    /// The third coordinate in a plane, or the elevation. Ignored by the functions of queries.
    public var z: Double?
    /// A measure without a fixed meaning. Exists only together with `z`. Ignored by the functions of queries.
    public var m: Double?

    /// Creates a position in a plane.
    ///
    /// - Parameters:
    ///   - x: the first coordinate.
    ///   - y: the second coordinate.
    ///   - z: the third coordinate.
    ///   - m: a measure, which is used only together with `z`.
    public init(x: Double, y: Double, z: Double? = nil, m: Double? = nil) {
        (self.x, self.y, self.z, self.m) = (x, y, z, m)
    }

    /// Creates a position on the earth, in degrees.
    public init(longitude: Double, latitude: Double, elevation: Double? = nil) {
        self.init(x: longitude, y: latitude, z: elevation)
    }

    /// The longitude in degrees; the same as ``x``.
    public var longitude: Double { x }
    /// The latitude in degrees; the same as ``y``.
    public var latitude: Double { y }
    /// The elevation; the same as ``z``.
    public var elevation: Double? { z }
}

extension GeoShape.Coordinates {
    /// The kinds of shapes. Raw values are the names in GeoJSON and, without the collection, in well-known text.
    package enum ShapeKind: String, CaseIterable, Sendable {
        case point = "Point"
        case lineString = "LineString"
        case polygon = "Polygon"
        case multiPoint = "MultiPoint"
        case multiLineString = "MultiLineString"
        case multiPolygon = "MultiPolygon"
        case collection = "GeometryCollection"
    }

    package var kind: ShapeKind {
        switch self {
        case .point: .point
        case .lineString: .lineString
        case .polygon: .polygon
        case .multiPoint: .multiPoint
        case .multiLineString: .multiLineString
        case .multiPolygon: .multiPolygon
        case .collection: .collection
        }
    }
}

extension PrimitiveType {
    /// Whether values of this type can have shapes of the kind.
    package func holds(_ kind: GeoShape.Coordinates.ShapeKind) -> Bool {
        switch self {
        case .geography, .geometry: true
        case .geographyPoint, .geometryPoint: kind == .point
        case .geographyLineString, .geometryLineString: kind == .lineString
        case .geographyPolygon, .geometryPolygon: kind == .polygon
        case .geographyMultiPoint, .geometryMultiPoint: kind == .multiPoint
        case .geographyMultiLineString, .geometryMultiLineString: kind == .multiLineString
        case .geographyMultiPolygon, .geometryMultiPolygon: kind == .multiPolygon
        case .geographyCollection, .geometryCollection: kind == .collection
        default: false
        }
    }

    /// Whether the type is one of the geometry types, whose coordinates are in a plane.
    package var isGeometry: Bool { rawValue.hasPrefix("Edm.Geometry") }

    /// Returns the type of the kind in a family.
    package static func geo(_ kind: GeoShape.Coordinates.ShapeKind, isGeometry: Bool) -> PrimitiveType {
        let family = isGeometry ? "Edm.Geometry" : "Edm.Geography"
        let name = family + (kind == .collection ? "Collection" : kind.rawValue)
        return PrimitiveType(rawValue: name) ?? (isGeometry ? .geometry : .geography)
    }
}
