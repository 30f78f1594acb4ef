import ODataSandbox
import ODataWire
import SyncCore
import TestSupport
import Testing
import Tidelog

/// Entities that exist only within their parent (`ContainsTarget`), with a service that applies the same rules.
///
/// Features: MD-01.
@Suite struct ContainmentTests {
    // MARK: Reading

    @Test func `contained entities with the same key are distinct, and are in no entity set of their type`()
        async throws
    {
        let travel = try await Travel()
        #expect(try await travel.titles("People('ann')/Trips") == ["Ann's Oslo", "Ann's Rome"])
        #expect(try await travel.titles("People('bob')/Trips") == ["Bob's Bonn"])
        #expect(try await travel.titles("Templates") == ["Template"])
        #expect(try await travel.titles("Me/Trips") == ["My own"])
        #expect(try await travel.titles("People('bob')/Trips(0)") == ["Bob's Bonn"])
        #expect(try await travel.titles("People('ann')/Trips(0)/Items") == ["Flight"])
        #expect(try await travel.titles("People('bob')/Trips(0)/Items(7)") == ["Train"])
        #expect(try await travel.titles("People?$filter=Trips/any(t:t/TripID eq 1)") == ["Ann"])
        #expect(try await travel.titles("People('ann')/Trips?$filter=TripID eq 0") == ["Ann's Rome"])
        let expanded = try await travel.query("People?$expand=Trips($expand=Items)&$orderby=Name")
        #expect(expanded.count == 2)
        // A second download neither adds nor removes entities.
        #expect(try await travel.isSettled())
    }

    @Test func `recursively contained entities with the same key are distinct at each depth`() async throws {
        let travel = try await Travel()
        #expect(try await travel.titles("People('ann')/Folders") == ["Inbox"])
        #expect(try await travel.titles("People('ann')/Folders(1)/Folders(1)") == ["Inbox below the inbox"])
        let below = try await travel.one("People('ann')/Folders(1)/Folders(1)")
        #expect(below.readLink == "People('ann')/Folders(1)/Folders(1)")
        let deeper = try await travel.new("Folder", ["FolderID": .integer(1), "Title": .string("third")])
        try await travel.service.createRelatedEntity(
            deeper, in: below, property: try travel.property("Folders", of: below))
        try await travel.store.upload()
        #expect(travel.served("People('ann')/Folders(1)/Folders(1)/Folders") == ["third"])
        #expect(try await travel.titles("People('ann')/Folders(1)/Folders(1)/Folders(1)") == ["third"])
    }

    @Test func `a defining query may read the entities that one entity contains`() async throws {
        let travel = try await Travel(queries: [
            ("Trips", "People('ann')/Trips"), ("Items", "People('bob')/Trips(0)/Items"), ("Mine", "Me/Trips"),
        ])
        #expect(try await travel.titles("People('ann')/Trips") == ["Ann's Oslo", "Ann's Rome"])
        #expect(try await travel.titles("People('bob')/Trips(0)/Items") == ["Train"])
        #expect(try await travel.titles("Me/Trips") == ["My own"])
        _ = travel.transport.direct("DELETE", "/v4/People('ann')/Trips(0)", headers: ["If-Match": "*"])
        _ = travel.transport.direct("POST", "/v4/People('ann')/Trips", #"{"TripID":5,"Title":"Ann's Bern"}"#)
        try await travel.store.download()
        #expect(try await travel.titles("People('ann')/Trips") == ["Ann's Bern", "Ann's Oslo"])
        #expect(try await travel.titles("People('bob')/Trips(0)/Items") == ["Train"])
        // An entity that is created below the path belongs to the query.
        let ann = try await travel.one("People('ann')")
        let trip = try await travel.new("Trip", ["TripID": .integer(9), "Title": .string("New")])
        try await travel.service.createRelatedEntity(trip, in: ann, property: try travel.property("Trips", of: ann))
        try await travel.store.upload()
        try await travel.store.download()
        #expect(try await travel.titles("People('ann')/Trips") == ["Ann's Bern", "Ann's Oslo", "New"])
    }

    @Test(arguments: [DeltaForm.flat, .nested])
    func `deltas contain contained entities below their parents and on their own`(_ form: DeltaForm) async throws {
        let travel = try await Travel(
            queries: [("People", "People?$expand=Trips"), ("Bob's", "People('bob')/Trips(0)/Items")],
            deltas: Deltas(form))
        _ = travel.transport.direct("DELETE", "/v4/People('ann')/Trips(0)", headers: ["If-Match": "*"])
        _ = travel.transport.direct("POST", "/v4/People('ann')/Trips", #"{"TripID":5,"Title":"Ann's Bern"}"#)
        _ = travel.transport.direct(
            "PATCH", "/v4/People('bob')/Trips(0)", #"{"Title":"Bob's Bochum"}"#, headers: ["If-Match": "*"])
        _ = travel.transport.direct("POST", "/v4/People('bob')/Trips(0)/Items", #"{"ItemID":8,"Title":"Bus"}"#)
        travel.transport.forgetRequests()
        let report = try await travel.store.download()
        #expect(report.quarantined.isEmpty && report.skipped.isEmpty, "\(report)")
        #expect(travel.transport.requests.contains { $0.url.contains("deltatoken") })
        #expect(try await travel.titles("People('ann')/Trips") == ["Ann's Bern", "Ann's Oslo"])
        #expect(try await travel.titles("People('bob')/Trips") == ["Bob's Bochum"])
        #expect(try await travel.titles("People('bob')/Trips(0)/Items") == ["Bus", "Train"])
        #expect(try await travel.titles("Templates") == [])
    }

    @Test func `an entity that the service deleted is removed with its contained entities, also after a rebuild`()
        async throws
    {
        let travel = try await Travel()
        _ = travel.transport.direct("DELETE", "/v4/People('ann')")
        try await travel.store.download()
        #expect(try await travel.titles("People") == ["Bob"])
        #expect(try await travel.titles("People('bob')/Trips(0)/Items") == ["Train"])
        let before = try await travel.store.stateDigest()
        try await travel.rebuild()
        #expect(try await travel.store.stateDigest() == before)
        #expect(try await travel.titles("People('bob')/Trips(0)/Items") == ["Train"])
    }

    // MARK: Writing

    @Test func `a contained entity is created, changed and deleted at the path of its parent`() async throws {
        let travel = try await Travel()
        _ = travel.sent()
        let bob = try await travel.one("People('bob')")
        let trip = try await travel.new("Trip", ["TripID": .integer(1), "Title": .string("Bob's Oslo")])
        try await travel.service.createRelatedEntity(trip, in: bob, property: try travel.property("Trips", of: bob))
        let link = try #require(trip.readLink)
        #expect(link.hasPrefix("People('bob')/Trips(~"), "\(link)")
        #expect(try await travel.titles("People('bob')/Trips") == ["Bob's Bonn", "Bob's Oslo"])
        #expect(try await travel.titles(link) == ["Bob's Oslo"])
        try await travel.store.upload()
        #expect(travel.sent() == ["POST People('bob')/Trips"])
        #expect(travel.served("People('bob')/Trips(1)") == ["Bob's Oslo"])

        // The readLink from before the upload still resolves to the entity.
        let created = try await travel.one(link)
        #expect(created.readLink == "People('bob')/Trips(1)")
        created["Title"] = .string("Bob's Bergen")
        try await travel.service.updateEntity(created)
        try await travel.store.upload()
        #expect(travel.sent() == ["PATCH People('bob')/Trips(1)"])
        #expect(travel.served("People('bob')/Trips(1)") == ["Bob's Bergen"])
        #expect(travel.served("People('ann')/Trips(1)") == ["Ann's Oslo"])

        try await travel.service.deleteEntity(try await travel.one("People('bob')/Trips(1)"))
        #expect(try await travel.titles("People('bob')/Trips") == ["Bob's Bonn"])
        #expect(try await travel.titles("People('ann')/Trips") == ["Ann's Oslo", "Ann's Rome"])
        try await travel.store.upload()
        #expect(travel.sent() == ["DELETE People('bob')/Trips(1)"])
        try await travel.store.download()
        #expect(try await travel.titles("People('bob')/Trips") == ["Bob's Bonn"])
    }

    @Test func `contained entities below new entities are created with Content-ID paths`() async throws {
        let travel = try await Travel()
        _ = travel.sent()
        let eve = try await travel.new("Person", ["Name": .string("eve"), "Title": .string("Eve")])
        let trip = try await travel.new("Trip", ["TripID": .integer(0), "Title": .string("Eve's Bonn")])
        let item = try await travel.new("Item", ["ItemID": .integer(7), "Title": .string("Walk")])
        let changes = ChangeSet()
        changes.createEntity(eve)
        changes.createRelatedEntity(trip, in: eve, property: try travel.property("Trips", of: eve))
        changes.createRelatedEntity(item, in: trip, property: try travel.property("Items", of: trip))
        eve.entitySet = try await travel.store.model().findEntitySet("People")
        try await travel.service.applyChanges(changes)
        #expect(try await travel.titles("People('eve')/Trips") == ["Eve's Bonn"] || eve.readLink != nil)
        let report = try await travel.store.upload()
        #expect(report.rejected.isEmpty && report.remaining == 0, "\(report)")
        #expect(travel.sent() == ["POST People", "POST $1/Trips", "POST $2/Items"])
        #expect(try await travel.titles("People('eve')/Trips(0)/Items(7)") == ["Walk"])
        #expect(travel.served("People('eve')/Trips(0)/Items(7)") == ["Walk"])
        // Creating an item changes the trip that contains it, so the download reads the ETag of the trip again.
        try await travel.store.download()
        #expect(try await travel.isSettled())
    }

    @Test func `operations on new contained entities in separate calls are uploaded`() async throws {
        let travel = try await Travel()
        let ann = try await travel.one("People('ann')")
        let trip = try await travel.new("Trip", ["TripID": .integer(3), "Title": .string("first")])
        try await travel.service.createRelatedEntity(trip, in: ann, property: try travel.property("Trips", of: ann))
        trip["Title"] = .string("second")
        try await travel.service.updateEntity(trip)
        let item = try await travel.new("Item", ["ItemID": .integer(1), "Title": .string("Hotel")])
        try await travel.service.createRelatedEntity(item, in: trip, property: try travel.property("Items", of: trip))
        try await travel.store.upload()
        #expect(travel.served("People('ann')/Trips(3)") == ["second"])
        #expect(travel.served("People('ann')/Trips(3)/Items") == ["Hotel"])
    }

    @Test func `a deep insert may contain contained entities`() async throws {
        let travel = try await Travel()
        let eve = try await travel.new("Person", ["Name": .string("eve"), "Title": .string("Eve")])
        eve.entitySet = try await travel.store.model().findEntitySet("People")
        let trip = try await travel.new("Trip", ["TripID": .integer(0), "Title": .string("Eve's Bonn")])
        let passport = try await travel.new("Passport", ["Number": .integer(4), "Title": .string("P4")])
        try travel.property("Trips", of: eve).setEntityList(in: eve, to: [trip])
        try travel.property("Passport", of: eve).setEntityValue(in: eve, to: passport)
        try await travel.service.createEntity(eve)
        let report = try await travel.store.upload()
        #expect(report.rejected.isEmpty && report.remaining == 0, "\(report)")
        #expect(travel.served("People('eve')/Trips(0)") == ["Eve's Bonn"])
        #expect(travel.served("People('eve')/Passport") == ["P4"])
        #expect(try await travel.titles("People('eve')/Passport") == ["P4"])
    }

    @Test func `the entity of a single-valued containment property is created and changed by an update of its path`()
        async throws
    {
        let travel = try await Travel()
        _ = travel.sent()
        let bob = try await travel.one("People('bob')")
        let property = try travel.property("Passport", of: bob)
        let passport = try await travel.new("Passport", ["Number": .integer(4), "Title": .string("P4")])
        try await travel.service.createRelatedEntity(passport, in: bob, property: property)
        try await travel.store.upload()
        #expect(travel.sent() == ["PATCH People('bob')/Passport"])
        #expect(travel.served("People('bob')/Passport") == ["P4"])
        passport["Title"] = .string("P4 renewed")
        try await travel.service.updateEntity(passport)
        try await travel.store.upload()
        #expect(travel.sent() == ["PATCH People('bob')/Passport"])
        #expect(travel.served("People('bob')/Passport") == ["P4 renewed"])
        let other = try await travel.new("Passport", ["Number": .integer(5)])
        let error = await #expect(throws: TidelogError.self) {
            try await travel.service.createRelatedEntity(other, in: bob, property: property)
        }
        #expect(error?.code == .refused(.duplicateKey))
    }

    @Test func `a parent is deleted with its contained entities by one request`() async throws {
        let travel = try await Travel()
        _ = travel.sent()
        try await travel.service.deleteEntity(try await travel.one("People('ann')"))
        #expect(try await travel.titles("People") == ["Bob"])
        let report = try await travel.store.upload()
        #expect(report.rejected.isEmpty && report.remaining == 0, "\(report)")
        #expect(travel.sent() == ["DELETE People('ann')"])
        #expect(travel.transport.sandbox.contents(of: "People/Trips").count == 1)
        #expect(try await travel.titles("People('bob')/Trips(0)/Items") == ["Train"])
    }

    @Test func `the path of a containment property of a derived type contains the type's name`() async throws {
        let travel = try await Travel()
        let model = try await travel.store.model()
        let manager = try await travel.new("Manager", ["Name": .string("max")])
        manager.entitySet = model.findEntitySet("People")
        let report = try await travel.new("Item", ["ItemID": .integer(1), "Title": .string("R")])
        let changes = ChangeSet()
        changes.createEntity(manager)
        changes.createRelatedEntity(report, in: manager, property: try travel.property("Reports", of: manager))
        try await travel.service.applyChanges(changes)
        let link = try #require(report.readLink)
        #expect(link.contains("/Travel.Manager/Reports(~"), "\(link)")
        #expect(try await travel.titles(link) == ["R"])
        let plan = try await travel.store.plannedBatches().map { Travel.requests(in: $0.body) }
        #expect(plan == [["POST People", "POST $1/Travel.Manager/Reports"]])
    }

    @Test func `a creation of a contained entity whose response was lost is resolved at its path`() async throws {
        let travel = try await Travel()
        let bob = try await travel.one("People('bob')")
        let trip = try await travel.new("Trip", ["TripID": .integer(1), "Title": .string("Bob's Oslo")])
        try await travel.service.createRelatedEntity(trip, in: bob, property: try travel.property("Trips", of: bob))
        travel.transport.add(Fault(.dropAnswer, urlPart: "$batch"))
        _ = try? await travel.store.upload()
        _ = try await travel.store.upload()
        #expect(try await travel.store.hasPendingUpload == false)
        #expect(travel.transport.sandbox.contents(of: "People/Trips").count == 4)
        #expect(travel.transport.requests.contains { $0.url.hasSuffix("People('bob')/Trips(1)") })
        #expect(try await travel.titles("People('bob')/Trips") == ["Bob's Bonn", "Bob's Oslo"])
    }

    @Test func `an undo removes a contained entity, and a store rebuilt from its log contains the remaining ones`()
        async throws
    {
        let travel = try await Travel()
        let bob = try await travel.one("People('bob')")
        let trips = try travel.property("Trips", of: bob)
        for number in [1, 2] as [Int64] {
            let trip = try await travel.new("Trip", ["TripID": .integer(number), "Title": .string("Trip \(number)")])
            try await travel.service.createRelatedEntity(trip, in: bob, property: trips)
            if number == 1 { _ = try await travel.store.undoPendingChanges(for: trip) }
        }
        try await travel.service.deleteEntity(try await travel.one("People('ann')/Trips(0)"))
        #expect(try await travel.titles("People('bob')/Trips") == ["Bob's Bonn", "Trip 2"])
        let before = try await travel.store.stateDigest()
        try await travel.rebuild()
        #expect(try await travel.store.stateDigest() == before)
        try await travel.store.upload()
        #expect(travel.served("People('bob')/Trips") == ["Bob's Bonn", "Trip 2"])
        #expect(travel.served("People('ann')/Trips") == ["Ann's Oslo"])
        let digest = try await travel.store.stateDigest()
        try await travel.rebuild()
        #expect(try await travel.store.stateDigest() == digest)
    }

    @Test func `related entities of a contained entity are loaded, and its entity ID is a valid readLink`() async throws
    {
        let travel = try await Travel()
        let trip = try await travel.one("People('ann')/Trips(0)")
        let items = try travel.property("Items", of: trip)
        for number in [8, 9] as [Int64] {
            let item = try await travel.new("Item", ["ItemID": .integer(number), "Title": .string("\(number)")])
            try await travel.service.createRelatedEntity(item, in: trip, property: items)
        }
        try await travel.service.loadProperty(items, into: trip, DataQuery())
        #expect(items.entityList(from: trip).compactMap { $0["Title"]?.stringValue }.sorted() == ["8", "9", "Flight"])
        let id = try #require(
            try await travel.store.keyMap().first { $0.set == "People/Trips" && $0.key.contains("TripID=0") })
        let named = EntityValue(trip.entityType)
        named.readLink = "People/Trips(\(id.entity))"
        try await travel.service.loadEntity(named)
        #expect(named["Title"] == .string("Ann's Rome"))
    }

    @Test func `the online provider addresses a contained entity through its parent`() async throws {
        let travel = try await Travel()
        let online = DataService(
            provider: OnlineODataProvider(
                serviceRoot: "http://travel.test/v4/", transport: travel.transport))
        let trips = try await online.executeQuery(DataQuery().withURL("People('bob')/Trips")).entityList()
        let trip = try #require(trips.count == 1 ? trips[0] : nil)
        #expect(trip.readLink == "People('bob')/Trips(0)")
        trip["Title"] = .string("Bob's Bochum")
        try await online.updateEntity(trip)
        #expect(travel.served("People('bob')/Trips") == ["Bob's Bochum"])
        #expect(travel.served("Templates") == ["Template"])
        try await online.deleteEntity(trip)
        #expect(travel.served("People('bob')/Trips") == [])
    }

    // MARK: Rules

    @Test func `keys of contained entities are unique only within one parent`() async throws {
        let travel = try await Travel()
        let (ann, bob) = (try await travel.one("People('ann')"), try await travel.one("People('bob')"))
        let trips = try travel.property("Trips", of: bob)
        let free = try await travel.new("Trip", ["TripID": .integer(1)])
        try await travel.service.createRelatedEntity(free, in: bob, property: trips)
        for person in [ann, bob] {
            let taken = try await travel.new("Trip", ["TripID": .integer(1)])
            let error = await #expect(throws: TidelogError.self) {
                try await travel.service.createRelatedEntity(taken, in: person, property: trips)
            }
            #expect(error?.code == .refused(.duplicateKey))
        }
    }

    @Test func `a contained entity is not created without a parent, linked, unlinked or moved`() async throws {
        let travel = try await Travel()
        let model = try await travel.store.model()
        let (ann, bob) = (try await travel.one("People('ann')"), try await travel.one("People('bob')"))
        let trip = try await travel.one("People('ann')/Trips(0)")
        let template = try await travel.one("Templates(0)")
        let trips = try travel.property("Trips", of: bob)
        let person = try travel.property("Person", of: trip)
        let alone = try await travel.new("Trip", ["TripID": .integer(8)])
        alone.entitySet = model.findEntitySet("People/Trips")
        var refusals: [TidelogError?] = []
        refusals.append(await #expect(throws: TidelogError.self) { try await travel.service.createEntity(alone) })
        for moved in [trip, template] {
            refusals.append(
                await #expect(throws: TidelogError.self) {
                    try await travel.service.createLink(from: bob, property: trips, to: moved)
                })
        }
        refusals.append(
            await #expect(throws: TidelogError.self) {
                try await travel.service.deleteLink(from: ann, property: trips, to: trip)
            })
        refusals.append(
            await #expect(throws: TidelogError.self) {
                try await travel.service.updateLink(from: trip, property: person, to: bob)
            })
        for refusal in refusals { #expect(refusal?.code == .refused(.notAllowed), "\(String(describing: refusal))") }
        #expect(try await travel.store.hasPendingUpload == false)
        #expect(try await travel.titles("People('ann')/Trips") == ["Ann's Oslo", "Ann's Rome"])
    }

    @Test func `the default queries expand all containment properties`() async throws {
        let travel = try await Travel()
        let queries = DefaultQueries.of(try await travel.store.model())
        #expect(
            queries.map(\.query) == [
                "People?$expand=Favourites,Folders($expand=Folders),Passport,Travel.Manager/Reports,Trips($expand=Items)",
                "Templates?$expand=Items,Person",
                "Me?$expand=Favourites,Folders($expand=Folders),Passport,Travel.Manager/Reports,Trips($expand=Items)",
            ])
    }
}
