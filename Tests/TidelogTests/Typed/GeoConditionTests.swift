import Foundation
import ODataSandbox
import ODataQuery
import TestSupport
import Testing

@testable import Tidelog

/// AX-10: typed conditions with geo functions.
@Suite struct GeoConditionTests {
    /// A condition as text of a URL and over properties, and the keys of the matching sites.
    struct GeoCondition: Sendable, CustomStringConvertible {
        let url: String
        let keys: [Int]
        let filter: @Sendable () -> QueryFilter

        var description: String { url }
    }

    private static let square = GeoShape.polygon([
        [.init(x: 0, y: 0), .init(x: 10, y: 0), .init(x: 10, y: 10), .init(x: 0, y: 10), .init(x: 0, y: 0)]
    ])

    private static let conditions = [
        // A degree of the equator is about 111,195 m on the sphere.
        GeoCondition(url: "geo.distance(Place,geography'SRID=4326;Point(1 0)') lt 111000", keys: [2]) {
            Site.place.distance(to: .point(longitude: 1, latitude: 0)) < 111_000
        },
        GeoCondition(url: "geo.distance(Place,geography'SRID=4326;Point(1 0)') lt 111000", keys: [2]) {
            Site.place.property.distance(to: .point(longitude: 1, latitude: 0)).lessThan(111_000)
        },
        GeoCondition(url: "geo.distance(Place,Place) eq 0", keys: [1, 2]) { Site.place.distance(to: Site.place) == 0 },
        GeoCondition(url: "geo.distance(Place,geography'SRID=4326;Point(1 0)') eq null", keys: [3]) {
            Site.place.distance(to: .point(longitude: 1, latitude: 0)) == nil
        },
        // The family of the literal is that of the property.
        GeoCondition(url: "geo.distance(Plan,geometry'SRID=0;Point(0 0)') eq 5", keys: [1]) {
            Site.plan.distance(to: .point(x: 0, y: 0)) == 5
        },
        GeoCondition(url: "geo.length(Route) gt 100000", keys: [1]) { Site.route.length() > 100_000 },
        GeoCondition(url: "geo.length(Route) gt 100000", keys: [1]) {
            Site.route.property.geoLength().greaterThan(100_000)
        },
        GeoCondition(
            url: "geo.intersects(Place,geography'SRID=4326;Polygon((0 0,10 0,10 10,0 10,0 0))')", keys: [1, 2]
        ) { Site.place.intersects(square) },
        GeoCondition(url: "geo.intersects(Area,geography'SRID=4326;Point(5 5)')", keys: [1]) {
            Site.area.intersects(.point(longitude: 5, latitude: 5))
        },
        GeoCondition(url: "geo.intersects(Place,Area)", keys: [1]) { Site.place.intersects(Site.area) },
        GeoCondition(url: "geo.intersects(Place,Area)", keys: [1]) {
            Site.place.property.intersects(Site.area.property)
        },
    ]

    @Test(arguments: conditions)
    func `AX-10 a typed geo condition has the syntax tree of its text`(_ condition: GeoCondition) throws {
        let printed = try condition.filter().expression.print(version: .v401)
        #expect(try Expression.parse(printed, version: .v401) == Expression.parse(condition.url, version: .v401))
    }

    @Test func `AX-10 typed geo conditions find the same entities in the store and at the service`() async throws {
        let sites = try await SiteService()
        let report = try await sites.store.upload()
        #expect(report.rejected.isEmpty && report.remaining == 0)
        for condition in Self.conditions {
            for service in [sites.offline, sites.online] {
                let query = DataQuery().from(try service.entitySet(withName: "Sites")).filter(condition.filter())
                    .orderBy(Site.id)
                let found = try await service.executeQuery(query).entityList()
                #expect(
                    found.compactMap { Site.id.property.optionalInt(from: $0) } == condition.keys,
                    "\(condition) \(service === sites.offline ? "in the store" : "at the service")")
            }
        }
    }

    @Test func `AX-10 the results of geo functions are an order`() async throws {
        let sites = try await SiteService()
        let query = DataQuery().from(try sites.offline.entitySet(withName: "Sites"))
            .orderBy(Site.place.distance(to: .point(longitude: 1, latitude: 0)), .descending)
        let found = try await sites.offline.executeQuery(query).entityList()
        #expect(found.compactMap { Site.id.property.optionalInt(from: $0) } == [1, 2, 3])
    }

    @Test func `AX-10 a shape reads as it was written, and one of another kind is refused`() async throws {
        let sites = try await SiteService()
        _ = try await sites.store.upload()
        let set = try sites.offline.entitySet(withName: "Sites")
        let query = DataQuery().from(set).filter(Site.id == 1)
        let site = try #require(try await sites.offline.executeQuery(query).entityList().first)
        #expect(site[Site.place.property] as GeoShape? == .point(longitude: 0, latitude: 0))
        site[Site.area.property] = GeoShape.point(longitude: 0, latitude: 0)
        let error = try await #require(throws: TidelogError.self) { try await sites.offline.updateEntity(site) }
        #expect("\(error)".contains("Area") && "\(error)".contains("Edm.GeographyPolygon"), "\(error)")
        #expect(try await !sites.store.hasPendingUpload)
    }
}

private class Site: EntityValue {
    override class var entityTypeName: String? { "S.Site" }

    static let embedded = EmbeddedMetadata(SiteService.metadata)
    static func property(_ name: String) -> Property { embedded.property(name, of: "S.Site") }

    static let id = StructuralProperty<Site, Int>(property("ID"))
    static let place = StructuralProperty<Site, GeoShape>(property("Place"))
    static let area = StructuralProperty<Site, GeoShape>(property("Area"))
    static let plan = StructuralProperty<Site, GeoShape>(property("Plan"))
    static let route = StructuralProperty<Site, GeoShape>(property("Route"))
}

/// A service of sites, and a store in which three of them were created.
private struct SiteService {
    static let metadata = """
        <edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx"><edmx:DataServices>
        <Schema Namespace="S" xmlns="http://docs.oasis-open.org/odata/ns/edm">
        <EntityType Name="Site"><Key><PropertyRef Name="ID"/></Key>
        <Property Name="ID" Type="Edm.Int32" Nullable="false"/>
        <Property Name="Place" Type="Edm.GeographyPoint"/><Property Name="Area" Type="Edm.GeographyPolygon"/>
        <Property Name="Plan" Type="Edm.GeometryPoint"/><Property Name="Route" Type="Edm.GeographyLineString"/>
        </EntityType><EntityContainer Name="C"><EntitySet Name="Sites" EntityType="S.Site"/></EntityContainer>
        </Schema></edmx:DataServices></edmx:Edmx>
        """

    let offline: DataService
    let online: DataService
    let store: OfflineODataProvider
    private let directory: TemporaryDirectory

    init() async throws {
        var sandbox = try Sandbox(
            v4Metadata: Array(Self.metadata.utf8), v2Metadata: Array(PeopleMetadata.text.utf8),
            configuration: SandboxConfiguration())
        sandbox.origin = "http://sites.test"
        let transport = SandboxTransport(sandbox)
        let root = "http://sites.test/v4/"
        directory = try TemporaryDirectory()
        store = OfflineODataProvider(
            serviceRoot: root, parameters: OfflineODataParameters(storePath: directory.path, transport: transport))
        try await store.add(definingQuery: OfflineODataDefiningQuery(name: "Sites", query: "/Sites"))
        try await store.open()
        try await store.download()
        offline = DataService(provider: store)
        online = DataService(provider: OnlineODataProvider(serviceRoot: root, transport: transport))
        try await online.loadMetadata()
        let shapes: [[(StructuralProperty<Site, GeoShape>, GeoShape)]] = [
            [
                (Site.place, .point(longitude: 0, latitude: 0)), (Site.plan, .point(x: 3, y: 4)),
                (
                    Site.area,
                    .polygon([
                        [
                            .init(x: 0, y: 0), .init(x: 10, y: 0), .init(x: 10, y: 10), .init(x: 0, y: 10),
                            .init(x: 0, y: 0),
                        ]
                    ])
                ),
                (Site.route, .lineString([.init(longitude: 0, latitude: 0), .init(longitude: 0, latitude: 1)])),
            ],
            [(Site.place, .point(longitude: 1, latitude: 0)), (Site.plan, .point(x: 30, y: 40))],
            [],
        ]
        for (index, values) in shapes.enumerated() {
            let site = Site(Site.embedded.entityType("S.Site"))
            site["ID"] = .integer(Int64(index + 1))
            for (property, shape) in values { site[property.property] = shape }
            site.entitySet = try offline.entitySet(withName: "Sites")
            try await offline.createEntity(site)
        }
    }
}
