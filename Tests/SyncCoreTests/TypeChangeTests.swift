import EDM
import ODataWire
import Operations
import Testing

@testable import SyncCore

/// Entities whose type changes at the service.
struct TypeChangeTests {
    private static let metadata = """
        <edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx"><edmx:DataServices>
        <Schema Namespace="Trip" xmlns="http://docs.oasis-open.org/odata/ns/edm">
        <EntityType Name="Item"><Key><PropertyRef Name="ID"/></Key>
          <Property Name="ID" Type="Edm.Int32" Nullable="false"/><Property Name="Name" Type="Edm.String"/>
          <NavigationProperty Name="Owner" Type="Trip.Person"/></EntityType>
        <EntityType Name="Flight" BaseType="Trip.Item"><Property Name="Number" Type="Edm.String"/>
          <NavigationProperty Name="Airline" Type="Trip.Airline" Partner="Flights"/>
          <NavigationProperty Name="Legs" Type="Collection(Trip.Leg)" ContainsTarget="true"/></EntityType>
        <EntityType Name="Charter" BaseType="Trip.Flight"><Property Name="Payer" Type="Edm.String"/></EntityType>
        <EntityType Name="Event" BaseType="Trip.Item"><Property Name="Place" Type="Edm.String"/></EntityType>
        <EntityType Name="Leg"><Key><PropertyRef Name="ID"/></Key>
          <Property Name="ID" Type="Edm.Int32" Nullable="false"/></EntityType>
        <EntityType Name="Person"><Key><PropertyRef Name="ID"/></Key>
          <Property Name="ID" Type="Edm.Int32" Nullable="false"/></EntityType>
        <EntityType Name="Airline"><Key><PropertyRef Name="ID"/></Key>
          <Property Name="ID" Type="Edm.Int32" Nullable="false"/>
          <NavigationProperty Name="Flights" Type="Collection(Trip.Flight)" Partner="Airline"/>
          <NavigationProperty Name="Charters" Type="Collection(Trip.Charter)"/></EntityType>
        <EntityType Name="Root" Abstract="true"/><EntityType Name="Place" BaseType="Trip.Root" Abstract="true"/>
        <EntityType Name="City" BaseType="Trip.Place"><Key><PropertyRef Name="ID"/></Key>
          <Property Name="ID" Type="Edm.Int32" Nullable="false"/></EntityType>
        <EntityContainer Name="Container"><EntitySet Name="Cities" EntityType="Trip.City"/>
        <EntitySet Name="Items" EntityType="Trip.Item">
          <NavigationPropertyBinding Path="Owner" Target="People"/>
          <NavigationPropertyBinding Path="Trip.Flight/Airline" Target="Airlines"/></EntitySet>
        <EntitySet Name="People" EntityType="Trip.Person"/>
        <EntitySet Name="Airlines" EntityType="Trip.Airline">
          <NavigationPropertyBinding Path="Flights" Target="Items"/>
          <NavigationPropertyBinding Path="Charters" Target="Items"/></EntitySet>
        </EntityContainer></Schema></edmx:DataServices></edmx:Edmx>
        """

    private let store: TestStore

    init() throws {
        store = try TestStore(ServiceDescription(root: "http://127.0.0.1/v4/", metadata: Array(Self.metadata.utf8)))
    }

    @discardableResult
    private func read(_ set: String, _ entity: String) throws -> EntityID {
        let set = try #require(store.model.findEntitySet(set))
        var builder = try ImageBuilder(storage: store.state, model: store.model)
        let payload = try PayloadReader(version: store.model.version, model: store.model).entity(
            Array(entity.utf8), type: set.entityType)
        let images = try #require(try builder.images(of: payload, in: set))
        try store.add(.entitiesRead(images))
        return images[0].entity
    }

    private func readCharter() throws -> EntityID {
        try read(
            "Items",
            ##"{"@odata.type":"#Trip.Charter","ID":1,"Name":"a","Number":"LH1","Payer":"me","Owner":{"ID":7},"Airline":{"ID":3},"Legs":[{"ID":1}]}"##
        )
    }

    private func row(_ id: EntityID) throws -> EntityRow { try #require(try store.state.row(id)) }

    private func linked(_ id: EntityID) throws -> Set<String> {
        Set(try store.state.links(of: id).filter(\.inLocal).compactMap { try store.state.set(of: $0.target(of: id)) })
    }

    @Test(arguments: [##"{"ID":1,"Name":"b"}"##, ##"{"@odata.type":"#Trip.Item","ID":1,"Name":"b"}"##])
    func `an entity that becomes one of the base type loses the values and links of the former type`(
        _ payload: String
    ) throws {
        let id = try readCharter()
        let leg = try #require(try store.targets(id, "Legs").first)
        #expect(try linked(id) == ["People", "Airlines", "Items/Trip.Flight/Legs"])
        #expect(try read("Items", payload) == id)
        #expect(try row(id).type == "Trip.Item")
        #expect(try row(id).values == ["ID": .integer(1), "Name": .string("b")])
        #expect(try linked(id) == ["People"])
        #expect(try store.state.row(leg) == nil)
    }

    @Test func `an intermediate type keeps its own values and links`() throws {
        let id = try readCharter()
        try read("Airlines", ##"{"ID":4,"Charters":[{"@odata.type":"#Trip.Charter","ID":1}]}"##)
        #expect(try store.state.links(of: id).filter(\.inLocal).count == 4)
        try read("Items", ##"{"@odata.type":"#Trip.Flight","ID":1,"Name":"a"}"##)
        #expect(try row(id).values.names.sorted() == ["ID", "Name", "Number"])
        // Only the link that leads to charters ends.
        #expect(try linked(id) == ["People", "Airlines", "Items/Trip.Flight/Legs"])
        #expect(try store.state.links(of: id).filter(\.inLocal).count == 3)
    }

    @Test func `an expanded entity without a type has the type of the navigation property`() throws {
        let id = try readCharter()
        try read("Items", ##"{"@odata.type":"#Trip.Flight","ID":2,"Number":"LH2","Airline":{"ID":3}}"##)
        try read(
            "Airlines",
            ##"{"ID":3,"Flights":[{"@odata.type":"#Trip.Charter","ID":1,"Number":"X1"},{"ID":2,"Number":"X2"}]}"##)
        #expect(try row(id).type == "Trip.Charter")
        let second = try #require(try store.state.rows(set: "Items").last)
        #expect(try row(second).type == "Trip.Flight")
        #expect(try row(second).values["Number"] == .string("X2"))
        #expect(try linked(second) == ["Airlines"])
    }

    @Test func `a sibling type has only the common values`() throws {
        let id = try readCharter()
        try read("Items", ##"{"@odata.type":"#Trip.Event","ID":1,"Place":"x"}"##)
        #expect(try row(id).values == ["ID": .integer(1), "Name": .string("a"), "Place": .string("x")])
        #expect(try linked(id) == ["People"])
    }

    @Test func `a derived type keeps everything`() throws {
        let id = try read("Items", ##"{"@odata.type":"#Trip.Flight","ID":1,"Number":"LH1","Airline":{"ID":3}}"##)
        try read("Items", ##"{"@odata.type":"#Trip.Charter","ID":1,"Payer":"me"}"##)
        #expect(try row(id).values.names.sorted() == ["ID", "Number", "Payer"])
        #expect(try linked(id) == ["Airlines"])
    }

    @Test(arguments: [#"{"ID":1}"#, #"{"@odata.id":"Items(1)"}"#])
    func `a reference, from which the service omits the type, changes nothing`(_ payload: String) throws {
        let id = try readCharter()
        let before = try row(id)
        #expect(try read("Items", payload) == id)
        #expect(try row(id).type == "Trip.Charter")
        #expect(try row(id).values == before.values)
        #expect(try linked(id) == ["People", "Airlines", "Items/Trip.Flight/Legs"])
    }

    @Test func `a reference with a type that is not a base type changes the type`() throws {
        let id = try readCharter()
        try read("Items", ##"{"@odata.type":"#Trip.Event","ID":1}"##)
        #expect(try row(id).type == "Trip.Event")
        #expect(try row(id).values == ["ID": .integer(1), "Name": .string("a")])
        #expect(try linked(id) == ["People"])
    }

    @Test func `an entity of an undeclared type keeps its type`() throws {
        let id = try readCharter()
        try read("Items", ##"{"@odata.type":"#Trip.Rocket","ID":1,"Name":"b"}"##)
        #expect(try row(id).type == "Trip.Charter")
        #expect(try row(id).values.names.sorted() == ["ID", "Name", "Number", "Payer"])
        #expect(try row(id).values["Name"] == .string("b"))
        #expect(try linked(id) == ["People", "Airlines", "Items/Trip.Flight/Legs"])
    }

    @Test func `the type of an entity that the service names in two ways changes`() throws {
        let links = #""@odata.id":"Odd/1","@odata.editLink":"Odd/2","#
        let id = try read("Items", ##"{"@odata.type":"#Trip.Flight",\##(links)"ID":1,"Number":"LH1"}"##)
        #expect(try read("Items", #"{\#(links)"ID":1,"Name":"b"}"#) == id)
        #expect(try row(id).type == "Trip.Item")
        #expect(try row(id).values == ["ID": .integer(1), "Name": .string("b")])
    }

    @Test func `an entity below a navigation property that leads to an abstract base type is found`() throws {
        let id = try read("Cities", #"{"ID":1}"#)
        var payload = EntityPayload()
        payload.type = "Trip.Place"
        payload.id = "Cities(1)"
        let set = try #require(store.model.findEntitySet("Cities"))
        #expect(try ImageBuilder(storage: store.state, model: store.model).find(payload, in: set) == id)
    }

    @Test func `the response to an update can have the base type`() throws {
        let id = try readCharter()
        try store.perform([.update(id, changes: ["Name": .string("mine")], bindings: [])])
        let plan = try store.plan()
        let batch = try store.prepare(plan)
        let body = ##"{"@odata.type":"#Trip.Item","ID":1,"Name":"mine"}"##
        let operation = try #require(plan.changeSets.first?.operations.first)
        let set = try #require(store.model.findEntitySet("Items"))
        let payload = try PayloadReader(version: .v4, model: store.model).entity(
            Array(body.utf8), type: set.entityType)
        var builder = try ImageBuilder(storage: store.state, model: store.model)
        let images = try #require(try builder.images(of: payload, in: set, known: id))
        try store.add(
            .batchAnswered(
                BatchAnswered(
                    batch: batch, outcomes: [.init(operation: operation, result: .confirmed(images: images))])))
        #expect(try row(id).type == "Trip.Item")
        #expect(try row(id).values == ["ID": .integer(1), "Name": .string("mine")])
    }

    @Test func `a pending change stays on top of the new type`() throws {
        let id = try readCharter()
        try store.perform([.update(id, changes: ["Name": .string("mine")], bindings: [])])
        try read("Items", ##"{"ID":1,"Name":"b"}"##)
        #expect(try row(id).values == ["ID": .integer(1), "Name": .string("mine")])
        #expect(try linked(id) == ["People"])
    }
}

extension LinkRow {
    fileprivate func target(of id: EntityID) -> EntityID { first == id ? second : first }
}
