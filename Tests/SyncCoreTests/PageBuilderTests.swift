import EDM
import ODataQuery
import ODataWire
import Operations
import SyncCore
import Testing

/// Records that the page builder creates from the items of a response.
struct PageBuilderTests {
    let store: TestStore

    init() throws { store = try TestStore() }

    /// Builds the records of the items, in JSON, and applies them. Returns the records, the dangling links and the
    /// tally.
    @discardableResult
    private func take(
        _ json: String..., set: String = "Customers", compares: Bool = false, next: String? = nil,
        waiting: DanglingLinks = DanglingLinks(), isDelta: Bool = false
    ) throws -> (pages: [DownloadPage], waiting: DanglingLinks, tally: DownloadCounts) {
        let entitySet = try #require(store.model.findEntitySet(set))
        let body = #"{"@odata.context":"$metadata#\#(set)/$delta","value":[\#(json.joined(separator: ","))]}"#
        var reader = try PayloadReader(version: .v4, model: store.model).feedReader(
            Array(body.utf8), type: entitySet.entityType)
        var builder = try PageBuilder(
            storage: store.state, model: store.model, index: RelationshipIndex(store.model), query: "All",
            set: entitySet, compares: compares, waiting: waiting, isDelta: isDelta)
        var items: [DeltaItem] = []
        while let item = try reader.next() { items.append(item) }
        try builder.add(items)
        let (pages, left) = try builder.finish(next: next)
        for page in pages { try store.add(.downloadPage(page)) }
        return (pages, left, builder.tally)
    }

    private func customer(_ key: Int, _ name: String = "A") -> String { #"{"CustomerID":\#(key),"Name":"\#(name)"}"# }
    private func gone(_ key: Int, _ set: String = "Customers") -> String {
        ##"{"@odata.context":"#\##(set)/$deletedEntity","id":"\##(set)(\##(key))","reason":"deleted"}"##
    }

    private func link(_ kind: String, _ source: Int, _ target: Int) -> String {
        let ends = #""source":"Customers(\#(source))","relationship":"Orders","target":"Orders(\#(target))""#
        return ##"{"@odata.context":"#Customers/$\##(kind)",\##(ends)}"##
    }

    private let order = ##"{"@odata.context":"#Orders/$entity","OrderID":5}"##

    private func id(_ set: String, _ key: String) throws -> EntityID? { try store.state.entity(set: set, key: key) }

    @Test func `an unchanged entity is only named in the record`() throws {
        try take(customer(1), customer(2))
        let found = try take(customer(1), customer(2, "B"), customer(3), compares: true)
        #expect(found.pages.count == 1)
        #expect(try found.pages[0].unchanged == [id("Customers", "CustomerID=1")])
        #expect(found.pages[0].entities.count == 2)
        #expect((found.tally.inserted, found.tally.changed, found.tally.unchanged) == (1, 1, 1))
    }

    @Test func `a key that appears twice on a page is one entity, whether or not the store has it`() throws {
        try take(customer(1))
        // The storage below determines that it has no row with the other key.
        for (key, counts) in [(1, (0, 1, 1)), (2, (1, 1, 0))] {
            let state = WorkingSet(over: CountingBacking(store.state, store.model))
            let set = try #require(store.model.findEntitySet("Customers"))
            var builder = try PageBuilder(
                storage: state, model: store.model, index: RelationshipIndex(store.model), query: "All", set: set,
                compares: true)
            let rows = [customer(key), customer(key, "B")].joined(separator: ",")
            let body = #"{"@odata.context":"$metadata#Customers/$delta","value":[\#(rows)]}"#
            var reader = try PayloadReader(version: .v4, model: store.model).feedReader(
                Array(body.utf8), type: set.entityType)
            var items: [DeltaItem] = []
            while let item = try reader.next() { items.append(item) }
            try builder.add(items)
            let pages = try builder.finish(next: nil).pages
            let expected = try id("Customers", "CustomerID=\(key)") ?? store.newID()
            #expect(Set(pages.flatMap { $0.entities.map(\.entity) + $0.unchanged }) == [expected])
            #expect((builder.tally.inserted, builder.tally.changed, builder.tally.unchanged) == counts)
            #expect(builder.repeated.count == 1)
        }
    }

    @Test func `keys of a page are found in any order and with any number of digits`() throws {
        try take(customer(4), customer(7), customer(12))
        // The storage below determines that it has no key between the first and the last one.
        for (keys, inserted) in [
            ([5, 6], 2), ([6, 7], 1), ([9, 8, 4], 2), ([8, 9, 10, 12], 3), ([20, 13], 2), ([-4, 3], 2), ([4, 5], 1),
        ] {
            let state = WorkingSet(over: CountingBacking(store.state, store.model))
            let set = try #require(store.model.findEntitySet("Customers"))
            var builder = try PageBuilder(
                storage: state, model: store.model, index: RelationshipIndex(store.model), query: "All", set: set,
                compares: true)
            try builder.add(keys.map { .entity(EntityPayload(values: customerValues($0))) })
            #expect((builder.tally.inserted, builder.tally.unchanged) == (inserted, keys.count - inserted), "\(keys)")
        }
    }

    private func customerValues(_ key: Int) -> PropertyValues {
        ["CustomerID": .integer(Int64(key)), "Name": .string("A")]
    }

    @Test func `a value in a different form is a change`() throws {
        // The same character, composed and decomposed. Swift considers them equal.
        let (composed, decomposed) = (#"{"OrderID":1,"Note":"\u00e9"}"#, #"{"OrderID":1,"Note":"e\u0301"}"#)
        try take(composed, set: "Orders")
        #expect(try take(composed, set: "Orders", compares: true).tally.unchanged == 1)
        #expect(try take(decomposed, set: "Orders", compares: true).tally.changed == 1)
        let newer = #"{"@odata.etag":"2","OrderID":1,"Note":"e\u0301"}"#
        #expect(try take(newer, set: "Orders", compares: true).tally.changed == 1)
    }

    @Test func `an entity that a page removes and adds again exists`() throws {
        try take(customer(1, "old"))
        let found = try take(gone(1), customer(1, "new"))
        #expect(found.pages.count == 2)
        #expect(try store.value(try #require(try id("Customers", "CustomerID=1")), "Name") == .string("new"))
    }

    @Test func `an entity that a page adds and removes does not exist`() throws {
        let found = try take(customer(1), gone(1))
        #expect(found.pages.count == 1)
        #expect(try store.state.rows(set: "Customers").isEmpty)
    }

    @Test func `the entity-id of a removed entity determines its set, whichever form its key has`() throws {
        for name in ["Orders(5)", "Orders/5", "http://127.0.0.1/v4/Orders(OrderID=5)"] {
            try take(#"{"OrderID":5}"#, set: "Orders")
            #expect(try store.state.rows(set: "Orders").count == 1)
            try take(#"{"@removed":{"reason":"deleted"},"@id":"\#(name)"}"#)
            #expect(try store.state.rows(set: "Orders").isEmpty, "\(name)")
        }
    }

    @Test func `a delta removes the former owner of a key that the service has reused`() throws {
        let former = try store.download("Customers", ["CustomerID": .integer(1), "Name": .string("former")])
        let new = try store.newID()
        let values: PropertyValues = ["CustomerID": .integer(1), "Name": .string("new")]
        let image = EntityImage(entity: new, set: "Customers", type: "Shop.Customer", values: values, etag: nil)
        try store.add(.entitiesRead([image]))
        #expect(try store.state.rows(set: "Customers") == [former, new])
        let found = try take(customer(1, "new"), customer(2), isDelta: true)
        #expect(found.tally.removed == 1)
        #expect(try store.state.rows(set: "Customers").contains(new))
        #expect(try !store.state.rows(set: "Customers").contains(former))
        #expect(try store.state.rows(set: "Customers").count == 2)
    }

    @Test func `a delta does not remove an entity whose key a differently named entity has`() throws {
        let other = try store.download("Customers", ["CustomerID": .integer(1), "Name": .string("other")])
        let named = try store.newID()
        let values: PropertyValues = ["CustomerID": .integer(1), "Name": .string("named")]
        let image = EntityImage(
            entity: named, set: "Customers", type: "Shop.Customer", values: values, etag: nil, editLink: "urn:named")
        try store.add(.entitiesRead([image]))
        let found = try take(#"{"@id":"urn:named","CustomerID":1,"Name":"new"}"#, isDelta: true)
        #expect(found.tally.removed == 0)
        #expect(try store.state.rows(set: "Customers") == [other, named])
    }

    @Test func `an unknown entity is not removed`() throws {
        #expect(try take(gone(7)).pages == [DownloadPage(query: "All")])
    }

    private func unidentified(_ ids: [String]) throws -> [String] {
        let set = try #require(store.model.findEntitySet("Customers"))
        var builder = try PageBuilder(
            storage: store.state, model: store.model, index: RelationshipIndex(store.model), query: "All", set: set,
            compares: false)
        try builder.add(
            ids.map { .removed(RemovedEntity(entity: EntityPayload(id: $0, values: [:]), reason: .deleted)) })
        return builder.unidentifiedRemovals
    }

    @Test func `a removed entity that the store does not have is not one that it cannot identify`() throws {
        let ids = ["Customers(7)", "Customers/7", "7", "http://other/x/Customers(7)", "urn:x", "Customers('a')", "a"]
        #expect(try unidentified(ids) == [], "The store has no entity of the set.")
        try take(customer(1))
        #expect(try unidentified(ids) == ["urn:x", "Customers('a')", "a"])
    }

    @Test func `a removed entity is identified if the service names all entities of the set in its own way`() throws {
        try take(#"{"@id":"urn:y","CustomerID":1}"#)
        #expect(try unidentified(["urn:x"]) == [])
        try take(customer(2))
        #expect(try unidentified(["urn:x"]) == ["urn:x"])
    }

    @Test func `the entity-id of a removed entity may be the value of its key alone`() throws {
        try take(customer(1), customer(2))
        try take(##"{"@odata.context":"http://h/$metadata#Customers/$deletedEntity","id":"1","reason":"deleted"}"##)
        #expect(try store.state.rows(set: "Customers") == [try id("Customers", "CustomerID=2")])
    }

    @Test func `a dangling link waits for its other end, and delays the link to the next page`() throws {
        let first = try take(customer(1), link("link", 1, 5), next: "page2")
        #expect(first.waiting.count == 1)
        #expect(first.pages.last?.next == nil)
        let second = try take(order, next: "page3", waiting: first.waiting)
        #expect(second.waiting.isEmpty)
        #expect(second.pages.last?.next == "page3")
        let customer = try #require(try id("Customers", "CustomerID=1"))
        #expect(try store.targets(customer, "Orders") == [id("Orders", "OrderID=5")])
    }

    @Test func `a link that a page adds and removes does not exist`() throws {
        try take(customer(1), order)
        try take(link("link", 1, 5), link("deletedLink", 1, 5))
        #expect(try store.targets(try #require(try id("Customers", "CustomerID=1")), "Orders").isEmpty)
    }

    @Test func `a nested delta adds and removes links and entities`() throws {
        try take(customer(1), order, link("link", 1, 5))
        let changes = #"{"@removed":{"reason":"changed"},"@id":"Orders(5)"},{"OrderID":6,"Note":"n"}"#
        try take(#"{"CustomerID":1,"Orders@delta":[\#(changes)]}"#)
        let customer = try #require(try id("Customers", "CustomerID=1"))
        #expect(try store.targets(customer, "Orders") == [id("Orders", "OrderID=6")])
        #expect(try store.state.row(try #require(try id("Orders", "OrderID=5"))) != nil)
        try take(#"{"CustomerID":1,"Orders@delta":[{"@removed":{"reason":"deleted"},"@id":"Orders(6)"}]}"#)
        #expect(try store.state.row(try #require(try id("Orders", "OrderID=6"))) == nil)
    }

    @Test func `an expanded navigation property of a complex value is reported as skipped`() throws {
        let metadata = """
            <edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx"><edmx:DataServices>
            <Schema Namespace="S" xmlns="http://docs.oasis-open.org/odata/ns/edm">
            <ComplexType Name="Address"><NavigationProperty Name="Country" Type="S.Thing"/></ComplexType>
            <EntityType Name="Thing"><Key><PropertyRef Name="ID"/></Key>
            <Property Name="ID" Type="Edm.Int32" Nullable="false"/><Property Name="Address" Type="S.Address"/>
            </EntityType>
            <EntityContainer Name="C"><EntitySet Name="Things" EntityType="S.Thing"/></EntityContainer>
            </Schema></edmx:DataServices></edmx:Edmx>
            """
        let model = try CSDLReader.read(Array(metadata.utf8))
        let query = DefiningQuery(name: "All", query: "Things?$expand=Address/Country")
        let asked = RequestedExpansions(of: query, others: []) {
            try? ServiceRequest.parse($0.query, model: model, version: model.version)
        }
        let builder = try PageBuilder(
            storage: WorkingSet(), model: model, index: RelationshipIndex(model), query: "All",
            set: try #require(model.findEntitySet("Things")), compares: false, asked: asked)
        #expect(builder.skipped == ["Things/Address/Country"])
    }

    @Test func `many unchanged entities are named in several records`() throws {
        let count = DownloadPage.unchangedLimit + 10
        let orders = (1...count).map { #"{"OrderID":\#($0)}"# }.joined(separator: ",")
        let customer = #"{"CustomerID":1,"Orders":[\#(orders)]}"#
        try take(customer)
        let found = try take(customer, compares: true, next: "page2")
        #expect(found.tally.unchanged == count + 1)
        #expect(found.pages.map(\.unchanged.count).reduce(0, +) == count + 1)
        #expect(found.pages.map(\.next) == [nil, "page2"])
        for page in found.pages {
            let record = Record(time: 0, body: .downloadPage(page))
            let (kind, payload) = RecordCodec.encode(record)
            #expect(try RecordCodec.decode(kind: kind, payload: payload) == record)
        }
    }
}
