import EDM
import ODataSandbox
import TestSupport
import Testing
import Tidelog

/// Actions in the queue of a store (UQ-25, BA-05, BA-22, C19).
@Suite struct QueuedActionTests {
    // MARK: Requests

    @Test func `UQ-25 a queued action changes nothing in the store, and takes effect with the upload`() async throws {
        let trip = try await Travels()
        let before = try await trip.local()
        let call = try await trip.service.queueAction("accept", on: .entity(try await trip.travel(1)))
        #expect(call.result == nil && call.operation != nil)
        #expect(try await trip.local() == before)
        #expect(trip.transport.requests.isEmpty)
        let report = try await trip.provider.upload()
        #expect(report.confirmed == [try #require(call.operation)])
        #expect(trip.sent == ["POST Travels(TravelID=1,IsActiveEntity=true)/Trip.accept"])
        #expect(trip.remote[0] == "1 active A 10 Travel 1")
        #expect(try await trip.local() == trip.remote)
    }

    @Test func `UQ-25 an action import and its parameters are sent`() async throws {
        let trip = try await Travels()
        try await trip.service.queueAction("CloseYear", ["year": .value(2025)])
        #expect(try await trip.provider.operationStatus().map(\.call) == ["CloseYear"])
        #expect(try await trip.provider.operationStatus().map(\.entityLink) == [""])
        try await trip.provider.upload()
        #expect(trip.sent == ["POST CloseYear"])
        #expect(trip.remote.allSatisfy { $0.contains(" X ") })
        #expect(try await trip.provider.operationStatus().isEmpty)
    }

    @Test func `UQ-25 a bound action is sent with the newest ETag of its entity`() async throws {
        let trip = try await Travels()
        try await trip.service.queueAction("accept", on: .entity(try await trip.travel(1)))
        trip.transport.direct(
            "PATCH", "/v4/Travels(TravelID=1,IsActiveEntity=true)", #"{"Seats":7}"#, headers: ["If-Match": "*"])
        try await trip.provider.download()
        #expect(try await trip.provider.upload().rejected.isEmpty)
        #expect(trip.remote[0] == "1 active A 7 Travel 1")
        #expect(try await trip.local() == trip.remote)
    }

    @Test func `UQ-25 an action on a version that another client has replaced is sent again with its ETag`()
        async throws
    {
        let trip = try await Travels()
        try await trip.service.queueAction("accept", on: .entity(try await trip.travel(1)))
        trip.transport.direct(
            "PATCH", "/v4/Travels(TravelID=1,IsActiveEntity=true)", #"{"Seats":7}"#, headers: ["If-Match": "*"])
        try await trip.provider.upload(UploadOptions(conflicts: ConflictHandling(policy: .ask)))
        #expect(trip.sent.filter { $0.contains("accept") }.count == 2)
        #expect(trip.remote[0] == "1 active A 7 Travel 1")
        #expect(try await trip.local() == trip.remote)
    }

    @Test func `a later change of a property that an action has changed undeclared is in conflict`() async throws {
        let trip = try await Travels()
        let travel = try await trip.travel(1)
        try await trip.service.queueAction("reserve", on: .entity(travel), ["seats": .value(1)])
        travel["Seats"] = .integer(20)
        try await trip.service.updateEntity(travel)
        try await trip.provider.upload()
        #expect(trip.remote[0] == "1 active O 9 Travel 1")
        #expect(try await trip.provider.conflicts().map(\.isOverlapping) == [true])
    }

    @Test func `a later change of a property of the declared effect is not in conflict with the action`() async throws {
        let trip = try await Travels()
        let travel = try await trip.travel(1)
        travel["Seats"] = .integer(8)
        try await trip.service.queueAction(
            "reserve", on: .entity(travel), ["seats": .value(1)], effect: .update(travel))
        travel["Seats"] = .integer(20)
        try await trip.service.updateEntity(travel)
        #expect(try await trip.provider.upload().confirmed.count == 2)
        #expect(trip.remote[0] == "1 active O 20 Travel 1")
        #expect(try await trip.local() == trip.remote)
    }

    @Test func `UQ-25 actions on one entity keep their order, each with the ETag after the one before`() async throws {
        let trip = try await Travels()
        for seats in [1, 2, 3] {
            try await trip.service.queueAction(
                "reserve", on: .entity(try await trip.travel(1)), ["seats": .value(seats)])
        }
        let travel = try await trip.travel(1)
        travel["Description"] = .string("last")
        try await trip.service.updateEntity(travel)
        #expect(try await trip.provider.upload().confirmed.count == 4)
        #expect(trip.remote[0] == "1 active O 4 last")
        #expect(try await trip.local() == trip.remote)
    }

    @Test func `UQ-25 an action is neither coalesced nor merged into a create`() async throws {
        let trip = try await Travels()
        let travel = try trip.newTravel(7, "new")
        try await trip.service.createEntity(travel)
        try await trip.service.queueAction("reserve", on: .entity(travel), ["seats": .value(0)])
        travel["Description"] = .string("changed")
        try await trip.service.updateEntity(travel)
        try await trip.provider.upload(UploadOptions(coalesces: true))
        #expect(
            trip.sent == [
                "POST Travels", "POST Travels(TravelID=7,IsActiveEntity=false)/Trip.reserve",
                "PATCH Travels(TravelID=7,IsActiveEntity=false)",
            ])
        #expect(try await trip.local() == trip.remote)
    }

    @Test func `UQ-25 an action on a set folds the entities that it returns`() async throws {
        let trip = try await Travels()
        try await trip.service.queueAction("clone", on: .set("Travels"), ["from": .value(1)])
        try await trip.provider.upload()
        #expect(trip.sent == ["POST Travels/Trip.clone"])
        #expect(trip.remote.count == 5)
        #expect(try await trip.local() == trip.remote)
        try await trip.provider.download()
        #expect(try await trip.local() == trip.remote)
    }

    // MARK: References

    @Test func `C19 a create and an action on the new entity are one change set, by Content-ID`() async throws {
        let trip = try await Travels()
        let travel = try trip.newTravel(7, "new")
        let changes = ChangeSet()
        changes.createEntity(travel)
        changes.invoke("draftActivate", on: .entity(travel), answer: .boundEntity)
        try await trip.service.applyChanges(changes)
        let link = travel.readLink
        try await trip.provider.upload()
        #expect(trip.sent == ["POST Travels", "POST $1/Trip.draftActivate"])
        #expect(trip.changeSets == 1)
        #expect(trip.remote.last == "7 active O - new")
        #expect(try await trip.local() == trip.remote)
        // The draft has become the active entity under its old link.
        let found = try await trip.service.executeQuery(DataQuery().withURL(try #require(link))).requiredEntity()
        #expect(found["IsActiveEntity"] == .boolean(true))
    }

    @Test func `an action that is queued on its own waits for the key of a new entity`() async throws {
        let trip = try await Travels()
        let travel = try trip.newTravel(7, nil)
        try await trip.service.createEntity(travel)
        try await trip.service.queueAction("draftActivate", on: .entity(travel), answer: .boundEntity)
        let report = try await trip.provider.upload()
        // The service rejects the action for its own reasons, and keeps the create.
        #expect(report.confirmed.count == 1 && report.rejected.count == 1)
        #expect(trip.sent == ["POST Travels", "POST Travels(TravelID=7,IsActiveEntity=false)/Trip.draftActivate"])
        #expect(try await trip.local() == trip.remote)
        #expect(try await trip.provider.operationStatus().map(\.state) == [.rejected])
    }

    @Test func `an action waits for the key of a new entity that is an argument`() async throws {
        let trip = try await Travels()
        let travel = try trip.newTravel(7, "new")
        try await trip.service.createEntity(travel)
        try await trip.service.queueAction(
            "copyFrom", on: .entity(try await trip.travel(1)), ["other": .entity(travel)])
        try await trip.provider.upload()
        #expect(trip.remote[0] == "1 active O 10 new")
        #expect(try await trip.local() == trip.remote)
    }

    @Test func `an argument that the same change set creates is refused, and nothing is logged`() async throws {
        let trip = try await Travels()
        let travel = try trip.newTravel(7, "new")
        let changes = ChangeSet()
        changes.createEntity(travel)
        changes.invoke("copyFrom", on: .entity(try await trip.travel(1)), ["other": .entity(travel)])
        let error = await #expect(throws: TidelogError.self) { try await trip.service.applyChanges(changes) }
        #expect(error?.code == .refused(.notAllowed))
        #expect(error?.message.contains("The parameter other of Trip.copyFrom") == true)
        #expect(try await trip.provider.operationStatus().isEmpty)
    }

    // MARK: Declared effects

    @Test func `a declared effect is visible at once, and the service's answer replaces it`() async throws {
        let trip = try await Travels()
        let travel = try await trip.travel(1)
        travel["Seats"] = .integer(3)
        try await trip.service.queueAction(
            "reserve", on: .entity(travel), ["seats": .value(6)], effect: .update(travel))
        #expect(try await trip.local()[0] == "1 active O 3 Travel 1")
        try await trip.provider.upload()
        // The service reserved six seats of ten.
        #expect(trip.remote[0] == "1 active O 4 Travel 1")
        #expect(try await trip.local() == trip.remote)
    }

    @Test func `a declared deletion removes the entity here, and an undo restores it`() async throws {
        let trip = try await Travels()
        let draft = try await trip.travel(3, isActive: false)
        let call = try await trip.service.queueAction("Discard", on: .entity(draft), effect: .delete(draft))
        #expect(try await trip.local().count == 2)
        try await trip.provider.undo(.operations([try #require(call.operation)]))
        #expect(try await trip.local().count == 3)
        try await trip.provider.redo([try #require(call.operation)])
        #expect(try await trip.local().count == 2)
        try await trip.provider.upload()
        #expect(trip.remote.count == 2)
        #expect(try await trip.local() == trip.remote)
    }

    @Test func `an entity that an action removes without a declared effect is removed after the upload`() async throws {
        let trip = try await Travels()
        try await trip.service.queueAction("Discard", on: .entity(try await trip.travel(3, isActive: false)))
        #expect(try await trip.local().count == 3)
        try await trip.provider.upload()
        #expect(try await trip.local() == trip.remote)
        #expect(trip.remote.count == 2)
    }

    @Test func `the declared effect of a refused action stays until it is undone`() async throws {
        let trip = try await Travels()
        let travel = try await trip.travel(1)
        travel["Seats"] = .integer(-1)
        let call = try await trip.service.queueAction(
            "reserve", on: .entity(travel), ["seats": .value(11)], effect: .update(travel))
        let report = try await trip.provider.upload()
        #expect(report.rejected.map(\.operation) == [try #require(call.operation)])
        #expect(try await trip.local()[0] == "1 active O -1 Travel 1")
        #expect(try await trip.provider.errorArchive().map(\.message) == ["There are too few seats."])
        try await trip.provider.undo(.operations(report.rejected.map(\.operation)))
        #expect(try await trip.local() == trip.remote)
    }

    @Test func `undoing a create undoes the actions on it`() async throws {
        let trip = try await Travels()
        let travel = try trip.newTravel(7, "new")
        try await trip.service.createEntity(travel)
        try await trip.service.queueAction("accept", on: .entity(travel))
        let create = try #require(try await trip.provider.operationStatus().first?.sequence)
        let report = try await trip.provider.undo(.operations([create]))
        #expect(report.undone.count == 2)
        #expect(try await trip.local() == trip.remote)
    }

    // MARK: Drafts

    @Test func `a draft that is edited and activated offline keeps its links`() async throws {
        let trip = try await Travels()
        let draft = try await trip.travel(3, isActive: false)
        let link = try #require(draft.readLink)
        draft["Description"] = .string("edited")
        try await trip.service.updateEntity(draft)
        try await trip.service.queueAction("draftActivate", on: .entity(draft), answer: .boundEntity)
        try await trip.provider.upload()
        #expect(trip.remote.last == "3 active O 10 edited")
        #expect(try await trip.local() == trip.remote)
        let found = try await trip.service.executeQuery(DataQuery().withURL(link)).requiredEntity()
        #expect(found["IsActiveEntity"] == .boolean(true))
        try await trip.provider.download()
        #expect(try await trip.local() == trip.remote)
    }

    @Test func `the draft of an active entity that the store has becomes that entity`() async throws {
        let trip = try await Travels()
        try await trip.service.queueAction("draftEdit", on: .entity(try await trip.travel(1)))
        try await trip.provider.upload()
        let draft = try await trip.travel(1, isActive: false)
        draft["Description"] = .string("edited")
        try await trip.service.updateEntity(draft)
        try await trip.service.queueAction("draftActivate", on: .entity(draft), answer: .boundEntity)
        try await trip.provider.upload()
        #expect(trip.remote[0] == "1 active O 10 edited")
        #expect(try await trip.local() == trip.remote)
    }

    // MARK: Restart

    @Test func `queued actions survive a restart, with views made from the log`() async throws {
        let trip = try await Travels()
        let travel = try await trip.travel(1)
        travel["Seats"] = .integer(4)
        try await trip.service.queueAction(
            "reserve", on: .entity(travel), ["seats": .value(6)], effect: .update(travel))
        try await trip.service.queueAction("CloseYear", ["year": .value(2025)])
        let digest = try await trip.provider.stateDigest()
        await trip.provider.close()
        let again = OfflineODataProvider(
            serviceRoot: "http://trip.test/v4/",
            parameters: OfflineODataParameters(storePath: trip.directory.path, transport: trip.transport))
        try await again.open()
        #expect(try await again.stateDigest() == digest)
        #expect(try await again.upload().confirmed.count == 2)
        #expect(trip.remote[0] == "1 active X 4 Travel 1")
    }
}
