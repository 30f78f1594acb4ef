import EDM
import ODataQuery
import ODataWire
import Testing

/// Values whose type is known only from the payload (OData JSON Format 4.01, 4.6.3).
///
/// A request must repeat the type if JSON does not imply it, so reading must not lose it.
@Suite struct `Values without a declared type` {
    private static func model() throws -> EntityDataModel {
        let text = """
            <edmx:Edmx xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx" Version="4.0"><edmx:DataServices>
            <Schema xmlns="http://docs.oasis-open.org/odata/ns/edm" Namespace="M">
            <ComplexType Name="Place"><Property Name="City" Type="Edm.String"/>
            <Property Name="Any" Type="Edm.PrimitiveType"/></ComplexType>
            <ComplexType Name="Town" BaseType="M.Place"><Property Name="Zip" Type="Edm.Int32"/></ComplexType>
            <TypeDefinition Name="Weight" UnderlyingType="Edm.Decimal"/>
            <TypeDefinition Name="Day" UnderlyingType="Edm.Date"/>
            <EntityType Name="T" OpenType="true"><Key><PropertyRef Name="ID"/></Key>
            <Property Name="ID" Type="Edm.Int32" Nullable="false"/><Property Name="Any" Type="Edm.PrimitiveType"/>
            <Property Name="Free" Type="Edm.Untyped"/></EntityType>
            <EntityContainer Name="C"><EntitySet Name="Ts" EntityType="M.T"/></EntityContainer></Schema>
            </edmx:DataServices></edmx:Edmx>
            """
        return try CSDLReader.read(Array(text.utf8))
    }

    @Test(arguments: [
        ##"{"Where":{"@odata.type":"#M.Place","City":"x"}}"##,
        ##"{"Where":{"@odata.type":"#M.Town","City":"x","Zip":1}}"##,
        ##"{"Where":{"@odata.type":"#Elsewhere.Place","City":"x"}}"##,
        ##"{"Where":{"City":"x"}}"##,
        ##"{"Where@odata.type":"#Collection(M.Place)","Where":[{"@odata.type":"#M.Place","City":"x"}]}"##,
        ##"{"Where":{"@odata.type":"#M.Place","Any@odata.type":"#Date","Any":"2020-02-29"}}"##,
        ##"{"Many@odata.type":"#Collection(N.Place)","Many":[{"@odata.type":"#N.Place","City":"x"}]}"##,
        ##"{"Day@odata.type":"#Date","Day":"2020-02-29"}"##,
        ##"{"Any@odata.type":"#Date","Any":"2020-02-29"}"##,
        ##"{"Any":"2020-02-29"}"##,
        ##"{"Any":true}"##,
        ##"{"Free@odata.type":"#Duration","Free":"PT1H"}"##,
        ##"{"Free":"PT1H"}"##,
        ##"{"Free":{"a":[1,null]}}"##,
    ])
    func `a value is written with the type with which it was read`(json: String) throws {
        let model = try Self.model()
        let type = try #require(model.findEntityType("M.T"))
        let set = try #require(model.findEntitySet("Ts"))
        let encoder = RequestEncoder(version: .v4, model: model, serviceRoot: "http://h/s/")
        func written(_ values: PropertyValues) -> String {
            String(
                decoding: encoder.encode(DataModification(.create(in: set, EntityBody(type: type, values: values))))
                    .body,
                as: UTF8.self)
        }
        let downloaded = try PayloadReader(version: .v4, model: model).entity(Array(json.utf8), type: type)
        #expect(written(downloaded.values) == json)
        let sent = try RequestBodyReader(version: .v4, model: model).entity(Array(json.utf8), type: type)
        #expect(written(sent.values) == json)
    }

    @Test func `the items of a typed collection have its type, unless they name a derived one`() throws {
        let model = try Self.model()
        let json = ##"""
            {"Many@odata.type":"#Collection(M.Place)","Many":[{"City":"x"},{"@odata.type":"#M.Town","Zip":1}]}
            """##
        let type = try #require(model.findEntityType("M.T"))
        let entity = try PayloadReader(version: .v4, model: model).entity(Array(json.utf8), type: type)
        #expect(
            entity.values["Many"]
                == .collection([
                    .complex(ComplexValue(type: "M.Place", properties: ["City": .string("x")])),
                    .complex(ComplexValue(type: "M.Town", properties: ["Zip": .integer(1)])),
                ]))
    }

    @Test func `a type definition in the payload has the values of its underlying type`() throws {
        let model = try Self.model()
        let json = ##"{"W@odata.type":"#M.Weight","W":"1.50","D@odata.type":"#M.Day","D":"2020-02-29"}"##
        let type = try #require(model.findEntityType("M.T"))
        let entity = try PayloadReader(version: .v4, model: model).entity(Array(json.utf8), type: type)
        #expect(entity.values["W"] == DecimalValue("1.50").map(Value.decimal))
        #expect(entity.values["D"] == LocalDate("2020-02-29").map(Value.date))
    }

    @Test func `the items of a collection have its type also if the metadata lack it`() throws {
        let model = try Self.model()
        let json = ##"{"Many@odata.type":"#Collection(N.Place)","Many":[{"City":"x"},{"@odata.type":"#N.Town"}]}"##
        let type = try #require(model.findEntityType("M.T"))
        let entity = try PayloadReader(version: .v4, model: model).entity(Array(json.utf8), type: type)
        #expect(
            entity.values["Many"]
                == .collection([
                    .complex(ComplexValue(type: "N.Place", properties: ["City": .string("x")])),
                    .complex(ComplexValue(type: "N.Town", properties: [:])),
                ]))
    }

    @Test func `a type name with any number of nested collections is not a type`() throws {
        let model = try Self.model()
        let name = String(repeating: "Collection(", count: 20_000) + String(repeating: ")", count: 20_000)
        let type = try #require(model.findEntityType("M.T"))
        let json = ##"{"Many@odata.type":"#\##(name)","Many":[1]}"##
        let entity = try PayloadReader(version: .v4, model: model).entity(Array(json.utf8), type: type)
        #expect(entity.values["Many"] == .collection([.double(1)]))
    }
}
