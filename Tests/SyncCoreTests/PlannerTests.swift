import EDM
import ODataWire
import Operations
import SyncCore
import Testing

struct PlannerTests {
    let store: TestStore

    init() throws { store = try TestStore() }

    private func to(_ navigation: String, _ target: EntityID) -> [Binding] {
        [Binding(navigation: navigation, targets: [target])]
    }

    private func last() throws -> SequenceNumber { try store.state.header().applied }

    @Test func `independent operations are separate change sets, in their order`() throws {
        try store.create("Customers")
        let first = try last()
        try store.create("Suppliers")
        #expect(store.groups(try store.plan()) == [[first], [first + 1]])
    }

    @Test func `a new entity and references to it share a change set, with $n for the key`() throws {
        let customer = try store.create("Customers")
        let first = try last()
        try store.create("Orders", bindings: to("Customer", customer))
        let plan = try store.plan()
        #expect(store.groups(plan) == [[first, first + 1]])
        #expect(plan.changeSets[0].requests[1].references == [.contentID("1")])
    }

    @Test func `an order that is moved between two new customers ends at the second one`() throws {
        let a = try store.create("Customers")
        let b = try store.create("Customers")
        let order = try store.create("Orders", bindings: to("Customer", a))
        try store.perform([.updateLink(link(order, "Customer", b))])
        for _ in 0..<3 { try store.answer(try store.plan()) }
        #expect(try store.state.pendingOperations().isEmpty)
        #expect(try store.targets(order, "Customer") == [b])
    }

    @Test func `an inner entity of a deep insert has a separate request if its owner is linked elsewhere afterwards`()
        throws
    {
        let city = try store.download("Cities", ["CityID": .integer(1)])
        let mayor = try store.newID()
        let below = EntityID(rawValue: mayor.rawValue + 1)
        let inline = Creation.Inline(navigation: "City", entities: [store.creation(below, "Cities")])
        try store.perform([.create(store.creation(mayor, "Mayors", inline: [inline]), parent: nil)])
        try store.perform([.updateLink(link(mayor, "City", city))])
        #expect(try store.plan().changeSets.flatMap(\.requests).map(\.creates) == [below, mayor, nil])
    }

    @Test func `a new city gets its second mayor only after the first one has left`() throws {
        let old = try store.download("Cities", ["CityID": .integer(1)])
        let first = try store.download("Mayors", ["MayorID": .integer(1), "CityID": .integer(2)])
        let second = try store.download("Mayors", ["MayorID": .integer(2), "CityID": .integer(1)])
        let city = try store.create("Cities", bindings: to("Mayor", first))
        let delete = try store.perform([.delete(first)])[0]
        try store.perform([.updateLink(link(second, "City", city))])
        let plan = try store.plan()
        #expect(store.groups(plan) == [[delete - 1], [delete]])
        try store.answer(plan)
        try store.answer(try store.plan())
        #expect(try store.state.pendingOperations().isEmpty)
        #expect(try store.targets(city, "Mayor") == [second])
        #expect(try store.targets(old, "Mayor").isEmpty)
    }

    @Test func `a city is deleted only after its temporary mayor has left`() throws {
        let first = try store.download("Cities", ["CityID": .integer(1)])
        let second = try store.download("Cities", ["CityID": .integer(2)])
        let third = try store.create("Cities")
        let mayor = try store.create("Mayors", bindings: to("City", first))
        try store.perform([.updateLink(link(mayor, "City", second))])
        try store.perform([.updateLink(link(mayor, "City", third))])
        let move = try store.state.header().applied
        try store.perform([.delete(second)])
        var order: [SequenceNumber] = []
        for _ in 0..<6 {
            let plan = try store.plan()
            order += store.groups(plan).flatMap { $0 }
            try store.answer(plan)
        }
        #expect(try store.state.pendingOperations().isEmpty)
        #expect(try #require(order.firstIndex(of: move)) < #require(order.firstIndex(of: move + 1)))
    }

    @Test func `the ETag of an entity is read before its change if a delete of another entity has cleared its link`()
        throws
    {
        let customer = try store.download("Customers", ["CustomerID": .integer(1)])
        let order = try store.download("Orders", ["OrderID": .integer(1), "CustomerID": .integer(1)], etag: "\"1\"")
        let delete = try store.perform([.delete(customer)])[0]
        try store.perform([.update(order, changes: ["Note": .string("x")], bindings: [])])
        #expect(store.groups(try store.plan()) == [[delete]])
        try store.answer(try store.plan())
        #expect(try store.plan().entitiesToRead == [order])
    }

    @Test func `independent operations of the app's change set stay together`() throws {
        let a = try store.newID()
        let b = EntityID(rawValue: a.rawValue + 1)
        let sequences = try store.perform(
            [
                .create(store.creation(a, "Customers"), parent: nil),
                .create(store.creation(b, "Suppliers"), parent: nil),
            ],
            changeSet: true)
        #expect(store.groups(try store.plan()) == [sequences])
    }

    @Test func `a change of a new entity waits for its key`() throws {
        let order = try store.create("Orders")
        let created = try last()
        try store.perform([.update(order, changes: ["Note": .string("x")], bindings: [])])
        let plan = try store.plan()
        #expect(store.groups(plan) == [[created]])
        #expect(plan.held == [created + 1: .waitsFor(created)])
        try store.answer(plan, etags: true)
        #expect(store.groups(try store.plan()) == [[created + 1]])
    }

    @Test func `an entity with references to it is created by a separate request instead of a deep insert`() throws {
        let order = try store.newID()
        let customer = EntityID(rawValue: order.rawValue + 1)
        let inline = Creation.Inline(navigation: "Customer", entities: [store.creation(customer, "Customers")])
        try store.perform([.create(store.creation(order, "Orders", inline: [inline]), parent: nil)])
        #expect(try store.plan().changeSets.map { $0.requests.map(\.creates) } == [[order]])
        try store.create("Orders", bindings: to("Customer", customer))
        let requests = try store.plan().changeSets.flatMap(\.requests)
        #expect(requests.map(\.creates).prefix(2) == [customer, order])
        #expect(requests.map(\.references) == [[], [.contentID("1")], [.contentID("1")]])
    }

    @Test(arguments: [ServiceOptions.DeepInsertToMany.split, .inOrder, .contentID])
    func `only nested entities in a collection have a Content-ID`(_ form: ServiceOptions.DeepInsertToMany) throws {
        store.service = ServiceOptions(deepInsertToMany: form)
        let order = try store.newID()
        let customer = EntityID(rawValue: order.rawValue + 1)
        let inline = Creation.Inline(navigation: "Customer", entities: [store.creation(customer, "Customers")])
        try store.perform([.create(store.creation(order, "Orders", inline: [inline]), parent: nil)])
        let request = try #require(try store.plan().changeSets.first?.requests.first)
        guard case .create(_, let body) = request.modification.action else {
            return #expect(Bool(false), "\(request)")
        }
        #expect(body.inline.flatMap(\.entities).map(\.contentID) == [nil])
    }

    @Test func `a change of an entity with an ETag waits for operations that link new entities to it`() throws {
        let customer = try store.download("Customers", ["CustomerID": .integer(1)], etag: "\"1\"")
        try store.create("Orders", bindings: to("Customer", customer))
        let created = try last()
        try store.perform([.update(customer, changes: ["Name": .string("x")], bindings: [])])
        let plan = try store.plan()
        #expect(store.groups(plan) == [[created]])
        #expect(plan.held == [created + 1: .waitsFor(created)])
    }

    @Test func `in a change set, an update of an entity precedes operations that link new entities to it`() throws {
        let customer = try store.download("Customers", ["CustomerID": .integer(1)], etag: "\"1\"")
        let order = try store.newID()
        try store.perform(
            [
                .create(store.creation(order, "Orders", bindings: to("Customer", customer)), parent: nil),
                .update(customer, changes: ["Name": .string("x")], bindings: []),
            ], changeSet: true)
        #expect(try store.plan().changeSets.map { $0.requests.map(\.modification.ifMatch) } == [["\"1\"", nil]])
    }

    @Test func `the second change of an entity with an ETag waits for the response to the first one`() throws {
        let order = try store.download("Orders", ["OrderID": .integer(1)], etag: "\"1\"")
        let first = try store.perform([.update(order, changes: ["Note": .string("a")], bindings: [])])[0]
        try store.perform([.update(order, changes: ["Note": .string("b")], bindings: [])])
        let plan = try store.plan()
        #expect(store.groups(plan) == [[first]])
        #expect(plan.changeSets[0].requests[0].modification.ifMatch == "\"1\"")
        #expect(plan.held == [first + 1: .waitsFor(first)])
        // The response had no ETag, so the entity must be read.
        try store.answer(plan)
        let next = try store.plan()
        #expect(next.isEmpty)
        #expect(next.entitiesToRead == [order])
        #expect(next.held == [first + 1: .needsETag(order)])
        try store.download("Orders", ["OrderID": .integer(1)], etag: "\"2\"")
        #expect(try store.plan().changeSets[0].requests[0].modification.ifMatch == "\"2\"")
    }

    @Test func `two changes of an entity without an ETag are sent in one batch, in order`() throws {
        let order = try store.download("Orders", ["OrderID": .integer(1)])
        let first = try store.perform([.update(order, changes: ["Note": .string("a")], bindings: [])])[0]
        try store.perform([.update(order, changes: ["Note": .string("b")], bindings: [])])
        #expect(store.groups(try store.plan()) == [[first], [first + 1]])
    }

    @Test func `in V2, dependent operations wait for each other, because a batch continues after a rejection`() throws {
        let store = try TestStore(TestModel.legacyService)
        let customers = try [1, 2].map { try store.download("Customers", ["CustomerID": .integer($0)]) }
        let order = try store.download("Orders", ["OrderID": .integer(1), "CustomerID": .integer(1)])
        let first = try store.perform([.deleteLink(link(order, "Customer", customers[0]))])[0]
        try store.perform([.updateLink(link(order, "Customer", customers[1]))])
        try store.perform([.update(customers[0], changes: ["Name": .string("a")], bindings: [])])
        try store.perform([.update(customers[0], changes: ["Name": .string("b")], bindings: [])])
        let plan = try store.plan()
        #expect(store.groups(plan) == [[first], [first + 2]])
        #expect(plan.held == [first + 1: .waitsFor(first), first + 3: .waitsFor(first + 2)])
    }

    @Test func `only the first change of an entity in the app's change set contains its ETag`() throws {
        let order = try store.download("Orders", ["OrderID": .integer(1)], etag: "\"1\"")
        try store.perform(
            [.update(order, changes: ["Note": .string("a")], bindings: []), .delete(order)], changeSet: true)
        #expect(try store.plan().changeSets[0].requests.map(\.modification.ifMatch) == ["\"1\"", "*"])
    }

    @Test func `deleting and replacing a link in a change set is one request that ends both operations`() throws {
        let first = try store.download("Customers", ["CustomerID": .integer(1)])
        let second = try store.download("Customers", ["CustomerID": .integer(2)])
        let order = try store.download("Orders", ["OrderID": .integer(1), "CustomerID": .integer(1)])
        let operations = try store.perform(
            [.deleteLink(link(order, "Customer", first)), .updateLink(link(order, "Customer", second))],
            changeSet: true)
        let plan = try store.plan()
        #expect(plan.changeSets.map(\.requests.count) == [1])
        #expect(plan.prepared(as: 1).operations.sorted() == operations)
        try store.answer(plan)
        #expect(try store.state.pendingOperations().isEmpty)
        #expect(try store.targets(order, "Customer") == [second])
    }

    @Test func `an entity whose create had a response without a body is read before its next change`() throws {
        let order = try store.create("Orders")
        try store.answer(try store.plan())
        try store.perform([.update(order, changes: ["Note": .string("a")], bindings: [])])
        #expect(try store.plan().entitiesToRead == [order])
    }

    @Test func `an operation on an entity that cannot be read is sent anyway`() throws {
        let order = try store.create("Orders")
        try store.answer(try store.plan())
        let update = try store.perform([.update(order, changes: ["Note": .string("a")], bindings: [])])[0]
        let plan = try UploadPlanner(storage: store.state, model: store.model).plan(unreadable: [order])
        #expect(store.groups(plan) == [[update]])
    }

    // MARK: Rejected operations

    @Test func `a rejected create holds back only the operations that refer to it`() throws {
        let customer = try store.download("Customers", ["CustomerID": .integer(1)])
        let bad = try store.create("Orders", bindings: to("Customer", customer))
        let refused = try last()
        try store.perform([.update(bad, changes: ["Note": .string("x")], bindings: [])])
        try store.create("Orders", bindings: to("Customer", customer))
        try store.perform([.update(customer, changes: ["Name": .string("x")], bindings: [])])
        try store.answer(try store.plan(), refusing: [refused])
        let plan = try store.plan()
        #expect(store.groups(plan) == [])
        #expect(plan.held == [refused: .rejected, refused + 1: .behindRejected(refused)])
        // Later operations on the entity are sent with it.
        #expect(store.groups(try store.plan(retrying: [refused])) == [[refused, refused + 1]])
    }

    @Test func `a rejected change of a customer holds back its next change, not its new orders`() throws {
        let customer = try store.download("Customers", ["CustomerID": .integer(1)])
        let refused = try store.perform([.update(customer, changes: ["Name": .string("x")], bindings: [])])[0]
        try store.answer(try store.plan(), refusing: [refused])
        try store.create("Orders", bindings: to("Customer", customer))
        try store.perform([.update(customer, changes: ["Name": .string("y")], bindings: [])])
        let plan = try store.plan()
        #expect(store.groups(plan) == [[refused + 3]])
        #expect(plan.held[refused + 4] == .behindRejected(refused))
    }

    @Test func `an operation that was rolled back with a rejected one is sent without it`() throws {
        let customer = try store.create("Customers")
        let first = try last()
        try store.create("Orders", bindings: to("Customer", customer))
        let bad = try last()
        try store.answer(try store.plan(), refusing: [bad])
        #expect(store.groups(try store.plan()) == [[first]])
    }

    @Test func `a rejected member holds back the app's whole change set`() throws {
        let a = try store.newID()
        let sequences = try store.perform(
            [
                .create(store.creation(a, "Customers"), parent: nil),
                .create(store.creation(EntityID(rawValue: a.rawValue + 1), "Suppliers"), parent: nil),
            ], changeSet: true)
        try store.answer(try store.plan(), refusing: [sequences[1]])
        #expect(try store.plan().isEmpty)
        #expect(store.groups(try store.plan(retrying: [sequences[1]])) == [sequences])
    }

    @Test func `an operation in doubt holds back the operations that depend on it`() throws {
        let order = try store.create("Orders")
        let created = try last()
        let batch = try store.prepare(try store.plan())
        try store.add(.batchInterrupted(BatchInterrupted(batch: batch, reason: "cut")))
        try store.perform([.update(order, changes: ["Note": .string("x")], bindings: [])])
        let plan = try store.plan()
        #expect(plan.isEmpty)
        #expect(plan.held[created] == .inDoubt)
        #expect(plan.held.values.contains(.behindInDoubt(created)))
    }

    // MARK: Requests

    @Test func `a batch contains at most the maximum number of requests, and a change set is never split`() throws {
        for _ in 0..<5 { try store.create("Customers") }
        #expect(try store.plan(limit: 2).changeSets.count == 2)
        #expect(try store.plan(limit: 2).held.values.allSatisfy { $0 == .batchFull })
        let id = try store.newID()
        let deep = store.creation(
            id, "Customers",
            inline: [
                .init(
                    navigation: "Orders",
                    entities: (1...4).map { store.creation(EntityID(rawValue: id.rawValue + $0), "Orders") })
            ])
        let large = try TestStore()
        try large.perform([.create(deep, parent: nil)])
        #expect(try large.plan(limit: 2).changeSets.map(\.requests.count) == [5])
    }

    @Test func `a collection below a single entity is created after that entity and before references to it`()
        throws
    {
        let id = try store.newID()
        func new(_ set: String, _ offset: UInt64, _ inline: [Creation.Inline] = []) -> Creation {
            store.creation(EntityID(rawValue: id.rawValue + offset), set, inline: inline)
        }
        let customer = new(
            "Customers", 1, [.init(navigation: "Orders", entities: [new("Orders", 2), new("Orders", 3)])])
        try store.perform([
            .create(new("Orders", 0, [.init(navigation: "Customer", entities: [customer])]), parent: nil)
        ])
        let plan = try store.plan()
        #expect(
            plan.changeSets.map { $0.requests.map(\.creates?.rawValue) } == [[1, 2, 3, 0].map { id.rawValue + $0 }])
        #expect(
            plan.changeSets[0].requests.map(\.references) == [
                [], [.contentID("1")], [.contentID("1")], [.contentID("1")],
            ])
    }

    @Test func `an entity created at a single-valued end binds its owner`() throws {
        let city = try store.download("Cities", ["CityID": .integer(1)])
        try store.create("Mayors", parent: Parent(entity: city, navigation: "Mayor"))
        let requests = try store.plan().changeSets[0].requests
        #expect(requests.count == 1)
        guard case .create(_, let body) = requests[0].modification.action else {
            Issue.record("it is \(requests[0].modification.action)")
            return
        }
        #expect(body.bindings.map(\.navigation.name) == ["City"])
    }

    @Test func `the delete of a local entity waits for its key`() throws {
        let order = try store.create("Orders")
        let created = try last()
        try store.perform([.delete(order)])
        #expect(store.groups(try store.plan()) == [[created]])
        try store.answer(try store.plan(), etags: true)
        let plan = try store.plan()
        #expect(store.groups(plan) == [[created + 1]])
        #expect(plan.changeSets[0].requests[0].modification.ifMatch != nil)
    }
}
