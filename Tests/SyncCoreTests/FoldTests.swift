import EDM
import Operations
import SyncCore
import Testing

struct FoldTests {
    let store: TestStore

    init() throws { store = try TestStore() }

    @Test func `a link is visible from both ends at once`() throws {
        let customer = try store.create("Customers", ["Name": .string("A")])
        let order = try store.create("Orders")
        try store.perform([.createLink(link(customer, "Orders", order))])
        #expect(try store.targets(customer, "Orders") == [order])
        #expect(try store.targets(order, "Customer") == [customer])
    }

    @Test(
        arguments: [
            [:], ["CustomerID": .null], ["CustomerID": .integer(7)], ["CustomerID": .integer(8)],
        ] as [PropertyValues])
    func `a binding of a new entity leads to the same values and links as a link after its creation`(
        _ values: PropertyValues
    ) throws {
        let customer = try store.download("Customers", ["CustomerID": .integer(7)])
        let bound = try store.create("Orders", values, bindings: [Binding(navigation: "Customer", targets: [customer])])
        let linked = try store.create("Orders", values)
        try store.perform([.updateLink(link(linked, "Customer", customer))])
        for order in [bound, linked] {
            #expect(try store.value(order, "CustomerID") == .integer(7))
            #expect(try store.targets(order, "Customer") == [customer])
        }
        #expect(try store.state.row(bound)?.values == store.state.row(linked)?.values)
        #expect(try store.targets(customer, "Orders") == [bound, linked])
    }

    @Test func `moving an order removes it from one customer and adds it to the other`() throws {
        let first = try store.download("Customers", ["CustomerID": .integer(1)])
        let second = try store.download("Customers", ["CustomerID": .integer(2)])
        let order = try store.download("Orders", ["OrderID": .integer(1), "CustomerID": .integer(1)])
        #expect(try store.targets(order, "Customer") == [first])
        try store.perform([.updateLink(link(order, "Customer", second))])
        #expect(try store.targets(first, "Orders").isEmpty)
        #expect(try store.targets(second, "Orders") == [order])
        #expect(try store.value(order, "CustomerID") == .integer(2))
    }

    @Test func `a dependent property creates the link at once`() throws {
        let customer = try store.download("Customers", ["CustomerID": .integer(7)])
        let order = try store.create("Orders", ["CustomerID": .integer(7)])
        #expect(try store.targets(customer, "Orders") == [order])
        try store.perform([.update(order, changes: ["CustomerID": .null], bindings: [])])
        #expect(try store.targets(customer, "Orders").isEmpty)
    }

    @Test func `a dependent property links to a principal that is created later`() throws {
        let order = try store.create("Orders", ["CustomerID": .integer(7)])
        let customer = try store.download("Customers", ["CustomerID": .integer(7)])
        #expect(try store.targets(order, "Customer") == [customer])
    }

    @Test func `a dependent property gets its value when the principal's key is assigned`() throws {
        let customer = try store.create("Customers")
        let created = try store.state.header().applied
        let order = try store.create("Orders", bindings: [Binding(navigation: "Customer", targets: [customer])])
        #expect(try store.value(order, "CustomerID") != .integer(41))
        try store.confirm(created, key: ["CustomerID": .integer(41)], of: customer)
        #expect(try store.value(order, "CustomerID") == .integer(41))
        #expect(try store.targets(order, "Customer") == [customer])
    }

    @Test func `null in a dependent property deletes the link, also if the principal has no key yet`() throws {
        let customer = try store.create("Customers")
        let order = try store.create("Orders", bindings: [Binding(navigation: "Customer", targets: [customer])])
        try store.perform([.update(order, changes: ["CustomerID": .null], bindings: [])])
        #expect(try store.targets(order, "Customer").isEmpty)
    }

    @Test func `an entity within a deep insert keeps its link while its key is unknown`() throws {
        let order = try store.newID()
        let customer = EntityID(rawValue: order.rawValue + 1)
        let inline = Creation.Inline(navigation: "Customer", entities: [store.creation(customer, "Customers")])
        let create = try store.perform([.create(store.creation(order, "Orders", inline: [inline]), parent: nil)])[0]
        // The response contains the dependent property of the order, but not the customer.
        let image = EntityImage(
            entity: order, set: "Orders", type: "Shop.Order",
            values: ["OrderID": .integer(1), "CustomerID": .integer(9)])
        try store.add(
            .batchAnswered(
                BatchAnswered(batch: 1, outcomes: [.init(operation: create, result: .confirmed(images: [image]))])))
        #expect(try store.targets(order, "Customer") == [customer])
        try store.add(
            .entitiesRead([
                EntityImage(
                    entity: customer, set: "Customers", type: "Shop.Customer", values: ["CustomerID": .integer(9)])
            ]))
        #expect(try store.targets(customer, "Orders") == [order])
    }

    @Test func `values read before a create is confirmed are not overwritten by it`() throws {
        let order = try store.create("Orders", ["OrderID": .integer(5), "Note": .string("sent")])
        let create = try store.state.header().applied
        try store.add(
            .entitiesRead([
                EntityImage(
                    entity: order, set: "Orders", type: "Shop.Order",
                    values: ["OrderID": .integer(5), "Note": .string("changed since")], etag: "\"2\"")
            ]))
        try store.add(
            .batchAnswered(
                BatchAnswered(batch: 1, outcomes: [.init(operation: create, result: .confirmed(images: []))])))
        #expect(try store.value(order, "Note") == .string("changed since"))
        #expect(try store.state.row(order)?.etag == "\"2\"")
    }

    @Test(arguments: [7, 8])
    func `a confirmed create takes its key only from an entity that has another key now`(_ now: Int64) throws {
        let order = try store.create("Orders", ["OrderID": .integer(7)])
        let creation = try #require(try store.state.pendingOperations().first).sequence
        let other = try store.newID()
        for key in [7, now] {
            try store.add(
                .entitiesRead([
                    EntityImage(entity: other, set: "Orders", type: "Shop.Order", values: ["OrderID": .integer(key)])
                ]))
        }
        try store.confirm(creation)
        #expect(try store.state.entity(set: "Orders", key: "OrderID=7") == (now == 7 ? other : order))
    }

    @Test func `an entity displaced by a response of the service keeps the values that were read`()
        throws
    {
        let person = try store.download("Persons", ["PersonID": .integer(1)])
        let old = try store.download("IDCards", ["IDCardID": .integer(1), "PersonID": .integer(1)])
        let new = try store.download("IDCards", ["IDCardID": .integer(2), "PersonID": .integer(1)])
        #expect(try store.value(old, "PersonID") == .integer(1))
        #expect(try store.targets(person, "IDCard") == [new])
        try store.download("Persons", ["PersonID": .integer(1)])
        #expect(try store.targets(person, "IDCard") == [new])
        // The card that was read last has the link.
        try store.download("IDCards", ["IDCardID": .integer(1), "PersonID": .integer(1)])
        #expect(try store.targets(person, "IDCard") == [old])
    }

    @Test func `an entity displaced by a confirmed operation must be read before its next change`() throws {
        try store.download("Persons", ["PersonID": .integer(1)])
        let old = try store.download("IDCards", ["IDCardID": .integer(1), "PersonID": .integer(1)])
        try store.create("IDCards", ["IDCardID": .integer(2), "PersonID": .integer(1)])
        try store.answer(try store.plan())
        #expect(try store.value(old, "PersonID") == .null)
        #expect(try store.state.row(old)?.origin == .serviceWithStaleETag)
    }

    @Test func `a copy of the state contains the undone operations`() throws {
        try store.create("Customers", ["Name": .string("a")])
        try store.undo([store.state.pendingOperations()[0].sequence])
        #expect(try store.state.copy().bookkeeping.undoneOperations() == store.state.bookkeeping.undoneOperations())
        #expect(try !store.state.copy().bookkeeping.undoneOperations().isEmpty)
    }

    @Test func `a binding takes precedence over a contradicting dependent property`() throws {
        try store.download("Customers", ["CustomerID": .integer(1)])
        let second = try store.download("Customers", ["CustomerID": .integer(2)])
        let order = try store.create(
            "Orders", ["CustomerID": .integer(1)], bindings: [Binding(navigation: "Customer", targets: [second])])
        #expect(try store.targets(order, "Customer") == [second])
        #expect(try store.value(order, "CustomerID") == .integer(2))
    }

    @Test func `deleting one end removes the link and clears the dependent property of the other end`() throws {
        let customer = try store.download("Customers", ["CustomerID": .integer(1)])
        let order = try store.download("Orders", ["OrderID": .integer(1), "CustomerID": .integer(1)])
        try store.perform([.delete(customer)])
        #expect(try store.targets(order, "Customer").isEmpty)
        #expect(try store.value(order, "CustomerID") == .null)
    }

    @Test func `a download changes the base state and keeps a pending update`() throws {
        let customer = try store.download("Customers", ["CustomerID": .integer(1), "Name": .string("old")])
        try store.perform([.update(customer, changes: ["Name": .string("mine")], bindings: [])])
        try store.download("Customers", ["CustomerID": .integer(1), "Name": .string("theirs")])
        #expect(try store.value(customer, "Name") == .string("mine"))
        guard case .row(let base)? = try store.state.base(customer) else {
            Issue.record("the base state is not kept")
            return
        }
        #expect(base.values["Name"] == .string("theirs"))
    }

    @Test func `a locally deleted entity stays deleted when a download delivers it`() throws {
        let customer = try store.download("Customers", ["CustomerID": .integer(1)])
        try store.perform([.delete(customer)])
        try store.download("Customers", ["CustomerID": .integer(1), "Name": .string("again")])
        #expect(try store.state.row(customer) == nil)
    }

    @Test func `a pending update of an entity that the service deleted stays visible`() throws {
        let customer = try store.download("Customers", ["CustomerID": .integer(1)])
        try store.add(.downloadStarted(queries: ["All"]))
        try store.add(
            .downloadPage(
                DownloadPage(
                    query: "All",
                    entities: [
                        EntityImage(
                            entity: customer, set: "Customers", type: "Shop.Customer",
                            values: ["CustomerID": .integer(1)])
                    ])))
        try store.add(.downloadFinished(query: "All"))
        try store.perform([.update(customer, changes: ["Name": .string("mine")], bindings: [])])
        try store.add(.downloadStarted(queries: ["All"]))
        try store.add(.downloadFinished(query: "All"))
        #expect(try store.value(customer, "Name") == .string("mine"))
        #expect(try store.state.row(customer)?.origin == .gone)
    }

    @Test func `an entity that the service deleted is removed with the last operation that refers to it`() throws {
        let customer = try store.newID()
        let image = EntityImage(
            entity: customer, set: "Customers", type: "Shop.Customer", values: ["CustomerID": .integer(1)])
        try store.add(.downloadStarted(queries: ["All"]))
        try store.add(.downloadPage(DownloadPage(query: "All", entities: [image])))
        try store.add(.downloadFinished(query: "All"))
        try store.create("Orders", bindings: [Binding(navigation: "Customer", targets: [customer])])
        let sequence = try store.state.header().applied
        try store.add(
            .batchPrepared(BatchPrepared(batch: 1, changeSets: [[.init(contentID: "1", operation: sequence)]])))
        try store.add(.downloadStarted(queries: ["All"]))
        try store.add(.downloadFinished(query: "All"))
        #expect(try store.state.row(customer)?.origin == .gone)
        try store.add(
            .batchAnswered(
                BatchAnswered(batch: 1, outcomes: [.init(operation: sequence, result: .confirmed(images: []))])))
        #expect(try store.state.row(customer) == nil)
    }

    @Test func `entities that a full download does not deliver are removed after its last page`() throws {
        let customer = try store.newID()
        let image = EntityImage(
            entity: customer, set: "Customers", type: "Shop.Customer", values: ["CustomerID": .integer(1)])
        try store.add(.downloadStarted(queries: ["All"]))
        try store.add(.downloadPage(DownloadPage(query: "All", entities: [image])))
        try store.add(.downloadFinished(query: "All"))
        try store.add(.downloadStarted(queries: ["All"]))
        #expect(try store.state.row(customer) != nil)
        try store.add(.downloadFinished(query: "All"))
        #expect(try store.state.row(customer) == nil)
    }

    @Test func `a rejected operation keeps its effect and its error`() throws {
        let order = try store.create("Orders", ["Note": .string("x")])
        let sequence = try store.state.header().applied
        try store.add(
            .batchPrepared(BatchPrepared(batch: 1, changeSets: [[.init(contentID: "1", operation: sequence)]])))
        let refusal = Refusal(status: 400, code: "E", message: "no", method: "POST", url: "Orders")
        try store.add(
            .batchAnswered(BatchAnswered(batch: 1, outcomes: [.init(operation: sequence, result: .rejected(refusal))])))
        #expect(try store.value(order, "Note") == .string("x"))
        #expect(try store.state.pendingOperation(sequence)?.status == .rejected(refusal))
    }

    @Test func `an operation that is made while a batch is in flight is reapplied after the response`() throws {
        let order = try store.download("Orders", ["OrderID": .integer(1), "Note": .string("a")])
        let first = try store.perform([.update(order, changes: ["Note": .string("b")], bindings: [])])[0]
        try store.add(.batchPrepared(BatchPrepared(batch: 1, changeSets: [[.init(contentID: "1", operation: first)]])))
        try store.perform([.update(order, changes: ["Note": .string("c")], bindings: [])])
        try store.add(
            .batchAnswered(BatchAnswered(batch: 1, outcomes: [.init(operation: first, result: .confirmed(images: []))]))
        )
        #expect(try store.value(order, "Note") == .string("c"))
        #expect(try store.state.pendingOperations().count == 1)
    }

    @Test func `replaying the log leads to the same digest`() throws {
        let customer = try store.create("Customers", ["Name": .string("A")])
        let sequence = try store.state.header().applied
        let order = try store.create("Orders", bindings: [Binding(navigation: "Customer", targets: [customer])])
        try store.confirm(sequence, key: ["CustomerID": .integer(9)], of: customer)
        try store.perform([.update(order, changes: ["Note": .string("n")], bindings: [])])
        #expect(try TestStore(replaying: store.records).digest() == store.digest())
    }
}

extension TestStore {
    /// Confirms the operation with a response that contains the key.
    func confirm(_ sequence: SequenceNumber, key: PropertyValues, of id: EntityID) throws {
        let set = try state.set(of: id)!
        let image = EntityImage(entity: id, set: set, type: model.findEntitySet(set)!.entityType.name, values: key)
        try add(
            .batchAnswered(
                BatchAnswered(batch: 1, outcomes: [.init(operation: sequence, result: .confirmed(images: [image]))])))
    }
}
