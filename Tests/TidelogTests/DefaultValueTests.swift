import EDM
import ODataSandbox
import ODataQuery
import TestSupport
import Testing
import Tidelog

/// Default values of new entities.
@Suite struct DefaultValueTests {
    private static let metadata = """
        <edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx"><edmx:DataServices>
        <Schema Namespace="D" xmlns="http://docs.oasis-open.org/odata/ns/edm">
          <EnumType Name="Mood"><Member Name="Bad" Value="3"/><Member Name="Good" Value="5"/></EnumType>
          <EnumType Name="Rights" IsFlags="true"><Member Name="Read" Value="1"/><Member Name="Write" Value="2"/></EnumType>
          <ComplexType Name="Place">
            <Property Name="Since" Type="Edm.Date" Nullable="false"/>
            <Property Name="Note" Type="Edm.String"/>
            <Property Name="Around" Type="D.Place" Nullable="false"/>
          </ComplexType>
          <ComplexType Name="Plain"><Property Name="Number" Type="Edm.Int32" Nullable="false"/></ComplexType>
          <EntityType Name="Thing">
            <Key><PropertyRef Name="ID"/></Key>
            <Property Name="ID" Type="Edm.Int32" Nullable="false"/>
            <Property Name="Day" Type="Edm.Date" Nullable="false"/>
            <Property Name="Time" Type="Edm.TimeOfDay" Nullable="false"/>
            <Property Name="Moment" Type="Edm.DateTimeOffset" Nullable="false"/>
            <Property Name="Span" Type="Edm.Duration" Nullable="false"/>
            <Property Name="Mood" Type="D.Mood" Nullable="false"/>
            <Property Name="Rights" Type="D.Rights" Nullable="false"/>
            <Property Name="Plain" Type="D.Plain" Nullable="false"/>
            <Property Name="Note" Type="Edm.String"/>
          </EntityType>
          <EntityType Name="Spot">
            <Key><PropertyRef Name="ID"/></Key>
            <Property Name="ID" Type="Edm.Int32" Nullable="false"/>
            <Property Name="Place" Type="D.Place" Nullable="false"/>
          </EntityType>
          <EntityContainer Name="Things"><EntitySet Name="Things" EntityType="D.Thing"/></EntityContainer>
        </Schema></edmx:DataServices></edmx:Edmx>
        """
    private static let embedded = EmbeddedMetadata(metadata)

    @Test func `only properties that are not nullable have default values`() {
        let thing = EntityValue(Self.embedded, "D.Thing", withDefaults: true)
        #expect(thing["ID"] == .integer(0))
        #expect(thing["Day"] == .date(.epoch))
        #expect(thing["Time"] == .timeOfDay(.midnight))
        #expect(thing["Moment"] == GlobalDateTime.propertyDefault.propertyValue)
        #expect(thing["Span"] == DayTimeDuration.propertyDefault.propertyValue)
        #expect(thing["Mood"] == .enumeration("Bad"))
        #expect(thing["Rights"] == .enumeration("0"))
        #expect(thing["Plain"] == .complex(ComplexValue(properties: ["Number": .integer(0)])))
        #expect(thing["Note"] == nil)
        #expect(EntityValue(Self.embedded, "D.Thing", withDefaults: false).properties.isEmpty)
    }

    @Test(arguments: [
        ("Edm.DateTime", "datetime'2000-01-02T03:04:05'", "2000-01-02T03:04:05"),
        ("Edm.DateTime", "2000-01-02 03:04:05.000Z", "2000-01-02T03:04:05"),
        ("Edm.DateTime", "2000-01-02T03:04:05", "2000-01-02T03:04:05"),
        ("Edm.Decimal", "1.5M", "1.5"), ("Edm.Decimal", "1.5", "1.5"), ("Edm.Int64", "5L", "5"),
        ("Edm.Guid", "guid'11111111-2222-3333-4444-555555555555'", "11111111-2222-3333-4444-555555555555"),
        ("Edm.Binary", "0x0AFF", "Cv8="), ("Edm.Binary", "X'0AFF'", "Cv8="), ("Edm.Binary", "Cv8=", "Cv8="),
        ("Edm.Boolean", "1", "true"), ("Edm.Boolean", "false", "false"), ("Edm.String", "a&amp;b", "a&b"),
    ])
    func `default values are parsed in the forms of V2 and V4`(type: String, text: String, expected: String) throws {
        let metadata = EmbeddedMetadata(
            """
            <edmx:Edmx Version="1.0" xmlns:edmx="http://schemas.microsoft.com/ado/2007/06/edmx"><edmx:DataServices>
            <Schema Namespace="D" xmlns="http://schemas.microsoft.com/ado/2008/09/edm"><EntityType Name="Thing">
            <Key><PropertyRef Name="P"/></Key><Property Name="P" Type="\(type)" Nullable="false" DefaultValue="\(text)"/>
            </EntityType></Schema></edmx:DataServices></edmx:Edmx>
            """)
        let primitive = try #require(PrimitiveType(rawValue: type))
        #expect(
            try EntityValue(metadata, "D.Thing", withDefaults: true)["P"]
                == PrimitiveLiteral.parse(
                    expected, as: primitive, version: type == "Edm.DateTime" ? .v2 : .v4,
                    form: type == "Edm.DateTime" ? .text : .json))
    }

    @Test(arguments: [("Good", "Good"), ("D.Mood'Good'", "Good"), ("Else", "Bad")])
    func `the default value of an enumeration is one of its members`(text: String, member: String) {
        let metadata = EmbeddedMetadata(
            Self.metadata.replacing(
                #"Type="D.Mood" Nullable="false""#, with: #"Type="D.Mood" Nullable="false" DefaultValue="\#(text)""#))
        #expect(EntityValue(metadata, "D.Thing", withDefaults: true)["Mood"] == .enumeration(member))
    }

    @Test func `the default value of a recursive complex type is finite`() {
        let place = EntityValue(Self.embedded, "D.Spot", withDefaults: true)["Place"]?.complexValue
        #expect(place?.properties["Since"] == .date(.epoch))
        #expect(place?.properties["Around"] == nil)
    }

    @Test func `without metadata, an entity has no default values of enumerations and complex types`() {
        let thing = EntityValue(Self.embedded.entityType("D.Thing"), withDefaults: true)
        #expect(thing["Day"] == .date(.epoch))
        #expect(thing["Mood"] == nil)
        #expect(thing["Plain"] == nil)
    }

    @Test func `a service accepts an entity with only default values`() async throws {
        var sandbox = try Sandbox(
            v4Metadata: Array(Self.metadata.utf8), v2Metadata: Array(Self.metadata.utf8),
            configuration: SandboxConfiguration())
        sandbox.origin = "http://things.test"
        let directory = try TemporaryDirectory()
        let provider = OfflineODataProvider(
            serviceRoot: "http://things.test/v4/",
            parameters: OfflineODataParameters(
                storePath: directory.path, transport: SandboxTransport(sandbox), durability: .none))
        try await provider.open()
        let service = DataService(provider: provider)
        try await service.createEntity(EntityValue(Self.embedded, "D.Thing", withDefaults: true))
        let report = try await provider.upload()
        #expect(report.rejected.isEmpty)
        #expect(report.remaining == 0)
        await provider.close()
    }
}
