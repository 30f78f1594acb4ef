import ODataSandbox
import TestSupport
import Testing
import Tidelog

/// Calls that are refused before a request is sent.
@Suite struct RefusedInvocationTests {
    private func expectRefusal(
        _ code: TidelogError.Code, _ words: String, _ dialect: Client.Dialect = .v4,
        by call: (Airports) async throws -> Void, _ location: SourceLocation = #_sourceLocation
    ) async throws {
        let air = try Airports(dialect)
        let error = await #expect(throws: TidelogError.self, sourceLocation: location) { try await call(air) }
        #expect(error?.code == code, sourceLocation: location)
        #expect(error?.message == words, sourceLocation: location)
        #expect(air.requests.isEmpty, sourceLocation: location)
    }

    @Test func `an unknown name is refused`() async throws {
        try await expectRefusal(.invalidRequest, "The service has no function or action import Teleport.") {
            _ = try await $0.service.invoke("Teleport")
        }
    }

    @Test func `a bound operation without a binding parameter is refused`() async throws {
        try await expectRefusal(
            .invalidRequest,
            "Book has no function or action import, so it can only be called on an instance of its binding parameter."
        ) { _ = try await $0.service.invoke("Book", ["seats": .value(1)]) }
    }

    @Test func `an operation bound to another type is refused`() async throws {
        try await expectRefusal(
            .invalidRequest, "No function or action Book is bound to a collection of Air.Airport."
        ) { _ = try await $0.service.invoke("Book", on: .set("Airports"), ["seats": .value(1)]) }
    }

    @Test func `an unknown parameter is refused`() async throws {
        try await expectRefusal(.invalidRequest, "Echo has no parameter tone.") {
            _ = try await $0.service.invoke("Echo", ["tone": .value("a")])
        }
    }

    @Test func `a missing parameter is refused`() async throws {
        try await expectRefusal(.invalidRequest, "Open requires the parameter code.") {
            _ = try await $0.service.invoke("Open")
        }
    }

    @Test func `parameters that match no overload are refused`() async throws {
        try await expectRefusal(
            .invalidRequest, "Nearest has no overload with the parameters (lat), only (lat, lon) and (lat, lon, size)."
        ) { _ = try await $0.service.invoke("Nearest", ["lat": .value(1)]) }
    }

    @Test func `a duplicate parameter is refused`() async throws {
        try await expectRefusal(.invalidRequest, "The parameter text of Echo occurs twice.") {
            _ = try await $0.service.invoke("Echo", ["text": .value("a"), "text": .value("b")])
        }
    }

    @Test func `null for a parameter that is not nullable is refused`() async throws {
        try await expectRefusal(.invalidRequest, "The parameter code of Open must not be null.") {
            _ = try await $0.service.invoke("Open", ["code": .null])
        }
    }

    @Test func `a value of the wrong type is refused`() async throws {
        try await expectRefusal(
            .invalidRequest, "The parameter lat of Nearest is a Boolean, not Edm.Double.", .v2
        ) { _ = try await $0.service.invoke("Nearest", ["lat": .value(true), "lon": .value(1)]) }
    }

    @Test func `an unknown member of an enumeration is refused`() async throws {
        try await expectRefusal(
            .invalidRequest, "The parameter size of Nearest is \"Huge\", which is not a member of Air.Size."
        ) {
            _ = try await $0.service.invoke(
                "Nearest", ["lat": .value(1), "lon": .value(1), "size": .value("Huge")])
        }
    }

    @Test func `a text that is too long is refused`() async throws {
        try await expectRefusal(
            .invalidRequest, "The parameter code of Open is longer than MaxLength 4.", .v2
        ) { _ = try await $0.service.invoke("Open", ["code": .value("ABCDE")]) }
    }

    @Test func `an entity of the wrong type is refused`() async throws {
        try await expectRefusal(
            .invalidRequest,
            "The parameter from of Distance is an entity of type Air.Flight, not of Air.Airport."
        ) { air in
            try await air.service.loadMetadata()
            let flight = EntityValue(try air.service.entitySet(withName: "Flights").entityType)
            _ = try await air.service.invoke("Distance", ["from": .entity(flight)])
        }
    }

    @Test func `query options for a result without entities are refused`() async throws {
        try await expectRefusal(
            .invalidRequest, "Names does not return entities, so it does not accept a query."
        ) { _ = try await $0.service.invoke("Names", query: DataQuery().top(1)) }
    }

    @Test func `V2 has no bound operations`() async throws {
        try await expectRefusal(
            .unsupported, "OData 2.0 has no bound functions and actions (MS-ODATA, section 2.2.7.5).", .v2
        ) {
            _ = try await $0.service.invoke("First", on: .set("Airports"))
        }
    }

    @Test func `reading a result as another kind is an error`() async throws {
        let result = try await Airports().service.invoke("Center")
        let error = #expect(throws: TidelogError.self) { try result.value(String.self) }
        #expect(error?.message == "Center returned a complex value, not a value that can be read as String.")
    }

    @Test func `reading a missing result is an error`() async throws {
        let result = try await Airports().service.invoke("Echo")
        let error = #expect(throws: TidelogError.self) { try result.value(String.self) }
        #expect(error?.message == "Echo returned nothing.")
    }
}

/// Invocations without a network.
@Suite struct OfflineInvocationTests {
    private func store(_ transport: SandboxTransport, _ path: String) async throws -> OfflineODataProvider {
        let store = OfflineODataProvider(
            serviceRoot: "http://air.test/v4/",
            parameters: OfflineODataParameters(storePath: path, transport: transport))
        try await store.open()
        return store
    }

    @Test(arguments: ["Names", "Close"])
    func `a store refuses functions and actions, and logs nothing`(_ name: String) async throws {
        let directory = try TemporaryDirectory()
        let transport = SandboxTransport(try Sandbox.airports())
        let store = try await store(transport, directory.path)
        let before = try await store.stateDigest()
        transport.forgetRequests()
        let error = await #expect(throws: TidelogError.self) {
            _ = try await DataService(provider: store).invoke(name)
        }
        #expect(error?.code == .unsupported)
        let queue = name == "Close" ? ", or queue it with queueAction(_:on:_:)." : "."
        #expect(error?.recovery == "Call it online, with a DataService that has an OnlineODataProvider\(queue)")
        #expect(try await store.operationStatus().isEmpty)
        #expect(try await store.stateDigest() == before)
        #expect(transport.requests.isEmpty)
    }

    @Test func `a historical store refuses functions and actions`() async throws {
        let directory = try TemporaryDirectory()
        let transport = SandboxTransport(try Sandbox.airports())
        _ = try await store(transport, directory.path)
        let past = try await HistoricalODataProvider(
            parameters: OfflineODataParameters(storePath: directory.path, transport: transport), at: .sequence(.max))
        let error = await #expect(throws: TidelogError.self) {
            _ = try await DataService(provider: past).invoke("Names")
        }
        #expect(error?.code == .unsupported)
    }
}
