import EDM
import ODataSandbox
import TestSupport
import Testing
import Tidelog

/// RD-10: `OnDelete` with `SetDefault`: a deleted principal is replaced by the default one.
@Suite struct DeleteDefaultTests {
    @Test func `a delete sets dependent properties to their defaults, locally at once and at the service`() async throws
    {
        let desk = try await Desk()
        try await desk.service.deleteEntity(try await desk.one("Queues", 2))
        #expect(try await desk.queue(of: 1) == .integer(0))
        #expect(try await desk.tickets(of: 0) == [1, 3])
        #expect(try await desk.store.operationStatus().count == 1)

        let report = try await desk.store.upload()
        #expect(report.rejected.isEmpty, "\(report.rejected)")
        #expect(try await desk.server("Tickets(1)")["QueueID"] == .integer(0))
        try await desk.store.download()
        #expect(try await desk.queue(of: 1) == .integer(0))
        #expect(try await desk.tickets(of: 0) == [1, 3])
    }

    @Test func `an undo of such a delete restores the dependent properties`() async throws {
        let desk = try await Desk()
        try await desk.service.deleteEntity(try await desk.one("Queues", 2))
        try await desk.store.undoAllPendingChanges()
        #expect(try await desk.queue(of: 1) == .integer(2))
        #expect(try await desk.tickets(of: 0) == [3])
    }

    @Test func `a delete of the default principal itself is refused if the dependents need one`() async throws {
        let desk = try await Desk()
        let error = await #expect(throws: TidelogError.self) {
            try await desk.service.deleteEntity(try await desk.one("Queues", 0))
        }
        guard case .refused? = error?.code else { return #expect(Bool(false), "\(error.debugDescription)") }
        #expect(try await desk.tickets(of: 0) == [3])
    }
}

/// Queues with tickets: each ticket is in a queue, by default in queue 0.
private final class Desk {
    let store: OfflineODataProvider
    let service: DataService
    private let remote: DataService
    private let directory = TemporaryDirectory()

    private static let metadata = """
        <edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx"><edmx:DataServices>
        <Schema Namespace="Desk" xmlns="http://docs.oasis-open.org/odata/ns/edm">
          <EntityType Name="Queue"><Key><PropertyRef Name="ID"/></Key>
            <Property Name="ID" Type="Edm.Int32" Nullable="false"/>
            <NavigationProperty Name="Tickets" Type="Collection(Desk.Ticket)" Partner="Queue">
              <OnDelete Action="SetDefault"/>
            </NavigationProperty>
          </EntityType>
          <EntityType Name="Ticket"><Key><PropertyRef Name="ID"/></Key>
            <Property Name="ID" Type="Edm.Int32" Nullable="false"/>
            <Property Name="QueueID" Type="Edm.Int32" Nullable="false" DefaultValue="0"/>
            <NavigationProperty Name="Queue" Type="Desk.Queue" Nullable="false" Partner="Tickets">
              <ReferentialConstraint Property="QueueID" ReferencedProperty="ID"/>
            </NavigationProperty>
          </EntityType>
          <EntityContainer Name="Container">
            <EntitySet Name="Queues" EntityType="Desk.Queue">
              <NavigationPropertyBinding Path="Tickets" Target="Tickets"/>
            </EntitySet>
            <EntitySet Name="Tickets" EntityType="Desk.Ticket">
              <NavigationPropertyBinding Path="Queue" Target="Queues"/>
            </EntitySet>
          </EntityContainer>
        </Schema></edmx:DataServices></edmx:Edmx>
        """

    init() async throws {
        var sandbox = try Sandbox(
            v4Metadata: Array(Self.metadata.utf8), v2Metadata: Array(Self.metadata.utf8),
            configuration: SandboxConfiguration())
        sandbox.origin = "http://desk.test"
        let transport = SandboxTransport(sandbox)
        for (set, body) in [
            ("Queues", #"{"ID":0}"#), ("Queues", #"{"ID":2}"#), ("Tickets", #"{"ID":1,"QueueID":2}"#),
            ("Tickets", #"{"ID":3,"QueueID":0}"#),
        ] {
            let answer = transport.direct("POST", "/v4/\(set)", body)
            #expect(answer.status == 201, "\(String(decoding: answer.body, as: UTF8.self))")
        }
        let root = "http://desk.test/v4/"
        store = OfflineODataProvider(
            serviceRoot: root,
            parameters: OfflineODataParameters(storePath: directory.path, transport: transport, durability: .none))
        for set in ["Queues", "Tickets"] {
            try await store.add(definingQuery: OfflineODataDefiningQuery(name: set, query: set))
        }
        try await store.open()
        try await store.download()
        service = DataService(provider: store)
        remote = DataService(provider: OnlineODataProvider(serviceRoot: root, transport: transport))
        try await remote.loadMetadata()
    }

    func one(_ set: String, _ key: Int) async throws -> EntityValue {
        try await service.executeQuery(DataQuery().withURL("\(set)(\(key))")).requiredEntity()
    }

    func queue(of ticket: Int) async throws -> Value? { try await one("Tickets", ticket)["QueueID"] }

    func tickets(of queue: Int) async throws -> [Int64] {
        try await service.executeQuery(DataQuery().withURL("Queues(\(queue))/Tickets?$orderby=ID")).entityList()
            .compactMap { $0["ID"]?.integerValue }
    }

    func server(_ link: String) async throws -> EntityValue {
        try await remote.executeQuery(DataQuery().withURL(link)).requiredEntity()
    }
}
