public import EDM
import ODataQuery

/// Geo functions (OData 4.01 Part 2, section 5.1.1.11). Geography is measured on the sphere in meters, geometry in the
/// plane in the unit of its coordinates. Null arguments, empty shapes and shapes of different reference systems result
/// in null.
///
/// A shape that is passed as a value belongs to the family of the operand's property, geography or geometry.
extension TypedOperand where Value == GeoShape {
    /// Returns the distance between this point and another: `Site.place.distance(to: .point(longitude: 8.6,
    /// latitude: 49.3)) < 5_000`.
    public func distance(to shape: GeoShape) -> TypedFunction<Double> {
        TypedFunction(.geoDistance, [syntax, literal(shape)], .double)
    }
    /// Returns the distance between two points, in meters for geography.
    public func distance(to other: some TypedOperand<GeoShape>) -> TypedFunction<Double> {
        TypedFunction(.geoDistance, [syntax, other.syntax], .double)
    }

    /// Returns the length of this line string.
    public func length() -> TypedFunction<Double> { TypedFunction(.geoLength, [syntax], .double) }

    /// Returns a condition that is true if a point is within a polygon or on its boundary. One of the two is the
    /// operand.
    public func intersects(_ shape: GeoShape) -> QueryFilter {
        condition(.geoIntersects, literal(shape))
    }
    /// Returns a condition that is true if a point is within a polygon or on its boundary.
    public func intersects(_ other: some TypedOperand<GeoShape>) -> QueryFilter {
        condition(.geoIntersects, other.syntax)
    }
}

/// Geo functions, as for typed operands.
extension DynamicOperand {
    /// Returns the distance between this point and another, in meters for geography.
    public func distance(to shape: GeoShape) -> QueryFunction {
        QueryFunction(.geoDistance, [syntax, literal(shape)], .double)
    }
    /// Returns the distance between two points, in meters for geography.
    public func distance(to other: some QueryOperand) -> QueryFunction {
        QueryFunction(.geoDistance, [syntax, other.syntax], .double)
    }

    /// Returns the length of this line string (`geo.length`), in meters for geography. ``length()`` counts the
    /// characters of a text.
    public func geoLength() -> QueryFunction { QueryFunction(.geoLength, [syntax], .double) }

    /// Returns a condition that is true if a point is within a polygon or on its boundary.
    public func intersects(_ shape: GeoShape) -> QueryFilter { condition(.geoIntersects, literal(shape)) }
    /// Returns a condition that is true if a point is within a polygon or on its boundary.
    public func intersects(_ other: some QueryOperand) -> QueryFilter {
        condition(.geoIntersects, other.syntax)
    }
}

extension QueryOperand {
    /// Returns the literal of a shape in the operand's family. Without a known type, the reference system 0 is the
    /// plane, and every other one is geography.
    fileprivate func literal(_ shape: GeoShape) -> Expression {
        let isGeometry = queryType?.primitive?.isGeometry ?? (shape.referenceSystem == 0)
        return .literal(shape.value, .geo(shape.coordinates.kind, isGeometry: isGeometry))
    }
}
