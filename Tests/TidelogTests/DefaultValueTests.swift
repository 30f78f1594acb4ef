import ODataSandbox
import TestSupport
import Testing
import Tidelog

/// What a new entity has that wants defaults.
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

    @Test func `everything that must not be null has a default, and nothing else`() {
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

    @Test func `a complex value that has one of its own kind in it ends`() {
        let place = EntityValue(Self.embedded, "D.Spot", withDefaults: true)["Place"]?.complexValue
        #expect(place?.properties["Since"] == .date(.epoch))
        #expect(place?.properties["Around"] == nil)
    }

    @Test func `without its metadata an entity has no defaults of enumerations and complex values`() {
        let thing = EntityValue(Self.embedded.entityType("D.Thing"), withDefaults: true)
        #expect(thing["Day"] == .date(.epoch))
        #expect(thing["Mood"] == nil)
        #expect(thing["Plain"] == nil)
    }

    @Test func `a service takes an entity with nothing but defaults`() async throws {
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
