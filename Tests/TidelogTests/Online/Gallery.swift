import ODataSandbox
import TestSupport
import Tidelog

/// A service with a stream property, an album of media entities, and clients of it.
final class Gallery {
    static let v4 = """
        <edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx"><edmx:DataServices>
        <Schema Namespace="Art" xmlns="http://docs.oasis-open.org/odata/ns/edm">
          <EntityType Name="Album">
            <Key><PropertyRef Name="ID"/></Key>
            <Property Name="ID" Type="Edm.Int32" Nullable="false"/>
            <Property Name="Title" Type="Edm.String"/>
            <Property Name="Cover" Type="Edm.Stream"/>
            <NavigationProperty Name="Pictures" Type="Collection(Art.Picture)" Partner="Album"/>
          </EntityType>
          <EntityType Name="Picture" HasStream="true">
            <Key><PropertyRef Name="ID"/></Key>
            <Property Name="ID" Type="Edm.Int32" Nullable="false"/>
            <Property Name="Caption" Type="Edm.String"/>
            <NavigationProperty Name="Album" Type="Art.Album" Partner="Pictures"/>
          </EntityType>
          <EntityContainer Name="Container">
            <EntitySet Name="Albums" EntityType="Art.Album">
              <NavigationPropertyBinding Path="Pictures" Target="Pictures"/>
            </EntitySet>
            <EntitySet Name="Pictures" EntityType="Art.Picture">
              <NavigationPropertyBinding Path="Album" Target="Albums"/>
            </EntitySet>
          </EntityContainer>
        </Schema></edmx:DataServices></edmx:Edmx>
        """

    let transport: SandboxTransport
    let store: OfflineODataProvider?
    let service: DataService
    private let directory: TemporaryDirectory

    init(isOnline: Bool) async throws {
        var sandbox = try Sandbox(
            v4Metadata: Array(Self.v4.utf8), v2Metadata: Array(Self.v4.utf8),
            configuration: SandboxConfiguration(generatedKeys: ["Albums", "Pictures"]))
        sandbox.origin = "http://art.test"
        transport = SandboxTransport(sandbox)
        transport.direct("POST", "/v4/Albums", #"{"Title":"Summer"}"#)
        directory = try TemporaryDirectory()
        let root = "http://art.test/v4/"
        guard !isOnline else {
            store = nil
            service = DataService(provider: OnlineODataProvider(serviceRoot: root, transport: transport))
            try await service.loadMetadata()
            return
        }
        let provider = OfflineODataProvider(
            serviceRoot: root,
            parameters: OfflineODataParameters(storePath: directory.path, transport: transport))
        for set in ["Albums", "Pictures"] {
            try await provider.add(definingQuery: OfflineODataDefiningQuery(name: set, query: "/\(set)"))
        }
        try await provider.open()
        try await provider.download()
        store = provider
        service = DataService(provider: provider)
    }

    func set(_ name: String) throws -> EntitySet { try service.entitySet(withName: name) }

    func album() async throws -> EntityValue {
        try await service.executeQuery(DataQuery().from(try set("Albums"))).requiredEntity()
    }

    func cover() throws -> Property { try set("Albums").entityType.property(withName: "Cover") }
}
