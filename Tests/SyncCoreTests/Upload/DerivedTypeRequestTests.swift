import EDM
import ODataQuery
import ODataWire
import Operations
import SyncCore
import Testing

/// Navigation properties of derived types. Their URLs need a type cast if the entity set declares the base type
/// (OData 4.01 Part 2, section 4.11).
struct DerivedTypeRequestTests {
    private static let metadata = """
        <edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx"><edmx:DataServices>
        <Schema Namespace="M" Alias="Self" xmlns="http://docs.oasis-open.org/odata/ns/edm">
        <EntityType Name="Item"><Key><PropertyRef Name="ID"/></Key><Property Name="ID" Type="Edm.Int32" Nullable="false"/>
        <NavigationProperty Name="Owner" Type="M.Line"/></EntityType>
        <EntityType Name="Flight" BaseType="M.Item"><NavigationProperty Name="Airline" Type="M.Line"/>
        <NavigationProperty Name="Partners" Type="Collection(M.Line)" Partner="Flights"/></EntityType>
        <EntityType Name="Charter" BaseType="M.Flight"/>
        <EntityType Name="Line"><Key><PropertyRef Name="ID"/></Key><Property Name="ID" Type="Edm.Int32" Nullable="false"/>
        <NavigationProperty Name="Flights" Type="Collection(M.Flight)" Partner="Partners"/></EntityType>
        <EntityContainer Name="C"><EntitySet Name="Items" EntityType="M.Item">
        <NavigationPropertyBinding Path="Owner" Target="Lines"/>
        <NavigationPropertyBinding Path="M.Flight/Airline" Target="Lines"/>
        <NavigationPropertyBinding Path="M.Flight/Partners" Target="Lines"/></EntitySet>
        <EntitySet Name="Lines" EntityType="M.Line"><NavigationPropertyBinding Path="Flights" Target="Items"/></EntitySet>
        </EntityContainer></Schema></edmx:DataServices></edmx:Edmx>
        """

    private let store: TestStore
    private let flight: EntityID
    private let line: EntityID

    init() throws {
        store = try TestStore(ServiceDescription(root: "http://127.0.0.1/v4/", metadata: Array(Self.metadata.utf8)))
        flight = try store.newID()
        try store.add(
            .entitiesRead([EntityImage(entity: flight, set: "Items", type: "M.Charter", values: ["ID": .integer(1)])]))
        line = try store.download("Lines", ["ID": .integer(2)])
    }

    @Test func `a link of a derived type is set and removed below a cast`() throws {
        try store.perform([.updateLink(link(flight, "Airline", line))])
        try store.perform([.createLink(link(flight, "Partners", line))])
        #expect(
            store.requests(try store.plan()) == [
                #"PUT Items(1)/M.Flight/Airline/$ref {"@odata.id":"http://s/Lines(2)"}"#,
                #"POST Items(1)/M.Flight/Partners/$ref {"@odata.id":"http://s/Lines(2)"}"#,
            ])
    }

    @Test func `a link that the declared type of the set has needs no cast`() throws {
        try store.perform([.updateLink(link(flight, "Owner", line))])
        #expect(
            store.requests(try store.plan()) == [#"PUT Items(1)/Owner/$ref {"@odata.id":"http://s/Lines(2)"}"#])
    }

    @Test func `an entity is created in a collection of a derived type below a cast`() throws {
        try store.create("Lines", ["ID": .integer(3)], parent: Parent(entity: flight, navigation: "Partners"))
        #expect(store.requests(try store.plan()) == [#"POST Items(1)/M.Flight/Partners {"ID":3}"#])
    }

    @Test(arguments: [
        ("Items(1)", "Items(1)/M.Flight/Airline/$ref"),
        ("Items(1)/M.Flight", "Items(1)/M.Flight/Airline/$ref"),
        ("Items(1)/Self.Flight", "Items(1)/Self.Flight/Airline/$ref"),
        ("Items(1)/M.Charter", "Items(1)/M.Charter/Airline/$ref"),
        ("Items(1)/M.Item", "Items(1)/M.Item/M.Flight/Airline/$ref"),
        ("Items(1)?a=b", "Items(1)/M.Flight/Airline/$ref?a=b"),
    ])
    func `an editLink that has the cast already gets no other one`(editLink: String, url: String) throws {
        let navigation = try #require(store.model.findEntityType("M.Flight")?.findProperty("Airline"))
        let encoder = RequestEncoder(version: .v4, model: store.model, serviceRoot: "http://s/")
        let request = encoder.encode(
            DataModification(
                .unlink(from: .cast(.url(editLink), to: "M.Flight"), navigation: navigation, to: nil)))
        #expect(request.url == url)
    }
}
