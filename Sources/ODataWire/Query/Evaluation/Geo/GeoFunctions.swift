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
        try check(function, shapes.map(\.kind))
        let standard = family == .geometry ? 0 : 4326
        let systems = Set(shapes.map { $0.system ?? standard })
        guard systems.count == 1, shapes.allSatisfy({ !$0.parts.isEmpty }) else { return .null }
        // SRID 0 is the undefined plane.
        let isPlane = family.map { $0 == .geometry } ?? systems.contains(0)
        switch function {
        case .geoIntersects:
            let (point, polygon) = shapes[0].kind == .point ? (shapes[0], shapes[1]) : (shapes[1], shapes[0])
            let position = point.parts[0][0]
            return .boolean(
                isPlane
                    ? PlaneGeometry.contains(polygon.parts, position)
                    : SphericalGeometry.contains(polygon.parts, position))
        case .geoDistance: return .double(length([shapes[0].parts[0][0], shapes[1].parts[0][0]], isPlane))
        default: return .double(length(shapes[0].parts[0], isPlane))
        }
    }

    private static func check(
        _ function: CanonicalFunction, _ kinds: [GeoShape.Kind]
    ) throws(EvaluationError) {
        let expected: [GeoShape.Kind] =
            switch function {
            case .geoDistance: [.point, .point]
            case .geoIntersects: [.point, .polygon]
            default: [.lineString]
            }
        // Only the declaration of `geo.intersects` has an order, and its meaning does not depend on it.
        guard kinds == expected || function == .geoIntersects && kinds == expected.reversed() else {
            let names = kinds.map(\.rawValue).joined(separator: " and ")
            throw EvaluationError(.wrongOperand, "\(function.rawValue) cannot be applied to \(names).")
        }
    }

    private static func length(_ positions: [GeoShape.Position], _ isPlane: Bool) -> Double {
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
