import EDM
import ODataSandbox
import TestSupport
import Testing
import Tidelog

/// Queued actions that the metadata forbid: refused before anything is logged.
@Suite struct ActionRefusalTests {
    private func refused(
        _ call: (Travels) async throws -> Void
    ) async throws -> TidelogError? {
        let trip = try await Travels()
        let digest = try await trip.provider.stateDigest()
        let error = await #expect(throws: TidelogError.self) { try await call(trip) }
        #expect(try await trip.provider.operationStatus().isEmpty)
        #expect(try await trip.provider.stateDigest() == digest)
        #expect(trip.transport.requests.isEmpty)
        return error
    }

    @Test func `an unknown action is refused`() async throws {
        let error = try await refused { _ = try await $0.service.queueAction("Teleport") }
        #expect(error?.message == "The service has no function or action import Teleport.")
    }

    @Test func `an action of another type is refused`() async throws {
        let error = try await refused { _ = try await $0.service.queueAction("accept", on: .set("Travels")) }
        #expect(error?.message == "No function or action accept is bound to a collection of Trip.Travel.")
    }

    @Test func `a function is refused`() async throws {
        let error = try await refused { _ = try await $0.service.queueAction("Total") }
        #expect(error?.code == .unsupported)
        #expect(error?.message == "Total is a function, whose result only the service has.")
    }

    @Test func `a missing parameter is refused by its name`() async throws {
        let error = try await refused {
            _ = try await $0.service.queueAction("reserve", on: .entity(try await $0.travel(1)))
        }
        #expect(error?.message == "reserve requires the parameter seats.")
    }

    @Test func `an argument of another type is refused by its name`() async throws {
        let error = try await refused {
            _ = try await $0.service.queueAction("CloseYear", ["year": .value("soon")])
        }
        #expect(error?.message.contains("The parameter year of CloseYear") == true)
    }

    @Test func `an action on a deleted entity is refused`() async throws {
        let trip = try await Travels()
        let travel = try await trip.travel(1)
        try await trip.service.deleteEntity(travel)
        let error = await #expect(throws: TidelogError.self) {
            _ = try await trip.service.queueAction("accept", on: .entity(travel))
        }
        #expect(error?.code == .refused(.entityNotFound))
        #expect(try await trip.provider.operationStatus().count == 1)
    }

    @Test func `a declared effect that the metadata forbid is refused by its property`() async throws {
        let error = try await refused { trip in
            let travel = try await trip.travel(1)
            travel["Status"] = .string("open")
            _ = try await trip.service.queueAction("accept", on: .entity(travel), effect: .update(travel))
        }
        #expect(error?.code == .refused(.typeMismatch))
        #expect(error?.message.contains("Travels/Status") == true)
    }

    @Test func `a declared change of a key is refused`() async throws {
        let error = try await refused { trip in
            let travel = try await trip.travel(3, isActive: false)
            travel["IsActiveEntity"] = .boolean(true)
            _ = try await trip.service.queueAction("draftActivate", on: .entity(travel), effect: .update(travel))
        }
        #expect(error?.code == .refused(.keyIsFixed))
    }

    @Test func `a call without a bound entity cannot return the bound entity`() async throws {
        let error = try await refused {
            _ = try await $0.service.queueAction("CloseYear", ["year": .value(2025)], answer: .boundEntity)
        }
        #expect(error?.message == "CloseYear is not called on an entity, so its answer cannot be that entity.")
    }

    @Test func `a call for this store only is refused`() async throws {
        let error = try await refused {
            var options = RequestOptions()
            options.delivery = .localOnly
            _ = try await $0.service.queueAction("CloseYear", ["year": .value(2025)], options: options)
        }
        #expect(error?.code == .refused(.notAllowed))
    }

    @Test func `a change set with a forbidden call logs nothing`() async throws {
        _ = try await refused { trip in
            let changes = ChangeSet()
            changes.createEntity(try trip.newTravel(7, "new"))
            changes.invoke("CloseYear", ["year": .null])
            try await trip.service.applyChanges(changes)
        }
    }
}
