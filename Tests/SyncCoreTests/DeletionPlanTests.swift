import EDM
import ODataWire
import Operations
import SyncCore
import Testing

/// Deletions after links of their entities in change sets of the app.
@Suite struct DeletionPlanTests {
    let (store, a, b): (TestStore, EntityID, EntityID)

    init() throws { (store, a, b) = try TestStore.withCustomers() }

    @Test(arguments: 0..<4)
    func `a link of an entity that its change set deletes is not sent, so that the deletion contains the ETag`(
        _ kind: Int
    ) throws {
        let order = try store.download("Orders", ["OrderID": .integer(1), "CustomerID": .integer(1)], etag: "\"1\"")
        let unlink = Operation.Action.deleteLink(link(order, "Customer", a))
        let links: [[Operation.Action]] = [
            [.createLink(link(b, "Orders", order))], [unlink], [.deleteLink(link(a, "Orders", order))],
            [unlink, .updateLink(link(order, "Customer", b))],
        ]
        let operations = try store.perform(links[kind] + [.delete(order)], changeSet: true)
        let plan = try store.plan()
        #expect(plan.changeSets.first?.requests.map(\.modification.ifMatch) == ["\"1\""], "\(plan.held)")
        #expect(plan.prepared(as: 1).operations.sorted() == operations)
        try store.answer(plan)
        #expect(try store.state.pendingOperations().isEmpty)
        #expect(try store.state.row(order) == nil)
    }

    @Test func `in V2, a link of an entity that its change set deletes is not sent either`() throws {
        let store = try TestStore(TestModel.legacyService)
        let customer = try store.download("Customers", ["CustomerID": .integer(1)])
        let order = try store.download("Orders", ["OrderID": .integer(1), "CustomerID": .integer(1)], etag: "\"1\"")
        try store.perform([.deleteLink(link(order, "Customer", customer)), .delete(order)], changeSet: true)
        #expect(try store.plan().changeSets.first?.requests.map(\.modification.ifMatch) == ["\"1\""])
    }

    @Test func `an unlink that permits the deletion of a principal is sent, and a check precedes it`() throws {
        let customer = try store.download(
            "Customers", ["CustomerID": .integer(9), "Name": .string("c")], etag: "\"9\"")
        let order = try store.download("Orders", ["OrderID": .integer(1), "CustomerID": .integer(9)])
        let operations = try store.perform(
            [.deleteLink(link(order, "Customer", customer)), .delete(customer)], changeSet: true)
        let plan = try store.plan()
        let sent = try #require(plan.changeSets.first?.requests, "\(plan.held)")
        #expect(sent.map(\.operation) == [operations[1]] + operations)
        #expect(sent.map(\.modification.ifMatch) == ["\"9\"", nil, "*"])
        #expect(store.requests(plan).first == #"PATCH Customers(9) {"Name":"c"}"#)
    }

    @Test(arguments: [true, false])
    func `a link whose change permits the deletion of the former end is sent, although its own entity is deleted`(
        _ isRemoved: Bool
    ) throws {
        let order = try store.download("Orders", ["OrderID": .integer(1), "CustomerID": .integer(1)], etag: "\"1\"")
        let change: Operation.Action =
            isRemoved ? .deleteLink(link(order, "Customer", a)) : .updateLink(link(order, "Customer", b))
        try store.perform([change, .delete(a), .delete(order)], changeSet: true)
        let plan = try store.plan()
        #expect(
            plan.changeSets.first?.requests.map(\.modification.ifMatch) == ["\"1\"", nil, nil, "*"], "\(plan.held)")
    }

    @Test func `a link that displaces a partner is sent, although its entity is deleted`() throws {
        let person = try store.download("Persons", ["PersonID": .integer(1)])
        let old = try store.download("IDCards", ["IDCardID": .integer(1), "PersonID": .integer(1)])
        let new = try store.download("IDCards", ["IDCardID": .integer(2), "PersonID": .null], etag: "\"2\"")
        try store.perform([.updateLink(link(new, "Person", person)), .delete(new)], changeSet: true)
        let plan = try store.plan()
        #expect(plan.changeSets.first?.requests.map(\.modification.ifMatch) == ["\"2\"", nil, "*"], "\(plan.held)")
        #expect(try store.targets(old, "Person").isEmpty)
    }

    @Test func `the deletion of a dependent entity precedes that of its principal, with its ETag`() throws {
        let order = try store.download("Orders", ["OrderID": .integer(1), "CustomerID": .integer(1)], etag: "\"1\"")
        let operations = try store.perform([.delete(a), .delete(order)], changeSet: true)
        let plan = try store.plan()
        let sent = try #require(plan.changeSets.first?.requests, "\(plan.held)")
        #expect(sent.map(\.operation) == operations.reversed())
        #expect(sent.map(\.modification.ifMatch) == ["\"1\"", nil])
    }

    @Test func `a deletion does not precede that of its principal, which its service would delete with it`() throws {
        let end = #"Partner="Orders">"#
        let text = TestModel.metadata.replacing(end, with: end + #"<OnDelete Action="Cascade"/>"#)
        let store = try TestStore(ServiceDescription(root: TestModel.service.root, metadata: Array(text.utf8)))
        let customer = try store.download("Customers", ["CustomerID": .integer(1)])
        let order = try store.download("Orders", ["OrderID": .integer(1), "CustomerID": .integer(1)], etag: "\"1\"")
        try store.perform([.delete(customer), .delete(order)], changeSet: true)
        let plan = try store.plan()
        let deletions = store.requests(plan).filter { $0.hasPrefix("DELETE") }
        #expect(deletions == ["DELETE Customers(1) ", "DELETE Orders(1) "], "\(plan.held)")
    }

    @Test(arguments: [
        #"<Annotation Term="Org.OData.Capabilities.V1.UpdateRestrictions"><Record>"#
            + #"<PropertyValue Property="Updatable" Bool="false"/></Record></Annotation>"#,
        #"<Annotation Term="Org.OData.Capabilities.V1.UpdateRestrictions"><Record>"#
            + #"<PropertyValue Property="Updatable"><Bool>false</Bool></PropertyValue></Record></Annotation>"#,
    ])
    func `a deletion whose ETag no request can check is held back`(_ annotation: String) throws {
        let set = #"<EntitySet Name="Customers" EntityType="Shop.Customer">"#
        let text = TestModel.metadata.replacing(set, with: set + annotation)
        let store = try TestStore(ServiceDescription(root: TestModel.service.root, metadata: Array(text.utf8)))
        let customer = try store.download("Customers", ["CustomerID": .integer(1)], etag: "\"1\"")
        let order = try store.download("Orders", ["OrderID": .integer(1), "CustomerID": .integer(1)])
        let operations = try store.perform(
            [.deleteLink(link(order, "Customer", customer)), .delete(customer)], changeSet: true)
        let plan = try store.plan()
        #expect(plan.changeSets.isEmpty)
        guard case .noLegalPlan(let reason)? = plan.held[operations[1]] else {
            return #expect(Bool(false), "\(plan.held)")
        }
        #expect(reason.contains("does not permit updates of Customers"))
    }

    @Test func `without PATCH, no check of a deletion resets properties that were never read`() throws {
        store.service = ServiceOptions(supportsPatch: false)
        let customer = try store.download("Customers", ["CustomerID": .integer(9)], etag: "\"9\"")
        let order = try store.download("Orders", ["OrderID": .integer(1), "CustomerID": .integer(9)])
        let operations = try store.perform(
            [.deleteLink(link(order, "Customer", customer)), .delete(customer)], changeSet: true)
        let plan = try store.plan()
        #expect(plan.changeSets.isEmpty)
        #expect(plan.held.keys.sorted() == operations)
    }
}
