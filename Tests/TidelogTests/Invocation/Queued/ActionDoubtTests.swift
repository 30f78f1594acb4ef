import EDM
import ODataSandbox
import ODataWire
import TestSupport
import Testing
import Tidelog

/// Exactly-once delivery of queued actions (UQ-25).
@Suite struct ActionDoubtTests {
    private func reserve(_ trip: Travels) async throws -> SequenceNumber {
        let travel = try await trip.travel(1)
        travel["Seats"] = .integer(4)
        let call = try await trip.service.queueAction(
            "reserve", on: .entity(travel), ["seats": .value(6)], effect: .update(travel))
        return try #require(call.operation)
    }

    @Test(arguments: [Fault.Effect.dropAnswer, .dropRequest])
    func `UQ-25 an action without a response is never sent again by itself`(_ effect: Fault.Effect) async throws {
        let trip = try await Travels()
        let operation = try await reserve(trip)
        trip.transport.add(Fault(effect, urlPart: "$batch"))
        await #expect(throws: TidelogError.self) { try await trip.provider.upload() }
        trip.transport.forgetRequests()
        for _ in 0..<3 {
            let report = try await trip.provider.upload()
            #expect(report.inDoubt == [operation] && report.confirmed.isEmpty)
        }
        #expect(trip.sent.isEmpty)
        #expect(trip.remote[0] == (effect == .dropAnswer ? "1 active O 4 Travel 1" : "1 active O 10 Travel 1"))
        // The declared effect stays visible.
        #expect(try await trip.local()[0] == "1 active O 4 Travel 1")
    }

    @Test func `UQ-25 the user settles an action in doubt as done`() async throws {
        let trip = try await Travels()
        let operation = try await reserve(trip)
        trip.transport.add(Fault(.dropAnswer, urlPart: "$batch"))
        await #expect(throws: TidelogError.self) { try await trip.provider.upload() }
        try await trip.provider.settle(operation: operation, as: .tookEffect)
        #expect(try await trip.provider.upload().remaining == 0)
        try await trip.provider.download()
        #expect(trip.remote[0] == "1 active O 4 Travel 1")
        #expect(try await trip.local() == trip.remote)
    }

    @Test func `UQ-25 the user has an action in doubt sent again`() async throws {
        let trip = try await Travels()
        let operation = try await reserve(trip)
        trip.transport.add(Fault(.dropRequest, urlPart: "$batch"))
        await #expect(throws: TidelogError.self) { try await trip.provider.upload() }
        try await trip.provider.settle(operation: operation, as: .resend)
        #expect(try await trip.provider.upload().confirmed == [operation])
        #expect(trip.remote[0] == "1 active O 4 Travel 1")
        #expect(try await trip.local() == trip.remote)
    }

    @Test(arguments: [Fault.Effect.dropAnswer, .dropRequest])
    func `UQ-25 with repeatable requests an action takes effect once`(_ effect: Fault.Effect) async throws {
        let trip = try await Travels(ServiceOptions(repeatability: .oasis))
        trip.transport.change { $0.options.repeatability = Repeatability(.oasis) }
        let operation = try await reserve(trip)
        trip.transport.add(Fault(effect, urlPart: "$batch"))
        await #expect(throws: TidelogError.self) { try await trip.provider.upload() }
        #expect(try await trip.provider.upload().confirmed == [operation])
        #expect(trip.remote[0] == "1 active O 4 Travel 1")
        #expect(try await trip.local() == trip.remote)
    }

    @Test func `operations that do not depend on an action in doubt are sent`() async throws {
        let trip = try await Travels()
        let operation = try await reserve(trip)
        trip.transport.add(Fault(.dropAnswer, urlPart: "$batch"))
        await #expect(throws: TidelogError.self) { try await trip.provider.upload() }
        try await trip.service.queueAction("accept", on: .entity(try await trip.travel(2)))
        try await trip.service.queueAction("accept", on: .entity(try await trip.travel(1)))
        let report = try await trip.provider.upload()
        #expect(report.confirmed.count == 1 && report.inDoubt == [operation])
        #expect(trip.remote[0].hasPrefix("1 active O") && trip.remote[1].hasPrefix("2 active A"))
    }

    // MARK: With a create

    private func createAndActivate(_ options: ServiceOptions, _ effect: Fault.Effect) async throws -> Travels {
        let trip = try await Travels(options)
        let travel = try trip.newTravel(7, "new")
        let changes = ChangeSet()
        changes.createEntity(travel)
        changes.invoke("reserve", on: .entity(travel), ["seats": .value(0)])
        try await trip.service.applyChanges(changes)
        trip.transport.add(Fault(effect, urlPart: "$batch"))
        await #expect(throws: TidelogError.self) { try await trip.provider.upload() }
        return trip
    }

    @Test func `a create that is found does not prove the action of its change set`() async throws {
        let trip = try await createAndActivate(ServiceOptions(), .dropAnswer)
        trip.transport.forgetRequests()
        let report = try await trip.provider.upload()
        #expect(report.confirmed.count == 1 && report.inDoubt.count == 1)
        #expect(trip.sent.isEmpty)
        #expect(try await trip.provider.upload().inDoubt.count == 1)
    }

    @Test func `a create that is found proves the action if the service is trusted to roll back`() async throws {
        let trip = try await createAndActivate(ServiceOptions(changeSetRollback: .trusted), .dropAnswer)
        let report = try await trip.provider.upload()
        #expect(report.confirmed.count == 2 && report.inDoubt.isEmpty)
        #expect(try await trip.local() == trip.remote)
    }

    @Test func `a create that is absent releases the action on it`() async throws {
        let trip = try await createAndActivate(ServiceOptions(), .dropRequest)
        let report = try await trip.provider.upload()
        #expect(report.confirmed.count == 2 && report.inDoubt.isEmpty)
        #expect(try await trip.local() == trip.remote)
    }

    // MARK: Conflicts

    @Test func `the declared effect is compared with the change of another client`() async throws {
        let trip = try await Travels()
        let operation = try await reserve(trip)
        trip.transport.direct(
            "PATCH", "/v4/Travels(TravelID=1,IsActiveEntity=true)", #"{"Seats":7}"#, headers: ["If-Match": "*"])
        try await trip.provider.download()
        let conflicts = try await trip.provider.conflicts()
        #expect(conflicts.map(\.operations) == [[operation]])
        #expect(conflicts.first?.isOverlapping == true)
        // The service's side wins the only property of the effect, so that the call is undone.
        try await trip.provider.resolve(try #require(conflicts.first), with: .theirs)
        #expect(try await trip.provider.upload().remaining == 0)
        #expect(trip.sent.isEmpty)
        #expect(try await trip.local() == trip.remote)
    }

    @Test func `the own side of a conflict sends the action to the newer version`() async throws {
        let trip = try await Travels()
        _ = try await reserve(trip)
        trip.transport.direct(
            "PATCH", "/v4/Travels(TravelID=1,IsActiveEntity=true)", #"{"Seats":7}"#, headers: ["If-Match": "*"])
        try await trip.provider.download()
        try await trip.provider.resolve(try #require(try await trip.provider.conflicts().first), with: .mine)
        #expect(try await trip.provider.upload().confirmed.count == 1)
        #expect(trip.remote[0] == "1 active O 1 Travel 1")
        #expect(try await trip.local() == trip.remote)
    }
}
