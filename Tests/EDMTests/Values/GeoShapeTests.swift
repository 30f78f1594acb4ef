import EDM
import Testing

/// AX-10: the values of geo properties.
@Suite struct GeoShapeTests {
    private static let line = [
        GeoPosition(x: 0, y: 0), GeoPosition(longitude: 8.64, latitude: -49.29, elevation: 120.5),
    ]
    private static let ring = [
        GeoPosition(x: 0, y: 0), GeoPosition(x: 4, y: 0), GeoPosition(x: 4, y: 4, z: 1, m: 2), GeoPosition(x: 0, y: 0),
    ]

    @Test(arguments: [
        GeoShape.point(longitude: 8.64, latitude: 49.29), GeoShape(.point(nil)), .lineString(line), .lineString([]),
        .polygon([ring, line]), GeoShape(.multiPoint(line), referenceSystem: 0), GeoShape(.multiPoint([])),
        GeoShape(.multiLineString([line, []])), GeoShape(.multiPolygon([[ring], []]), referenceSystem: 3857),
        GeoShape(.collection([.point(GeoPosition(x: 1e-300, y: -1e300)), .collection([.lineString(line)])])),
        .point(x: .infinity, y: -.infinity),
    ])
    func `AX-10 a shape is equal to the shape read from its GeoJSON`(_ shape: GeoShape) throws {
        #expect(GeoShape(shape.value) == shape)
        // A measure needs an elevation before it.
        #expect(try #require(GeoShape(GeoShape(.point(GeoPosition(x: 1, y: 2, m: 3))).value)).position?.z == 0)
    }

    @Test(arguments: [
        "", "{", "5", "[]", #"{"type":"Point"}"#, #"{"type":"Circle","coordinates":[1,2]}"#,
        #"{"type":"Point","coordinates":[1]}"#, #"{"type":"Point","coordinates":[1,2,3,4,5]}"#,
        #"{"type":"Point","coordinates":["1",2]}"#, #"{"type":"Point","coordinates":[[1,2]]}"#,
        #"{"type":"LineString","coordinates":[1,2]}"#, #"{"type":"Polygon","coordinates":[[1,2]]}"#,
        #"{"type":"MultiPolygon","coordinates":[[[1,2]]]}"#, #"{"type":"GeometryCollection"}"#,
        #"{"type":"GeometryCollection","geometries":[5]}"#,
    ])
    func `AX-10 other JSON is no shape`(_ json: String) {
        #expect(GeoShape(.raw(json)) == nil)
    }

    @Test func `AX-10 deeply nested collections are refused instead of overflowing the stack`() {
        let depth = 20_000
        let json =
            String(repeating: #"{"type":"GeometryCollection","geometries":["#, count: depth)
            + String(repeating: "]}", count: depth)
        #expect(GeoShape(.raw(json)) == nil)
    }

    @Test func `AX-10 the reference system is read in both notations`() throws {
        for name in ["EPSG:3857", "urn:ogc:def:crs:EPSG::3857"] {
            let text = #"{"type":"Point","coordinates":[1,2],"crs":{"type":"name","properties":{"name":"\#(name)"}}}"#
            #expect(GeoShape(.raw(text))?.referenceSystem == 3857, "\(name)")
        }
    }

    @Test func `AX-10 a shape conforms to the types that can hold it`() throws {
        let model = EntityDataModel(
            version: .v4, schemas: [], structuredTypes: [], enumerationTypes: [], entitySets: [], singletons: [])
        func reason(_ value: Value, _ type: PrimitiveType) -> String? {
            value.mismatch(with: TypeReference(.primitive(type)), in: model)
        }
        let point = GeoShape.point(x: 1, y: 2).value
        for type in [PrimitiveType.geographyPoint, .geometryPoint, .geography, .geometry] {
            #expect(reason(point, type) == nil, "\(type)")
        }
        for type in [PrimitiveType.geographyPolygon, .geometryMultiPoint, .geographyCollection, .string] {
            #expect(reason(point, type) != nil, "\(type)")
        }
        #expect(reason(.raw("}{"), .geographyPoint) == "is raw JSON, not a shape of Edm.GeographyPoint")
    }
}
