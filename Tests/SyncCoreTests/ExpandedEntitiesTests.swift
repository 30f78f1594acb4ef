import EDM
import Operations
import SyncCore
import Testing

/// Entities that a query contains only through an expansion.
struct ExpandedEntitiesTests {
    /// The desks of bosses are in another set than those of other employees.
    private static let metadata = """
        <edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx"><edmx:DataServices>
        <Schema Namespace="M" xmlns="http://docs.oasis-open.org/odata/ns/edm">
        <EntityType Name="Desk"><Key><PropertyRef Name="ID"/></Key>
        <Property Name="ID" Type="Edm.Int32" Nullable="false"/></EntityType>
        <EntityType Name="Employee"><Key><PropertyRef Name="ID"/></Key>
        <Property Name="ID" Type="Edm.Int32" Nullable="false"/>
        <NavigationProperty Name="Desk" Type="M.Desk"/></EntityType>
        <EntityType Name="Boss" BaseType="M.Employee"/>
        <EntityContainer Name="C">
        <EntitySet Name="People" EntityType="M.Employee">
        <NavigationPropertyBinding Path="Desk" Target="Desks"/>
        <NavigationPropertyBinding Path="M.Boss/Desk" Target="BossDesks"/></EntitySet>
        <EntitySet Name="Desks" EntityType="M.Desk"/><EntitySet Name="BossDesks" EntityType="M.Desk"/>
        </EntityContainer></Schema></edmx:DataServices></edmx:Edmx>
        """

    @Test func `an entity is kept below another one whose type leads to another set`() throws {
        let store = try TestStore(ServiceDescription(root: "http://127.0.0.1/v4/", metadata: Array(Self.metadata.utf8)))
        let query = DefiningQuery(name: "People", query: "People?$expand=Desk")
        try store.add(.definingQueryAdded(query))
        try store.add(.downloadStarted(queries: ["People"]))
        let ids = (1...4).map { EntityID(rawValue: $0) }
        let places = [("People", "M.Boss"), ("People", "M.Boss"), ("BossDesks", "M.Desk"), ("BossDesks", "M.Desk")]
        let images = zip(ids, places).map { id, place in
            EntityImage(
                entity: id, set: place.0, type: place.1, values: ["ID": .integer(Int64(id.rawValue))])
        }
        // Both bosses share a desk. The other one is free.
        let links = ids[..<2].map {
            DownloadPage.ChangedLink(source: $0, navigation: "Desk", target: ids[2], isAdded: true)
        }
        try store.add(.downloadPage(DownloadPage(query: "People", entities: images, links: links)))
        func left() throws -> [EntityID] {
            try #require(ExpandedEntities(of: query, in: store.state, model: store.model)).left(among: Set(ids))
        }
        try store.add(
            .downloadPage(
                DownloadPage(
                    query: "People", links: [.init(source: ids[0], navigation: "Desk", target: nil, isAdded: false)])))
        #expect(try left() == [ids[3]])
        try store.add(.downloadPage(DownloadPage(query: "People", left: [ids[1]])))
        #expect(try left() == [ids[2], ids[3]])
    }
}
