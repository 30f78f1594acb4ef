import Foundation
import ODataSandbox
import TestSupport
import Testing
import Tidelog

/// A V2 service with a second entity container, whose sets it accepts only by their qualified names.
@Suite struct SecondContainerTests {
    /// - Parameter name: The name of the container of the photos.
    private static func legacy(_ name: String) -> String {
        """
        <edmx:Edmx Version="1.0" xmlns:edmx="http://schemas.microsoft.com/ado/2007/06/edmx"
            xmlns:m="http://schemas.microsoft.com/ado/2007/08/dataservices/metadata">
          <edmx:DataServices m:DataServiceVersion="2.0">
            <Schema Namespace="Main" xmlns="http://schemas.microsoft.com/ado/2008/09/edm">
              <EntityType Name="Room"><Key><PropertyRef Name="ID"/></Key>
                <Property Name="ID" Type="Edm.Int32" Nullable="false"/><Property Name="Name" Type="Edm.String"/>
              </EntityType>
              <EntityContainer Name="Container1" m:IsDefaultEntityContainer="true">
                <EntitySet Name="Rooms" EntityType="Main.Room"/>
              </EntityContainer>
            </Schema>
            <Schema Namespace="Second" xmlns="http://schemas.microsoft.com/ado/2008/09/edm">
              <EntityType Name="Photo"><Key><PropertyRef Name="ID"/></Key>
                <Property Name="ID" Type="Edm.Int32" Nullable="false"/><Property Name="Name" Type="Edm.String"/>
                <NavigationProperty Name="Frames" Relationship="Second.PhotoFrame" FromRole="Photo" ToRole="Frame"/>
              </EntityType>
              <EntityType Name="Frame"><Key><PropertyRef Name="ID"/></Key>
                <Property Name="ID" Type="Edm.Int32" Nullable="false"/><Property Name="Name" Type="Edm.String"/>
                <NavigationProperty Name="Photo" Relationship="Second.PhotoFrame" FromRole="Frame" ToRole="Photo"/>
              </EntityType>
              <Association Name="PhotoFrame">
                <End Role="Photo" Type="Second.Photo" Multiplicity="0..1"/>
                <End Role="Frame" Type="Second.Frame" Multiplicity="*"/>
              </Association>
              <EntityContainer Name="\(name)">
                <EntitySet Name="Photos" EntityType="Second.Photo"/>
                <EntitySet Name="Frames" EntityType="Second.Frame"/>
                <AssociationSet Name="PhotoFrames" Association="Second.PhotoFrame">
                  <End Role="Photo" EntitySet="Photos"/><End Role="Frame" EntitySet="Frames"/>
                </AssociationSet>
              </EntityContainer>
            </Schema>
          </edmx:DataServices>
        </edmx:Edmx>
        """
    }

    private static let master = """
        <edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx">
          <edmx:DataServices>
            <Schema Namespace="Main" xmlns="http://docs.oasis-open.org/odata/ns/edm">
              <EntityType Name="Room"><Key><PropertyRef Name="ID"/></Key>
                <Property Name="ID" Type="Edm.Int32" Nullable="false"/><Property Name="Name" Type="Edm.String"/>
              </EntityType>
              <EntityContainer Name="Container1">
                <EntitySet Name="Rooms" EntityType="Main.Room"/>
                <EntitySet Name="Photos" EntityType="Second.Photo">
                  <NavigationPropertyBinding Path="Frames" Target="Frames"/>
                </EntitySet>
                <EntitySet Name="Frames" EntityType="Second.Frame">
                  <NavigationPropertyBinding Path="Photo" Target="Photos"/>
                </EntitySet>
              </EntityContainer>
            </Schema>
            <Schema Namespace="Second" xmlns="http://docs.oasis-open.org/odata/ns/edm">
              <EntityType Name="Photo"><Key><PropertyRef Name="ID"/></Key>
                <Property Name="ID" Type="Edm.Int32" Nullable="false"/><Property Name="Name" Type="Edm.String"/>
                <NavigationProperty Name="Frames" Type="Collection(Second.Frame)" Partner="Photo"/>
              </EntityType>
              <EntityType Name="Frame"><Key><PropertyRef Name="ID"/></Key>
                <Property Name="ID" Type="Edm.Int32" Nullable="false"/><Property Name="Name" Type="Edm.String"/>
                <NavigationProperty Name="Photo" Type="Second.Photo" Partner="Frames"/>
              </EntityType>
            </Schema>
          </edmx:DataServices>
        </edmx:Edmx>
        """

    @Test(arguments: [
        ["Rooms", "Photos", "Frames"], ["Rooms", "Container2.Photos", "/Container2.Frames?$orderby=ID"],
    ])
    func `sets of a second container are read and written with their qualified names`(_ queries: [String]) async throws
    {
        var sandbox = try Sandbox(
            v4Metadata: Array(Self.master.utf8), v2Metadata: Array(Self.legacy("Container2").utf8),
            configuration: SandboxConfiguration(generatedKeys: ["Rooms", "Photos", "Frames"]))
        sandbox.origin = "http://photos.test"
        let transport = SandboxTransport(sandbox)
        let directory = try TemporaryDirectory()
        let root = "http://photos.test/v2/"
        let store = OfflineODataProvider(
            serviceRoot: root,
            parameters: OfflineODataParameters(storePath: directory.path, transport: transport))
        for query in queries {
            try await store.add(definingQuery: OfflineODataDefiningQuery(name: query, query: query))
        }
        try await store.open()
        try await store.download()
        let service = DataService(provider: store)
        let photos = try service.entitySet(withName: "Photos")
        let photo = EntityValue(photos.entityType)
        photo["Name"] = .string("a photo")
        try await service.createEntity(photo)
        let frame = EntityValue(try service.entitySet(withName: "Frames").entityType)
        frame["Name"] = .string("a frame")
        try await service.createRelatedEntity(
            frame, in: photo, property: try photos.entityType.property(withName: "Frames"))
        #expect(try await store.upload().confirmed.count == 2)
        try await store.download()
        photo["Name"] = .string("renamed")
        try await service.updateEntity(photo)
        #expect(try await store.upload().confirmed.count == 1)
        try await store.download()
        let link = try #require(photo.readLink)
        #expect(link == "Container2.Photos(1)")
        // The readLink and the other permitted forms of the URL refer to the entity.
        for url in [link, "Photos(1)", "Container2.Photos(1)", "Second.Container2.Photos(1)"] {
            let again = EntityValue(photos.entityType)
            again.readLink = url
            try await service.loadEntity(again)
            #expect(again["Name"] == .string("renamed"), "\(url)")
        }
        try await service.deleteEntity(frame)
        #expect(try await store.upload().confirmed.count == 1)
        #expect(transport.sandbox.stateText(of: ["Photos", "Frames"], values: false) == "Photos(1)\n")
        let online = DataService(provider: OnlineODataProvider(serviceRoot: root, transport: transport))
        try await online.loadMetadata()
        let query = DataQuery().from(try online.entitySet(withName: "Photos"))
        #expect(try await online.executeQuery(query).entityList().count == 1)
    }
}
