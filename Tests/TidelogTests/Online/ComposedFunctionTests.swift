import HTTPTypes
import Synchronization
import TestSupport
import Testing
import Tidelog

/// Functions in the path of a query, and paths after functions.
@Suite struct ComposedFunctionTests {
    @Test(arguments: Client.Dialect.allCases)
    func `a function in a path returns its entity`(_ dialect: Client.Dialect) async throws {
        let airports = try Airports(dialect)
        let url = dialect == .v2 ? "Nearest?lat=47.5D&lon=8.5D" : "Nearest(lat=47.5,lon=8.5)"
        let airport = try await airports.service.executeQuery(DataQuery().withURL(url)).requiredEntity()
        #expect(airport["Code"] == .string("ZRH"))
        #expect(airport.readLink == "Airports('ZRH')")
    }

    @Test func `a bound function in a path returns its entities, filtered`() async throws {
        let airports = try Airports()
        let url = "Airports('ZRH')/Air.Departures(seats=0)?$filter=FlightID gt 0&$top=1"
        let flights = try await airports.service.executeQuery(DataQuery().withURL(url)).entityList()
        #expect(flights.count == 1)
        #expect(flights[0].entityType.localName == "Flight")
    }

    @Test(arguments: Client.Dialect.allCases)
    func `a function in a path returns its values`(_ dialect: Client.Dialect) async throws {
        let airports = try Airports(dialect)
        let query = DataQuery().withURL(dialect == .v2 ? "Names" : "Names()")
        guard case .collection(let names)? = try await airports.service.executeQuery(query).value else {
            Issue.record("The result is not a collection.")
            return
        }
        #expect(!names.isEmpty)
    }

    @Test func `a path after a composable function is sent as it is`() async throws {
        let airports = try Airports()
        let sent = Mutex<[String]>([])
        let transport = HookedTransport(airports.transport) { request, _ in
            guard request.path?.hasSuffix("$metadata") != true else { return nil }
            sent.withLock { $0.append(request.path ?? "") }
            let response = HTTPResponse(status: .ok, headerFields: [.contentType: "text/plain"])
            return (response, Array("2".utf8))
        }
        let service = DataService(
            provider: OnlineODataProvider(serviceRoot: "http://air.test/v4/", transport: transport))
        let url = #"AirportsIn(cities=@c)/$count?@c=["Chur","Bern"]"#
        #expect(try await service.executeQuery(DataQuery().withURL(url)).value == .integer(2))
        #expect(sent.withLock { $0 } == ["/v4/AirportsIn(cities=@c)/$count?@c=[%22Chur%22,%22Bern%22]"])
    }
}
