import EDM
import ODataQuery
import ODataWire
import Operations
import Testing

@testable import SyncCore

/// Keys with enumeration values, which a service may write in several ways (OData JSON 4.01, section 7.1).
struct EnumerationKeyTests {
    private static let metadata = """
        <edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx"><edmx:DataServices>
        <Schema Namespace="Shop" xmlns="http://docs.oasis-open.org/odata/ns/edm">
        <EnumType Name="Color"><Member Name="Red" Value="1"/><Member Name="Blue" Value="2"/>
          <Member Name="Azure" Value="2"/></EnumType>
        <EnumType Name="Rights" IsFlags="true"><Member Name="None" Value="0"/><Member Name="Read" Value="1"/>
          <Member Name="Write" Value="2"/><Member Name="Print" Value="4"/></EnumType>
        <EntityType Name="Paint"><Key><PropertyRef Name="Color"/></Key>
          <Property Name="Color" Type="Shop.Color" Nullable="false"/><Property Name="Name" Type="Edm.String"/>
        </EntityType>
        <EntityType Name="Role"><Key><PropertyRef Name="Area"/><PropertyRef Name="Rights" Alias="R"/></Key>
          <Property Name="Area" Type="Edm.String" Nullable="false"/>
          <Property Name="Rights" Type="Shop.Rights" Nullable="false"/><Property Name="Name" Type="Edm.String"/>
        </EntityType>
        <EntityType Name="Pair"><Key><PropertyRef Name="BackColor"/><PropertyRef Name="Color"/></Key>
          <Property Name="BackColor" Type="Shop.Color" Nullable="false"/>
          <Property Name="Color" Type="Shop.Color" Nullable="false"/></EntityType>
        <EntityContainer Name="Container"><EntitySet Name="Paints" EntityType="Shop.Paint"/>
          <EntitySet Name="Pairs" EntityType="Shop.Pair"/>
          <EntitySet Name="Roles" EntityType="Shop.Role"/></EntityContainer>
        </Schema></edmx:DataServices></edmx:Edmx>
        """

    private let store: TestStore

    init() throws {
        store = try TestStore(
            ServiceDescription(root: "http://127.0.0.1/v4/", metadata: Array(Self.metadata.utf8)))
    }

    private func read(_ set: String, _ entity: String) throws -> EntityID {
        let set = try #require(store.model.findEntitySet(set))
        var builder = try ImageBuilder(storage: store.state, model: store.model)
        let payload = try PayloadReader(version: store.model.version, model: store.model).entity(
            Array(entity.utf8), type: set.entityType)
        let images = try #require(try builder.images(of: payload, in: set))
        try store.add(.entitiesRead(images))
        return images[0].entity
    }

    private func names() -> EntityNames<WorkingSet> {
        EntityNames(storage: store.state, model: store.model, serviceRoot: "http://127.0.0.1/v4/")
    }

    private func key(_ set: String, _ predicate: String) throws -> KeyPredicate {
        let type = try #require(store.model.findEntitySet(set)).entityType
        guard case .key(let key) = try KeySelector.parse(predicate, of: type, version: .v4) else {
            throw URLSyntaxError(.invalidKey, "not a key", in: predicate)
        }
        return key
    }

    @Test(arguments: ["1", "\"1\"", "\"Red\""])
    func `a key that is written by name and by number is the same`(_ notation: String) throws {
        let red = try read("Paints", #"{"Color":"Red","Name":"a"}"#)
        #expect(try read("Paints", "{\"Color\":\(notation),\"Name\":\"b\"}") == red)
        #expect(try store.value(red, "Name") == .string("b"))
        #expect(try store.state.rows(set: "Paints") == [red])
    }

    @Test func `members with the same number are the same key`() throws {
        let blue = try read("Paints", #"{"Color":"Azure"}"#)
        #expect(try read("Paints", #"{"Color":"Blue"}"#) == blue)
        #expect(try read("Paints", #"{"Color":"Red"}"#) != blue)
    }

    @Test(arguments: ["Read,Write", "Write,Read", "Write, Read", "Read, ,Write", "3", "Read,2"])
    func `combined members are the same key in any order, with spaces and as a number`(_ notation: String) throws {
        let role = try read("Roles", #"{"Area":"a","Rights":"Read,Write"}"#)
        #expect(try read("Roles", "{\"Area\":\"a\",\"Rights\":\"\(notation)\"}") == role)
        #expect(try read("Roles", #"{"Area":"a","Rights":"Read,Write,Print"}"#) != role)
    }

    @Test func `members that the metadata do not declare are compared by their names`() throws {
        let unknown = try read("Roles", #"{"Area":"a","Rights":"Fly,Read"}"#)
        #expect(try read("Roles", #"{"Area":"a","Rights":"Read, Fly"}"#) == unknown)
        #expect(try read("Roles", #"{"Area":"a","Rights":"Read"}"#) != unknown)
    }

    @Test func `a URL finds an entity whatever notation its key has`() throws {
        let blue = try read("Paints", #"{"Color":2}"#)
        for text in ["(Shop.Color'Blue')", "(Shop.Color'2')", "('Azure')", "(Blue)"] {
            #expect(try names().entity(set: "Paints", key: try key("Paints", text)) == blue, "\(text)")
        }
        let role = try read("Roles", #"{"Area":"a","Rights":"Write, Read"}"#)
        for text in ["(Area='a',R=Shop.Rights'Read,Write')", "(R=Shop.Rights'3',Area='a')"] {
            #expect(try names().entity(set: "Roles", key: try key("Roles", text)) == role, "\(text)")
        }
        // A key of the app has no types.
        let own = KeyPredicate([("Color", .enumeration("Azure"))])
        #expect(try names().entity(set: "Paints", key: own) == blue)
    }

    @Test func `keys in different notations are equal and have the same hash`() throws {
        let keys = Set([
            try key("Roles", "(Area='a',R=Shop.Rights'Read,Write')"), try key("Roles", "(Area='a',R=Shop.Rights'3')"),
        ])
        #expect(keys.count == 1)
    }

    @Test func `a second entity with the key in another notation is refused`() throws {
        _ = try read("Paints", #"{"Color":1}"#)
        #expect(throws: (any Error).self) { try store.create("Paints", ["Color": .enumeration("Red")]) }
        try store.create("Paints", ["Color": .enumeration("Blue")])
    }

    @Test func `a readLink has no spaces between members`() throws {
        let role = try read("Roles", #"{"Area":"a","Rights":"Write, Read"}"#)
        let row = try #require(try store.state.row(role))
        #expect(names().readLink(row) == "Roles(Area='a',R=Shop.Rights'Write,Read')")
    }

    @Test func `keys of former snapshots get their present text`() throws {
        let (paint, role) = try (
            #require(store.model.findEntitySet("Paints")).entityType,
            #require(store.model.findEntitySet("Roles")).entityType
        )
        #expect(KeyText.current(#"Color=enumeration("1")"#, of: paint) == #"Color=enumeration("Red")"#)
        #expect(KeyText.current(#"Color=enumeration("Red")"#, of: paint) == #"Color=enumeration("Red")"#)
        #expect(
            KeyText.current(#"Area='R=enumeration("3")',R=enumeration("Write,Read")"#, of: role)
                == #"Area='R=enumeration("3")',R=enumeration("Read,Write")"#)
        #expect(KeyText.current(#"#4(Color=enumeration("2"))"#, of: paint) == #"#4(Color=enumeration("Blue"))"#)
        // The name of a part is the end of another name.
        let pair = try #require(store.model.findEntitySet("Pairs")).entityType
        #expect(
            KeyText.current(#"BackColor=enumeration("1"),Color=enumeration("2")"#, of: pair)
                == #"BackColor=enumeration("Red"),Color=enumeration("Blue")"#)
    }

    @Test(arguments: [" , b,a", "a\"b", "a\\", "Red\")", "", " ", "8", "-1", "99999999999999999999"])
    func `the text of a key in a snapshot of this version is unchanged`(_ members: String) throws {
        for name in ["Paints", "Pairs"] {
            let type = try #require(store.model.findEntitySet(name)).entityType
            let values = PropertyValues(type.keyParts.map { ($0.path, .enumeration(members)) })
            let text = try #require(KeyText.of(values, type: type))
            #expect(KeyText.current(text, of: type) == text)
        }
    }

    @Test func `an alternate key matches a part of the primary key in any notation`() throws {
        let paint = try #require(store.model.findEntitySet("Paints")).entityType
        let other = KeyPredicate([("Color", .enumeration("2")), ("Name", .string("a"))])
        for notation in ["2", "Azure"] {
            #expect(other.matches(["Color": .enumeration(notation), "Name": .string("a")], of: paint))
        }
        #expect(!other.matches(["Color": .enumeration("1"), "Name": .string("a")], of: paint))
    }

    @Test func `keys are assigned again if the order of the members changes`() throws {
        let role = try read("Roles", #"{"Area":"a","Rights":"Read,Write"}"#)
        let (first, last) = (#"<Member Name="Read" Value="1"/>"#, #"<Member Name="Print" Value="4"/>"#)
        let metadata = Self.metadata.replacing(first, with: "").replacing(last, with: last + first)
        try store.add(
            .serviceInstalled(ServiceDescription(root: "http://127.0.0.1/v4/", metadata: Array(metadata.utf8))))
        #expect(try read("Roles", #"{"Area":"a","Rights":"3"}"#) == role)
    }
}
