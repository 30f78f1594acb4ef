import EDM
import Operations
import SyncCore
import Testing

/// Coalescing of operations on the same entity.
@Suite struct CoalescingTests {
    let store: TestStore
    let customer: EntityID

    init() throws {
        store = try TestStore()
        customer = try store.download("Customers", ["CustomerID": .integer(1), "Name": .string("Ada")])
    }

    private func plan(retrying: Set<SequenceNumber> = []) throws -> UploadPlan {
        try store.plan(retrying: retrying) { $0.coalesces = true }
    }

    private func note(_ text: String) -> PropertyValues { ["Note": .string(text)] }

    private func update(_ id: EntityID, _ values: PropertyValues) throws -> SequenceNumber {
        try store.perform([.update(id, changes: values, bindings: [])])[0]
    }

    // MARK: Coalesced into one request

    @Test func `a create and updates are coalesced into one create`() throws {
        let order = try store.create(
            "Orders", note("a"), bindings: [Binding(navigation: "Customer", targets: [customer])])
        _ = try update(order, note("b"))
        _ = try update(order, note("c"))
        let plan = try plan()
        #expect(store.requests(plan) == [#"POST Orders {"Note":"c","Customer@odata.bind":"http://s/Customers(1)"}"#])
        #expect(plan.changeSets[0].operations.count == 3)
        try store.answer(plan)
        #expect(try store.state.pendingOperations().isEmpty)
        #expect(try store.value(order, "Note") == .string("c"))
    }

    @Test func `updates are coalesced into one update with the last value of each property`() throws {
        _ = try update(customer, ["Name": .string("B")])
        _ = try update(customer, ["Name": .string("C")])
        #expect(store.requests(try plan()) == [#"PATCH Customers(1) {"Name":"C"}"#])
    }

    @Test func `an update and a delete are coalesced into the delete`() throws {
        let first = try update(customer, ["Name": .string("B")])
        let second = try store.perform([.delete(customer)])
        let plan = try plan()
        #expect(store.requests(plan) == ["DELETE Customers(1) "])
        #expect(plan.changeSets[0].operations == [first] + second)
        try store.answer(plan)
        #expect(try store.state.row(customer) == nil)
    }

    @Test func `an update is not moved before operations that only refer to the entity`() throws {
        let order = try store.create("Orders")
        try store.perform([.createLink(link(customer, "Orders", order))])
        _ = try update(customer, ["Name": .string("B")])
        _ = try update(customer, ["Name": .string("C")])
        #expect(store.requests(try plan()).count == 3)
    }

    @Test func `a coalesced update that binds a new principal is sent after the principal's create`() throws {
        let order = try store.create("Orders", note("a"))
        let other = try store.create("Customers", ["Name": .string("New")])
        try store.perform([.update(order, changes: [:], bindings: [Binding(navigation: "Customer", targets: [other])])])
        let plan = try plan()
        #expect(plan.changeSets.flatMap(\.requests).flatMap(\.carries).isEmpty)
    }

    @Test func `a value that refers to another partner replaces the binding`() throws {
        try store.download("Customers", ["CustomerID": .integer(2)])
        let order = try store.create("Orders", bindings: [Binding(navigation: "Customer", targets: [customer])])
        _ = try update(order, ["CustomerID": .integer(2)])
        #expect(store.requests(try plan()) == [#"POST Orders {"CustomerID":2}"#])
    }

    @Test func `an update of a nested new entity changes its part of the create`() throws {
        let order = try store.newID()
        let inner = EntityID(rawValue: order.rawValue + 1)
        let nested = Creation.Inline(
            navigation: "Customer", entities: [store.creation(inner, "Customers", ["Name": .string("a")])])
        try store.perform([.create(store.creation(order, "Orders", note("n"), inline: [nested]), parent: nil)])
        _ = try update(inner, ["Name": .string("b")])
        #expect(store.requests(try plan()) == [#"POST Orders {"Note":"n","Customer":{"Name":"b"}}"#])
    }

    @Test func `a value that is only a part of another partner's key does not replace the binding`() throws {
        let store = try TestStore(Self.serviceWithCompositeKey)
        let place = try store.download("Places", ["Country": .integer(1), "Number": .integer(1)])
        try store.download("Places", ["Country": .integer(2), "Number": .integer(1)])
        let visit = try store.create("Visits", bindings: [Binding(navigation: "Place", targets: [place])])
        try store.perform([.update(visit, changes: ["Country": .integer(2)], bindings: [])])
        let plan = try store.plan { $0.coalesces = true }
        #expect(plan.changeSets.flatMap(\.requests).flatMap(\.carries).isEmpty)
        #expect(store.requests(plan).first?.contains("Place@odata.bind") == true)
    }

    /// Visits of places, whose key has two properties.
    private static let serviceWithCompositeKey = ServiceDescription(
        root: "http://127.0.0.1/v4/",
        metadata: Array(
            """
            <edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx"><edmx:DataServices>
            <Schema Namespace="S" xmlns="http://docs.oasis-open.org/odata/ns/edm">
            <EntityType Name="Place"><Key><PropertyRef Name="Country"/><PropertyRef Name="Number"/></Key>
              <Property Name="Country" Type="Edm.Int32" Nullable="false"/>
              <Property Name="Number" Type="Edm.Int32" Nullable="false"/>
              <NavigationProperty Name="Visits" Type="Collection(S.Visit)" Partner="Place"/>
            </EntityType>
            <EntityType Name="Visit"><Key><PropertyRef Name="ID"/></Key>
              <Property Name="ID" Type="Edm.Int32" Nullable="false"/>
              <Property Name="Country" Type="Edm.Int32"/><Property Name="Number" Type="Edm.Int32"/>
              <NavigationProperty Name="Place" Type="S.Place" Partner="Visits">
                <ReferentialConstraint Property="Country" ReferencedProperty="Country"/>
                <ReferentialConstraint Property="Number" ReferencedProperty="Number"/>
              </NavigationProperty>
            </EntityType>
            <EntityContainer Name="C">
              <EntitySet Name="Places" EntityType="S.Place">
                <NavigationPropertyBinding Path="Visits" Target="Visits"/></EntitySet>
              <EntitySet Name="Visits" EntityType="S.Visit">
                <NavigationPropertyBinding Path="Place" Target="Places"/></EntitySet>
            </EntityContainer></Schema></edmx:DataServices></edmx:Edmx>
            """.utf8))

    // MARK: Coalesced into no request

    @Test func `a create, its updates and its delete cancel each other out`() throws {
        let order = try store.create(
            "Orders", note("a"), bindings: [Binding(navigation: "Customer", targets: [customer])])
        _ = try update(order, note("b"))
        try store.perform([.delete(order)])
        let plan = try plan()
        #expect(plan.isEmpty && plan.held.isEmpty)
        #expect(try plan.elided.sorted() == store.state.pendingOperations().map(\.sequence))
        try store.add(.operationsElided(plan.elided))
        #expect(try store.state.pendingOperations().isEmpty)
        #expect(try store.state.row(order) == nil)
        #expect(try store.targets(customer, "Orders").isEmpty)
    }

    @Test func `a link that is created and deleted, or deleted and created again, cancels out`()
        throws
    {
        let supplier = try store.download("Suppliers", ["SupplierID": .integer(1)])
        let product = try store.download("Products", ["ProductID": .integer(1)])
        let bond = link(supplier, "Products", product)
        try store.perform([.createLink(bond)])
        // Deletes the same link from its other end.
        try store.perform([.deleteLink(link(product, "Suppliers", supplier))])
        var plan = try plan()
        #expect(plan.isEmpty && plan.elided.count == 2)
        try store.add(.operationsElided(plan.elided))
        try store.perform([.createLink(bond)])
        try store.answer(try self.plan())
        try store.perform([.deleteLink(bond)])
        try store.perform([.createLink(bond)])
        plan = try self.plan()
        #expect(plan.isEmpty && plan.elided.count == 2)
    }

    @Test func `a link cancels out although other links of its ends exist`() throws {
        let suppliers = try (1...2).map { try store.download("Suppliers", ["SupplierID": .integer($0)]) }
        let products = try (1...2).map { try store.download("Products", ["ProductID": .integer($0)]) }
        try store.perform([.createLink(link(suppliers[0], "Products", products[1]))])
        try store.perform([.createLink(link(suppliers[1], "Products", products[0]))])
        try store.answer(try plan())
        #expect(try store.state.pendingOperations().isEmpty)
        let bond = link(suppliers[0], "Products", products[0])
        try store.perform([.createLink(bond)])
        try store.perform([.deleteLink(bond)])
        let plan = try plan()
        #expect(plan.isEmpty && plan.elided.count == 2)
    }

    @Test(arguments: [true, false])
    func `two operations that create the same link, or that remove it, do not cancel each other out`(
        _ isRemoval: Bool
    ) throws {
        let supplier = try store.download("Suppliers", ["SupplierID": .integer(1)])
        let product = try store.download("Products", ["ProductID": .integer(1)])
        let bond = link(supplier, "Products", product)
        if isRemoval {
            try store.perform([.createLink(bond)])
            try store.answer(try plan())
        }
        // The rules refuse to remove a link twice, but not the fold.
        for _ in 1...2 { try store.add(.operation(Operation(isRemoval ? .deleteLink(bond) : .createLink(bond)))) }
        let plan = try plan()
        #expect(plan.elided.isEmpty && !plan.isEmpty)
    }

    @Test func `operations after a page of the queue that cancels out completely are sent`() throws {
        let order = try store.create("Orders")
        try store.perform([.delete(order)])
        let rename = try update(customer, ["Name": .string("B")])
        let plan = try store.plan {
            $0.coalesces = true
            // Pages contain at least twice as many operations as a batch.
            $0.requestLimit = 1
            $0.pageSize = 2
        }
        #expect(plan.elided.count == 2)
        #expect(store.groups(plan) == [[rename]])
    }

    @Test func `a create that displaced another entity does not cancel out`() throws {
        let person = try store.download("Persons", ["PersonID": .integer(1)])
        let old = try store.download("IDCards", ["IDCardID": .integer(1)])
        try store.perform([.createLink(link(person, "IDCard", old))])
        try store.answer(try plan())
        let new = try store.create("IDCards", bindings: [Binding(navigation: "Person", targets: [person])])
        try store.perform([.delete(new)])
        #expect(try plan().elided.isEmpty)
        #expect(try !plan().isEmpty)
    }

    @Test func `a link that displaced an older link does not cancel out`() throws {
        let other = try store.download("Customers", ["CustomerID": .integer(2)])
        let order = try store.download("Orders", ["OrderID": .integer(5)])
        try store.perform([.createLink(link(customer, "Orders", order))])
        try store.answer(try plan())
        try store.perform([.createLink(link(other, "Orders", order))])
        try store.perform([.deleteLink(link(other, "Orders", order))])
        #expect(try plan().elided.isEmpty)
    }

    // MARK: Not coalesced

    @Test func `operations are not coalesced unless the option is set`() throws {
        let order = try store.create("Orders", note("a"))
        _ = try update(order, note("b"))
        let plan = try store.plan()
        #expect(store.requests(plan) == [#"POST Orders {"Note":"a"}"#])
    }

    @Test(arguments: ["unmodifiable", "header", "template", "category", "transaction", "draft"])
    func `operations that must stay separate are not coalesced`(_ what: String) throws {
        let order = try store.create("Orders", note("a"))
        store.attributes = {
            switch what {
            case "unmodifiable": $0.isUnmodifiable = true
            case "header": $0.headers = [.init(name: "X", value: "y")]
            case "template": $0.headerTemplates = [HeaderTemplate(name: "X", parts: [.text("y")])]
            case "category": $0.uploadCategory = .named("c")
            case "transaction": $0.transactionID = "T"
            default: $0.delivery = .draft
            }
        }
        _ = try update(order, note("b"))
        let plan = try plan()
        #expect(store.requests(plan).first == #"POST Orders {"Note":"a"}"#)
        #expect(plan.changeSets.flatMap(\.requests).flatMap(\.carries).isEmpty)
    }

    // MARK: Corrections of rejected creates

    @Test func `changes after a rejected create are sent with it, also without the option`() throws {
        let order = try store.create("Orders", note("wrong"))
        let creation = try store.state.pendingOperations()[0].sequence
        try store.answer(try store.plan(), refusing: [creation])
        let fix = try update(order, note("right"))
        #expect(try store.plan().held == [creation: .rejected, fix: .behindRejected(creation)])
        let plan = try store.plan(retrying: [creation])
        #expect(store.requests(plan) == [#"POST Orders {"Note":"right"}"#])
        try store.answer(plan)
        #expect(try store.state.pendingOperations().isEmpty)
    }

    @Test func `a rejected create whose entity is deleted is not sent again`() throws {
        let order = try store.create("Orders", note("wrong"))
        let creation = try store.state.pendingOperations()[0].sequence
        try store.answer(try store.plan(), refusing: [creation])
        let deletion = try store.perform([.delete(order)])
        let plan = try store.plan(retrying: [creation])
        #expect(plan.isEmpty)
        #expect(plan.elided.sorted() == [creation] + deletion)
    }

    @Test(arguments: [true, false])
    func `a rejected link ends if its entity was deleted by a later operation, but not if by another client`(
        _ isOwn: Bool
    ) throws {
        // A V2 service continues with the deletion.
        let store = try TestStore(TestModel.legacyService)
        let customer = try store.download("Customers", ["CustomerID": .integer(1)])
        let order = try store.download("Orders", ["OrderID": .integer(1), "CustomerID": .null])
        let linked = try store.perform([.updateLink(link(order, "Customer", customer))])[0]
        if isOwn { try store.perform([.delete(order)]) }
        try store.answer(try store.plan(), refusing: [linked])
        if !isOwn { try store.add(.entitiesMissing([order])) }
        #expect(try store.state.pendingOperations().map(\.sequence) == [linked])
        #expect(try store.plan(retrying: [linked]).elided == (isOwn ? [linked] : []))
        #expect(try store.plan().elided.isEmpty, "it is not sent again")
    }

    @Test func `an unmodifiable request is sent again unchanged`() throws {
        store.attributes = { $0.isUnmodifiable = true }
        let order = try store.create("Orders", note("wrong"))
        store.attributes = { _ in }
        let creation = try store.state.pendingOperations()[0].sequence
        try store.answer(try store.plan(), refusing: [creation])
        _ = try update(order, note("right"))
        #expect(store.requests(try store.plan(retrying: [creation])) == [#"POST Orders {"Note":"wrong"}"#])
    }

    @Test func `a correction is found at any distance in the queue`() throws {
        let order = try store.create("Orders", note("wrong"))
        let creation = try store.state.pendingOperations()[0].sequence
        try store.answer(try store.plan(), refusing: [creation])
        for number in 0..<30 { try store.create("Customers", ["Name": .string("\(number)")]) }
        _ = try update(order, note("right"))
        let plan = try store.plan(retrying: [creation]) { $0.pageSize = 4 }
        #expect(store.requests(plan).first == #"POST Orders {"Note":"right"}"#)
    }
}
