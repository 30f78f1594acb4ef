internal import EDM

/// A geo value for calculations: a point, a line string or a polygon in GeoJSON (RFC 7946).
///
/// Elevations and measures are ignored, as in the plane and on the sphere.
struct GeoShape {
    enum Kind: String {
        case point = "Point"
        case lineString = "LineString"
        case polygon = "Polygon"
    }

    struct Position: Equatable {
        /// The longitude in degrees, or the first coordinate in the plane.
        let x: Double
        /// The latitude in degrees, or the second coordinate in the plane.
        let y: Double
    }

    let kind: Kind
    /// One position of a point, the positions of a line string, or the rings of a polygon. Empty for an empty shape.
    let parts: [[Position]]
    /// The identifier of the coordinate reference system, if the value contains one.
    let system: Int?

    /// Reads a value. Returns nil if it is not GeoJSON of one of the three kinds.
    init?(_ value: Value) {
        guard case .raw(let text) = value, let json = try? JSONValue.parse(Array(text.utf8)),
            let kind = json["type"]?.string.flatMap(Kind.init), let coordinates = json["coordinates"]?.array
        else { return nil }
        self.kind = kind
        system = (json["crs"]?["properties"]?["name"]?.string).flatMap(Self.number)
        guard !coordinates.isEmpty else {
            parts = []
            return
        }
        let rings: [[JSONValue]]
        switch kind {
        case .point: rings = [[.array(coordinates)]]
        case .lineString: rings = [coordinates]
        case .polygon:
            rings = coordinates.compactMap(\.array)
            guard rings.count == coordinates.count else { return nil }
        }
        var parts: [[Position]] = []
        for ring in rings {
            let positions = ring.compactMap(Self.position)
            guard positions.count == ring.count else { return nil }
            parts.append(positions)
        }
        self.parts = parts
    }

    /// Returns the number in `EPSG:4326` or `urn:ogc:def:crs:EPSG::4326`.
    private static func number(_ name: String) -> Int? {
        name.split(separator: ":").last.flatMap { Int($0) }
    }

    private static func position(_ json: JSONValue) -> Position? {
        guard let items = json.array, items.count >= 2, case .number(let x) = items[0], case .number(let y) = items[1],
            let x = Double(x), let y = Double(y)
        else { return nil }
        return Position(x: x, y: y)
    }
}
