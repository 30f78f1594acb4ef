import EDM
import Operations
import SyncCore
import Testing

/// Effects of download records on the state.
struct DownloadFoldTests {
    let store: TestStore

    init() throws {
        store = try TestStore()
        try store.add(.definingQueryAdded(DefiningQuery(name: "Other", query: "Customers?$filter=Name eq 'A'")))
    }

    private func image(_ id: EntityID, _ number: Int64, _ name: String = "A") -> EntityImage {
        EntityImage(
            entity: id, set: "Customers", type: "Shop.Customer",
            values: ["CustomerID": .integer(number), "Name": .string(name)])
    }

    /// Applies a full download of customers with these keys that ends with a delta link. Returns their IDs.
    private func download(_ keys: Int64..., query: String = "All") throws -> [EntityID] {
        try store.add(.downloadStarted(queries: [query]))
        var ids: [EntityID] = []
        for key in keys {
            let id = try store.state.entity(set: "Customers", key: "CustomerID=\(key)") ?? store.newID()
            try store.add(.downloadPage(DownloadPage(query: query, entities: [image(id, key)])))
            ids.append(id)
        }
        try store.add(.downloadFinished(DownloadFinished(query: query, deltaLink: "delta1")))
        return ids
    }

    private func delta(_ page: DownloadPage, link: String? = "delta2") throws {
        try store.add(.downloadStarted([QueryStart(query: page.query, mode: .delta)]))
        try store.add(.downloadPage(page))
        try store.add(.downloadFinished(DownloadFinished(query: page.query, deltaLink: link)))
    }

    private func query(_ name: String = "All") throws -> QueryState {
        try #require(try store.state.bookkeeping.queries().first { $0.query.name == name })
    }

    @Test func `a delta removes only the entities that it reports as deleted`() throws {
        let ids = try download(1, 2, 3)
        try delta(DownloadPage(query: "All", entities: [image(ids[0], 1, "B")], removed: [ids[1]]))
        #expect(try store.value(ids[0], "Name") == .string("B"))
        #expect(try store.state.row(ids[1]) == nil)
        #expect(try store.state.row(ids[2]) != nil)
        #expect(try query().deltaLink?.url == "delta2")
    }

    @Test func `an entity that leaves one query is kept if a second query delivers it`() throws {
        let ids = try download(1, 2)
        _ = try download(1, query: "Other")
        try delta(DownloadPage(query: "All", left: ids))
        #expect(try store.state.row(ids[0]) != nil)
        #expect(try store.state.row(ids[1]) == nil)
        try delta(DownloadPage(query: "Other", left: [ids[0]]))
        #expect(try store.state.row(ids[0]) == nil)
    }

    @Test func `an entity that the service deleted leaves all queries, and a new one can be delivered later`() throws {
        let ids = try download(1)
        _ = try download(1, query: "Other")
        try delta(DownloadPage(query: "All", removed: ids))
        #expect(try store.state.row(ids[0]) == nil)
        #expect(try !store.state.bookkeeping.isCovered(ids[0]))
        try delta(DownloadPage(query: "All", entities: [image(ids[0], 1, "again")]))
        #expect(try store.value(ids[0], "Name") == .string("again"))
    }

    @Test func `a confirmed creation belongs to the queries that exist then, also to those added since the last one`()
        throws
    {
        let store = try TestStore()
        func create() throws -> EntityID {
            let id = try store.create("Customers")
            try store.confirm(try store.state.header().applied)
            return id
        }
        let first = try create()
        try store.add(.definingQueryAdded(DefiningQuery(name: "Later", query: "Customers?$top=9")))
        let second = try create()
        let isCovered = store.state.bookkeeping.isCovered(_:by:)
        #expect(try isCovered(first, "All") && !isCovered(first, "Later"))
        #expect(try isCovered(second, "All") && isCovered(second, "Later"))
        try store.add(.definingQueryRemoved(name: "Later"))
        let third = try create()
        #expect(try isCovered(third, "All") && !isCovered(third, "Later"))
    }

    @Test func `a pending update stays visible when a delta removes its entity`() throws {
        let ids = try download(1)
        try store.perform([.update(ids[0], changes: ["Name": .string("mine")], bindings: [])])
        try delta(DownloadPage(query: "All", removed: ids))
        #expect(try store.value(ids[0], "Name") == .string("mine"))
        #expect(try store.state.row(ids[0])?.origin == .gone)
    }

    @Test func `a locally deleted entity stays deleted when a delta changes it`() throws {
        let ids = try download(1)
        try store.perform([.delete(ids[0])])
        try delta(DownloadPage(query: "All", entities: [image(ids[0], 1, "B")]))
        #expect(try store.state.row(ids[0]) == nil)
        #expect(try store.state.serviceRow(ids[0])?.values["Name"] == .string("B"))
    }

    @Test func `a full download keeps the entities that it names and removes all others`() throws {
        let ids = try download(1, 2)
        try store.add(.downloadStarted(queries: ["All"]))
        try store.add(.downloadPage(DownloadPage(query: "All", unchanged: [ids[0]])))
        try store.add(.downloadFinished(query: "All"))
        #expect(try store.state.row(ids[0]) != nil)
        #expect(try store.state.row(ids[1]) == nil)
    }

    @Test func `a delta creates and deletes links`() throws {
        let order = try store.download("Orders", ["OrderID": .integer(1)])
        let ids = try download(1, 2)
        let links = [DownloadPage.ChangedLink(source: ids[0], navigation: "Orders", target: order, isAdded: true)]
        try delta(DownloadPage(query: "All", links: links))
        #expect(try store.targets(order, "Customer") == [ids[0]])
        try delta(
            DownloadPage(
                query: "All",
                links: [
                    .init(source: ids[0], navigation: "Orders", target: order, isAdded: false),
                    .init(source: ids[1], navigation: "Orders", target: order, isAdded: true),
                ]))
        #expect(try store.targets(order, "Customer") == [ids[1]])
        try delta(
            DownloadPage(
                query: "All", links: [.init(source: order, navigation: "Customer", target: nil, isAdded: false)]))
        #expect(try store.targets(order, "Customer").isEmpty)
    }

    @Test func `an interrupted download stores the page at which it resumes`() throws {
        let ids = try download(1, 2, 3)
        try store.add(.downloadStarted(queries: ["All"]))
        #expect(try query().deltaLink == nil)
        try store.add(.downloadPage(DownloadPage(query: "All", unchanged: [ids[0]], next: "page2")))
        #expect(try query().next?.url == "page2")
        let run = try query().run
        try store.add(.downloadStarted([QueryStart(query: "All", mode: .resumed)]))
        #expect(try query().run == run)
        #expect(try query().next?.url == "page2")
        try store.add(.downloadPage(DownloadPage(query: "All", unchanged: [ids[1]])))
        try store.add(.downloadFinished(query: "All"))
        #expect(try query().next == nil)
        #expect(try store.state.row(ids[0]) != nil)
        #expect(try store.state.row(ids[2]) == nil)
    }

    @Test func `a resumed delta removes no entity by itself`() throws {
        let ids = try download(1, 2)
        try store.add(.downloadStarted([QueryStart(query: "All", mode: .delta)]))
        try store.add(.downloadPage(DownloadPage(query: "All", entities: [image(ids[0], 1, "B")], next: "page2")))
        try store.add(.downloadStarted([QueryStart(query: "All", mode: .resumed)]))
        try store.add(.downloadFinished(DownloadFinished(query: "All", deltaLink: "delta2")))
        #expect(try store.state.row(ids[1]) != nil)
    }

    @Test func `changed metadata and lost records require a full download`() throws {
        _ = try download(1)
        #expect(try query().downloaded != nil)
        try store.add(
            .serviceInstalled(ServiceDescription(root: "http://moved.test/", metadata: TestModel.service.metadata)))
        #expect(try query().deltaLink == nil)
        #expect(try query().downloaded == nil)
        _ = try download(1)
        try store.add(.lost)
        #expect(try query().deltaLink == nil)
        #expect(try query().downloaded == nil)
    }

    @Test func `unchanged metadata require no full download`() throws {
        _ = try download(1)
        try store.add(.serviceInstalled(TestModel.service))
        #expect(try query().deltaLink?.url == "delta1")
        #expect(try query().downloaded != nil)
    }

    @Test func `an image changes the type of a known entity`() throws {
        let metadata = TestModel.metadata.replacing(
            "<EntityContainer", with: "<EntityType Name=\"Member\" BaseType=\"Shop.Customer\"/><EntityContainer")
        let store = try TestStore(ServiceDescription(root: TestModel.service.root, metadata: Array(metadata.utf8)))
        let customer = try store.download("Customers", ["CustomerID": .integer(1)])
        try store.add(
            .entitiesRead([
                EntityImage(
                    entity: customer, set: "Customers", type: "Shop.Member",
                    values: ["CustomerID": .integer(1), "Name": .string("A")])
            ]))
        #expect(try store.state.row(customer)?.type == "Shop.Member")
    }

    @Test func `a value in another notation replaces the former one`() throws {
        let note = #"<Property Name="Note" Type="Edm.String"/>"#
        let metadata = TestModel.metadata.replacing(note, with: note + #"<Property Name="Amount" Type="Edm.Decimal"/>"#)
        let store = try TestStore(ServiceDescription(root: TestModel.service.root, metadata: Array(metadata.utf8)))
        // The values are equal.
        for text in ["1.5", "1.50"] {
            let values: PropertyValues = ["OrderID": .integer(1), "Amount": .decimal(try #require(DecimalValue(text)))]
            let order = try store.download("Orders", values)
            let row = try #require(try store.state.row(order))
            #expect(ValueCodec.encode(row.values) == ValueCodec.encode(values))
        }
    }

    @Test func `a created entity that no delta delivers is removed at the end of the delta`() throws {
        try store.add(.definingQueryRemoved(name: "Other"))
        _ = try download(1)
        let created = try store.create("Customers", ["Name": .string("N")])
        try store.confirm(store.state.header().applied, key: ["CustomerID": .integer(9)], of: created)
        #expect(try store.state.row(created) != nil)
        try delta(DownloadPage(query: "All", entities: [image(created, 9, "N")]))
        #expect(try store.state.row(created) != nil)
        let filtered = try store.create("Customers", ["Name": .string("N")])
        try store.confirm(store.state.header().applied, key: ["CustomerID": .integer(10)], of: filtered)
        try delta(DownloadPage(query: "All"))
        #expect(try store.state.row(filtered) == nil)
        #expect(try store.state.row(created) != nil)
    }

    enum Leaving: CaseIterable { case removed, left, notShown, withItsQuery }

    @Test(arguments: Leaving.allCases)
    func `a reference to a removed entity is kept, and is linked again when the entity is delivered again`(
        _ leaving: Leaving
    ) throws {
        let customer = try download(1)[0]
        let order = try store.download("Orders", ["OrderID": .integer(1), "CustomerID": .integer(1)])
        #expect(try store.targets(order, "Customer") == [customer])
        switch leaving {
        case .removed: try delta(DownloadPage(query: "All", removed: [customer]))
        case .left: try delta(DownloadPage(query: "All", left: [customer]))
        case .notShown:
            try store.add(.downloadStarted(queries: ["All"]))
            try store.add(.downloadFinished(query: "All"))
        case .withItsQuery:
            try store.add(.definingQueryRemoved(name: "All"))
            try store.add(.definingQueryAdded(DefiningQuery(name: "All", query: "Customers")))
        }
        #expect(try store.state.row(customer) == nil)
        #expect(try store.targets(order, "Customer").isEmpty)
        #expect(try store.value(order, "CustomerID") == .integer(1))
        let back = try download(1)
        #expect(try store.targets(order, "Customer") == back)
    }

    @Test func `a lost record during a download prevents its resumption`() throws {
        let ids = try download(1)
        try store.add(.downloadStarted(queries: ["All"]))
        try store.add(.lost)
        try store.add(.downloadPage(DownloadPage(query: "All", entities: [image(ids[0], 1)], next: "page2")))
        #expect(try query().next == nil)
        try store.add(.downloadFinished(DownloadFinished(query: "All", deltaLink: "delta2")))
        #expect(try QueryRun(query(), options: .init(), isSingle: false, now: 0).mode == .full)
        _ = try download(1)
        #expect(try query().isComplete)
        #expect(try query().deltaLink?.url == "delta1")
    }

    @Test func `a query that is replaced during its download is not resumed`() throws {
        let ids = try download(1)
        try store.add(.downloadStarted(queries: ["All"]))
        try store.add(.downloadPage(DownloadPage(query: "All", entities: [image(ids[0], 1)], next: "page2")))
        try store.add(.definingQueryAdded(DefiningQuery(name: "All", query: "Orders")))
        try store.add(.downloadPage(DownloadPage(query: "All", entities: [image(ids[0], 1)], next: "page3")))
        #expect(try query().next == nil)
        try store.add(.downloadFinished(query: "All"))
        let run = try QueryRun(query(), options: .init(), isSingle: false, now: 0)
        #expect(run.mode == .full)
        #expect(run.request.url == "Orders")
    }

    @Test(arguments: [DownloadMode.full, .delta])
    func `an entity created during an interrupted download is kept at its end`(
        _ mode: DownloadMode
    ) throws {
        try store.add(.definingQueryRemoved(name: "Other"))
        let ids = try download(1)
        try store.add(.downloadStarted([QueryStart(query: "All", mode: mode)]))
        try store.add(.downloadPage(DownloadPage(query: "All", entities: [image(ids[0], 1)], next: "page2")))
        let created = try store.create("Customers", ["Name": .string("N")])
        try store.confirm(store.state.header().applied, key: ["CustomerID": .integer(9)], of: created)
        try store.add(.downloadStarted([QueryStart(query: "All", mode: .resumed)]))
        try store.add(.downloadPage(DownloadPage(query: "All")))
        try store.add(.downloadFinished(DownloadFinished(query: "All", deltaLink: "delta2")))
        #expect(try store.state.row(created) != nil)
        // A full download decides whether the entity still exists.
        _ = try download(1)
        #expect(try store.state.row(created) == nil)
    }

    @Test func `entities that the last download inserted or changed are marked`() throws {
        let ids = try download(1, 2)
        func upserted() throws -> [EntityID] {
            let header = try store.state.header()
            return try store.state.allRows.filter { $0.isUpserted(inLastDownloadOf: header) }.map(\.id)
        }
        #expect(try upserted() == ids)
        try store.perform([.update(ids[0], changes: ["Name": .string("mine")], bindings: [])])
        try delta(DownloadPage(query: "All", entities: [image(ids[1], 2, "B")]))
        #expect(try upserted() == [ids[1]])
        // The first entity is unchanged, although the page contains it.
        try delta(DownloadPage(query: "All", entities: [image(ids[1], 2, "B"), image(ids[0], 1, "C")]))
        #expect(try upserted() == [ids[0]])
        #expect(try store.value(ids[0], "Name") == .string("mine"))
    }

    @Test func `a snapshot contains the resumption links and the coverage of queries`() throws {
        let ids = try download(1, 2)
        try store.perform([.update(ids[0], changes: ["Name": .string("mine")], bindings: [])])
        try store.add(.downloadStarted([QueryStart(query: "All", mode: .delta)]))
        try store.add(.downloadPage(DownloadPage(query: "All", entities: [image(ids[1], 2, "B")], next: "page2")))
        let fold = try Fold(storage: store.state)
        let copy = WorkingSet()
        var restoration = StateRestoration(into: copy)
        try fold.writeSnapshot { kind, payload in try restoration.add(kind: kind, payload: payload) }
        _ = try restoration.finish()
        #expect(try StateDigest(of: copy) == store.digest())
        #expect(try copy.bookkeeping.queries() == store.state.bookkeeping.queries())
        #expect(try copy.header().lastDownload == store.state.header().lastDownload)
    }
}
