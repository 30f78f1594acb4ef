import EDM
package import ODataSandbox
import ODataWire

extension Sandbox {
    /// Returns a sandbox with the active travels 1 and 2 and the draft 3, with ETags.
    package static func travels() throws -> Sandbox {
        var sandbox = try Sandbox(
            v4Metadata: Array(TravelMetadata.v4.utf8), v2Metadata: Array(AirportMetadata.v2.utf8),
            configuration: SandboxConfiguration(etags: ["Travels"]))
        sandbox.origin = "http://trip.test"
        sandbox.operations = TravelOperations.all
        for (number, isActive) in [(1, true), (2, true), (3, false)] {
            let body =
                #"{"TravelID":\#(number),"IsActiveEntity":\#(isActive),"Description":"Travel \#(number)","Status":"O","Seats":10}"#
            let response = sandbox.handle(
                WireRequest(
                    method: "POST", url: "/v4/Travels", headers: ["Content-Type": "application/json"],
                    body: Array(body.utf8)))
            precondition(response.isSuccess, "The travels cannot be made: \(response)")
        }
        return sandbox
    }

    /// The texts of the marks, one for each execution of `Mark` and `note`.
    package var marks: [String] {
        contents(of: "Marks").compactMap { if case .string(let text)? = $0.values["Text"] { text } else { nil } }
            .sorted()
    }

    /// The travels as `number active status seats description`, in order.
    package var travels: [String] {
        contents(of: "Travels").map { travel in
            let isActive = travel.values["IsActiveEntity"] == .boolean(true)
            func text(_ name: String) -> String {
                switch travel.values[name] {
                case .integer(let number): String(number)
                case .string(let text): text
                default: "-"
                }
            }
            return
                "\(text("TravelID")) \(isActive ? "active" : "draft") \(text("Status")) \(text("Seats")) \(text("Description"))"
        }.sorted()
    }
}

/// The implementations of the actions of ``TravelMetadata``.
private enum TravelOperations {
    static let all: [String: SandboxOperation] = [
        "draftActivate": { call throws(SandboxError) in
            let draft = try bound(call, isActive: false)
            guard (draft.values["Description"] ?? .null) != .null else {
                throw SandboxError(status: 400, .badRequest, "A travel needs a description.")
            }
            var values = draft.values
            values["IsActiveEntity"] = .boolean(true)
            values["Status"] = .string("O")
            try call.delete(draft)
            for former in call.contents(of: "Travels") where former.values["TravelID"] == values["TravelID"] {
                try call.update(former, ["Description": values["Description"] ?? .null])
                return .entity(former)
            }
            return .entity(try call.insert(into: "Travels", values))
        },
        "draftEdit": { call throws(SandboxError) in
            var values = try bound(call, isActive: true).values
            values["IsActiveEntity"] = .boolean(false)
            return .entity(try call.insert(into: "Travels", values))
        },
        "Discard": { call throws(SandboxError) in
            try call.delete(try bound(call, isActive: false))
            return .nothing
        },
        "accept": { call throws(SandboxError) in
            let travel = try bound(call, isActive: nil)
            guard travel.values["Status"] == .string("O") else {
                throw SandboxError(status: 409, .badRequest, "Only an open travel can be accepted.")
            }
            try call.update(travel, ["Status": .string("A")])
            return .nothing
        },
        "reserve": { call throws(SandboxError) in
            let travel = try bound(call, isActive: nil)
            let left = (travel.values["Seats"]?.integerValue ?? 0) - (call.parameters["seats"]?.integerValue ?? 0)
            guard left >= 0 else { throw SandboxError(status: 400, .badRequest, "There are too few seats.") }
            try call.update(travel, ["Seats": .integer(left)])
            return .value(.integer(left))
        },
        "copyFrom": { call throws(SandboxError) in
            let travel = try bound(call, isActive: nil)
            guard let other = call.entities["other"]?.first else {
                throw SandboxError(status: 400, .badRequest, "There is no other travel.")
            }
            try call.update(travel, ["Description": other.values["Description"] ?? .null])
            return .entity(travel)
        },
        "clone": { call throws(SandboxError) in
            guard let from = call.binding.first(where: { $0.values["TravelID"] == call.parameters["from"] }) else {
                throw SandboxError(status: 400, .badRequest, "There is no such travel.")
            }
            var created: [Sandbox.StoredEntity] = []
            for number: Int64 in [101, 102] {
                var values = from.values
                values["TravelID"] = .integer(number)
                created.append(try call.insert(into: "Travels", values))
            }
            return .entities(created)
        },
        "note": { call throws(SandboxError) in
            let travel = try bound(call, isActive: nil)
            try call.update(travel, ["Seats": .integer((travel.values["Seats"]?.integerValue ?? 0) + 1)])
            try call.insert(into: "Marks", ["Text": call.parameters["text"] ?? .null])
            return .nothing
        },
        "Mark": { call throws(SandboxError) in
            .entity(try call.insert(into: "Marks", ["Text": call.parameters["text"] ?? .null]))
        },
        "CloseYear": { call throws(SandboxError) in
            for travel in call.contents(of: "Travels") { try call.update(travel, ["Status": .string("X")]) }
            return .nothing
        },
        "Total": { call throws(SandboxError) in .value(.integer(Int64(call.contents(of: "Travels").count))) },
    ]

    private static func bound(
        _ call: SandboxCall, isActive: Bool?
    ) throws(SandboxError) -> Sandbox.StoredEntity {
        guard let travel = call.binding.first else { throw SandboxError(status: 404, .badRequest, "No travel.") }
        guard isActive == nil || travel.values["IsActiveEntity"] == .boolean(isActive ?? true) else {
            throw SandboxError(status: 400, .badRequest, "The travel is \(isActive == true ? "a" : "no") draft.")
        }
        return travel
    }
}
