import ConformanceCorpora
import EDM
import ODataWire
import Testing

/// The recorded deltas, each read with its entity type.
@Suite(.enabled(if: LiteralCorpus.isPresent, "skipped: the conformance corpora are not next to the checkout"))
struct `Delta payloads of the corpus` {
    static let csdl = """
        <edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx"><edmx:DataServices>
        <Schema Namespace="S" xmlns="http://docs.oasis-open.org/odata/ns/edm">
        <EntityType Name="Customer" OpenType="true"><Key><PropertyRef Name="CustomerID"/></Key>
          <Property Name="CustomerID" Type="Edm.String" Nullable="false"/><Property Name="ContactName" Type="Edm.String"/>
          <NavigationProperty Name="Orders" Type="Collection(S.Order)"/></EntityType>
        <EntityType Name="Order" OpenType="true"><Key><PropertyRef Name="OrderID"/></Key>
          <Property Name="OrderID" Type="Edm.Int32" Nullable="false"/>
          <Property Name="ShippingAddress" Type="S.Address"/></EntityType>
        <ComplexType Name="Address" OpenType="true"><Property Name="City" Type="Edm.String"/></ComplexType>
        <EntityType Name="Keyed"><Key><PropertyRef Name="ID"/></Key>
          <Property Name="ID" Type="Edm.String" Nullable="false"/></EntityType>
        <EntityType Name="Room"><Key><PropertyRef Name="Id"/></Key>
          <Property Name="Id" Type="Edm.String" Nullable="false"/><Property Name="Name" Type="Edm.String"/></EntityType>
        <EntityType Name="AllPrim" OpenType="true"><Key><PropertyRef Name="PropertyInt16"/></Key>
          <Property Name="PropertyInt16" Type="Edm.Int16" Nullable="false"/>
          <NavigationProperty Name="NavPropertyETTwoPrimMany" Type="Collection(S.TwoPrim)"/>
          <NavigationProperty Name="NavPropertyETTwoPrimOne" Type="S.TwoPrim"/></EntityType>
        <EntityType Name="TwoPrim"><Key><PropertyRef Name="PropertyInt16"/></Key>
          <Property Name="PropertyInt16" Type="Edm.Int16" Nullable="false"/>
          <Property Name="PropertyString" Type="Edm.String"/></EntityType>
        <EntityContainer Name="C"><EntitySet Name="Customers" EntityType="S.Customer"/>
          <EntitySet Name="Orders" EntityType="S.Order"/><EntitySet Name="Rooms" EntityType="S.Room"/>
          <EntitySet Name="groups" EntityType="microsoft.graph.group"/></EntityContainer></Schema>
        <Schema Namespace="microsoft.graph" xmlns="http://docs.oasis-open.org/odata/ns/edm">
        <EntityType Name="entity" Abstract="true"><Key><PropertyRef Name="id"/></Key>
          <Property Name="id" Type="Edm.String" Nullable="false"/></EntityType>
        <EntityType Name="directoryObject" BaseType="microsoft.graph.entity"/>
        <EntityType Name="user" BaseType="microsoft.graph.directoryObject"/>
        <EntityType Name="group" BaseType="microsoft.graph.directoryObject">
          <Property Name="displayName" Type="Edm.String"/>
          <NavigationProperty Name="members" Type="Collection(microsoft.graph.directoryObject)"/></EntityType>
        </Schema></edmx:DataServices></edmx:Edmx>
        """

    let model: EntityDataModel

    init() throws { model = try CSDLReader.read(Array(Self.csdl.utf8)) }

    private func reader(_ version: ODataVersion) -> PayloadReader { PayloadReader(version: version, model: model) }

    private func type(_ name: String) throws -> EntityType { try #require(model.findEntityType(name)) }

    private func feed(_ file: String, _ name: String, _ version: ODataVersion = .v4) throws -> FeedPayload {
        try reader(version).feed(try LiteralCorpus.bytes("json/" + file), type: try type(name))
    }

    private func items(_ document: `The JSON corpus`.Document) throws -> [DeltaItem] {
        let bytes = try LiteralCorpus.bytes(document.file)
        let customer = try type("S.Customer")
        switch document.kind {
        case "v4-deleted-entity":
            let isKeyOnly = document.file.hasSuffix("key-only.json")
            return [try reader(.v4).deltaItem(bytes, type: isKeyOnly ? try type("S.Keyed") : customer)]
        case "v4-entity-or-complex": return [try reader(.v4).deltaItem(bytes, type: try type("S.AllPrim"))]
        default:
            let name =
                document.version == .v2
                ? "S.Room" : document.file.contains("graph") ? "microsoft.graph.group" : "S.Customer"
            var feed = try reader(document.version).feedReader(bytes, type: try type(name))
            var items: [DeltaItem] = []
            while let item = try feed.next() { items.append(item) }
            #expect(
                feed.deltaLink != nil || feed.nextLink != nil || document.file.contains("spec/"), "\(document.file)")
            return items
        }
    }

    @Test func `each delta contains the items, removed entities, links and nested deltas of its index`() throws {
        let documents = `The JSON corpus`.documents.filter { document in
            let facts = document.facts
            return document.kind.hasPrefix("v4-delta") || facts["deletedEntityContexts"] != nil
                || facts["controlInformation"]?["removed"] != nil || facts["controlInformation"]?["delta"] != nil
        }
        #expect(documents.count >= 15)
        for document in documents {
            let facts = document.facts
            var counts = Counts()
            let items = try items(document)
            for item in items { counts.count(item) }
            if let expected = facts["items"]?.integer { #expect(Int64(items.count) == expected, "\(document.file)") }
            func fact(_ names: String...) -> Int64 {
                names.reduce(0) { $0 + (facts[$1]?.integer ?? facts["controlInformation"]?[$1]?.integer ?? 0) }
            }
            #expect(Int64(counts.removed) == fact("removed", "deletedEntityContexts"), "\(document.file)")
            #expect(Int64(counts.deltas) == fact("delta"), "\(document.file)")
            #expect(Int64(counts.addedLinks) == fact("linkContexts"), "\(document.file)")
            #expect(Int64(counts.deletedLinks) == fact("deletedLinkContexts"), "\(document.file)")
        }
    }

    @Test(arguments: ["v4/olingo-client/delta.json", "v4/static-service/delta.full.json"])
    func `a 4.0 delta contains entities of two sets, links and a deleted entity`(file: String) throws {
        let feed = try feed(file, "S.Customer")
        #expect(feed.entities.map(\.values) == [["ContactName": .string("Susan Halvenstern")]])
        #expect(feed.otherEntities.map(\.set) == ["Orders"])
        #expect(feed.otherEntities.map(\.id) == ["Orders(10643)"])
        guard case .complex(let address)? = feed.otherEntities.first?.values["ShippingAddress"] else {
            Issue.record("no address")
            return
        }
        #expect(address.properties["City"] == .string(" Tsawassen "))
        #expect(
            feed.removed == [RemovedEntity(entity: Self.named("Customers('ANTON')", "Customers"), reason: .deleted)])
        #expect(
            feed.links == [
                LinkChange(
                    isAdded: false, set: "Customers", source: "Customers('ALFKI')", relationship: "Orders",
                    target: "Orders(10643)"),
                LinkChange(
                    isAdded: true, set: "Customers", source: "Customers('BOTTM')", relationship: "Orders",
                    target: "Orders(10645)"),
            ])
    }

    @Test func `a 4.01 delta contains an order removed from its customer and an order added to it`() throws {
        let feed = try feed("spec/delta-4.01-nested-orders.json", "S.Customer")
        #expect(feed.entities.map(\.id) == ["Customers('ALFKI')", "Customers('ALFKI')"])
        let orders = try #require(feed.entities.first?.changes.first)
        #expect(orders.navigation == "Orders")
        #expect(orders.items.count == 2)
        #expect(
            orders.items.first == .removed(RemovedEntity(entity: Self.named("Orders(10643)", nil), reason: .changed)))
        #expect(feed.removed == [RemovedEntity(entity: Self.named("Customers('ANTON')", nil), reason: .deleted)])
    }

    @Test func `a single deleted entity has an entity-id in 4.0 and a key in 4.01`() throws {
        let old = try reader(.v4).deltaItem(
            try LiteralCorpus.bytes("json/spec/deleted-entity-4.0-id-property.json"), type: try type("S.Customer"))
        #expect(old == .removed(RemovedEntity(entity: Self.named("Customers('ANTON')", "Customers"), reason: .deleted)))
        let new = try reader(.v401).deltaItem(
            try LiteralCorpus.bytes("json/spec/deleted-entity-4.01-key-only.json"), type: try type("S.Keyed"))
        #expect(new == .removed(RemovedEntity(entity: EntityPayload(values: ["ID": .string("ANTON")]))))
    }

    @Test func `a delta of Microsoft Graph identifies removed group members by key`() throws {
        let feed = try feed("graph/graph-delta-groups-5-member-removed.json", "microsoft.graph.group")
        let members = try #require(feed.entities.first?.changes.first)
        var gone = EntityPayload(values: ["id": .string("632f6bb2-3ec8-4c1f-9073-0027a8c6859")])
        gone.type = "microsoft.graph.user"
        var new = EntityPayload(values: ["id": .string("37de1ae3-408f-4702-8636-20824abda004")])
        new.type = "microsoft.graph.user"
        #expect(members.items == [.removed(RemovedEntity(entity: gone, reason: .deleted)), .entity(new)])
    }

    @Test func `a V2 delta contains the deleted rooms`() throws {
        let feed = try feed("v2/olingo/JsonWithDeletedEntries.json", "S.Room", .v2)
        #expect(feed.entities.map { $0.values["Id"] } == [.string("1")])
        #expect(
            feed.removed
                == [3, 4].map { number in
                    RemovedEntity(entity: Self.named("http://host:80/service/Rooms('\(number)')", "Rooms"))
                })
        #expect(feed.deltaLink == "http://localhost:8080/ReferenceScenario.svc/Rooms?!deltatoken=4711")
    }

    @Test func `a removed entity of Olingo's technical service has no reason if the member is unknown`() throws {
        let item = try reader(.v401).deltaItem(
            try LiteralCorpus.bytes("json/v4/tecsvc/EntityESAllPrimExpandedNavPropertyETTwoPrimManyError.json"),
            type: try type("S.AllPrim"))
        guard case .entity(let entity) = item else {
            Issue.record("no entity")
            return
        }
        let reasons = entity.changes.flatMap(\.items).map { item -> String in
            if case .removed(let removed) = item { removed.reason?.rawValue ?? "unsaid" } else { "entity" }
        }
        #expect(reasons == ["unsaid", "changed", "entity", "entity", "entity"])
        #expect(entity.expanded.map(\.navigation) == ["NavPropertyETTwoPrimOne"])
    }

    private static func named(_ id: String, _ set: String?) -> EntityPayload {
        var entity = EntityPayload(id: id)
        entity.set = set
        return entity
    }
}

/// The number of entries of each kind that the index of the corpus states for a delta, including nested deltas.
private struct Counts {
    var removed = 0
    var addedLinks = 0
    var deletedLinks = 0
    var deltas = 0

    mutating func count(_ item: DeltaItem) {
        switch item {
        case .entity(let entity): count(entity)
        case .removed(let entity):
            removed += 1
            count(entity.entity)
        case .link(let link): if link.isAdded { addedLinks += 1 } else { deletedLinks += 1 }
        case .unreadable: break
        }
    }

    private mutating func count(_ entity: EntityPayload) {
        deltas += entity.changes.count
        for item in entity.changes.flatMap(\.items) { count(item) }
        for entity in entity.expanded.flatMap(\.entities) { count(entity) }
    }
}
