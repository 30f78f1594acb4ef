import ODataSandbox
import TestSupport
import Testing
import Tidelog

@Suite struct FunctionTests {
    /// Classes in the form of generated code.
    private final class AirService: DataService, @unchecked Sendable {
        final class Airport: EntityValue {
            var code: String? { self["Code"].flatMap { String(propertyValue: $0) } }
        }

        override var entityClasses: [String: EntityValue.Type] { ["Air.Airport": Airport.self] }

        nonisolated(nonsending) func nearest(lat: Double, lon: Double) async throws(TidelogError) -> Airport? {
            try await invoke("Nearest", ["lat": .value(lat), "lon": .value(lon)]).optionalEntity(Airport.self)
        }

        nonisolated(nonsending) func airports(in cities: [String]) async throws(TidelogError) -> [Airport] {
            try await invoke("AirportsIn", ["cities": .value(cities)]).entityList(Airport.self)
        }
    }

    @Test func `returned entities are instances of the classes of the service`() async throws {
        let air = try Airports()
        let service = AirService(provider: air.service.provider)
        #expect(try await service.nearest(lat: 47, lon: 7.25)?.code == "GRE")
        #expect(try await service.airports(in: ["London"]).map(\.code) == ["LHR"])
    }

    @Test func `reading a result as an entity of another class is an error`() async throws {
        let result = try await Airports().service.invoke("Nearest", ["lat": .value(47), "lon": .value(7)])
        let error = #expect(throws: TidelogError.self) { _ = try result.entity(AirService.Airport.self) }
        #expect(error?.message == "Nearest returned an entity of type Air.Airport, which is not a Airport.")
    }

    @Test(arguments: Client.Dialect.allCases)
    func `a function returns an entity`(_ dialect: Client.Dialect) async throws {
        let air = try Airports(dialect)
        let airport = try await air.service.invoke("Nearest", ["lat": .value(47), "lon": .value(7.25)]).entity()
        #expect(airport["Code"] == .string("GRE"))
    }

    @Test(arguments: Client.Dialect.allCases)
    func `a returned entity can be read and changed like any other`(_ dialect: Client.Dialect) async throws {
        let air = try Airports(dialect)
        let airport = try await air.service.invoke("Nearest", ["lat": .value(51), "lon": .value(0)]).entity()
        airport["Name"] = .string("London Heathrow")
        try await air.service.updateEntity(airport)
        #expect(try await air.airport("LHR")["Name"] == .string("London Heathrow"))
    }

    @Test func `the names of the parameters select the overload`() async throws {
        let air = try Airports()
        let airport = try await air.service.invoke(
            "Nearest", ["lat": .value(47), "size": .value("Large"), "lon": .value(7.25)]
        ).entity()
        #expect(airport["Code"] == .string("ZRH"))
        #expect(air.requests == ["GET Nearest(lat=47,lon=7.25,size=Air.Size'Large')"])
    }

    @Test func `an omitted argument has the same effect as an absent parameter`() async throws {
        let air = try Airports()
        _ = try await air.service.invoke(
            "Nearest", ["lat": .value(47), "size": .omitted, "lon": .value(7.25)]
        ).entity()
        #expect(air.requests == ["GET Nearest(lat=47,lon=7.25)"])
    }

    @Test func `V2 sends literals of parameters in query options`() async throws {
        let air = try Airports(.v2)
        _ = try await air.service.invoke("Nearest", ["lat": .value(47), "lon": .value(7.25)])
        #expect(air.requests == ["GET Nearest?lat=47D&lon=7.25D"])
    }

    @Test(arguments: Client.Dialect.allCases)
    func `a function returns all pages of its entities`(_ dialect: Client.Dialect) async throws {
        let air = try Airports(dialect)
        air.transport.change { $0.options.pageSize = 1 }
        let arguments: InvocationArguments =
            dialect == .v4 ? ["cities": .value(["Zürich", "London"])] : ["city": .value("Zürich")]
        let airports = try await air.service.invoke("AirportsIn", arguments).entityList()
        #expect(airports.map { $0["Code"] } == (dialect == .v4 ? [.string("ZRH"), .string("LHR")] : [.string("ZRH")]))
    }

    @Test func `the result of a function can be filtered and expanded`() async throws {
        let air = try Airports()
        try await air.service.loadMetadata()
        let type = try air.service.entitySet(withName: "Airports").entityType
        let (name, departures) = (try type.property(withName: "Name"), try type.property(withName: "Departures"))
        let airports = try await air.service.invoke(
            "AirportsIn", ["cities": .value(["Zürich", "London"])],
            query: DataQuery().filter(name.equal("Kloten")).expand(departures)
        ).entityList()
        #expect(airports.map { $0.relatedEntities(departures).count } == [2])
    }

    @Test(arguments: Client.Dialect.allCases)
    func `a function returns a collection of values`(_ dialect: Client.Dialect) async throws {
        let names = try await Airports(dialect).service.invoke("Names").value([String].self)
        #expect(names == ["Kloten", "Grenchen", "Heathrow"])
    }

    @Test(arguments: Client.Dialect.allCases)
    func `a function returns a complex value`(_ dialect: Client.Dialect) async throws {
        let center = try await Airports(dialect).service.invoke("Center").value(ComplexValue.self)
        #expect(center.properties["City"] == .string("Null Island"))
    }

    @Test func `a function returns a member of an enumeration`() async throws {
        #expect(try await Airports().service.invoke("UsualSize").value(String.self) == "Large")
    }

    @Test(
        arguments: Client.Dialect.allCases,
        ["", "O'Neil", "a/b\\c", "100 % & more?#", "Zürich 機場", "a+b=c;d", "@p", String(repeating: "long ", count: 99)])
    func `a text parameter is transmitted unchanged`(_ dialect: Client.Dialect, _ text: String) async throws {
        let air = try Airports(dialect)
        #expect(try await air.service.invoke("Echo", ["text": .value(text)]).value(String.self) == text)
    }

    @Test(arguments: Client.Dialect.allCases)
    func `a binary parameter is transmitted unchanged`(_ dialect: Client.Dialect) async throws {
        let bytes: [UInt8] = [0, 0xFB, 0xFF, 62, 63]
        let air = try Airports(dialect)
        #expect(try await air.service.invoke("EchoBytes", ["bytes": .binary(bytes)]).binary() == bytes)
    }

    @Test(arguments: Client.Dialect.allCases)
    func `a nullable parameter can be omitted`(_ dialect: Client.Dialect) async throws {
        #expect(try await Airports(dialect).service.invoke("Echo").optionalValue(String.self) == nil)
    }

    @Test func `a complex value is sent as a parameter alias`() async throws {
        let air = try Airports()
        let place = ComplexValue(properties: ["City": .string("Chur / GR"), "Latitude": .double(46.75)])
        let text = try await air.service.invoke("Describe", ["place": .value(place)]).value(String.self)
        #expect(text == #"City: string("Chur / GR"), Latitude: double(46.75)"#)
        #expect(air.requests[0].hasPrefix("GET Describe(place=@place)?@place=%7B%22City%22:%22Chur%20/%20GR%22,"))
    }

    @Test func `an entity parameter is sent as a reference`() async throws {
        let air = try Airports()
        let (from, to) = (try await air.airport("ZRH"), try await air.airport("LHR"))
        let distance = try await air.service.invoke("Distance", ["from": .entity(from), "to": .entity(to)])
        #expect(try distance.value(Double.self) == 13)
    }

    @Test func `a function is invoked on an entity`() async throws {
        let air = try Airports()
        let zurich = try await air.airport("ZRH")
        let flights = try await air.service.invoke("Departures", on: .entity(zurich), ["seats": .value(10)])
            .entityList()
        #expect(flights.map { $0["Number"] } == [.string("LX 1")])
        #expect(flights.first?.entitySet?.name == "Flights")
        #expect(air.requests.last == "GET Airports('ZRH')/Air.Departures(seats=10)")
    }

    @Test func `a function is invoked on a set`() async throws {
        let first = try await Airports().service.invoke("Air.First", on: .set("Airports")).entity()
        #expect(first["Code"] == .string("ZRH"))
    }

    @Test func `the binding parameter selects the overload of a bound function`() async throws {
        let air = try Airports()
        let zurich = try await air.airport("ZRH")
        let departures = try zurich.entityType.property(withName: "Departures")
        let first = try await air.service.invoke("First", on: .property(departures, of: zurich)).entity()
        #expect(first["FlightID"] == .integer(1))
        #expect(air.requests.last == "GET Airports('ZRH')/Departures/Air.First()")
    }
}
