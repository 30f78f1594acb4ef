import ODataSandbox
import TestSupport
import Testing
import Tidelog
import TidelogTesting

/// The service for tests of apps, with metadata that the sandbox does not have.
@Suite(.timeLimit(.minutes(10))) struct TestServiceTests {
    private let directory = TemporaryDirectory()

    /// A protocol version, and a document of the same service in it.
    enum Version: String, CaseIterable {
        case v2, v4

        var document: String { self == .v2 ? TestServiceTests.v2 : TestServiceTests.v4 }
    }

    private static let v4 = """
        <edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx"><edmx:DataServices>
        <Schema Namespace="Field" xmlns="http://docs.oasis-open.org/odata/ns/edm">
          <EntityType Name="Task"><Key><PropertyRef Name="ID"/></Key>
            <Property Name="ID" Type="Edm.Int32" Nullable="false"/>
            <Property Name="Title" Type="Edm.String" MaxLength="20"/>
          </EntityType>
          <EntityType Name="Tool"><Key><PropertyRef Name="Code"/></Key>
            <Property Name="Code" Type="Edm.String" Nullable="false"/>
          </EntityType>
          <Action Name="Complete" IsBound="true"><Parameter Name="task" Type="Field.Task" Nullable="false"/></Action>
          <EntityContainer Name="C"><EntitySet Name="Tasks" EntityType="Field.Task"/>
            <EntitySet Name="Tools" EntityType="Field.Tool"/></EntityContainer>
        </Schema></edmx:DataServices></edmx:Edmx>
        """

    private static let v2 = """
        <edmx:Edmx Version="1.0" xmlns:edmx="http://schemas.microsoft.com/ado/2007/06/edmx">
        <edmx:DataServices m:DataServiceVersion="2.0" xmlns:m="http://schemas.microsoft.com/ado/2007/08/dataservices/metadata">
        <Schema Namespace="Field" xmlns="http://schemas.microsoft.com/ado/2008/09/edm">
          <EntityType Name="Task"><Key><PropertyRef Name="ID"/></Key>
            <Property Name="ID" Type="Edm.Int32" Nullable="false"/>
            <Property Name="Title" Type="Edm.String" MaxLength="20"/>
          </EntityType>
          <EntityContainer Name="C" m:IsDefaultEntityContainer="true"><EntitySet Name="Tasks" EntityType="Field.Task"/></EntityContainer>
        </Schema></edmx:DataServices></edmx:Edmx>
        """

    private func store(
        _ version: Version = .v4, etags: Set<String> = []
    ) async throws -> (TestService, OfflineODataProvider, DataService) {
        let remote = try TestService(metadata: Array(version.document.utf8), etags: etags)
        try remote.insert(into: "Tasks", ["Title": .string("first")])
        let provider = OfflineODataProvider(
            serviceRoot: remote.serviceRoot,
            parameters: OfflineODataParameters(storePath: directory.path, transport: remote, durability: .none))
        try await provider.add(definingQuery: OfflineODataDefiningQuery(name: "Tasks", query: "/Tasks"))
        try await provider.open()
        try await provider.download()
        return (remote, provider, DataService(provider: provider))
    }

    @Test func `an action that the test implements changes the entity, and others are answered with 501`() throws {
        let remote = try TestService(metadata: Array(Self.v4.utf8))
        try remote.insert(into: "Tasks", ["Title": .string("first")])
        #expect(remote.send("POST", "Tasks(1)/Field.Complete", "{}").status == 501)
        let complete: SandboxOperation = { call throws(SandboxError) in
            guard let task = call.binding.first else { return .nothing }
            try call.update(task, ["Title": .string("done")])
            return .nothing
        }
        remote.implement("Complete", with: complete)
        #expect(remote.send("POST", "Tasks(1)/Field.Complete", "{}").status == 204)
        #expect(remote.entities(of: "Tasks").first?["Title"] == .string("done"))
    }

    private func newTask(_ service: DataService, _ title: String) throws -> EntityValue {
        let task = EntityValue(try service.entitySet(withName: "Tasks").entityType)
        task["Title"] = .string(title)
        return task
    }

    @Test(arguments: Version.allCases) func `an app downloads, creates and uploads, and the service assigns the key`(
        _ version: Version
    ) async throws {
        let (remote, provider, service) = try await store(version)
        try await service.createEntity(newTask(service, "second"))
        let report = try await provider.upload()
        #expect(report.confirmed.count == 1, "\(report)")
        #expect(remote.entities(of: "Tasks").map { $0["Title"] } == [.string("first"), .string("second")])
        #expect(remote.entities(of: "Tasks").map { $0["ID"] } == [.integer(1), .integer(2)])
        #expect(remote.requests.last == "POST $batch")
    }

    @Test(arguments: Version.allCases) func `a refused change is in the error archive with the message`(
        _ version: Version
    ) async throws {
        let (remote, provider, service) = try await store(version)
        remote.refuse(TestRejection(code: "Closed", message: "The task is closed.", method: "POST", urlPart: "Tasks"))
        try await service.createEntity(newTask(service, "second"))
        let report = try await provider.upload()
        #expect(report.rejected.map(\.refusal.message) == ["The task is closed."])
        #expect(report.rejected.map(\.refusal.status) == [422])
        #expect(report.rejected.map(\.refusal.code) == ["Closed"])
        #expect(remote.entities(of: "Tasks").count == 1)
        #expect(try await provider.upload().confirmed.count == 1)
    }

    @Test func `a change of another client is a conflict`() async throws {
        let (remote, provider, service) = try await store(etags: ["Tasks"])
        let tasks = try service.entitySet(withName: "Tasks")
        let task = try await service.executeQuery(DataQuery().from(tasks)).requiredEntity()
        task["Title"] = .string("mine")
        try await service.updateEntity(task)
        #expect(remote.send("PATCH", "Tasks(1)", #"{"Title":"theirs"}"#).status < 300)
        let report = try await provider.upload()
        #expect(report.conflicts.count == 1, "\(report)")
    }

    @Test func `without a network nothing is sent, and later everything`() async throws {
        let (remote, provider, service) = try await store()
        try await service.createEntity(newTask(service, "second"))
        remote.isReachable = false
        let count = remote.requests.count
        let error = await #expect(throws: TidelogError.self) { try await provider.upload() }
        #expect(error?.code == .unreachable)
        #expect(remote.requests.count == count)
        remote.isReachable = true
        var options = UploadOptions()
        options.ignoresPostponement = true
        #expect(try await provider.upload(options).confirmed.count == 1)
    }

    @Test func `after a lost response the entity exists once`() async throws {
        let (remote, provider, service) = try await store()
        let tool = EntityValue(try service.entitySet(withName: "Tools").entityType)
        tool["Code"] = .string("hammer")
        try await service.createEntity(tool)
        remote.loseNextAnswer()
        _ = try? await provider.upload()
        var options = UploadOptions()
        options.ignoresPostponement = true
        _ = try? await provider.upload(options)
        #expect(remote.entities(of: "Tools").count == 1)
        #expect(try await provider.operationStatus().isEmpty)
    }

    @Test func `a value that violates the metadata cannot be inserted`() throws {
        let remote = try TestService(metadata: Array(Self.v4.utf8))
        #expect(throws: (any Error).self) { try remote.insert(into: "Nothing", [:]) }
    }

    @Test func `a document that is no metadata is refused`() {
        #expect(throws: CSDLError.self) { _ = try TestService(metadata: Array("<html/>".utf8)) }
    }
}
