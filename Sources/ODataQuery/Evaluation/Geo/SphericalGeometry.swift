internal import EDM

/// Calculations on the sphere with the mean radius of the earth.
///
/// The radii of curvature of the ellipsoid WGS 84 are between 6,335 and 6,400 km, so distances differ by at most 0.6 %.
/// Lines are arcs of great circles.
enum SphericalGeometry {
    /// The mean radius of the earth in meters (IUGG, R1).
    static let radius = 6_371_008.7714

    /// A unit vector, or a vector that results from unit vectors.
    private struct Vector {
        var x, y, z: Double

        init(x: Double, y: Double, z: Double) { (self.x, self.y, self.z) = (x, y, z) }

        init(_ position: GeoPosition) {
            let longitude = Trigonometry.sineAndCosine(degrees: position.x)
            let latitude = Trigonometry.sineAndCosine(degrees: position.y)
            self.init(
                x: latitude.cosine * longitude.cosine, y: latitude.cosine * longitude.sine, z: latitude.sine)
        }

        var length: Double { dot(self).squareRoot() }

        func dot(_ other: Vector) -> Double { x * other.x + y * other.y + z * other.z }

        func cross(_ other: Vector) -> Vector {
            Vector(x: y * other.z - z * other.y, y: z * other.x - x * other.z, z: x * other.y - y * other.x)
        }
    }

    /// Returns the distance along the great circle, in meters.
    static func distance(_ a: GeoPosition, _ b: GeoPosition) -> Double {
        let (a, b) = (Vector(a), Vector(b))
        // Precise for small and for large angles, unlike the arc cosine.
        return radius * Trigonometry.angle(y: a.cross(b).length, x: a.dot(b))
    }

    /// The angle within which a position is on a line, about 6 micrometers.
    private static let tolerance = 1e-12

    /// Returns whether a position is within a polygon or on its boundary.
    ///
    /// The first ring is the exterior, each other one is a hole. The interior of a ring is the smaller part of the sphere,
    /// whatever its orientation; a ring must fit into a hemisphere.
    static func contains(_ rings: [[GeoPosition]], _ position: GeoPosition) -> Bool {
        guard let exterior = rings.first else { return false }
        let point = Vector(position)
        if rings.contains(where: { isOnBoundary($0, point) }) { return true }
        return isInside(exterior, point) && !rings.dropFirst().contains { isInside($0, point) }
    }

    private static func edges(of ring: [GeoPosition]) -> [(Vector, Vector)] {
        PlaneGeometry.edges(of: ring).map { (Vector($0), Vector($1)) }
    }

    private static func isOnBoundary(_ ring: [GeoPosition], _ point: Vector) -> Bool {
        edges(of: ring).contains { a, b in
            if a.cross(point).length <= tolerance, a.dot(point) > 0 { return true }
            let normal = a.cross(b)
            let length = normal.length
            guard length > tolerance, abs(normal.dot(point)) <= tolerance * length else { return false }
            return a.cross(point).dot(normal) >= 0 && point.cross(b).dot(normal) >= 0
        }
    }

    /// Returns whether the ring winds around the point, and not around its antipode.
    private static func isInside(_ ring: [GeoPosition], _ point: Vector) -> Bool {
        var angle = 0.0
        var center = Vector(x: 0, y: 0, z: 0)
        for (a, b) in edges(of: ring) {
            // The angle between the directions to both ends, as seen from the point.
            angle += Trigonometry.angle(
                y: point.dot(a.cross(b)), x: a.dot(b) - a.dot(point) * b.dot(point))
            center = Vector(x: center.x + a.x, y: center.y + a.y, z: center.z + a.z)
        }
        return abs(angle) > .pi && center.dot(point) > 0
    }
}
