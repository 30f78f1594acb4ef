import EDM
import ODataWire
import Testing

/// Type names that use the alias of a schema (OData JSON Format 4.01, 4.6.3).
@Suite struct `Type names by alias in payloads` {
    private static func model(_ version: String = "4.01") throws -> EntityDataModel {
        let text = """
            <edmx:Edmx xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx" Version="\(version)"><edmx:DataServices>
            <Schema xmlns="http://docs.oasis-open.org/odata/ns/edm" Namespace="Long.Name" Alias="self">
            <EntityType Name="T" OpenType="true"><Key><PropertyRef Name="ID"/></Key><Property Name="ID" Type="Edm.Int32"/>
            <Property Name="At" Type="self.Place"/><Property Name="Ats" Type="Collection(self.Place)"/></EntityType>
            <EntityType Name="D" BaseType="self.T"><Property Name="More" Type="Edm.Int32"/></EntityType>
            <ComplexType Name="Place"/><ComplexType Name="City" BaseType="self.Place"><Property Name="Zip" Type="Edm.String"/></ComplexType>
            <EnumType Name="Color"><Member Name="Red"/></EnumType>
            <EntityContainer Name="C"><EntitySet Name="Ts" EntityType="self.T"/></EntityContainer></Schema>
            </edmx:DataServices></edmx:Edmx>
            """
        return try CSDLReader.read(Array(text.utf8))
    }

    @Test(arguments: ["#self.", "#Long.Name.", "self.", "https://x.test/$metadata#self."])
    func `a type name with an alias is read like the name with the namespace`(prefix: String) throws {
        let model = try Self.model()
        let reader = PayloadReader(version: .v401, model: model)
        let json = """
            {"@type":"\(prefix)D","ID":1,"More":2,"At":{"@type":"\(prefix)City","Zip":"z"},
            "Ats":[{"@type":"\(prefix)City","Zip":"y"}],"Free@type":"\(prefix)Color","Free":"Red",
            "Many@type":"#Collection(\(prefix.hasSuffix("self.") ? "self." : "Long.Name.")Color)","Many":["Red"]}
            """
        let type = try #require(model.findEntityType("Long.Name.T"))
        let entity = try reader.entity(Array(json.utf8), type: type)
        #expect(entity.type == "Long.Name.D")
        #expect(entity.values["More"] == .integer(2))
        let city = Value.complex(ComplexValue(type: "Long.Name.City", properties: ["Zip": .string("z")]))
        #expect(entity.values["At"] == city)
        #expect(entity.values["Free"] == .enumeration("Red"))
        #expect(entity.values["Many"] == .collection([.enumeration("Red")]))
        let body = try RequestBodyReader(version: .v401, model: model).entity(Array(json.utf8), type: type)
        #expect(body.type == "Long.Name.D")
    }

    @Test func `a type name with an alias is read in V2`() throws {
        let model = try Self.model("4.0")
        let reader = PayloadReader(version: .v2, model: model)
        let json = #"{"d":{"__metadata":{"type":"self.D"},"ID":1,"More":2}}"#
        let entity = try reader.entity(Array(json.utf8), type: try #require(model.findEntityType("Long.Name.T")))
        #expect(entity.type == "Long.Name.D")
        #expect(entity.values["More"] == .integer(2))
    }

    @Test func `a type name with an alias is read in the context of an item`() throws {
        let model = try Self.model()
        let reader = PayloadReader(version: .v401, model: model)
        let json = ##"{"@context":"$metadata#Ts/self.D/$entity","ID":1,"More":2}"##
        let feed = try reader.feed(
            Array("{\"value\":[\(json)]}".utf8), type: try #require(model.findEntityType("Long.Name.T")))
        #expect(feed.entities.first?.type == "Long.Name.D")
    }
}
