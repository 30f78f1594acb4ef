import EDM
import ODataWire
import Operations
import SyncCore
import Testing

/// Navigation properties and streams of derived types in V2 and V3. V3 has the type casts of V4 (OData 3.0 URL
/// Conventions, section 4.6); V2 has none.
struct LegacyDerivedTypeTests {
    private static func metadata(_ version: String) -> String {
        """
        <edmx:Edmx Version="1.0" xmlns:edmx="http://schemas.microsoft.com/ado/2007/06/edmx">
        <edmx:DataServices m:DataServiceVersion="\(version)"
          xmlns:m="http://schemas.microsoft.com/ado/2007/08/dataservices/metadata">
        <Schema Namespace="M" xmlns="http://schemas.microsoft.com/ado/2009/11/edm">
        <EntityType Name="Item"><Key><PropertyRef Name="ID"/></Key>
          <Property Name="ID" Type="Edm.Int32" Nullable="false"/></EntityType>
        <EntityType Name="Flight" BaseType="M.Item"><Property Name="Picture" Type="Edm.Stream" Nullable="false"/>
          <NavigationProperty Name="Airline" Relationship="M.Serves" FromRole="Flight" ToRole="Line"/></EntityType>
        <EntityType Name="Line"><Key><PropertyRef Name="ID"/></Key>
          <Property Name="ID" Type="Edm.Int32" Nullable="false"/></EntityType>
        <Association Name="Serves"><End Role="Flight" Type="M.Flight" Multiplicity="*"/>
          <End Role="Line" Type="M.Line" Multiplicity="0..1"/></Association>
        <EntityContainer Name="C" m:IsDefaultEntityContainer="true"><EntitySet Name="Items" EntityType="M.Item"/>
        <EntitySet Name="Lines" EntityType="M.Line"/>
        <AssociationSet Name="ServesSet" Association="M.Serves"><End Role="Flight" EntitySet="Items"/>
          <End Role="Line" EntitySet="Lines"/></AssociationSet>
        </EntityContainer></Schema></edmx:DataServices></edmx:Edmx>
        """
    }

    @Test(arguments: [
        ("3.0", #"PUT Items(1)/M.Flight/$links/Airline {"uri":"http://s/Lines(2)"}"#),
        ("2.0", #"PUT Items(1)/$links/Airline {"uri":"http://s/Lines(2)"}"#),
    ])
    func `a link of a derived type is set below a cast in V3`(version: String, request: String) throws {
        let store = try TestStore(
            ServiceDescription(root: "http://127.0.0.1/v3/", metadata: Array(Self.metadata(version).utf8)))
        #expect(store.model.version.rawValue == version)
        let flight = try store.newID()
        try store.add(
            .entitiesRead([EntityImage(entity: flight, set: "Items", type: "M.Flight", values: ["ID": .integer(1)])]))
        let line = try store.download("Lines", ["ID": .integer(2)])
        try store.perform([.updateLink(link(flight, "Airline", line))])
        #expect(store.requests(try store.plan()) == [request])
    }

    @Test func `a reference to a property of a derived type has a cast in V3`() throws {
        let store = try TestStore(
            ServiceDescription(root: "http://127.0.0.1/v3/", metadata: Array(Self.metadata("3.0").utf8)))
        let set = try #require(store.model.findEntitySet("Items"))
        let picture = try #require(store.model.findEntityType("M.Flight")?.findProperty("Picture"))
        let encoder = RequestEncoder(version: .v3, model: store.model, serviceRoot: "http://s/")
        let item = ResourceReference.url("Items(1)")
        let url = encoder.streamURL(of: item.having(picture, in: set, version: .v3), property: "Picture")
        #expect(url == "Items(1)/M.Flight/Picture")
        #expect(item.having(picture, in: set, version: .v2) == item)
    }

    @Test(arguments: [
        #"{"odata.metadata":"http://s/$metadata#Items/@Element","odata.type":"M.Flight","ID":1}"#,
        #"{"d":{"__metadata":{"uri":"http://s/Items(1)","type":"M.Flight"},"ID":1}}"#,
    ])
    func `the type of an entity is read from both formats of V3`(payload: String) throws {
        let store = try TestStore(
            ServiceDescription(root: "http://127.0.0.1/v3/", metadata: Array(Self.metadata("3.0").utf8)))
        let reader = PayloadReader(version: .v3, model: store.model)
        let type = try #require(store.model.findEntitySet("Items")).entityType
        #expect(try reader.entity(Array(payload.utf8), type: type).type == "M.Flight")
    }
}
