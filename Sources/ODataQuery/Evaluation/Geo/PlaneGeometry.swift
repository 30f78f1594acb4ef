internal import EDM

/// Calculations in the plane.
enum PlaneGeometry {
    static func distance(_ a: GeoPosition, _ b: GeoPosition) -> Double {
        let (x, y) = (b.x - a.x, b.y - a.y)
        return (x * x + y * y).squareRoot()
    }

    /// Returns whether a position is within a polygon or on its boundary.
    ///
    /// The orientation of the rings does not matter: the interior consists of the positions within an odd number of
    /// rings.
    static func contains(_ rings: [[GeoPosition]], _ position: GeoPosition) -> Bool {
        var isInside = false
        for ring in rings {
            for (a, b) in edges(of: ring) {
                if isBetween(position, a, b) { return true }
                guard (a.y > position.y) != (b.y > position.y) else { continue }
                let crossing = a.x + (position.y - a.y) / (b.y - a.y) * (b.x - a.x)
                if position.x < crossing { isInside.toggle() }
            }
        }
        return isInside
    }

    /// Returns the edges of a ring, which is closed even if its last position is not the first one.
    static func edges(of ring: [GeoPosition]) -> [(GeoPosition, GeoPosition)] {
        guard let first = ring.first else { return [] }
        return Array(zip(ring, ring.dropFirst() + [first]))
    }

    /// Returns whether a position is on the line between two positions, within the precision of the coordinates.
    private static func isBetween(
        _ position: GeoPosition, _ a: GeoPosition, _ b: GeoPosition
    ) -> Bool {
        let (dx, dy) = (b.x - a.x, b.y - a.y)
        let (px, py) = (position.x - a.x, position.y - a.y)
        let area = dx * py - dy * px
        guard abs(area) <= 1e-12 * (abs(dx * py) + abs(dy * px)) else { return false }
        return position.x >= min(a.x, b.x) && position.x <= max(a.x, b.x) && position.y >= min(a.y, b.y)
            && position.y <= max(a.y, b.y)
    }
}
