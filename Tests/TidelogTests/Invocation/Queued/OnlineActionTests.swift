import EDM
import ODataSandbox
import TestSupport
import Testing
import Tidelog

/// Actions in change sets and batches, online (BA-05, BA-22, C19).
@Suite struct OnlineActionTests {
    private func travel(_ service: DataService, _ number: Int, isActive: Bool = true) async throws -> EntityValue {
        try await service.executeQuery(
            DataQuery().withURL("Travels(TravelID=\(number),IsActiveEntity=\(isActive))")
        ).requiredEntity()
    }

    @Test func `C19 a create and an action on the new entity are one change set, and the result is returned`()
        async throws
    {
        let trip = try await Travels()
        let service = trip.online
        try await service.loadMetadata()
        let new = try trip.newTravel(7, "new")
        let changes = ChangeSet()
        changes.createEntity(new)
        let call = changes.invoke("draftActivate", on: .entity(new))
        try await service.applyChanges(changes)
        #expect(trip.sent == ["POST Travels", "POST $1/Trip.draftActivate"])
        let returned = try #require(call.result).entity()
        #expect(returned["IsActiveEntity"] == .boolean(true))
        #expect(trip.remote.last == "7 active O - new")
    }

    @Test func `BA-05 a refused action rolls its change set back`() async throws {
        let trip = try await Travels()
        let service = trip.online
        try await service.loadMetadata()
        let new = try trip.newTravel(7, nil)
        let changes = ChangeSet()
        changes.createEntity(new)
        let call = changes.invoke("draftActivate", on: .entity(new))
        let error = await #expect(throws: TidelogError.self) { try await service.applyChanges(changes) }
        #expect(error?.message.contains("A travel needs a description.") == true)
        #expect(call.result == nil)
        #expect(trip.remote.count == 3)
    }

    @Test func `BA-22 a batch holds actions in change sets, and queries`() async throws {
        let trip = try await Travels()
        let service = trip.online
        let (first, second) = (try await travel(service, 1), try await travel(service, 2))
        trip.transport.forgetRequests()
        let (changes, others) = (ChangeSet(), ChangeSet())
        let reserved = changes.invoke("reserve", on: .entity(first), ["seats": .value(4)])
        others.invoke("accept", on: .entity(second))
        let batch = RequestBatch()
        batch.addChanges(changes)
        batch.addChanges(others)
        let query = batch.addQuery(DataQuery().withURL("Travels"))
        try await service.processBatch(batch)
        #expect(trip.transport.requests.filter { $0.url.hasSuffix("$batch") }.count == 1)
        #expect(try reserved.result?.value(Int.self) == 6)
        #expect(try batch.queryResult(query).entityList().count == 3)
        #expect(trip.remote[0].hasPrefix("1 active O 6") && trip.remote[1].hasPrefix("2 active A"))
    }

    @Test func `a single queued action is carried out at once, with its ETag`() async throws {
        let trip = try await Travels()
        let service = trip.online
        let first = try await travel(service, 1)
        trip.transport.direct(
            "PATCH", "/v4/Travels(TravelID=1,IsActiveEntity=true)", #"{"Seats":7}"#, headers: ["If-Match": "*"])
        await #expect(throws: TidelogError.self) { _ = try await service.queueAction("accept", on: .entity(first)) }
        let call = try await service.queueAction(
            "copyFrom", on: .entity(try await travel(service, 1)), ["other": .entity(try await travel(service, 2))])
        let returned = try #require(call.result).entity()
        #expect(returned["Description"] == .string("Travel 2"))
        #expect(call.operation == nil)
    }

    @Test func `V2 a function import with POST is queued, and sent with its parameters in the URL`() async throws {
        let transport = SandboxTransport(try Sandbox.airports())
        let directory = try TemporaryDirectory()
        let provider = OfflineODataProvider(
            serviceRoot: "http://air.test/v2/",
            parameters: OfflineODataParameters(storePath: directory.path, transport: transport))
        try await provider.add(definingQuery: OfflineODataDefiningQuery(name: "Airports", query: "/Airports"))
        try await provider.open()
        try await provider.download()
        let service = DataService(provider: provider)
        try await service.queueAction("Open", ["code": .value("BSL"), "name": .value("Basel & co")])
        try await provider.upload()
        let sent = transport.requests.filter { $0.url.hasSuffix("$batch") }.map {
            String(decoding: $0.body, as: UTF8.self)
        }
        #expect(sent.contains { $0.contains("POST Open?code='BSL'&name='Basel%20%26%20co' HTTP/1.1") })
        #expect(transport.sandbox.contents(of: "Airports").count == 4)
        // The response contains the new airport.
        let airports = try await service.executeQuery(DataQuery().withURL("Airports")).entityList()
        #expect(airports.count == 4)
    }
}
