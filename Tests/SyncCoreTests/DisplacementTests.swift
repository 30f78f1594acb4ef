import EDM
import Operations
import SyncCore
import Testing

/// Links and images that displace existing links, and values that follow links.
struct DisplacementTests {
    private let store: TestStore

    init() throws { store = try TestStore() }

    private func image(
        _ id: EntityID, _ set: String, _ type: String, _ values: PropertyValues, etag: String? = nil,
        links: [EntityImage.ImageLinks] = []
    ) -> EntityImage {
        EntityImage(entity: id, set: set, type: "Shop.\(type)", values: values, etag: etag, links: links)
    }

    // MARK: Former links

    @Test(arguments: [true, false])
    func `a card that was moved keeps its new person when its former person gets another card`(
        _ isFromPerson: Bool
    ) throws {
        let persons = try (1...2).map { try store.download("Persons", ["PersonID": .integer($0)]) }
        let card = try store.download("IDCards", ["IDCardID": .integer(1), "PersonID": .integer(1)])
        let other = try store.download("IDCards", ["IDCardID": .integer(2)])
        try store.perform([.updateLink(link(card, "Person", persons[1]))])
        try store.perform([
            .updateLink(isFromPerson ? link(persons[0], "IDCard", other) : link(other, "Person", persons[0]))
        ])
        #expect(try store.value(card, "PersonID") == .integer(2))
        #expect(try store.targets(persons[1], "IDCard") == [card])
        #expect(try store.targets(persons[0], "IDCard") == [other])
    }

    @Test func `a link that exists already changes nothing`() throws {
        let customer = try store.download("Customers", ["CustomerID": .integer(1)])
        let order = try store.download("Orders", ["OrderID": .integer(1), "CustomerID": .integer(1)])
        let before = try store.state.row(order)
        try store.perform([.updateLink(link(order, "Customer", customer))])
        #expect(try store.state.row(order) == before)
        #expect(try store.targets(customer, "Orders") == [order])
    }

    @Test func `the removal of a single-valued link removes the current one, whichever it is`() throws {
        let persons = try (1...2).map { try store.download("Persons", ["PersonID": .integer($0)]) }
        let card = try store.download("IDCards", ["IDCardID": .integer(1), "PersonID": .integer(1)])
        try store.perform([.deleteLink(link(card, "Person", persons[0]))])
        // Another client links the card with another person: the request does not name the person.
        try store.add(
            .entitiesRead([image(card, "IDCards", "IDCard", ["IDCardID": .integer(1), "PersonID": .integer(2)])]))
        #expect(try store.targets(persons[1], "IDCard") == [])
        #expect(try store.value(card, "PersonID") == .null)
    }

    @Test func `the removal of a link of a collection removes only this one`() throws {
        let supplier = try store.download("Suppliers", ["SupplierID": .integer(1)])
        let products = try (1...2).map { try store.download("Products", ["ProductID": .integer($0)]) }
        for product in products { try store.perform([.createLink(link(supplier, "Products", product))]) }
        try store.perform([.deleteLink(link(products[0], "Suppliers", supplier))])
        #expect(try store.targets(supplier, "Products") == [products[1]])
    }

    // MARK: Provisional keys

    @Test func `the provisional key of a new principal does not take the partners of the entity that has it`() throws {
        let new = try store.create("Customers", ["CustomerID": .integer(7)])
        let customer = EntityID(rawValue: 50)
        try store.add(.entitiesRead([image(customer, "Customers", "Customer", ["CustomerID": .integer(7)])]))
        let order = try store.download("Orders", ["OrderID": .integer(1), "CustomerID": .integer(7)])
        #expect(try store.targets(order, "Customer") == [customer])
        #expect(try store.targets(new, "Orders") == [])
    }

    @Test func `a new principal takes the entities that refer to it and have no partner`() throws {
        let order = try store.download("Orders", ["OrderID": .integer(1), "CustomerID": .integer(7)])
        let new = try store.create("Customers", ["CustomerID": .integer(7)])
        #expect(try store.targets(order, "Customer") == [new])
        #expect(try store.targets(new, "Orders") == [order])
    }

    @Test func `a principal with one dependent keeps it, and does not take a second one`() throws {
        let person = try store.download("Persons", ["PersonID": .integer(1)])
        let card = try store.download("IDCards", ["IDCardID": .integer(1), "PersonID": .integer(1)])
        let other = try store.download("IDCards", ["IDCardID": .integer(2), "PersonID": .integer(5)])
        try store.add(.entitiesRead([image(person, "Persons", "Person", ["PersonID": .integer(5)])]))
        #expect(try store.targets(person, "IDCard") == [card])
        #expect(try store.value(card, "PersonID") == .integer(5))
        #expect(try store.targets(other, "Person") == [])
    }

    // MARK: Images

    @Test func `complete links of an image remove all others, and incomplete ones remove none`() throws {
        let products = try (1...3).map { try store.download("Products", ["ProductID": .integer($0)]) }
        let supplier = try store.download("Suppliers", ["SupplierID": .integer(1)])
        func read(_ targets: [EntityID], isComplete: Bool) throws {
            let links = EntityImage.ImageLinks(navigation: "Products", targets: targets, isComplete: isComplete)
            try store.add(
                .entitiesRead([image(supplier, "Suppliers", "Supplier", ["SupplierID": .integer(1)], links: [links])]))
        }
        try read([products[0], products[1]], isComplete: true)
        #expect(try store.targets(supplier, "Products") == [products[0], products[1]])
        try read([products[2]], isComplete: false)
        #expect(try store.targets(supplier, "Products") == products)
        try read([products[1]], isComplete: true)
        #expect(try store.targets(supplier, "Products") == [products[1]])
        try read([], isComplete: true)
        #expect(try store.targets(supplier, "Products") == [])
    }

    @Test func `complete links of an image do not replace dependent properties`() throws {
        let customer = try store.download("Customers", ["CustomerID": .integer(1)])
        let order = try store.download("Orders", ["OrderID": .integer(1), "CustomerID": .integer(1)])
        let links = EntityImage.ImageLinks(navigation: "Orders", targets: [], isComplete: true)
        try store.add(
            .entitiesRead([image(customer, "Customers", "Customer", ["CustomerID": .integer(1)], links: [links])]))
        #expect(try store.targets(customer, "Orders") == [order])
    }

    @Test func `a page removes the link that it names, or all of a single-valued property`() throws {
        let products = try (1...2).map { try store.download("Products", ["ProductID": .integer($0)]) }
        let supplier = try store.download("Suppliers", ["SupplierID": .integer(1)])
        func change(_ source: EntityID, _ navigation: String, _ target: EntityID?, isAdded: Bool) throws {
            try store.add(
                .downloadPage(
                    DownloadPage(
                        query: "All",
                        links: [.init(source: source, navigation: navigation, target: target, isAdded: isAdded)])))
        }
        for product in products { try change(supplier, "Products", product, isAdded: true) }
        try change(supplier, "Products", products[0], isAdded: false)
        #expect(try store.targets(supplier, "Products") == [products[1]])
        let customer = try store.download("Customers", ["CustomerID": .integer(1)])
        let order = try store.download("Orders", ["OrderID": .integer(1), "CustomerID": .integer(1)])
        try change(order, "Customer", nil, isAdded: false)
        #expect(try store.targets(customer, "Orders") == [])
        #expect(try store.value(order, "CustomerID") == .integer(1), "no delta would repeat the value")
    }

    @Test func `an image of a known entity replaces the values that it contains and the ETag`() throws {
        let order = try store.download("Orders", ["OrderID": .integer(1), "Note": .string("a")], etag: "1")
        try store.add(
            .entitiesRead([image(order, "Orders", "Order", ["CustomerID": .integer(4)], etag: "2")]))
        let row = try #require(try store.state.row(order))
        #expect(row.values["Note"] == .string("a"))
        #expect(row.values["CustomerID"] == .integer(4))
        #expect(row.etag == "2")
        try store.add(.entitiesRead([image(order, "Orders", "Order", ["Note": .string("b")])]))
        #expect(try store.state.row(order)?.etag == "2", "an image without an ETag does not remove it")
    }

    @Test func `an ETag that a change made stale is valid again after a read, but not after a key`() throws {
        let order = try store.download("Orders", ["OrderID": .integer(1), "Note": .string("a")], etag: "1")
        let update = try store.perform([.update(order, changes: ["Note": .string("b")], bindings: [])])[0]
        try store.add(
            .batchAnswered(
                BatchAnswered(batch: 1, outcomes: [.init(operation: update, result: .confirmed(images: []))])))
        #expect(try store.state.row(order)?.origin == .serviceWithStaleETag)
        try store.add(.entitiesRead([image(order, "Orders", "Order", ["OrderID": .integer(1)])]))
        #expect(try store.state.row(order)?.origin == .serviceWithStaleETag)
        try store.add(.entitiesRead([image(order, "Orders", "Order", ["Note": .string("b")])]))
        #expect(try store.state.row(order)?.origin == .service)
    }

    @Test func `an image of a set or type that the metadata lack is ignored`() throws {
        let id = try store.newID()
        try store.add(
            .entitiesRead([
                image(id, "Unheard", "Order", ["OrderID": .integer(1)]),
                image(id, "Orders", "Unheard", ["OrderID": .integer(1)]),
            ]))
        #expect(try store.state.row(id) == nil)
        #expect(try store.state.set(of: id) == nil)
    }

    @Test func `a read entity has a number that no later entity gets`() throws {
        let id = EntityID(rawValue: 500)
        try store.add(.entitiesRead([image(id, "Orders", "Order", ["OrderID": .integer(1)])]))
        #expect(try store.newID() == EntityID(rawValue: 501))
        try store.add(.entitiesRead([image(EntityID(rawValue: 20), "Orders", "Order", ["OrderID": .integer(2)])]))
        #expect(try store.newID() == EntityID(rawValue: 501))
    }

    // MARK: Deletions

    @Test func `a deleted entity is named by its key`() throws {
        let order = try store.download("Orders", ["OrderID": .integer(7)])
        let new = try store.create("Orders")
        #expect(try store.state.name(of: order, store.model) == "Orders(7)")
        try store.perform([.delete(order)])
        #expect(try store.state.name(of: order, store.model) == "Orders(7)")
        #expect(try store.state.name(of: new, store.model) == "Orders(\(new))")
        #expect(try store.state.name(of: EntityID(rawValue: 999), store.model) == "Entity(\(EntityID(rawValue: 999)))")
    }

    /// Returns the results of the first two calls that report the effects of a new operation.
    private func effects(in store: TestStore) throws -> [DirtySet] {
        let state = WorkingSet()
        var fold = try Fold(storage: state)
        for (index, record) in store.records.enumerated() { try fold.apply(record, sequence: UInt64(index + 1)) }
        try fold.finishRebase()
        _ = fold.drainDirtySet()
        let creation = store.creation(EntityID(rawValue: 9), "Customers", ["Name": .string("x")])
        let sequence = try state.header().applied + 1
        try fold.apply(Record(time: 0, body: .operation(Operation(.create(creation, parent: nil)))), sequence: sequence)
        #expect(try state.row(EntityID(rawValue: 9)) != nil)
        return [fold.drainDirtySet(), fold.drainDirtySet()]
    }

    @Test func `the effects of new operations are reported once`() throws {
        let reported = try effects(in: store)
        #expect(reported[0].entities == [EntityID(rawValue: 9)])
        #expect(reported[1] == DirtySet())
    }

    @Test func `no effects are reported if no end of the model is mandatory`() throws {
        let store = try TestStore(TestModel.legacyService)
        #expect(!store.model.hasMandatoryEnds)
        #expect(try effects(in: store) == [DirtySet(), DirtySet()])
    }
}
