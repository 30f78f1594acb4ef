import HTTPTypes
import ODataSandbox
import TestSupport
import Testing
import Tidelog

/// The requests and results of the functions generated for functions, actions and singletons.
@Suite struct OperationProxyTests {
    private let transport: SandboxTransport
    private let service: AirService

    init() throws {
        transport = SandboxTransport(try Sandbox.airports())
        service = AirService(provider: OnlineODataProvider(serviceRoot: "http://air.test/v4/", transport: transport))
    }

    /// The method of the last request, and its URL relative to the service root.
    private var asked: String? { transport.requests.last.map { "\($0.method) \($0.url.dropFirst(4))" } }

    // MARK: Functions

    @Test func `a function returns an object of the generated class`() async throws {
        #expect(try await service.nearest(lat: 47, lon: 7.25)?.name == "Grenchen")
    }

    @Test func `an overload is selected by its labels`() async throws {
        #expect(try await service.nearest(lat: 47, lon: 7.25, size: .large)?.code == "ZRH")
        #expect(asked == "GET Nearest(lat=47,lon=7.25,size=Air.Size'Large')")
    }

    @Test func `a function that returns entities accepts a query`() async throws {
        let airports = try await service.airportsIn(
            cities: ["Zürich", "London"], query: DataQuery().orderBy(Airport.code))
        #expect(airports.map(\.code) == ["LHR", "ZRH"])
    }

    @Test func `a function accepts entities, and omits a nullable one`() async throws {
        let from = try await service.fetchAirport(code: "ZRH")
        let to = try await service.fetchAirport(code: "GRE")
        #expect(try await service.distance(from: from, to: to) == 1.25)
        #expect(try await service.distance(from: from) == nil)
    }

    @Test func `a function accepts a complex value, and omits a nullable one`() async throws {
        var place = Place(withDefaults: false)
        place.city = "Basel"
        #expect(try await service.describe(place: place) == #"City: string("Basel")"#)
        #expect(try await service.describe() == "nowhere")
    }

    @Test(arguments: ["", "ä 'b' & /?#", nil]) func `text is equal after a round trip through a function`(text: String?)
        async throws
    {
        #expect(try await service.echo(text: text) == text)
    }

    @Test(arguments: [[], [0, 255, 62], nil] as [[UInt8]?])
    func `bytes are equal after a round trip through a function`(bytes: [UInt8]?) async throws {
        #expect(try await service.echoBytes(bytes: bytes) == bytes)
    }

    @Test func `results have the Swift type of the return type`() async throws {
        #expect(try await service.names().sorted() == ["Grenchen", "Heathrow", "Kloten"])
        #expect(try await service.center()?.city == "Null Island")
        #expect(try await service.usualSize() == .large)
    }

    @Test func `a function that is bound to an entity is called at the entity`() async throws {
        let airport = try await service.fetchAirport(code: "ZRH")
        #expect(try await service.departures(on: airport, seats: 50).map(\.number) == ["LX 1"])
        #expect(asked == "GET Airports('ZRH')/Air.Departures(seats=50)")
    }

    @Test func `a function that is bound to a collection is called at its set`() async throws {
        let airport: Airport = try #require(try await service.first())
        #expect(try await service.airports().map(\.code).contains(airport.code))
        #expect(try await service.first_2(on: .set("Flights"))?.number == "LX 1")
        #expect(asked == "GET Flights/Air.First()")
    }

    // MARK: Actions

    @Test func `an action without a result is executed`() async throws {
        try await service.close()
        #expect(try await service.flights().isEmpty)
    }

    @Test func `an action returns an object that can be updated`() async throws {
        let airport = try #require(try await service.open(code: "BSL", name: "Basel"))
        airport.name = "Mulhouse"
        try await service.updateEntity(airport)
        #expect(try await service.fetchAirport(code: "BSL").name == "Mulhouse")
    }

    @Test func `an action that is bound to an entity changes it`() async throws {
        let flight = try await service.fetchFlight(flightID: 2)
        #expect(try await service.book(on: flight, seats: 2) == 3)
        #expect(try await service.fetchFlight(flightID: 2).seats == 3)
    }

    @Test func `a call throws the error of the service`() async throws {
        let flight = try await service.fetchFlight(flightID: 2)
        await #expect {
            _ = try await service.book(on: flight, seats: 9)
        } throws: {
            ($0 as? TidelogError)?.message.contains("There are 5 seats only.") == true
        }
    }

    // MARK: Singletons

    /// Returns a service with only its metadata and the singleton for a boss.
    private func office() -> OfficeService {
        let transport = HookedTransport(transport) { request, _ in
            let isMetadata = request.path?.hasSuffix("$metadata") == true
            let boss = #"{"@odata.context":"$metadata#Boss","ID":1,"Name":"Ada","Status":"Active"}"#
            let status: HTTPResponse.Status =
                isMetadata || request.path?.hasPrefix("/Boss") == true ? .ok : .notFound
            var response = HTTPResponse(status: status)
            response.headerFields[.contentType] = isMetadata ? "application/xml" : "application/json"
            return (response, Array((isMetadata ? Office.metadata : boss).utf8))
        }
        return OfficeService(provider: OnlineODataProvider(serviceRoot: "http://office.test/", transport: transport))
    }

    @Test func `both functions of a singleton return an object of its class`() async throws {
        let service = office()
        let boss: Employee = try await service.boss()
        #expect(boss.name == "Ada" && boss.status == .active)
        #expect(try await service.fetchBoss(matching: DataQuery().select(Person.name)).id == 1)
    }
}
