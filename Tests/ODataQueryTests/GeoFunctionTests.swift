import EDM
import Foundation
import ODataQuery
import Testing

/// AX-10: geo functions in the evaluator.
@Suite struct `Geo functions` {
    private func evaluate(_ text: String, _ values: PropertyValues = [:]) throws -> Value {
        let expression = try QueryOptions.parse("$filter=" + text.replacing(" ", with: "%20"), version: .v401).filter
        return try ExpressionEvaluator().evaluate(try #require(expression), for: EvaluationScope(values))
    }

    private func number(_ text: String, _ values: PropertyValues = [:]) throws -> Double {
        // A comparison is needed, because a filter is a condition.
        let options = try QueryOptions.parse("$orderby=" + text.replacing(" ", with: "%20"), version: .v401)
        let expression = try #require(options.orderBy.first?.expression)
        guard case .double(let number) = try ExpressionEvaluator().evaluate(expression, for: EvaluationScope(values))
        else {
            Issue.record("\(text) is no number")
            return .nan
        }
        return number
    }

    private static let square = "POLYGON((0 0,10 0,10 10,0 10,0 0),(4 4,4 6,6 6,6 4,4 4))"

    @Test func `the distance on the sphere is that along the great circle, in meters`() throws {
        let radius = 6_371_008.7714
        let quarter = try number("geo.distance(geography'SRID=4326;Point(0 0)',geography'SRID=4326;Point(90 0)')")
        #expect(abs(quarter - radius * .pi / 2) < 1e-6)
        let poles = try number("geo.distance(geography'SRID=4326;Point(12 90)',geography'SRID=4326;Point(77 -90)')")
        #expect(abs(poles - radius * .pi) < 1e-6)
        // Berlin and Tokyo: 8,917.6 km on the sphere with this radius by the haversine formula.
        let far = try number(
            "geo.distance(geography'SRID=4326;Point(13.405 52.52)',geography'SRID=4326;Point(139.6917 35.6895)')")
        let (a, b) = (
            (52.52 * Double.pi / 180, 13.405 * Double.pi / 180), (35.6895 * Double.pi / 180, 139.6917 * Double.pi / 180)
        )
        let chord =
            pow(sin((b.0 - a.0) / 2), 2) + cos(a.0) * cos(b.0) * pow(sin((b.1 - a.1) / 2), 2)
        #expect(abs(far - 2 * radius * asin(chord.squareRoot())) < 1e-6)
        let near = try number(
            "geo.distance(geography'SRID=4326;Point(8 50)',geography'SRID=4326;Point(8 50.000001)')")
        #expect(abs(near - radius * .pi / 180 * 1e-6) < 1e-8)
    }

    @Test func `the distance in the plane has the unit of the coordinates`() throws {
        #expect(try number("geo.distance(geometry'SRID=0;Point(0 0)',geometry'SRID=0;Point(3 4)')") == 5)
        #expect(try number("geo.length(geometry'SRID=0;LineString(0 0,3 4,3 5)')") == 6)
        let line = try number("geo.length(geography'SRID=4326;LineString(0 0,90 0,90 90)')")
        #expect(abs(line - 6_371_008.7714 * .pi) < 1e-6)
    }

    @Test(arguments: [
        ("5 1", true), ("5 5", false), ("0 5", true), ("10 10", true), ("4 5", true), ("11 5", false), ("-1 -1", false),
    ])
    func `a point is in a polygon or on its boundary, but not in a hole`(point: String, isInside: Bool) throws {
        for family in ["geography'SRID=4326;", "geometry'SRID=0;"] {
            let text = "geo.intersects(\(family)Point(\(point))',\(family)\(Self.square)')"
            #expect(try evaluate(text) == .boolean(isInside), "\(text)")
        }
    }

    @Test func `the orientation of a ring does not matter`() throws {
        for ring in ["0 0,10 0,10 10,0 10,0 0", "0 0,0 10,10 10,10 0,0 0"] {
            for family in ["geography'SRID=4326;", "geometry'SRID=0;"] {
                let inside = "geo.intersects(\(family)Point(5 5)',\(family)Polygon((\(ring)))')"
                #expect(try evaluate(inside) == .boolean(true), "\(inside)")
                let opposite = "geo.intersects(\(family)Point(-175 -5)',\(family)Polygon((\(ring)))')"
                #expect(try evaluate(opposite) == .boolean(false), "\(opposite)")
            }
        }
    }

    @Test func `edges on the sphere are arcs, also across the antimeridian and around a pole`() throws {
        func isInside(_ point: String, _ ring: String) throws -> Bool {
            try evaluate("geo.intersects(geography'SRID=4326;Point(\(point))',geography'SRID=4326;Polygon((\(ring)))')")
                == .boolean(true)
        }
        let pacific = "170 -10,-170 -10,-170 10,170 10,170 -10"
        #expect(try isInside("180 0", pacific) && isInside("-175 5", pacific))
        #expect(try !isInside("0 0", pacific) && !isInside("160 0", pacific))
        let arctic = "0 60,90 60,180 60,-90 60,0 60"
        #expect(try isInside("45 80", arctic) && isInside("0 90", arctic))
        #expect(try !isInside("45 -80", arctic))
        // The arc between two points of a parallel is closer to the pole than the parallel.
        #expect(try !isInside("45 61", arctic))
    }

    @Test func `null, empty shapes and different reference systems result in null`() throws {
        let point = "geography'SRID=4326;Point(0 0)'"
        for text in [
            "geo.distance(null,\(point)) eq null",
            "geo.distance(geography'SRID=4326;Point EMPTY',\(point)) eq null",
            "geo.distance(geography'SRID=4267;Point(1 1)',\(point)) eq null",
            "geo.intersects(\(point),null) eq null", "geo.length(null) eq null",
        ] {
            #expect(try evaluate(text) == .boolean(true), "\(text)")
        }
    }

    @Test(arguments: [
        "geo.distance(geography'SRID=4326;Point(0 0)',geography'SRID=4326;LineString(0 0,1 1)') gt 1",
        "geo.length(geography'SRID=4326;Point(0 0)') gt 1",
        "geo.intersects(geography'SRID=4326;Point(0 0)',geography'SRID=4326;Point(0 0)')",
    ])
    func `shapes for which the standard does not define the function are an error`(text: String) {
        #expect(throws: EvaluationError.self) { try evaluate(text) }
    }

    @Test func `the declared type decides between sphere and plane`() throws {
        let place = Value.raw(#"{"type":"Point","coordinates":[3,4]}"#)
        let type = StructuredType(
            kind: .entity, name: "S.T",
            properties: [
                Property(name: "Map", type: TypeReference(.primitive(.geometryPoint)), declaringType: "S.T"),
                Property(name: "Globe", type: TypeReference(.primitive(.geographyPoint)), declaringType: "S.T"),
            ])
        let model = EntityDataModel(
            version: .v401, schemas: [], structuredTypes: [type], enumerationTypes: [], entitySets: [], singletons: [])
        let scope = EvaluationScope(["Map": place, "Globe": place], type: type)
        for (text, expected) in [
            ("geo.distance(Map,Map)", 0.0), ("geo.distance(Map,geometry'SRID=0;Point(0 0)')", 5),
            ("geo.distance(Globe,Globe)", 0),
        ] {
            let options = try QueryOptions.parse(
                "$orderby=" + text.replacing(" ", with: "%20"), version: .v401, type: type, model: model)
            let value = try ExpressionEvaluator(model: model).evaluate(options.orderBy[0].expression, for: scope)
            #expect(value == .double(expected), "\(text)")
        }
    }

    @Test func `unusual numbers are no trap`() throws {
        let numbers = ["1e308", "-1e308", "1e999", "0", "1e-320", "123456789.123456789", "-0.0"]
        for x in numbers {
            for y in numbers {
                let point = #"{"type":"Point","coordinates":[\#(x),\#(y)]}"#
                let polygon = #"{"type":"Polygon","coordinates":[[[\#(x),0],[\#(y),\#(x)],[0,\#(y)]],[],[[1,2]]]}"#
                for crs in ["", #","crs":{"type":"name","properties":{"name":"EPSG:0"}}"#] {
                    let values: PropertyValues = [
                        "P": .raw(point.dropLast() + crs + "}"), "Q": .raw(polygon.dropLast() + crs + "}"),
                    ]
                    _ = try evaluate("geo.intersects(P,Q) eq true", values)
                    _ = try evaluate("geo.distance(P,P) gt 1", values)
                }
            }
        }
    }
}
