import EDM
import ODataWire
import OfflineStore
import SyncCore
import Testing

import Tidelog

/// Requests of a provider without a store for entities of derived types.
struct OnlineDerivedTypeTests {
    private static let metadata = """
        <edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx"><edmx:DataServices>
        <Schema Namespace="M" xmlns="http://docs.oasis-open.org/odata/ns/edm">
        <ComplexType Name="Seat"><Property Name="Row" Type="Edm.Int32"/>
          <Property Name="Letter" Type="Edm.String"/></ComplexType>
        <EntityType Name="Item"><Key><PropertyRef Name="ID"/></Key>
          <Property Name="ID" Type="Edm.Int32" Nullable="false"/>
          <NavigationProperty Name="Owner" Type="M.Line"/></EntityType>
        <EntityType Name="Flight" BaseType="M.Item"><Property Name="Seat" Type="M.Seat"/>
          <Property Name="Photo" Type="Edm.Stream"/><Property Name="Number" Type="Edm.String"/>
          <NavigationProperty Name="Airline" Type="M.Line"/>
          <NavigationProperty Name="Partners" Type="Collection(M.Line)"/></EntityType>
        <EntityType Name="Line"><Key><PropertyRef Name="ID"/></Key>
          <Property Name="ID" Type="Edm.Int32" Nullable="false"/></EntityType>
        <EntityContainer Name="C"><EntitySet Name="Items" EntityType="M.Item">
          <NavigationPropertyBinding Path="Owner" Target="Lines"/>
          <NavigationPropertyBinding Path="M.Flight/Airline" Target="Lines"/>
          <NavigationPropertyBinding Path="M.Flight/Partners" Target="Lines"/></EntitySet>
        <EntitySet Name="Lines" EntityType="M.Line"/></EntityContainer>
        </Schema></edmx:DataServices></edmx:Edmx>
        """

    private let model: EntityDataModel
    private let item = EntityAddress.link("Items(1)")
    private let line = EntityAddress.link("Lines(2)")

    init() throws { model = try CSDLReader.read(Array(Self.metadata.utf8)) }

    private func requests(_ intents: [Intent], _ options: IntentOptions = Self.ofFlight()) throws -> [String] {
        var writer = OnlineStepWriter(model: model, service: ServiceOptions())
        let encoder = RequestEncoder(version: model.version, model: model, serviceRoot: "http://s/")
        return try writer.steps(intents.map { ($0, options) }).map {
            let request = encoder.encode($0.modification)
            return "\(request.method) \(request.url) \(String(decoding: request.body, as: UTF8.self))"
        }
    }

    private static func ofFlight() -> IntentOptions {
        var options = IntentOptions()
        options.sourceType = "M.Flight"
        return options
    }

    @Test func `an update has the type of the entity, and null for members that a complex value lacks`() throws {
        var options = Self.ofFlight()
        let seat = ComplexValue(properties: ["Row": .integer(1), "Letter": .string("a")])
        options.formerValues = ["Seat": .complex(seat)]
        let changes: PropertyValues = ["Seat": .complex(ComplexValue(properties: ["Row": .integer(2)]))]
        #expect(
            try requests([.update(item, changes: changes, bindings: [], inline: [])], options)
                == [##"PATCH Items(1) {"@odata.type":"#M.Flight","Seat":{"Row":2,"Letter":null}}"##])
    }

    @Test func `an update binds a navigation property of the derived type`() throws {
        let bindings = [BindingDraft(navigation: "Airline", targets: [line])]
        #expect(
            try requests([.update(item, changes: [:], bindings: bindings, inline: [])])
                == [##"PATCH Items(1) {"@odata.type":"#M.Flight","Airline@odata.bind":"http://s/Lines(2)"}"##])
    }

    @Test func `links of the derived type are below a cast`() throws {
        let intents: [Intent] = [
            .updateLink(from: item, navigation: "Airline", to: line),
            .deleteLink(from: item, navigation: "Airline", to: nil),
            .createLink(from: .link("Items(1)/M.Flight"), navigation: "Partners", to: line),
            .updateLink(from: item, navigation: "Owner", to: line),
        ]
        let expected = [
            #"PUT Items(1)/M.Flight/Airline/$ref {"@odata.id":"http://s/Lines(2)"}"#,
            "DELETE Items(1)/M.Flight/Airline/$ref ",
            #"POST Items(1)/M.Flight/Partners/$ref {"@odata.id":"http://s/Lines(2)"}"#,
            #"PUT Items(1)/Owner/$ref {"@odata.id":"http://s/Lines(2)"}"#,
        ]
        #expect(try requests(intents) == expected)
        // Only one derived type has these properties.
        #expect(try requests(intents, IntentOptions()) == expected)
    }

    @Test func `an entity is created in a collection of the derived type below a cast`() throws {
        let draft = EntityDraft(number: 1, set: "Lines", type: "M.Line", values: ["ID": .integer(3)])
        #expect(
            try requests([.create(draft, in: Intent.Parent(entity: item, navigation: "Partners"))])
                == [#"POST Items(1)/M.Flight/Partners {"ID":3}"#])
    }

    @Test func `a link of a new entity of a derived type is below a cast too`() throws {
        let draft = EntityDraft(number: 1, set: "Items", type: "M.Flight", values: ["ID": .integer(3)])
        #expect(
            try requests(
                [.create(draft, in: nil), .createLink(from: .draft(1), navigation: "Partners", to: line)],
                IntentOptions()
            ).last == #"POST $1/M.Flight/Partners/$ref {"@odata.id":"http://s/Lines(2)"}"#)
    }

    @Test func `a stream of the derived type is written below a cast`() throws {
        var options = Self.ofFlight()
        options.stream = StreamWrite(property: "Photo", content: nil)
        #expect(
            try requests([.update(item, changes: [:], bindings: [], inline: [])], options)
                == ["DELETE Items(1)/M.Flight/Photo "])
    }

    @Test func `a navigation property that no type of the set has is refused`() {
        #expect(throws: TidelogError.self) {
            try requests([.updateLink(from: item, navigation: "Missing", to: line)])
        }
    }
}
