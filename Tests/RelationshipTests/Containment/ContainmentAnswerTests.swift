import ODataSandbox
import TestSupport
import Testing
import Tidelog

/// Responses of a service that identify contained entities in unusual ways, omit some of them, or contradict the
/// metadata.
@Suite struct ContainmentAnswerTests {
    private static let root = "http://travel.test/v4/"
    private static let favourites = [
        (name: "People", query: "People?$expand=Trips($expand=Items),Favourites"),
        (name: "Templates", query: "Templates"),
    ]

    /// Replaces the next response to a request whose URL contains `urlPart` by a page of these items.
    private func answer(
        _ items: String..., to travel: Travel, _ urlPart: String, context: String = "People", more: String = ""
    ) {
        let body = """
            {"@odata.context":"\(Self.root)$metadata#\(context)","value":[\(items.joined(separator: ","))]\(more)}
            """
        travel.transport.add(
            Fault(.replace(contentType: "application/json", body: Array(body.utf8)), method: "GET", urlPart: urlPart))
    }

    private let bob = #"{"Name":"bob","Title":"Bob","Favourites":[],"Trips":[{"TripID":0,"Title":"Bob's Bonn"}]}"#

    private func ann(_ trips: String, _ favourites: String = "[]") -> String {
        #"{"Name":"ann","Title":"Ann","Trips":\#(trips),"Favourites":\#(favourites)}"#
    }

    // MARK: Names

    @Test(arguments: [
        "People('ann')/Trips(0)", root + "People('ann')/Trips(0)", "https://inner.test/a/People('ann')/Trips(0)",
    ])
    func `a link to a contained entity does not refer to an entity of another set with the same key`(_ id: String)
        async throws
    {
        let travel = try await Travel(queries: Self.favourites)
        let link = #"[{"@odata.id":"\#(id)","TripID":0,"Title":"Ann's Rome"}]"#
        answer(ann(#"[{"TripID":0,"Title":"Ann's Rome","Items":[]}]"#, link), bob, to: travel, "People?")
        let report = try await travel.store.download()
        #expect(report.skipped == ["People/Favourites"])
        #expect(try await travel.titles("People('ann')/Favourites") == [])
        #expect(try await travel.titles("Templates(0)") == ["Template"])
        #expect(try await travel.titles("People('ann')/Trips(0)") == ["Ann's Rome"])
    }

    @Test(arguments: ["Templates(0)", "https://inner.test/People/v1/Templates(0)"])
    func `an entity-id with a different service root is resolved`(_ id: String) async throws {
        let travel = try await Travel(queries: Self.favourites)
        let link = #"[{"@odata.id":"\#(id)","TripID":0,"Title":"Template"}]"#
        answer(ann("[]", link), bob, to: travel, "People?")
        let report = try await travel.store.download()
        #expect(report.skipped.isEmpty)
        #expect(try await travel.titles("People('ann')/Favourites") == ["Template"])
    }

    @Test func `the target set of an unbound property is not guessed if contained entities have the same type`()
        async throws
    {
        let travel = try await Travel(queries: [("Me", "Me?$expand=Favourites"), ("Templates", "Templates")])
        let body = #"{"Name":"me","Title":"I","Favourites":[{"TripID":0,"Title":"Whose?"}]}"#
        travel.transport.add(
            Fault(.replace(contentType: "application/json", body: Array(body.utf8)), method: "GET", urlPart: "Me?"))
        let report = try await travel.store.download()
        #expect(report.skipped == ["Me/Favourites"])
        #expect(try await travel.titles("Me/Favourites") == [])
        #expect(try await travel.titles("Templates(0)") == ["Template"])
    }

    @Test func `contained entities of two parents are distinct even if the service gives them the same entity-id`()
        async throws
    {
        let travel = try await Travel(queries: [("People", "People?$expand=Trips")])
        func trip(_ title: String) -> String {
            #"[{"@odata.id":"\#(Self.root)Trips(9)","TripID":9,"Title":"\#(title)"}]"#
        }
        for _ in 1...2 {
            answer(
                #"{"Name":"ann","Trips":\#(trip("Ann's"))}"#, #"{"Name":"bob","Trips":\#(trip("Bob's"))}"#, to: travel,
                "People?")
            try await travel.store.download()
            #expect(try await travel.titles("People('ann')/Trips") == ["Ann's"])
            #expect(try await travel.titles("People('bob')/Trips") == ["Bob's"])
        }
    }

    // MARK: Links

    @Test func `a link in a delta does not move a contained entity to a different parent`() async throws {
        let travel = try await Travel(queries: Self.favourites, deltas: Deltas(.flat))
        func link(_ kind: String, _ property: String, _ target: String) -> String {
            """
            {"@odata.context":"\(Self.root)$metadata#People/$\(kind)","source":"People('ann')",\
            "relationship":"\(property)","target":"\(target)"}
            """
        }
        answer(
            link("deletedLink", "Trips", "People('bob')/Trips(0)"), link("link", "Trips", "People('bob')/Trips(0)"),
            link("link", "Favourites", "People('ann')/Trips(1)"), to: travel, "deltatoken",
            context: "People/$delta", more: #","@odata.deltaLink":"\#(Self.root)People?$deltatoken=2""#)
        let report = try await travel.store.download()
        #expect(report.skipped == ["People/Trips", "People/Favourites"])
        #expect(try await travel.titles("People('ann')/Trips") == ["Ann's Oslo", "Ann's Rome"])
        #expect(try await travel.titles("People('bob')/Trips") == ["Bob's Bonn"])
        #expect(try await travel.one("People('bob')/Trips(0)").readLink == "People('bob')/Trips(0)")
        #expect(try await travel.titles("People('ann')/Favourites") == [])
    }

    // MARK: Parts

    @Test func `nested changes and the expanded entities within them are read from several pages`() async throws {
        let travel = try await Travel(
            queries: [("People", "People?$expand=Trips")], deltas: Deltas(.nested))
        let items = #""Items":[],"Items@odata.nextLink":"\#(Self.root)more-items""#
        answer(
            """
            {"Name":"ann","Trips@delta":[{"TripID":5,"Title":"Bern",\(items)}],\
            "Trips@delta@odata.nextLink":"\(Self.root)more-changes"}
            """, to: travel, "deltatoken", context: "People/$delta",
            more: #","@odata.deltaLink":"\#(Self.root)People?$deltatoken=2""#)
        answer(#"{"ItemID":1,"Title":"Bus"}"#, to: travel, "more-items", context: "People('ann')/Trips(5)/Items")
        answer(
            #"{"TripID":6,"Title":"Basel"}"#, #"{"@removed":{"reason":"deleted"},"TripID":0}"#, to: travel,
            "more-changes",
            context: "People('ann')/Trips/$delta")
        let report = try await travel.store.download()
        #expect(report.queries.first?.mode == .delta, "\(report)")
        #expect(try await travel.titles("People('ann')/Trips") == ["Ann's Oslo", "Basel", "Bern"])
        #expect(try await travel.titles("People('ann')/Trips(5)/Items") == ["Bus"])
    }

    @Test func `a collection whose entities are all on separate pages is read`() async throws {
        let travel = try await Travel(queries: [("People", "People?$expand=Trips")])
        answer(
            #"{"Name":"ann","Title":"Ann","Trips@odata.nextLink":"\#(Self.root)more-trips"}"#, to: travel, "People?")
        answer(#"{"TripID":0,"Title":"Ann's Rome"}"#, to: travel, "more-trips", context: "People('ann')/Trips")
        try await travel.store.download()
        #expect(try await travel.titles("People('ann')/Trips") == ["Ann's Rome"])
    }

    @Test(arguments: [#""Other":1"#, #""Trips":null"#, #""Trips@odata.count":2"#])
    func `contained entities that a response omits are kept with the entities below them`(_ member: String) async throws
    {
        let travel = try await Travel(queries: [("People", "People?$expand=Trips($expand=Items)")])
        answer(#"{"Name":"ann","Title":"Renamed",\#(member)}"#, bob, to: travel, "People?")
        let report = try await travel.store.download()
        #expect(report.omittedExpansions == ["People/Trips", "People/Trips/Items"])
        #expect(report.queries.first?.tally.removed == 0)
        #expect(try await travel.titles("People('ann')") == ["Renamed"])
        #expect(try await travel.titles("People('ann')/Trips") == ["Ann's Oslo", "Ann's Rome"])
        #expect(try await travel.titles("People('ann')/Trips(0)/Items") == ["Flight"])
        #expect(try await travel.titles("People('bob')/Trips(0)/Items") == ["Train"])
        // The entities kept because of the omission are removed by the next complete response.
        answer(ann("[]"), bob, to: travel, "People?")
        try await travel.store.download()
        #expect(try await travel.titles("People('ann')/Trips") == [])
    }

    @Test func `a removed entity in a complete collection is quarantined`() async throws {
        let travel = try await Travel(queries: [("People", "People?$expand=Trips($expand=Items)")])
        answer(
            ann(#"[{"@removed":{"reason":"deleted"},"TripID":0},{"TripID":1,"Title":"New"}]"#), bob, to: travel,
            "People?")
        let report = try await travel.store.download()
        #expect(report.quarantined.map(\.name) == ["People('ann')/Trips(0)"])
        #expect(try await travel.titles("People('ann')/Trips") == ["Ann's Rome", "New"])
    }

    @Test func `a contained entity with an unreadable value is quarantined and keeps the entities below it`()
        async throws
    {
        let travel = try await Travel(queries: [("People", "People?$expand=Trips($expand=Items)")])
        answer(ann(#"[{"TripID":0,"Title":5},{"TripID":1,"Title":"New"}]"#), bob, to: travel, "People?")
        let report = try await travel.store.download()
        #expect(report.quarantined.map(\.name) == ["People('ann')/Trips(0)"])
        #expect(try await travel.titles("People('ann')/Trips") == ["Ann's Rome", "New"])
        #expect(try await travel.titles("People('ann')/Trips(0)/Items") == ["Flight"])
    }

    @Test func `a contained entity without a known parent is quarantined for that reason`() async throws {
        let travel = try await Travel(
            queries: [("People", "People?$expand=Trips")], deltas: Deltas(.flat))
        answer(
            #"{"@odata.context":"\#(Self.root)$metadata#People('nobody')/Trips/$entity","TripID":3,"Title":"x"}"#,
            to: travel, "deltatoken", context: "People/$delta",
            more: #","@odata.deltaLink":"\#(Self.root)People?$deltatoken=2""#)
        let report = try await travel.store.download()
        #expect(report.quarantined.map(\.message) == ["The response does not state which entity contains it."])
    }

    @Test(arguments: [#"{"value":[{"Name":"x","Title":"x"}]}"#, #"{"value":{"Name":"x","Title":"x"}}"#])
    func `a collection in place of an entity is an error`(_ body: String) async throws {
        let travel = try await Travel(queries: [("Me", "Me")])
        travel.transport.add(
            Fault(.replace(contentType: "application/json", body: Array(body.utf8)), method: "GET", urlPart: "Me"))
        await #expect(throws: (any Error).self) { try await travel.store.download() }
        #expect(try await travel.titles("Me") == ["I"])
    }
}
