import EDM
import ODataSandbox
import ODataWire
import TestSupport
import Testing
import Tidelog

/// UQ-26, CS-03: the registration of the client before the first upload.
@Suite struct ClientRegistrationTests {
    private static let metadata = """
        <edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx"><edmx:DataServices>
        <Schema Namespace="S" xmlns="http://docs.oasis-open.org/odata/ns/edm">
          <EntityType Name="Client"><Key><PropertyRef Name="ClientID"/></Key>
            <Property Name="ClientID" Type="Edm.Int64" Nullable="false"/>
            <Property Name="ClientGUID" Type="Edm.Guid"/>
          </EntityType>
          <EntityType Name="Note"><Key><PropertyRef Name="ID"/></Key>
            <Property Name="ID" Type="Edm.Int32" Nullable="false"/>
            <Property Name="Text" Type="Edm.String"/>
          </EntityType>
          <EntityContainer Name="C">
            <EntitySet Name="ClientRegistrationSet" EntityType="S.Client"/>
            <EntitySet Name="Notes" EntityType="S.Note"/>
          </EntityContainer>
        </Schema></edmx:DataServices></edmx:Edmx>
        """

    private let directory: TemporaryDirectory
    private let transport: SandboxTransport

    init() throws {
        directory = try TemporaryDirectory()
        var sandbox = try Sandbox(
            v4Metadata: Array(Self.metadata.utf8), v2Metadata: Array(Self.metadata.utf8),
            configuration: SandboxConfiguration(generatedKeys: ["ClientRegistrationSet"]))
        sandbox.origin = "http://notes.test"
        transport = SandboxTransport(sandbox)
    }

    private func store(_ registration: ClientRegistration? = ClientRegistration()) async throws -> OfflineODataProvider
    {
        var parameters = OfflineODataParameters(storePath: directory.path, transport: transport)
        parameters.clientRegistration = registration
        let store = OfflineODataProvider(serviceRoot: "http://notes.test/v4/", parameters: parameters)
        try await store.add(definingQuery: OfflineODataDefiningQuery(name: "Notes", query: "Notes"))
        try await store.open()
        return store
    }

    private func create(_ store: OfflineODataProvider, _ id: Int64) async throws {
        let service = DataService(provider: store)
        let note = EntityValue.ofType(try service.entitySet(withName: "Notes").entityType)
        note["ID"] = .integer(id)
        try await service.createEntity(note)
    }

    private var registrations: [WireRequest] {
        transport.requests.filter { $0.method == "POST" && $0.url.hasSuffix("ClientRegistrationSet") }
    }

    @Test func `the first upload registers the client, and later requests identify it`() async throws {
        let store = try await store()
        try await create(store, 1)
        #expect(registrations.isEmpty)
        try await store.upload()
        #expect(registrations.count == 1)
        transport.forgetRequests()
        try await create(store, 2)
        try await store.upload()
        try await store.download()
        #expect(registrations.isEmpty)
        #expect(transport.requests.allSatisfy { $0.headers["Client-Instance-ID"] == "1" })
        await store.close()

        let again = try await self.store()
        transport.forgetRequests()
        try await again.download()
        #expect(!transport.requests.isEmpty)
        #expect(transport.requests.allSatisfy { $0.headers["Client-Instance-ID"] == "1" })
    }

    @Test func `a registration whose response was lost is found, and not made again`() async throws {
        let store = try await store()
        try await create(store, 1)
        transport.add(Fault(.dropAnswer, method: "POST", urlPart: "ClientRegistrationSet"))
        await #expect(throws: TidelogError.self) { try await store.upload() }
        #expect(try await store.upload().remaining == 0)
        #expect(registrations.count == 1)
    }

    @Test func `a service without such an entity set is an error that names it`() async throws {
        let store = try await store(ClientRegistration(entitySet: "Devices"))
        try await create(store, 1)
        let error = await #expect(throws: TidelogError.self) { try await store.upload() }
        #expect(error?.message.contains("Devices") == true)
    }

    @Test func `without the option no client is registered`() async throws {
        let store = try await store(nil)
        try await create(store, 1)
        try await store.upload()
        #expect(registrations.isEmpty)
        #expect(transport.requests.allSatisfy { $0.headers["Client-Instance-ID"] == nil })
    }
}
