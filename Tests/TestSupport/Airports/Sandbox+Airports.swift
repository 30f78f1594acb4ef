import EDM
package import ODataSandbox
import ODataWire

extension Sandbox {
    /// Returns a sandbox with three airports, and two flights from the first one.
    package static func airports() throws -> Sandbox {
        var sandbox = try Sandbox(
            v4Metadata: Array(AirportMetadata.v4.utf8), v2Metadata: Array(AirportMetadata.v2.utf8),
            configuration: SandboxConfiguration(etags: ["Flights"]))
        sandbox.origin = "http://air.test"
        sandbox.operations = AirportOperations.all
        for (set, body) in contents {
            let response = sandbox.handle(
                WireRequest(
                    method: "POST", url: "/v4/\(set)", headers: ["Content-Type": "application/json"],
                    body: Array(body.utf8)))
            precondition(response.isSuccess, "The airports cannot be made: \(response)")
        }
        return sandbox
    }

    private static let contents = [
        (
            "Airports",
            #"{"Code":"ZRH","Name":"Kloten","Size":"Large","Place":{"City":"Zürich","Latitude":47.5,"Longitude":8.5}}"#
        ),
        (
            "Airports",
            #"{"Code":"GRE","Name":"Grenchen","Size":"Small","Place":{"City":"Grenchen","Latitude":47.25,"Longitude":7.5}}"#
        ),
        (
            "Airports",
            #"{"Code":"LHR","Name":"Heathrow","Size":"Large","Place":{"City":"London","Latitude":51.5,"Longitude":-0.5}}"#
        ),
        ("Flights", #"{"FlightID":1,"Number":"LX 1","Seats":100,"From@odata.bind":"Airports('ZRH')"}"#),
        ("Flights", #"{"FlightID":2,"Number":"LX 2","Seats":5,"From@odata.bind":"Airports('ZRH')"}"#),
    ]
}

/// The implementations of the functions and actions of ``AirportMetadata``.
private enum AirportOperations {
    static let all: [String: SandboxOperation] = [
        "Nearest": { call throws(SandboxError) in
            let size = call.parameters["size"] ?? .null
            let candidates = call.contents(of: "Airports").filter { size == .null || $0.values["Size"] == size }
            return .entity(candidates.min { distance($0, call.parameters) < distance($1, call.parameters) })
        },
        "AirportsIn": { call throws(SandboxError) in
            let cities = call.parameters["cities"]?.collectionValue ?? [call.parameters["city"] ?? .null]
            return .entities(
                call.contents(of: "Airports").filter { cities.contains(place($0)?.properties["City"] ?? .null) })
        },
        "Distance": { call throws(SandboxError) in
            guard let from = call.entities["from"]?.first, let to = call.entities["to"]?.first else {
                return .value(.null)
            }
            return .value(.double(distance(from, place(to)?.properties ?? [:])))
        },
        "Describe": { call throws(SandboxError) in
            guard let place = call.parameters["place"]?.complexValue else { return .value(.string("nowhere")) }
            let texts = place.properties.sorted { $0.name < $1.name }.map { "\($0.name): \($0.value)" }
            return .value(.string(texts.joined(separator: ", ")))
        },
        "Echo": { call throws(SandboxError) in .value(call.parameters["text"] ?? .null) },
        "EchoBytes": { call throws(SandboxError) in .value(call.parameters["bytes"] ?? .null) },
        "Names": { call throws(SandboxError) in
            .value(.collection(call.contents(of: "Airports").map { $0.values["Name"] ?? .null }))
        },
        "Center": { _ throws(SandboxError) in
            .value(.complex(ComplexValue(properties: ["City": .string("Null Island"), "Latitude": .double(0)])))
        },
        "UsualSize": { _ throws(SandboxError) in .value(.enumeration("Large")) },
        "Departures": { call throws(SandboxError) in
            let seats = call.parameters["seats"]?.integerValue ?? 0
            return .entities(
                call.binding.flatMap { call.targets(of: $0, "Departures") }.filter {
                    ($0.values["Seats"]?.integerValue ?? 0) >= seats
                })
        },
        "First": { call throws(SandboxError) in .entity(call.binding.first) },
        "Close": { call throws(SandboxError) in
            for flight in call.contents(of: "Flights") { try call.delete(flight) }
            return .nothing
        },
        "Open": { call throws(SandboxError) in
            var values: PropertyValues = ["Code": call.parameters["code"] ?? .null]
            values["Name"] = call.parameters["name"]
            values["Place"] = call.parameters["place"]
            return .entity(try call.insert(into: "Airports", values))
        },
        "Book": { call throws(SandboxError) in
            guard let flight = call.binding.first, let left = flight.values["Seats"]?.integerValue,
                let seats = call.parameters["seats"]?.integerValue
            else { return .nothing }
            guard seats <= left else {
                throw SandboxError(status: 409, .badRequest, "There are \(left) seats only.")
            }
            try call.update(flight, ["Seats": .integer(left - seats)])
            return .value(.integer(left - seats))
        },
    ]

    private static func place(_ airport: Sandbox.StoredEntity) -> ComplexValue? {
        airport.values["Place"]?.complexValue
    }

    /// Returns a simplified distance, the sum of the differences of the coordinates.
    private static func distance(_ airport: Sandbox.StoredEntity, _ to: PropertyValues) -> Double {
        func number(_ value: Value?) -> Double { value?.decimalValue?.doubleValue ?? 0 }
        let own = place(airport)?.properties ?? [:]
        let (lat, lon) = (number(to["lat"] ?? to["Latitude"]), number(to["lon"] ?? to["Longitude"]))
        return abs(number(own["Latitude"]) - lat) + abs(number(own["Longitude"]) - lon)
    }
}
