import EDM
import ODataWire
import Operations
import SyncCore
import Testing

/// The forms of units for services that lack a capability.
struct UnitRewriterTests {
    let (store, a, b): (TestStore, EntityID, EntityID)

    init() throws { (store, a, b) = try TestStore.withCustomers() }

    // MARK: Updates merged into a create

    @Test func `without batches, an update of a dependent value replaces the binding of the create`() throws {
        store.service = ServiceOptions(supportsBatch: false)
        let order = try store.newID()
        try store.perform(
            [
                .create(
                    store.creation(order, "Orders", bindings: [Binding(navigation: "Customer", targets: [a])]),
                    parent: nil),
                .update(order, changes: ["CustomerID": .integer(2)], bindings: []),
            ], changeSet: true)
        #expect(try store.targets(order, "Customer") == [b])
        let sent = store.requests(try store.plan())
        #expect(sent == [#"POST Orders {"CustomerID":2}"#])
    }

    @Test func `without batches, a dependent value that contradicts the parent is held back`() throws {
        store.service = ServiceOptions(supportsBatch: false)
        let order = try store.newID()
        let operations = try store.perform(
            [
                .create(store.creation(order, "Orders"), parent: Parent(entity: a, navigation: "Orders")),
                .update(order, changes: ["CustomerID": .integer(2)], bindings: []),
            ], changeSet: true)
        let plan = try store.plan()
        #expect(plan.isEmpty)
        #expect(plan.held.keys.sorted() == operations)
    }

    @Test func `without batches, a dependent value that refers to another principal than the new one is held back`()
        throws
    {
        store.service = ServiceOptions(supportsBatch: false)
        let customer = try store.newID()
        let order = EntityID(rawValue: customer.rawValue + 1)
        let operations = try store.perform(
            [
                .create(store.creation(customer, "Customers"), parent: nil),
                .create(
                    store.creation(order, "Orders", bindings: [Binding(navigation: "Customer", targets: [customer])]),
                    parent: nil),
                .update(order, changes: ["CustomerID": .integer(2)], bindings: []),
            ], changeSet: true)
        let plan = try store.plan()
        #expect(plan.isEmpty)
        #expect(plan.held.keys.sorted() == operations)
    }

    @Test func `without batches, the binding of an update becomes a binding of the create`() throws {
        store.service = ServiceOptions(supportsBatch: false)
        let order = try store.newID()
        try store.perform(
            [
                .create(store.creation(order, "Orders", ["Note": .string("n")]), parent: nil),
                .update(order, changes: [:], bindings: [Binding(navigation: "Customer", targets: [a])]),
            ], changeSet: true)
        #expect(
            store.requests(try store.plan()) == [
                #"POST Orders {"Note":"n","Customer@odata.bind":"http://s/Customers(1)"}"#
            ])
    }

    @Test func `without batches, an update is merged into a create below a parent`() throws {
        store.service = ServiceOptions(supportsBatch: false)
        let order = try store.newID()
        try store.perform(
            [
                .create(store.creation(order, "Orders"), parent: Parent(entity: a, navigation: "Orders")),
                .update(order, changes: ["Note": .string("n")], bindings: []),
            ], changeSet: true)
        #expect(store.requests(try store.plan()) == [#"POST Customers(1)/Orders {"Note":"n"}"#])
    }

    @Test func `without batches, an update is merged into a create below a parent with another binding`() throws {
        let navigation = #"<NavigationProperty Name="Customer" Type="Shop.Customer""#
        let binding = #"<NavigationPropertyBinding Path="Customer" Target="Customers"/>"#
        let text = TestModel.metadata
            .replacing(navigation, with: #"<NavigationProperty Name="Payer" Type="Shop.Customer"/>"# + navigation)
            .replacing(binding, with: binding + #"<NavigationPropertyBinding Path="Payer" Target="Customers"/>"#)
        let store = try TestStore(ServiceDescription(root: TestModel.service.root, metadata: Array(text.utf8)))
        store.service = ServiceOptions(supportsBatch: false)
        let customers = try (1...2).map { try store.download("Customers", ["CustomerID": .integer($0)]) }
        let order = try store.newID()
        let payer = Binding(navigation: "Payer", targets: [customers[1]])
        try store.perform(
            [
                .create(
                    store.creation(order, "Orders", bindings: [payer]),
                    parent: Parent(entity: customers[0], navigation: "Orders")),
                .update(order, changes: ["Note": .string("n")], bindings: []),
            ], changeSet: true)
        #expect(
            store.requests(try store.plan()) == [
                #"POST Customers(1)/Orders {"Note":"n","Payer@odata.bind":"http://s/Customers(2)"}"#
            ])
    }

    @Test func `without Content-IDs, a link is merged into its create although another create is unrelated`() throws {
        store.service = ServiceOptions(contentIDReferences: .none)
        let customer = try store.newID()
        let order = EntityID(rawValue: customer.rawValue + 1)
        try store.perform(
            [
                .create(store.creation(customer, "Customers", ["Name": .string("c")]), parent: nil),
                .create(store.creation(order, "Orders", ["Note": .string("n")]), parent: nil),
                .updateLink(link(order, "Customer", a)),
            ], changeSet: true)
        let plan = try store.plan()
        #expect(plan.held.isEmpty)
        #expect(
            store.requests(plan) == [
                #"POST Customers {"Name":"c"}"#,
                #"POST Orders {"Note":"n","Customer@odata.bind":"http://s/Customers(1)"}"#,
            ])
    }

    // MARK: Creates that are nested

    @Test func `without batches, a create below a new entity is nested in the collection of that entity`() throws {
        store.service = ServiceOptions(supportsBatch: false, deepInsertToMany: .inOrder)
        let customer = try store.newID()
        let order = EntityID(rawValue: customer.rawValue + 1)
        try store.perform(
            [
                .create(store.creation(customer, "Customers", ["Name": .string("c")]), parent: nil),
                .create(
                    store.creation(order, "Orders", ["Note": .string("n")]),
                    parent: Parent(entity: customer, navigation: "Orders")),
            ], changeSet: true)
        let plan = try store.plan()
        #expect(store.requests(plan) == [#"POST Customers {"Name":"c","Orders":[{"Note":"n"}]}"#], "\(plan.held)")
    }

    @Test func `without batches, a create that binds the same new entity as the outermost one is nested below it`()
        throws
    {
        store.service = ServiceOptions(supportsBatch: false, deepInsertToMany: .inOrder)
        let customer = try store.newID()
        let orders = (1...2).map { (number: UInt64) in
            let id = EntityID(rawValue: customer.rawValue + number)
            let binding = Binding(navigation: "Customer", targets: [customer])
            return store.creation(id, "Orders", ["Note": .string("\(number)")], bindings: [binding])
        }
        try store.perform(
            [.create(store.creation(customer, "Customers", ["Name": .string("c")]), parent: nil)]
                + orders.map { .create($0, parent: nil) }, changeSet: true)
        let plan = try store.plan()
        #expect(
            store.requests(plan) == [
                #"POST Orders {"Note":"2","Customer":{"Name":"c","Orders":[{"Note":"1"}]}}"#
            ], "\(plan.held)")
    }

    @Test(arguments: ["delete", "unlink", "link"])
    func `without Content-IDs, creates are nested although the change set contains an operation on other entities`(
        _ kind: String
    ) throws {
        store.service = ServiceOptions(contentIDReferences: .none)
        let old = try store.download("Orders", ["OrderID": .integer(1), "CustomerID": .integer(1)])
        let customer = try store.newID()
        let order = EntityID(rawValue: customer.rawValue + 1)
        let other: Operation.Action =
            switch kind {
            case "delete": .delete(old)
            case "unlink": .deleteLink(link(a, "Orders", old))
            default: .createLink(link(b, "Orders", old))
            }
        let operations = try store.perform(
            [
                .create(store.creation(customer, "Customers", ["Name": .string("c")]), parent: nil),
                .create(
                    store.creation(order, "Orders", bindings: [Binding(navigation: "Customer", targets: [customer])]),
                    parent: nil),
                other,
            ], changeSet: true)
        let plan = try store.plan()
        #expect(plan.held.isEmpty)
        #expect(plan.changeSets.map(\.requests.count) == [2])
        #expect(plan.prepared(as: 1).operations.sorted() == operations)
        #expect(store.requests(plan).contains(#"POST Orders {"Customer":{"Name":"c"}}"#))
    }

    @Test func `without batches, a create below an existing entity contains the new entity that it binds`() throws {
        let customer = #"<NavigationProperty Name="Customer" Type="Shop.Customer""#
        let orders = #"<NavigationProperty Name="Orders" Type="Collection(Shop.Order)" Partner="Customer"/>"#
        let text = TestModel.metadata
            .replacing(
                customer, with: #"<NavigationProperty Name="Payer" Type="Shop.Customer" Partner="Paid"/>"# + customer
            )
            .replacing(
                orders,
                with: orders + #"<NavigationProperty Name="Paid" Type="Collection(Shop.Order)" Partner="Payer"/>"#
            )
            .replacing(
                #"<NavigationPropertyBinding Path="Customer" Target="Customers"/>"#,
                with: #"<NavigationPropertyBinding Path="Customer" Target="Customers"/>"#
                    + #"<NavigationPropertyBinding Path="Payer" Target="Customers"/>"#
            )
            .replacing(
                #"<NavigationPropertyBinding Path="Orders" Target="Orders"/>"#,
                with: #"<NavigationPropertyBinding Path="Orders" Target="Orders"/>"#
                    + #"<NavigationPropertyBinding Path="Paid" Target="Orders"/>"#)
        let store = try TestStore(ServiceDescription(root: TestModel.service.root, metadata: Array(text.utf8)))
        store.service = ServiceOptions(supportsBatch: false, deepInsertToMany: .inOrder)
        let existing = try store.download("Customers", ["CustomerID": .integer(1)])
        let order = try store.newID()
        let payer = EntityID(rawValue: order.rawValue + 1)
        try store.perform(
            [
                .create(store.creation(order, "Orders"), parent: Parent(entity: existing, navigation: "Orders")),
                .create(store.creation(payer, "Customers", ["Name": .string("p")]), parent: nil),
                .update(order, changes: [:], bindings: [Binding(navigation: "Payer", targets: [payer])]),
            ], changeSet: true)
        let plan = try store.plan()
        #expect(
            store.requests(plan) == [#"POST Customers(1)/Orders {"Payer":{"Name":"p"}}"#], "\(plan.held)")
    }

    @Test func `without batches, an update is merged into a create that another one binds`() throws {
        store.service = ServiceOptions(supportsBatch: false, deepInsertToMany: .inOrder)
        let order = try store.newID()
        let customer = EntityID(rawValue: order.rawValue + 1)
        try store.perform(
            [
                .create(store.creation(order, "Orders"), parent: nil),
                .create(
                    store.creation(
                        customer, "Customers", ["Name": .string("c")],
                        bindings: [Binding(navigation: "Orders", targets: [order])]), parent: nil),
                .update(order, changes: ["Note": .string("n")], bindings: []),
            ], changeSet: true)
        #expect(store.requests(try store.plan()) == [#"POST Customers {"Name":"c","Orders":[{"Note":"n"}]}"#])
    }

    @Test func `without batches, a binding of a collection that the create nests is not expressed again`() throws {
        store.service = ServiceOptions(supportsBatch: false, deepInsertToMany: .inOrder)
        let customer = try store.newID()
        let order = EntityID(rawValue: customer.rawValue + 1)
        let inline = Creation.Inline(navigation: "Orders", entities: [store.creation(order, "Orders")])
        let operations = try store.perform(
            [
                .create(store.creation(customer, "Customers", inline: [inline]), parent: nil),
                .update(
                    customer, changes: ["Name": .string("c")],
                    bindings: [Binding(navigation: "Orders", targets: [order])]),
            ], changeSet: true)
        let plan = try store.plan()
        #expect(plan.isEmpty)
        #expect(plan.held.keys.sorted() == operations)
    }

    @Test func `a later operation cannot refer to a new entity that another create contains`() throws {
        store.service = ServiceOptions(contentIDReferences: .urlsOnly)
        let old = try store.download("Orders", ["OrderID": .integer(1), "CustomerID": .integer(1)])
        let order = try store.newID()
        let customer = EntityID(rawValue: order.rawValue + 1)
        let inline = Creation.Inline(navigation: "Customer", entities: [store.creation(customer, "Customers")])
        let creation = try store.perform([.create(store.creation(order, "Orders", inline: [inline]), parent: nil)])
        let linked = try store.perform([.createLink(link(customer, "Orders", old))])
        let plan = try store.plan()
        #expect(store.groups(plan) == [creation])
        #expect(plan.held == [linked[0]: .waitsFor(creation[0])])
    }

    // MARK: Reasons

    @Test(arguments: [true, false])
    func `the reason without a supported form names deepInsertToMany only if a create nests several entities`(
        _ isNested: Bool
    ) throws {
        store.service = ServiceOptions(supportsBatch: false)
        let customer = try store.newID()
        let orders = (1...2).map { store.creation(EntityID(rawValue: customer.rawValue + $0), "Orders") }
        let inline = Creation.Inline(navigation: "Orders", entities: orders)
        let creation = store.creation(customer, "Customers", inline: isNested ? [inline] : [])
        try store.perform(
            [.create(creation, parent: nil), .delete(a)], changeSet: true)
        let reasons = try store.plan().held.values.compactMap {
            if case .noLegalPlan(let reason) = $0 { reason } else { nil }
        }
        #expect(reasons.count == 2)
        #expect(reasons.allSatisfy { $0.contains("deepInsertToMany") == isNested }, "\(reasons)")
    }
}
