import EDM
import ODataSandbox
import TestSupport
import Testing
import Tidelog

/// Identity of entities with unusual keys, and the entity sets to which the metadata bind links.
@Suite struct KeyIdentityTests {
    @Test func `key values in complex properties distinguish entities`() async throws {
        let shop = try await KeyShop(["Places"]) {
            $0.post("Places", #"{"Address":{"Street":"High","City":"Rome"},"Note":"one"}"#)
            $0.post("Places", #"{"Address":{"Street":"Low","City":"Rome"},"Note":"two"}"#)
        }
        #expect(try await shop.notes("Places") == ["one", "two"])
        let place = try await shop.one("Places(Street='Low',City='Rome')")
        #expect(place.readLink == "Places(Street='Low',City='Rome')")
        #expect(place["Note"] == .string("two"))

        place["Note"] = .string("three")
        try await shop.service.updateEntity(place)
        let report = try await shop.store.upload()
        #expect(report.confirmed.count == 1, "\(report.rejected)")
        #expect(shop.state("Places").contains("three"))
        try await shop.store.download()
        #expect(try await shop.notes("Places") == ["one", "three"])
    }

    @Test func `a new entity with a nested key is found by it, and a duplicate is refused`() async throws {
        let shop = try await KeyShop(["Places"])
        try await shop.create("Places", ["Address": KeyShop.address("High", "Rome"), "Note": .string("new")])
        #expect(try await shop.one("Places(City='Rome',Street='High')")["Note"] == .string("new"))
        let error = await #expect(throws: TidelogError.self) {
            try await shop.create("Places", ["Address": KeyShop.address("High", "Rome")])
        }
        #expect(error?.code == .refused(.duplicateKey))
        let report = try await shop.store.upload()
        #expect(report.confirmed.count == 1, "\(report.rejected)")
        try await shop.store.download()
        #expect(try await shop.notes("Places") == ["new"])
        #expect(try await shop.store.hasPendingUpload == false)
    }

    @Test func `a nested key value cannot be changed, and its sibling values can`() async throws {
        let shop = try await KeyShop(["Places"]) {
            $0.post("Places", #"{"Address":{"Street":"High","City":"Rome","Floor":1}}"#)
        }
        let place = try await shop.one("Places(Street='High',City='Rome')")
        place["Address"] = KeyShop.address("Low", "Rome")
        let error = await #expect(throws: TidelogError.self) { try await shop.service.updateEntity(place) }
        #expect(error?.code == .refused(.keyIsFixed))

        let again = try await shop.one("Places(Street='High',City='Rome')")
        again["Address"] = KeyShop.address("High", "Rome", floor: 7)
        try await shop.service.updateEntity(again)
        let report = try await shop.store.upload()
        #expect(report.confirmed.count == 1, "\(report.rejected)")
    }

    @Test func `the alias of a key property is its name in key predicates`() async throws {
        let shop = try await KeyShop(["Items"]) {
            $0.post("Items", #"{"ID":1,"Note":"one"}"#)
            $0.post("Items", #"{"ID":2,"Note":"two"}"#)
        }
        #expect(try await shop.notes("Items") == ["one", "two"])
        #expect(try await shop.one("Items(ItemNo=2)")["Note"] == .string("two"))
        #expect(try await shop.one("Items(2)")["Note"] == .string("two"))
    }

    @Test func `keys that differ only in their Unicode normal form are different`() async throws {
        let composed = "K\u{E9}"
        let decomposed = "Ke\u{301}"
        let shop = try await KeyShop(["Texts"]) {
            $0.post("Texts", #"{"ID":"\#(composed)","Note":"composed"}"#)
            $0.post("Texts", #"{"ID":"\#(decomposed)","Note":"decomposed"}"#)
        }
        #expect(try await shop.notes("Texts") == ["composed", "decomposed"])
        #expect(try await shop.one("Texts('K%C3%A9')")["Note"] == .string("composed"))
        #expect(try await shop.one("Texts('Ke%CC%81')")["Note"] == .string("decomposed"))
        // The second download finds both entities unchanged.
        let report = try await shop.store.download()
        #expect(report.queries.allSatisfy { $0.tally.changed == 0 && $0.tally.removed == 0 }, "\(report)")
        let found = try await shop.service.executeQuery(DataQuery().withURL("Texts?$filter=ID eq '\(decomposed)'"))
        #expect(found.entityList().map { $0["Note"] } == [.string("decomposed")])
    }

    @Test func `new entities whose keys differ only in their Unicode normal form are both accepted and sent`()
        async throws
    {
        let shop = try await KeyShop(["Texts"])
        try await shop.create("Texts", ["ID": .string("\u{E9}"), "Note": .string("composed")])
        try await shop.create("Texts", ["ID": .string("e\u{301}"), "Note": .string("decomposed")])
        let report = try await shop.store.upload()
        #expect(report.confirmed.count == 2, "\(report.rejected)")
        try await shop.store.download()
        #expect(try await shop.notes("Texts") == ["composed", "decomposed"])
    }

    @Test func `a value that changes only its Unicode normal form is a change`() async throws {
        let shop = try await KeyShop(["Items"]) { $0.post("Items", "{\"ID\":1,\"Note\":\"\u{E9}\"}") }
        _ = shop.transport.direct("PATCH", "/v4/Items(1)", "{\"Note\":\"e\u{301}\"}")
        try await shop.store.download()
        guard case .string(let note)? = try await shop.one("Items(1)")["Note"] else {
            Issue.record("The note is no text.")
            return
        }
        #expect(Array(note.unicodeScalars) == ["e", "\u{301}"])
    }

    @Test func `an alternate key of the type or the set identifies its entity`() async throws {
        let shop = try await KeyShop(["People"]) {
            $0.post("People", #"{"ID":1,"SSN":"123","Badge":"A","Note":"one"}"#)
            $0.post("People", #"{"ID":2,"SSN":"456","Badge":"B","Note":"two"}"#)
        }
        #expect(try await shop.one("People(SSN='456')")["Note"] == .string("two"))
        #expect(try await shop.one("People(Badge='A')")["Note"] == .string("one"))
        let found = try await shop.service.executeQuery(DataQuery().withURL("People(SSN='123')"))
        #expect(try found.requiredEntity()["Note"] == .string("one"))
        await #expect(throws: (any Error).self) { _ = try await shop.one("People(SSN='789')") }
        await #expect(throws: (any Error).self) { _ = try await shop.one("People(Note='one')") }
    }

    @Test func `an enumeration key is parsed with and without the name of its type`() async throws {
        let shop = try await KeyShop(["Paints"]) {
            $0.post("Paints", #"{"Color":"Red","Note":"red"}"#)
            $0.post("Paints", #"{"Color":"Blue","Note":"blue"}"#)
        }
        for link in ["Paints('Blue')", "Paints(Color='Blue')", "Paints(K.Color'Blue')", "Paints(Blue)"] {
            #expect(try await shop.one(link)["Note"] == .string("blue"), "\(link)")
        }
    }

    // MARK: Bindings

    @Test func `a link to a set other than the bound one is refused`() async throws {
        let shop = try await KeyShop(["People", "Cars", "Trucks"]) {
            $0.post("People", #"{"ID":1}"#)
            $0.post("Cars", #"{"ID":1}"#)
            $0.post("Trucks", #"{"ID":1}"#)
        }
        let (person, car, truck) = (
            try await shop.one("People(1)"), try await shop.one("Cars(1)"), try await shop.one("Trucks(1)")
        )
        let property = try shop.service.entitySet(withName: "People").entityType.property(withName: "Car")
        let error = await #expect(throws: TidelogError.self) {
            try await shop.service.updateLink(from: person, property: property, to: truck)
        }
        #expect(error?.code == .refused(.wrongTargetSet))
        #expect(
            error?.message.contains("leads to the entity set Cars, not to Trucks") == true,
            "\(String(describing: error))")
        try await shop.service.updateLink(from: person, property: property, to: car)
        #expect(try await shop.store.upload().confirmed.count == 1)
    }

    @Test func `a navigation property binding of a derived type applies to entities of that type`() async throws {
        let shop = try await KeyShop(["People", "Cars", "Trucks"]) {
            $0.post("Cars", #"{"ID":1}"#)
            $0.post("Trucks", #"{"ID":1}"#)
        }
        let type = try #require(try shop.service.metadata.findEntityType("K.Boss"))
        let boss = EntityValue(type)
        boss["ID"] = .integer(9)
        boss.entitySet = try shop.service.entitySet(withName: "People")
        try await shop.service.createEntity(boss)
        let property = try type.property(withName: "Car")
        let car = try await shop.one("Cars(1)")
        let error = await #expect(throws: TidelogError.self) {
            try await shop.service.updateLink(from: boss, property: property, to: car)
        }
        #expect(error?.code == .refused(.wrongTargetSet))
        try await shop.service.updateLink(from: boss, property: property, to: try await shop.one("Trucks(1)"))
    }
}

/// A service with unusual keys, and its store.
private final class KeyShop {
    let store: OfflineODataProvider
    let service: DataService
    let transport: SandboxTransport
    private let directory: TemporaryDirectory

    struct Content {
        let transport: SandboxTransport

        func post(_ set: String, _ body: String) {
            let answer = transport.direct("POST", "/v4/\(set)", body)
            #expect(answer.status == 201, "\(String(decoding: answer.body, as: UTF8.self))")
        }
    }

    init(_ sets: [String], _ fill: (Content) -> Void = { _ in }) async throws {
        directory = try TemporaryDirectory()
        let metadata = Array(Self.metadata.utf8)
        var sandbox = try Sandbox(v4Metadata: metadata, v2Metadata: metadata, configuration: SandboxConfiguration())
        sandbox.origin = "http://shop.test"
        transport = SandboxTransport(sandbox)
        fill(Content(transport: transport))
        store = OfflineODataProvider(
            serviceRoot: "http://shop.test/v4/",
            parameters: OfflineODataParameters(storePath: directory.path, transport: transport, durability: .none))
        for set in sets { try await store.add(definingQuery: OfflineODataDefiningQuery(name: set, query: set)) }
        try await store.open()
        try await store.download()
        service = DataService(provider: store)
    }

    static func address(_ street: String, _ city: String, floor: Int64? = nil) -> Value {
        var properties: PropertyValues = ["Street": .string(street), "City": .string(city)]
        if let floor { properties["Floor"] = .integer(floor) }
        return .complex(ComplexValue(properties: properties))
    }

    func one(_ link: String) async throws -> EntityValue {
        let set = try service.entitySet(withName: String(link.prefix { $0 != "(" }))
        let entity = EntityValue(set.entityType)
        entity.readLink = link
        try await service.loadEntity(entity)
        return entity
    }

    func create(_ set: String, _ values: PropertyValues) async throws {
        let entity = EntityValue(try service.entitySet(withName: set).entityType)
        for (name, value) in values { entity[name] = value }
        entity.entitySet = try service.entitySet(withName: set)
        try await service.createEntity(entity)
    }

    func notes(_ set: String) async throws -> [String] {
        try await service.executeQuery(DataQuery().withURL(set)).entityList()
            .compactMap { if case .string(let note)? = $0["Note"] { note } else { nil } }
            .sorted()
    }

    func state(_ set: String) -> String { transport.sandbox.stateText(of: [set]) }

    private static let metadata = """
        <edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx"><edmx:DataServices>
        <Schema Namespace="K" xmlns="http://docs.oasis-open.org/odata/ns/edm">
          <EnumType Name="Color"><Member Name="Red" Value="1"/><Member Name="Blue" Value="2"/></EnumType>
          <ComplexType Name="Address">
            <Property Name="Street" Type="Edm.String" Nullable="false"/>
            <Property Name="City" Type="Edm.String" Nullable="false"/>
            <Property Name="Floor" Type="Edm.Int32"/>
          </ComplexType>
          <EntityType Name="Place">
            <Key>
              <PropertyRef Name="Address/Street" Alias="Street"/><PropertyRef Name="Address/City" Alias="City"/>
            </Key>
            <Property Name="Address" Type="K.Address" Nullable="false"/>
            <Property Name="Note" Type="Edm.String"/>
          </EntityType>
          <EntityType Name="Item">
            <Key><PropertyRef Name="ID" Alias="ItemNo"/></Key>
            <Property Name="ID" Type="Edm.Int32" Nullable="false"/>
            <Property Name="Note" Type="Edm.String"/>
          </EntityType>
          <EntityType Name="Text">
            <Key><PropertyRef Name="ID"/></Key>
            <Property Name="ID" Type="Edm.String" Nullable="false"/>
            <Property Name="Note" Type="Edm.String"/>
          </EntityType>
          <EntityType Name="TextColor">
            <Key><PropertyRef Name="Color"/></Key>
            <Property Name="Color" Type="K.Color" Nullable="false"/>
            <Property Name="Note" Type="Edm.String"/>
          </EntityType>
          <EntityType Name="Car">
            <Key><PropertyRef Name="ID"/></Key>
            <Property Name="ID" Type="Edm.Int32" Nullable="false"/>
          </EntityType>
          <EntityType Name="Person">
            <Key><PropertyRef Name="ID"/></Key>
            <Property Name="ID" Type="Edm.Int32" Nullable="false"/>
            <Property Name="SSN" Type="Edm.String"/>
            <Property Name="Badge" Type="Edm.String"/>
            <Property Name="Note" Type="Edm.String"/>
            <NavigationProperty Name="Car" Type="K.Car"/>
            <Annotation Term="Org.OData.Core.V1.AlternateKeys"><Collection><Record>
              <PropertyValue Property="Key"><Collection><Record>
                <PropertyValue Property="Name" PropertyPath="SSN"/><PropertyValue Property="Alias" String="SSN"/>
              </Record></Collection></PropertyValue>
            </Record></Collection></Annotation>
          </EntityType>
          <EntityType Name="Boss" BaseType="K.Person"/>
          <EntityContainer Name="Shop">
            <EntitySet Name="Places" EntityType="K.Place"/>
            <EntitySet Name="Items" EntityType="K.Item"/>
            <EntitySet Name="Texts" EntityType="K.Text"/>
            <EntitySet Name="Paints" EntityType="K.TextColor"/>
            <EntitySet Name="Cars" EntityType="K.Car"/>
            <EntitySet Name="Trucks" EntityType="K.Car"/>
            <EntitySet Name="People" EntityType="K.Person">
              <NavigationPropertyBinding Path="Car" Target="Cars"/>
              <NavigationPropertyBinding Path="K.Boss/Car" Target="Trucks"/>
              <Annotation Term="Org.OData.Core.V1.AlternateKeys"><Collection><Record>
                <PropertyValue Property="Key"><Collection><Record>
                  <PropertyValue Property="Name" PropertyPath="Badge"/>
                </Record></Collection></PropertyValue>
              </Record></Collection></Annotation>
            </EntitySet>
          </EntityContainer>
        </Schema></edmx:DataServices></edmx:Edmx>
        """
}
