import ODataSandbox
import TestSupport
import Testing
import Tidelog

/// Deletions in doubt of entities with contained entities.
struct ContainedDeletionTests {
    @Test(arguments: [Fault.Effect.dropAnswer, .dropRequest])
    func `changes of contained entities and the deletion of their parent are completed after a lost response`(
        _ fault: Fault.Effect
    ) async throws {
        let travel = try await Travel()
        let bob = try await travel.one("People('bob')")
        let trip = try await travel.new("Trip", ["TripID": .integer(1), "Title": .string("Bob's Oslo")])
        let item = try await travel.one("People('bob')/Trips(0)/Items(7)")
        item["Title"] = .string("Plane")
        try await travel.service.updateEntity(item)
        try await travel.service.createRelatedEntity(trip, in: bob, property: try travel.property("Trips", of: bob))
        try await travel.service.deleteEntity(bob)
        travel.transport.add(Fault(fault, urlPart: "$batch"))
        _ = try? await travel.store.upload()
        #expect(try await travel.store.hasPendingUpload)
        try await travel.store.upload()
        #expect(try await travel.store.hasPendingUpload == false)
        #expect(travel.served("People('bob')") == ["404"])
        #expect(try await travel.titles("People") == ["Ann"])
        try await travel.store.download()
        #expect(try await travel.titles("People") == ["Ann"])
        #expect(try await travel.isSettled())
    }
}
