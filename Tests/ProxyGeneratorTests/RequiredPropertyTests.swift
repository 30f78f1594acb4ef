import EDM
import ODataSandbox
import TestSupport
import Testing
import Tidelog

/// Classes generated without optionals, and their keys, singletons and derived types.
@Suite struct RequiredPropertyTests {
    @Test func `an unset property that is not nullable is read as the default of the metadata or its type`() {
        let employee = Employee(withDefaults: false)
        #expect(employee.name == "")
        #expect(employee.status == .onLeave)
        #expect(employee.born == LocalDate(year: 1970, month: 1, day: 1))
        #expect(employee.salary == 0)
        #expect(employee.home.city == "")
        #expect(employee.nicknames == [])
        #expect(employee.id == 0)
    }

    @Test func `reading a default does not set it`() {
        let employee = Employee(withDefaults: false)
        _ = employee.name
        #expect(employee.properties.isEmpty)
    }

    @Test func `a value of the wrong type is read as the default`() {
        let employee = Employee(withDefaults: false)
        employee["Name"] = .integer(5)
        #expect(employee.name == "")
    }

    @Test func `a key contains typed values in the order of the metadata`() {
        #expect(Room.key(building: "A", number: 7).values.map(\.value) == [.string("A"), .integer(7)])
        #expect(Employee.key(id: 3).values.map(\.name) == ["ID"])
    }

    private static func service() throws -> OfficeService {
        let metadata = Array(Office.metadata.utf8)
        var sandbox = try Sandbox(
            v4Metadata: metadata, v2Metadata: metadata, configuration: SandboxConfiguration())
        sandbox.origin = "http://office.test"
        return OfficeService(
            provider: OnlineODataProvider(
                serviceRoot: "http://office.test/v4/", transport: SandboxTransport(sandbox)))
    }

    @Test func `an entity is fetched by a key with several properties`() async throws {
        let service = try Self.service()
        let room = Room()
        room.building = "O'Hare"
        room.number = 7
        try await service.createEntity(room)
        let found = try await service.fetchRoom(building: "O'Hare", number: 7)
        #expect(found.building == "O'Hare")
        #expect(found.number == 7)
    }

    @Test func `an unknown key is not found`() async throws {
        let service = try Self.service()
        await #expect {
            _ = try await service.fetchRoom(building: "A", number: 7)
        } throws: {
            ($0 as? TidelogError)?.code == .notFound
        }
    }
}
