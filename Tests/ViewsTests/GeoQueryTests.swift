import EDM
import ODataQuery
import Operations
import SyncCore
import Testing

@testable import Views

/// AX-10: geo functions in queries of a store. SQL has no columns for geo values, so the evaluator answers these
/// queries; the other conditions may be SQL.
@Suite struct `Geo queries` {
    private static let metadata = """
        <edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx"><edmx:DataServices>
        <Schema Namespace="S" xmlns="http://docs.oasis-open.org/odata/ns/edm">
        <EntityType Name="Site"><Key><PropertyRef Name="ID"/></Key>
        <Property Name="ID" Type="Edm.Int32" Nullable="false"/><Property Name="Name" Type="Edm.String"/>
        <Property Name="Place" Type="Edm.GeographyPoint"/><Property Name="Area" Type="Edm.GeographyPolygon"/>
        <Property Name="Plan" Type="Edm.GeometryPoint"/><Property Name="Route" Type="Edm.GeographyLineString"/>
        </EntityType><EntityContainer Name="C"><EntitySet Name="Sites" EntityType="S.Site"/></EntityContainer>
        </Schema></edmx:DataServices></edmx:Edmx>
        """

    private func find(_ url: String) throws -> [UInt64] {
        let state = try SQLiteState(path: nil, store: "test")
        let model = try CSDLReader.read(Array(Self.metadata.utf8))
        try state.install(model)
        func put(_ id: UInt64, _ shapes: PropertyValues) throws {
            var values = shapes
            values["ID"] = .integer(Int64(id))
            values["Name"] = .string(id == 2 ? "b" : "a")
            try state.register(EntityID(rawValue: id), set: "Sites")
            try state.putRow(
                EntityRow(id: EntityID(rawValue: id), set: "Sites", type: "S.Site", values: values, origin: .service))
        }
        func point(_ x: Int, _ y: Int) -> Value { .raw(#"{"type":"Point","coordinates":[\#(x),\#(y)]}"#) }
        try put(
            1,
            [
                "Place": point(0, 0), "Plan": point(3, 4),
                "Area": .raw(#"{"type":"Polygon","coordinates":[[[0,0],[10,0],[10,10],[0,10],[0,0]]]}"#),
                "Route": .raw(#"{"type":"LineString","coordinates":[[0,0],[0,1]]}"#),
            ])
        try put(2, ["Place": point(1, 0), "Plan": point(30, 40)])
        try put(3, ["Place": .null])
        let query = RowQuery(state: state, model: model, now: nil)
        let answer = try query.answer(
            try ServiceRequest.parse(url.replacing(" ", with: "%20"), model: model, version: .v401))
        guard case .entities(let rows) = answer.content else { return [] }
        return rows.map(\.id.rawValue)
    }

    @Test(
        arguments: [
            // A degree of the equator is about 111,195 m on the sphere.
            ("$filter=geo.distance(Place,geography'SRID=4326;Point(1 0)') lt 111000", [2]),
            ("$filter=geo.distance(Place,geography'SRID=4326;Point(1 0)') lt 112000", [1, 2]),
            ("$filter=geo.distance(Place,geography'SRID=4326;Point(1 0)') lt 112000 and Name eq 'a'", [1]),
            ("$filter=geo.distance(Place,geography'SRID=4326;Point(1 0)') eq null", [3]),
            ("$filter=geo.distance(Plan,geometry'SRID=0;Point(0 0)') eq 5", [1]),
            ("$filter=geo.intersects(geography'SRID=4326;Point(5 5)',Area)", [1]),
            ("$filter=geo.length(Route) gt 111000 and geo.length(Route) lt 112000", [1]),
            ("$orderby=geo.distance(Place,geography'SRID=4326;Point(2 0)') desc", [1, 2, 3]),
            ("$filter=geo.length(geography'SRID=4326;LineString(0 0,1 0)') gt 1 and Name eq 'b'", [2]),
        ] as [(String, [UInt64])])
    func `a store evaluates geo functions`(options: String, expected: [UInt64]) throws {
        #expect(try find("Sites?" + options) == expected)
    }
}
