internal import EDM

/// The geo functions (OData 4.01 Part 2, Geo Functions): `geo.distance` of points, `geo.length` of a line string, and
/// `geo.intersects` of a point and a polygon.
///
/// The standard leaves the calculation to the coordinate reference system. Geography is calculated on the sphere with
/// the mean radius of the earth, with results in meters; geometry in the plane, with results in the unit of the
/// coordinates. The family of a value is that of its type; without a type, of its reference system.
enum GeoFunctions {
    /// The families of geo types.
    enum Family { case geography, geometry }

    /// Applies a function. Null arguments, empty shapes, and shapes of different reference systems result in null.
    ///
    /// - Parameter family: The family of the arguments, if their types are known.
    static func apply(
        _ function: CanonicalFunction, _ arguments: [Value], family: Family?
    ) throws(EvaluationError) -> Value {
        guard function.arity.contains(arguments.count) else {
            throw EvaluationError(.wrongOperand, "\(function.rawValue) does not accept \(arguments.count) arguments.")
        }
        if arguments.contains(.null) { return .null }
        let shapes = try arguments.map { argument throws(EvaluationError) in
            guard let shape = GeoShape(argument) else {
                throw EvaluationError(
                    .wrongOperand, "\(function.rawValue) cannot be applied to this value of a geo type.")
            }
            return shape
        }
        let standard = family == .geometry ? 0 : 4326
        let systems = Set(shapes.map { $0.referenceSystem ?? standard })
        // SRID 0 is the undefined plane.
        let isPlane = family.map { $0 == .geometry } ?? systems.contains(0)
        let result = try result(function, shapes.map(\.coordinates), isPlane)
        return systems.count == 1 ? result : .null
    }

    private static func result(
        _ function: CanonicalFunction, _ shapes: [GeoShape.Coordinates], _ isPlane: Bool
    ) throws(EvaluationError) -> Value {
        switch (function, shapes.first, shapes.last) {
        case (.geoDistance, .point(let a), .point(let b)):
            guard let a, let b else { return .null }
            return .double(length([a, b], isPlane))
        // Only the declaration of `geo.intersects` has an order, and its meaning does not depend on it.
        case (.geoIntersects, .point(let position), .polygon(let rings)),
            (.geoIntersects, .polygon(let rings), .point(let position)):
            guard let position, !rings.isEmpty else { return .null }
            return .boolean(
                isPlane ? PlaneGeometry.contains(rings, position) : SphericalGeometry.contains(rings, position))
        case (.geoLength, .lineString(let positions), _):
            return positions.isEmpty ? .null : .double(length(positions, isPlane))
        default:
            let names = shapes.map(\.kind.rawValue).joined(separator: " and ")
            throw EvaluationError(.wrongOperand, "\(function.rawValue) cannot be applied to \(names).")
        }
    }

    private static func length(_ positions: [GeoPosition], _ isPlane: Bool) -> Double {
        zip(positions, positions.dropFirst()).reduce(0) { sum, pair in
            sum
                + (isPlane
                    ? PlaneGeometry.distance(pair.0, pair.1) : SphericalGeometry.distance(pair.0, pair.1))
        }
    }
}

extension EvaluationRun {
    /// Returns the family of the geo types of the arguments, or nil if no argument has a known type.
    func geoFamily(of arguments: [Expression]) -> GeoFunctions.Family? {
        for argument in arguments {
            let type: PrimitiveType? =
                switch argument {
                case .literal(_, let type): type
                case .path(let path): primitiveType(path)
                case .cast(_, let name): PrimitiveType(rawValue: name)
                default: nil
                }
            guard let name = type?.rawValue else { continue }
            if name.hasPrefix("Edm.Geometry") { return .geometry }
            if name.hasPrefix("Edm.Geography") { return .geography }
        }
        return nil
    }
}
