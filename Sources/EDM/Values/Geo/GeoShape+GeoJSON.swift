/// GeoJSON (RFC 7946) with the reference system in `crs`, as OData's JSON format prescribes. The infinities and NaN,
/// which JSON does not have, are strings.
extension GeoShape {
    /// Reads a value of a geo property. Returns nil if it is not a shape in GeoJSON.
    ///
    /// Members other than `type`, `coordinates`, `geometries` and `crs` are ignored.
    public init?(_ value: Value) {
        guard case .raw(let text) = value, let json = try? JSONValue.parse(Array(text.utf8)),
            let coordinates = Coordinates(json, depth: 0)
        else { return nil }
        self.init(
            coordinates,
            referenceSystem: (json["crs"]?["properties"]?["name"]?.string).flatMap(Self.number))
    }

    /// The value in GeoJSON.
    public var value: Value {
        var writer = JSONWriter()
        writer.beginObject()
        coordinates.writeMembers(to: &writer)
        if let referenceSystem {
            writer.name("crs")
            writer.raw(#"{"type":"name","properties":{"name":"EPSG:\#(referenceSystem)"}}"#)
        }
        writer.endObject()
        return .raw(writer.text)
    }

    /// Returns the number in `EPSG:4326` or `urn:ogc:def:crs:EPSG::4326`.
    package static func number(_ name: String) -> Int? { name.split(separator: ":").last.flatMap { Int($0) } }
}

extension GeoShape.Coordinates {
    fileprivate init?(_ json: JSONValue, depth: Int) {
        guard depth < GeoShape.depthLimit, let kind = json["type"]?.string.flatMap(ShapeKind.init(rawValue:)) else {
            return nil
        }
        if kind == .collection {
            guard let members = json["geometries"]?.array,
                let shapes = all(members, { GeoShape.Coordinates($0, depth: depth + 1) })
            else { return nil }
            self = .collection(shapes)
            return
        }
        guard let items = json["coordinates"]?.array else { return nil }
        func line(_ json: JSONValue) -> [GeoPosition]? { json.array.flatMap { all($0, GeoPosition.init) } }
        func lines(_ json: JSONValue) -> [[GeoPosition]]? { json.array.flatMap { all($0, line) } }
        let result: GeoShape.Coordinates? =
            switch kind {
            case .point: items.isEmpty ? .point(nil) : GeoPosition(.array(items)).map { .point($0) }
            case .lineString: all(items, GeoPosition.init).map { .lineString($0) }
            case .multiPoint: all(items, GeoPosition.init).map { .multiPoint($0) }
            case .polygon: all(items, line).map { .polygon($0) }
            case .multiLineString: all(items, line).map { .multiLineString($0) }
            case .multiPolygon: all(items, lines).map { .multiPolygon($0) }
            case .collection: nil
            }
        guard let result else { return nil }
        self = result
    }

    fileprivate func writeMembers(to writer: inout JSONWriter) {
        writer.name("type")
        writer.string(kind.rawValue)
        if case .collection(let members) = self {
            writer.name("geometries")
            writeList(members, to: &writer) { member, writer in
                writer.beginObject()
                member.writeMembers(to: &writer)
                writer.endObject()
            }
            return
        }
        writer.name("coordinates")
        func line(_ positions: [GeoPosition], _ writer: inout JSONWriter) {
            writeList(positions, to: &writer) { $0.write(to: &$1) }
        }
        func lines(_ lists: [[GeoPosition]], _ writer: inout JSONWriter) { writeList(lists, to: &writer, line) }
        switch self {
        case .point(let position): position.map { $0.write(to: &writer) } ?? writer.raw("[]")
        case .lineString(let positions), .multiPoint(let positions): line(positions, &writer)
        case .polygon(let rings), .multiLineString(let rings): lines(rings, &writer)
        case .multiPolygon(let polygons): writeList(polygons, to: &writer, lines)
        case .collection: break
        }
    }
}

extension GeoPosition {
    fileprivate init?(_ json: JSONValue) {
        guard let items = json.array, (2...4).contains(items.count), let numbers = all(items, Self.number) else {
            return nil
        }
        self.init(
            x: numbers[0], y: numbers[1], z: numbers.count > 2 ? numbers[2] : nil,
            m: numbers.count > 3 ? numbers[3] : nil)
    }

    private static func number(_ json: JSONValue) -> Double? {
        switch json {
        case .number(let text): Double(text)
        case .string("INF"): .infinity
        case .string("-INF"): -.infinity
        case .string("NaN"): .nan
        default: nil
        }
    }

    fileprivate func write(to writer: inout JSONWriter) {
        writer.beginArray()
        for number in [x, y, z ?? m.map { _ in 0 }, m].compactMap(\.self) {
            if number.isFinite {
                writer.raw(Int64(exactly: number).map(String.init) ?? number.description)
            } else {
                writer.string(number.isNaN ? "NaN" : number < 0 ? "-INF" : "INF")
            }
        }
        writer.endArray()
    }
}

/// Returns the converted items, or nil if an item cannot be converted.
private func all<Item, Result>(_ items: [Item], _ convert: (Item) -> Result?) -> [Result]? {
    let results = items.compactMap(convert)
    return results.count == items.count ? results : nil
}

private func writeList<Item>(
    _ items: [Item], to writer: inout JSONWriter, _ write: (Item, inout JSONWriter) -> Void
) {
    writer.beginArray()
    for item in items { write(item, &writer) }
    writer.endArray()
}
