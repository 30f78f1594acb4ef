import ODataSandbox
import ODataWire
import TestSupport
import Testing
import Tidelog

@Suite struct ActionTests {
    @Test(arguments: Client.Dialect.allCases)
    func `an action without a result takes effect`(_ dialect: Client.Dialect) async throws {
        let air = try Airports(dialect)
        let result = try await air.service.invoke("Close")
        #expect(result.value == nil && result.entities.isEmpty)
        #expect(air.transport.sandbox.contents(of: "Flights").isEmpty)
        #expect(air.requests == ["POST Close"])
    }

    @Test(arguments: Client.Dialect.allCases)
    func `an action returns an entity`(_ dialect: Client.Dialect) async throws {
        let air = try Airports(dialect)
        let airport = try await air.service.invoke("Open", ["code": .value("BSL"), "name": .value("Basel")]).entity()
        #expect(airport["Name"] == .string("Basel"))
        #expect(air.transport.sandbox.contents(of: "Airports").count == 4)
    }

    @Test func `V4 sends the parameters of an action in the body`() async throws {
        let air = try Airports()
        let place = ComplexValue(properties: ["City": .string("Basel")])
        _ = try await air.service.invoke(
            "Open", ["place": .value(place), "code": .value("BSL"), "name": .value(String?.none)])
        #expect(air.requests == ["POST Open"])
        let body = air.transport.requests.last.map { String(decoding: $0.body, as: UTF8.self) }
        #expect(body == #"{"code":"BSL","name":null,"place":{"City":"Basel"}}"#)
    }

    @Test func `V2 sends the parameters of an action in the URL`() async throws {
        let air = try Airports(.v2)
        _ = try await air.service.invoke("Open", ["code": .value("BSL"), "name": .value("Basel & co")])
        #expect(air.requests == ["POST Open?code='BSL'&name='Basel%20%26%20co'"])
        #expect(air.transport.requests.last?.body.isEmpty == true)
    }

    @Test func `an action is invoked on an entity`() async throws {
        let air = try Airports()
        let left = try await air.service.invoke("Book", on: .entity(try await air.flight(1)), ["seats": .value(3)])
        #expect(try left.value(Int.self) == 97)
        #expect(air.requests.last == "POST Flights(1)/Air.Book")
    }

    @Test func `an action on an entity that another client changed is refused`() async throws {
        let air = try Airports()
        let flight = try await air.flight(1)
        air.transport.direct("PATCH", "/v4/Flights(1)", #"{"Seats":1}"#, headers: ["If-Match": "*"])
        await #expect(throws: TidelogError.self) {
            _ = try await air.service.invoke("Book", on: .entity(flight), ["seats": .value(1)])
        }
        #expect(air.transport.sandbox.contents(of: "Flights").first?.values["Seats"] == .integer(1))
    }

    @Test func `an If-Match header overrides the check of the ETag`() async throws {
        let air = try Airports()
        let flight = try await air.flight(1)
        air.transport.direct("PATCH", "/v4/Flights(1)", #"{"Seats":1}"#, headers: ["If-Match": "*"])
        let left = try await air.service.invoke(
            "Book", on: .entity(flight), ["seats": .value(1)], headers: ["If-Match": "*"])
        #expect(left.value == .integer(0))
    }

    @Test func `a rejected action has the service's error and changes nothing`() async throws {
        let air = try Airports()
        let flight = try await air.flight(2)
        let error = await #expect(throws: TidelogError.self) {
            _ = try await air.service.invoke("Book", on: .entity(flight), ["seats": .value(6)])
        }
        #expect(error?.code == .service(status: 409))
        #expect(error?.message.contains("There are 5 seats only.") == true)
    }

    @Test(arguments: Client.Dialect.allCases)
    func `an action without a response is in doubt and not repeated`(_ dialect: Client.Dialect) async throws {
        let air = try Airports(dialect)
        air.transport.add(Fault(.dropAnswer, urlPart: "Close"))
        let error = await #expect(throws: TidelogError.self) { _ = try await air.service.invoke("Close") }
        #expect(error?.code == .inDoubt)
        #expect(air.requests.count == 1)
    }

    @Test func `actions run within change sets`() throws {
        var sandbox = try Sandbox.airports()
        let part = BatchPart.changeSet([
            .init(
                contentID: "1",
                request: WireRequest(
                    method: "POST", url: "Flights", headers: ["Content-Type": "application/json"],
                    body: Array(#"{"FlightID":7,"Seats":9}"#.utf8))),
            .init(
                contentID: "2",
                request: WireRequest(
                    method: "POST", url: "$1/Air.Book", headers: ["Content-Type": "application/json"],
                    body: Array(#"{"seats":2}"#.utf8))),
        ])
        let exchange = try BatchExchange(
            BatchRequest(parts: [part]), version: .v4, options: ServiceOptions(), headers: .empty)
        var request = exchange.request
        request.url = "/v4/" + request.url
        #expect(sandbox.handle(request).isSuccess)
        #expect(sandbox.contents(of: "Flights").last?.values["Seats"] == .integer(7))
    }
}
