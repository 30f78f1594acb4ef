internal import EDM

/// The text form of geo values in URLs, `SRID=4326;Point(142.1 64.1)`, and its counterpart in payloads, GeoJSON.
///
/// Values are stored as GeoJSON. Coordinates keep their digits; an empty shape has empty coordinates; a third and
/// fourth number of a position are its elevation and measure.
enum WellKnownText {
    /// Returns the GeoJSON form of `text`, or nil if it is not well-known text of `type`.
    ///
    /// - Parameter isStrict: Whether to enforce the URL grammar: a reference system, at least two positions in a line,
    ///   one in a ring, one ring in a polygon, one member in a collection, and parentheses around each point of
    ///   several. `EMPTY` is always accepted.
    static func geoJSON(_ text: String, type: PrimitiveType, isStrict: Bool = false) -> String? {
        guard let (srid, body) = split(text), !isStrict || srid.map({ $0 < 100_000 }) ?? false else { return nil }
        var reader = Reader(cursor: TextCursor(body), isStrict: isStrict)
        guard let shape = reader.shape(depth: 0), reader.isAtEnd, type.holds(shape.kind) else { return nil }
        var writer = JSONWriter()
        writer.beginObject()
        shape.writeMembers(to: &writer)
        if let srid {
            writer.name("crs")
            writer.raw("{\"type\":\"name\",\"properties\":{\"name\":\"EPSG:\(srid)\"}}")
        }
        writer.endObject()
        return writer.text
    }

    /// Returns the well-known text of a GeoJSON text, or nil if it is not a GeoJSON geometry.
    static func text(geoJSON: String, type: PrimitiveType) -> String? {
        guard let json = try? JSONValue.parse(Array(geoJSON.utf8)), let body = body(of: json) else { return nil }
        let srid = (json["crs"]?["properties"]?["name"]?.string).flatMap(GeoShape.number)
        // The defaults of the standard: WGS 84 for geography, an undefined plane otherwise.
        return "SRID=\(srid ?? (type.isGeometry ? 0 : 4326));\(body)"
    }

    /// Returns the type that a literal's text declares, or nil for an unknown shape.
    static func type(of text: String, isGeography: Bool) -> PrimitiveType? {
        guard let (_, body) = split(text) else { return nil }
        var reader = Reader(cursor: TextCursor(body))
        guard let kind = reader.kind() else { return nil }
        return PrimitiveType.geo(kind, isGeometry: !isGeography)
    }

    private static func split(_ text: String) -> (srid: Int64?, body: String)? {
        var cursor = TextCursor(text)
        guard cursor.consume("SRID=", ignoringCase: true) else { return (nil, text) }
        guard let srid = cursor.digits(1...6), cursor.consume(";") else { return nil }
        return (srid, String(decoding: cursor.bytes[cursor.index...], as: UTF8.self))
    }

    /// The names are those of GeoJSON. Well-known text also accepts a shorter name for the collection.
    typealias ShapeKind = GeoShape.Coordinates.ShapeKind

    struct Shape {
        let kind: ShapeKind
        /// A JSON array, empty for an empty shape.
        var coordinates = "[]"
        var members: [Shape] = []

        func writeMembers(to writer: inout JSONWriter) {
            writer.name("type")
            writer.string(kind.rawValue)
            if kind == .collection {
                writer.name("geometries")
                writer.beginArray()
                for member in members {
                    writer.beginObject()
                    member.writeMembers(to: &writer)
                    writer.endObject()
                }
                writer.endArray()
            } else {
                writer.name("coordinates")
                writer.raw(coordinates)
            }
        }
    }
}

extension GeoShape.Coordinates.ShapeKind {
    /// Returns the minimum number of items in the URL grammar. `level` counts down from ``depth``.
    fileprivate func leastItems(at level: Int) -> Int {
        switch self {
        case .point, .collection: 1
        case .lineString: 2
        case .polygon: 1
        case .multiPoint: 0
        case .multiLineString: level == 2 ? 0 : 2
        case .multiPolygon: level == 3 ? 0 : 1
        }
    }

    /// The nesting depth of arrays around a position.
    fileprivate var depth: Int {
        switch self {
        case .point: 0
        case .lineString, .multiPoint: 1
        case .polygon, .multiLineString: 2
        case .multiPolygon: 3
        case .collection: 0
        }
    }
}

extension WellKnownText {
    private struct Reader {
        var cursor: TextCursor
        var isStrict = false

        var isAtEnd: Bool {
            mutating get {
                skipSpaces()
                return cursor.isAtEnd
            }
        }

        mutating func skipSpaces() { while cursor.consume(" ") {} }

        mutating func kind() -> ShapeKind? {
            skipSpaces()
            // "Collection" is an additional name. No name is a prefix of a different one.
            for kind in ShapeKind.allCases where cursor.consume(kind.rawValue, ignoringCase: true) { return kind }
            return cursor.consume("Collection", ignoringCase: true) ? .collection : nil
        }

        mutating func shape(depth: Int) -> Shape? {
            guard depth < 8, let kind = kind() else { return nil }
            var shape = Shape(kind: kind)
            skipSpaces()
            for tag in ["ZM", "Z", "M"] where cursor.consume(tag, ignoringCase: true) { break }
            skipSpaces()
            if cursor.consume("EMPTY", ignoringCase: true) { return shape }
            if kind == .collection {
                guard let members = list(1, { $0.shape(depth: depth + 1) }) else { return nil }
                shape.members = members
            } else {
                guard let coordinates = coordinates(kind, kind.depth) else { return nil }
                shape.coordinates = coordinates
            }
            return shape
        }

        private mutating func coordinates(_ kind: ShapeKind, _ level: Int) -> String? {
            if kind == .point {
                guard consume("("), let position = position(), consume(")") else { return nil }
                return position
            }
            let items = list(kind.leastItems(at: level)) { reader in
                if level > 1 { return reader.coordinates(kind, level - 1) }
                return kind == .multiPoint ? reader.parenthesised() : reader.position()
            }
            return items.map { "[" + $0.joined(separator: ",") + "]" }
        }

        /// Parses a position of a MultiPoint. Some older implementations omit its parentheses.
        private mutating func parenthesised() -> String? {
            guard consume("(") else { return isStrict ? nil : position() }
            guard let position = position(), consume(")") else { return nil }
            return position
        }

        private mutating func list<T>(_ least: Int, _ item: (inout Reader) -> T?) -> [T]? {
            guard consume("(") else { return nil }
            var items: [T] = []
            if consume(")") { return isStrict && least > 0 ? nil : items }
            repeat {
                guard let next = item(&self) else { return nil }
                items.append(next)
            } while consume(",")
            return consume(")") && (!isStrict || items.count >= least) ? items : nil
        }

        /// Parses two to four numbers.
        private mutating func position() -> String? {
            var numbers: [String] = []
            skipSpaces()
            while numbers.count < 4, let number = number() {
                numbers.append(number)
                skipSpaces()
            }
            return numbers.count >= 2 ? "[" + numbers.joined(separator: ",") + "]" : nil
        }

        private mutating func number() -> String? {
            // GeoJSON has no such numbers; OData's JSON format writes them as strings.
            for word in ["-INF", "INF", "NaN"] where cursor.consume(word) { return "\"\(word)\"" }
            let start = cursor.index
            while let byte = cursor.next, isDigit(byte) || [0x2B, 0x2D, 0x2E, 0x45, 0x65].contains(byte) {
                cursor.skip()
            }
            let text = String(decoding: cursor.bytes[start..<cursor.index], as: UTF8.self)
            guard NumberGrammar.isNumber(text) else { return nil }
            return DecimalValue(text)?.text
        }

        private mutating func consume(_ character: Character) -> Bool {
            skipSpaces()
            return cursor.consume(character)
        }
    }

    private static func body(of json: JSONValue) -> String? {
        guard let kind = json["type"]?.string.flatMap(ShapeKind.init(rawValue:)) else { return nil }
        if kind == .collection {
            guard let members = json["geometries"]?.array else { return nil }
            let bodies = members.compactMap(body(of:))
            guard bodies.count == members.count else { return nil }
            return bodies.isEmpty ? "Collection EMPTY" : "Collection(\(bodies.joined(separator: ",")))"
        }
        guard let coordinates = json["coordinates"]?.array else { return nil }
        if coordinates.isEmpty { return kind.rawValue + (kind.leastItems(at: kind.depth) > 0 ? " EMPTY" : "()") }
        if kind == .point { return position(json["coordinates"]).map { "Point(\($0))" } }
        return list(coordinates, kind, kind.depth).map { kind.rawValue + $0 }
    }

    private static func list(_ items: [JSONValue], _ kind: ShapeKind, _ level: Int) -> String? {
        let texts = items.compactMap { item -> String? in
            if level > 1 { return item.array.flatMap { list($0, kind, level - 1) } }
            return position(item).map { kind == .multiPoint ? "(\($0))" : $0 }
        }
        return texts.count == items.count ? "(" + texts.joined(separator: ",") + ")" : nil
    }

    private static func position(_ json: JSONValue?) -> String? {
        guard let items = json?.array, (2...4).contains(items.count) else { return nil }
        let numbers = items.compactMap { item -> String? in
            switch item {
            case .number(let text): text
            case .string(let text) where ["-INF", "INF", "NaN"].contains(text): text
            default: nil
            }
        }
        return numbers.count == items.count ? numbers.joined(separator: " ") : nil
    }
}
