import EDM
import Testing

@Suite struct ContainedSetTests {
    private let model: EntityDataModel

    init() throws {
        model = try CSDLReader.read(Array(Self.document.utf8))
    }

    @Test func `each containment path below a set or singleton is a set, also through derived types`() {
        #expect(
            model.containedSets.map(\.name).sorted() == [
                "Me/Graph.Manager/Reports", "Me/Trips", "Me/Trips/Items", "Me/folders", "Me/folders/folders",
                "People/Graph.Manager/Reports", "People/Trips", "People/Trips/Items", "People/folders",
                "People/folders/folders",
            ])
        let items = model.findEntitySet("People/Trips/Items")
        #expect(items?.entityType.name == "Graph.Item")
        #expect(items?.root.name == "People")
        #expect(items?.containment?.parent.name == "People/Trips")
        #expect(model.findEntitySet("People/Graph.Manager/Reports")?.containment?.cast == "Graph.Manager")
    }

    @Test func `the target of a containment property is its contained set, not an entity set of the same type`() throws
    {
        let people = try #require(model.findEntitySet("People"))
        let me = try #require(model.findEntitySet("Me"))
        let trips = try #require(people.entityType.findProperty("Trips"))
        #expect(model.target(of: trips, in: people)?.name == "People/Trips")
        #expect(model.target(of: trips, in: me)?.name == "Me/Trips")
        let own = try #require(model.findEntitySet("People/Trips"))
        let person = try #require(own.entityType.findProperty("Person"))
        #expect(model.target(of: person, in: own)?.name == "People")
    }

    @Test func `the target of a recursive containment property is its own contained set`() throws {
        let folders = try #require(model.findEntitySet("People/folders"))
        let below = try #require(folders.entityType.findProperty("folders"))
        let first = try #require(model.target(of: below, in: folders))
        #expect(first.name == "People/folders/folders")
        #expect(model.target(of: below, in: first) == first)
    }

    @Test(arguments: [
        "Cars/S.Racer/Wheels", "Cars/Self.Racer/Wheels", "S.C/Cars/S.Racer/Wheels", "Self.C/Cars/Self.Racer/Wheels",
    ])
    func `the target of a binding can be a contained set below a type cast, with or without an alias`(
        path: String
    ) throws {
        let model = try EntityDataModel.v4(
            CSDLSource.entityType("Wheel") + CSDLSource.entityType("Car")
                + #"<EntityType Name="Racer" BaseType="S.Car"><NavigationProperty Name="Wheels""#
                + #" Type="Collection(S.Wheel)" ContainsTarget="true"/><NavigationProperty Name="Spares""#
                + #" Type="Collection(S.Wheel)" ContainsTarget="true"/></EntityType>"#
                + CSDLSource.entityType("Maker", #"<NavigationProperty Name="Best" Type="S.Wheel"/>"#)
                + #"<EntityContainer Name="C"><EntitySet Name="Cars" EntityType="S.Car"/>"#
                + #"<EntitySet Name="Makers" EntityType="S.Maker"><NavigationPropertyBinding Path="Best""#
                + #" Target="\#(path)"/></EntitySet></EntityContainer>"#)
        let makers = try #require(model.findEntitySet("Makers"))
        let best = try #require(makers.entityType.findProperty("Best"))
        #expect(model.target(of: best, in: makers)?.name == "Cars/S.Racer/Wheels")
    }

    @Test func `a contained set uses the bindings of its root for the rest of the path`() throws {
        let items = try #require(model.findEntitySet("People/Trips/Items"))
        let place = try #require(items.entityType.findProperty("Place"))
        let carrier = try #require(model.findEntityType("Graph.Flight")?.findProperty("Carrier"))
        #expect(model.target(of: place, in: items)?.name == "Far")
        #expect(model.target(of: carrier, in: items)?.name == "Airlines")
    }

    @Test func `the number of contained sets of a large document is limited`() throws {
        // Twelve types, each of which contains the rest. There are more paths than sets can be created for.
        let types = (0..<12).map { number in
            let navigations = (0..<12).filter { $0 != number }.map {
                "<NavigationProperty Name='N\($0)' Type='Collection(G.T\($0))' ContainsTarget='true'/>"
            }.joined()
            return """
                <EntityType Name='T\(number)'><Key><PropertyRef Name='ID'/></Key>
                <Property Name='ID' Type='Edm.Int32' Nullable='false'/>\(navigations)</EntityType>
                """
        }.joined()
        let text = """
            <edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx"><edmx:DataServices>
            <Schema Namespace="G" xmlns="http://docs.oasis-open.org/odata/ns/edm">\(types)
            <EntityContainer Name="C"><EntitySet Name="S" EntityType="G.T0"/></EntityContainer>
            </Schema></edmx:DataServices></edmx:Edmx>
            """
        let model = try CSDLReader.read(Array(text.utf8))
        #expect(model.containedSets.count < 1300)
        // Each navigation property of each set still has a target.
        for set in model.allSets {
            for property in set.entityType.navigationProperties { #expect(model.target(of: property, in: set) != nil) }
        }
    }

    private static let document = """
        <edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx"><edmx:DataServices>
        <Schema Namespace="Graph" xmlns="http://docs.oasis-open.org/odata/ns/edm">
        <EntityType Name="Person"><Key><PropertyRef Name="ID"/></Key>
          <Property Name="ID" Type="Edm.Int32" Nullable="false"/>
          <NavigationProperty Name="Trips" Type="Collection(Graph.Trip)" ContainsTarget="true" Partner="Person"/>
          <NavigationProperty Name="folders" Type="Collection(Graph.Folder)" ContainsTarget="true"/>
        </EntityType>
        <EntityType Name="Manager" BaseType="Graph.Person">
          <NavigationProperty Name="Reports" Type="Collection(Graph.Report)" ContainsTarget="true"/>
        </EntityType>
        <EntityType Name="Report"><Key><PropertyRef Name="ID"/></Key>
          <Property Name="ID" Type="Edm.Int32" Nullable="false"/></EntityType>
        <EntityType Name="Folder"><Key><PropertyRef Name="ID"/></Key>
          <Property Name="ID" Type="Edm.Int32" Nullable="false"/>
          <NavigationProperty Name="folders" Type="Collection(Graph.Folder)" ContainsTarget="true"/>
        </EntityType>
        <EntityType Name="Trip"><Key><PropertyRef Name="ID"/></Key>
          <Property Name="ID" Type="Edm.Int32" Nullable="false"/>
          <NavigationProperty Name="Person" Type="Graph.Person" Partner="Trips"/>
          <NavigationProperty Name="Items" Type="Collection(Graph.Item)" ContainsTarget="true"/>
        </EntityType>
        <EntityType Name="Item"><Key><PropertyRef Name="ID"/></Key>
          <Property Name="ID" Type="Edm.Int32" Nullable="false"/>
          <NavigationProperty Name="Place" Type="Graph.Place"/>
        </EntityType>
        <EntityType Name="Flight" BaseType="Graph.Item">
          <NavigationProperty Name="Carrier" Type="Graph.Airline"/>
        </EntityType>
        <EntityType Name="Place"><Key><PropertyRef Name="ID"/></Key>
          <Property Name="ID" Type="Edm.Int32" Nullable="false"/></EntityType>
        <EntityType Name="Airline"><Key><PropertyRef Name="ID"/></Key>
          <Property Name="ID" Type="Edm.Int32" Nullable="false"/></EntityType>
        <EntityContainer Name="Container">
          <EntitySet Name="People" EntityType="Graph.Person">
            <NavigationPropertyBinding Path="Trips/Items/Place" Target="Far"/>
            <NavigationPropertyBinding Path="Graph.Flight/Carrier" Target="Airlines"/>
          </EntitySet>
          <EntitySet Name="Near" EntityType="Graph.Place"/>
          <EntitySet Name="Far" EntityType="Graph.Place"/>
          <EntitySet Name="Airlines" EntityType="Graph.Airline"/>
          <EntitySet Name="Charters" EntityType="Graph.Airline"/>
          <Singleton Name="Me" Type="Graph.Person"/>
        </EntityContainer>
        </Schema></edmx:DataServices></edmx:Edmx>
        """
}
