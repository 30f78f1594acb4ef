import EDM
import ODataWire
import Operations
import SyncCore
import Testing

/// Interactions between members of a change set, and between a delete and its cascade.
@Suite struct UnitPlanTests {
    let (store, a, b): (TestStore, EntityID, EntityID)

    init() throws { (store, a, b) = try TestStore.withCustomers() }

    // MARK: Replacements with PUT

    @Test func `without PATCH, a replacement does not reset a link that another entity has taken`() throws {
        store.service = ServiceOptions(supportsPatch: false)
        let person = try store.download("Persons", ["PersonID": .integer(1)])
        let old = try store.download("IDCards", ["IDCardID": .integer(1), "PersonID": .integer(1)])
        let new = try store.download("IDCards", ["IDCardID": .integer(2), "PersonID": .null])
        for action in [
            Operation.Action.updateLink(link(new, "Person", person)),
            .update(new, changes: ["PersonID": .integer(1)], bindings: []),
            .delete(person),
        ] {
            let store = try TestStore(replaying: self.store.records)
            store.service = self.store.service
            try store.perform([action, .update(old, changes: [:], bindings: [])], changeSet: true)
            #expect(try store.value(old, "PersonID") == .null)
            let last = try #require(try store.plan().changeSets.last?.requests.last)
            guard case .update(_, let body, true) = last.modification.action else {
                return #expect(Bool(false), "\(last)")
            }
            #expect(body.values["PersonID"] == .null, "\(action)")
        }
    }

    @Test func `without PATCH, a replacement does not restore a link that its principal has deleted`() throws {
        store.service = ServiceOptions(supportsPatch: false)
        let order = try store.download("Orders", ["OrderID": .integer(1), "CustomerID": .integer(1), "Note": .null])
        try store.perform(
            [.deleteLink(link(a, "Orders", order)), .update(order, changes: ["Note": .string("n")], bindings: [])],
            changeSet: true)
        #expect(store.requests(try store.plan()).last == #"PUT Orders(1) {"OrderID":1,"CustomerID":null,"Note":"n"}"#)
    }

    @Test func `without PATCH, a replacement repeats the value of a link that an earlier operation creates`() throws {
        store.service = ServiceOptions(supportsPatch: false)
        let order = try store.download("Orders", ["OrderID": .integer(1), "CustomerID": .integer(1), "Note": .null])
        try store.perform(
            [
                .updateLink(link(order, "Customer", b)),
                .update(order, changes: ["Note": .string("n")], bindings: []),
            ], changeSet: true)
        #expect(store.requests(try store.plan()).last == #"PUT Orders(1) {"OrderID":1,"CustomerID":2,"Note":"n"}"#)
    }

    @Test func `without PATCH, a replacement does not restore a removed link that only its dependent entity names`()
        throws
    {
        let names = [
            #"<NavigationProperty Name="Orders" Type="Collection(Shop.Order)" Partner="Customer"/>"#,
            #"<NavigationPropertyBinding Path="Orders" Target="Orders"/>"#, #" Partner="Orders""#,
        ]
        let text = names.reduce(TestModel.metadata) { $0.replacing($1, with: "") }
        let store = try TestStore(ServiceDescription(root: TestModel.service.root, metadata: Array(text.utf8)))
        store.service = ServiceOptions(supportsPatch: false)
        let customer = try store.download("Customers", ["CustomerID": .integer(1)])
        let order = try store.download("Orders", ["OrderID": .integer(1), "CustomerID": .integer(1), "Note": .null])
        try store.perform(
            [
                .deleteLink(link(order, "Customer", customer)),
                .update(order, changes: ["Note": .string("n")], bindings: []),
            ], changeSet: true)
        #expect(
            store.requests(try store.plan()).last == #"PUT Orders(1) {"OrderID":1,"CustomerID":null,"Note":"n"}"#)
    }

    @Test func `a property that an update cannot change need not be known before a replacement`() throws {
        let note = #"<Property Name="Note" Type="Edm.String"/>"#
        let others =
            #"<Property Name="Total" Type="Edm.Int32"><Annotation Term="Org.OData.Core.V1.Computed"/></Property>"#
            + #"<Property Name="Photo" Type="Edm.Stream"/>"#
        let text = TestModel.metadata.replacing(note, with: note + others)
        let store = try TestStore(ServiceDescription(root: TestModel.service.root, metadata: Array(text.utf8)))
        store.service = ServiceOptions(supportsPatch: false)
        let order = try store.download("Orders", ["OrderID": .integer(1), "CustomerID": .null, "Note": .null])
        try store.perform([.update(order, changes: ["Note": .string("n")], bindings: [])])
        let plan = try store.plan()
        #expect(plan.entitiesToRead.isEmpty)
        #expect(store.requests(plan) == [#"PUT Orders(1) {"OrderID":1,"CustomerID":null,"Note":"n"}"#])
    }

    // MARK: Links

    @Test func `in the app's change set, an update precedes a link of the same entity, with its ETag`() throws {
        let order = try store.download("Orders", ["OrderID": .integer(1)], etag: "\"1\"")
        try store.perform(
            [
                .createLink(link(a, "Orders", order)),
                .update(order, changes: ["Note": .string("n")], bindings: []),
            ], changeSet: true)
        #expect(try store.plan().changeSets[0].requests.map(\.modification.ifMatch) == ["\"1\"", nil])
    }

    @Test func `without PATCH, an update precedes a link if no link determines its values`() throws {
        store.service = ServiceOptions(supportsPatch: false)
        let customer = try store.download(
            "Customers", ["CustomerID": .integer(9), "Name": .string("c")], etag: "\"9\"")
        let order = try store.download(
            "Orders", ["OrderID": .integer(1), "CustomerID": .null, "Note": .null], etag: "\"1\"")
        try store.perform(
            [
                .createLink(link(customer, "Orders", order)),
                .update(customer, changes: ["Name": .string("n")], bindings: []),
            ], changeSet: true)
        let plan = try store.plan()
        let requests = try #require(plan.changeSets.first?.requests, "\(plan.held)")
        #expect(requests.map(\.modification.ifMatch) == ["\"9\"", nil])
    }

    @Test(arguments: 0..<3)
    func `without PATCH, an update precedes a link that determines its values, and repeats the former ones`(
        _ kind: Int
    ) throws {
        store.service = ServiceOptions(supportsPatch: false)
        let order = try store.download(
            "Orders", ["OrderID": .integer(1), "CustomerID": .integer(1), "Note": .null], etag: "\"1\"")
        let links: [Operation.Action] = [
            .updateLink(link(order, "Customer", b)), .createLink(link(b, "Orders", order)),
            .deleteLink(link(a, "Orders", order)),
        ]
        try store.perform(
            [links[kind], .update(order, changes: ["Note": .string("n")], bindings: [])], changeSet: true)
        let plan = try store.plan()
        #expect(plan.changeSets.first?.requests.map(\.modification.ifMatch) == ["\"1\"", nil], "\(plan.held)")
        #expect(store.requests(plan).first == #"PUT Orders(1) {"OrderID":1,"CustomerID":1,"Note":"n"}"#)
    }

    @Test(arguments: [true, false])
    func `an update of a dependent property follows the link that it replaces`(_ isFromDependent: Bool) throws {
        let order = try store.download("Orders", ["OrderID": .integer(1), "CustomerID": .integer(1)], etag: "\"1\"")
        // The store does not have customer 99.
        let operations = try store.perform(
            [
                isFromDependent ? .updateLink(link(order, "Customer", b)) : .createLink(link(b, "Orders", order)),
                .update(order, changes: ["CustomerID": .integer(99)], bindings: []),
            ], changeSet: true)
        #expect(try store.plan().changeSets.first?.requests.map(\.operation) == [operations[1]] + operations)
    }

    @Test func `an update of a dependent property follows the create that binds its entity`() throws {
        let order = try store.download("Orders", ["OrderID": .integer(1), "CustomerID": .integer(1)], etag: "\"1\"")
        let customer = try store.newID()
        // The store does not have customer 99.
        let operations = try store.perform(
            [
                .create(
                    store.creation(customer, "Customers", bindings: [Binding(navigation: "Orders", targets: [order])]),
                    parent: nil),
                .update(order, changes: ["CustomerID": .integer(99)], bindings: []),
            ], changeSet: true)
        #expect(try store.plan().changeSets.first?.requests.map(\.operation) == [operations[1]] + operations)
    }

    @Test(arguments: [true, false])
    func `an update of an entity that an earlier operation unlinks is sent first, with its ETag`(
        _ isDeletion: Bool
    ) throws {
        let person = try store.download("Persons", ["PersonID": .integer(1)])
        let old = try store.download("IDCards", ["IDCardID": .integer(1), "PersonID": .integer(1)], etag: "\"1\"")
        let new = try store.download("IDCards", ["IDCardID": .integer(2), "PersonID": .null])
        let operations = try store.perform(
            [
                isDeletion ? .delete(person) : .updateLink(link(new, "Person", person)),
                .update(old, changes: [:], bindings: []),
            ], changeSet: true)
        let requests = try #require(try store.plan().changeSets.first?.requests)
        #expect(requests.map(\.operation) == operations.reversed())
        #expect(requests.first?.modification.ifMatch == "\"1\"")
    }

    @Test func `an update of a dependent property follows the deletion of its principal`() throws {
        let order = try store.download("Orders", ["OrderID": .integer(1), "CustomerID": .integer(1)], etag: "\"1\"")
        // The store does not have customer 99.
        let operations = try store.perform(
            [.delete(a), .update(order, changes: ["CustomerID": .integer(99)], bindings: [])], changeSet: true)
        #expect(try store.plan().changeSets.first?.requests.map(\.operation) == [operations[1]] + operations)
    }

    @Test func `after the deletion of its principal, a change of a dependent property has no former ETag`() throws {
        let order = try store.download("Orders", ["OrderID": .integer(1), "CustomerID": .integer(1)], etag: "\"1\"")
        try store.perform(
            [.delete(a), .update(order, changes: ["CustomerID": .integer(2)], bindings: [])], changeSet: true)
        let plan = try store.plan()
        #expect(plan.changeSets.first?.requests.map(\.modification.ifMatch) == ["\"1\"", nil, "*"])
        #expect(store.requests(plan).first == #"PATCH Orders(1) {"CustomerID":1}"#)
    }

    @Test(arguments: [true, false])
    func `an update with links after a link of its entity is preceded by a check of its ETag`(
        _ supportsReferences: Bool
    ) throws {
        store.service = ServiceOptions(supportsETagReferences: supportsReferences)
        let order = try store.download(
            "Orders", ["OrderID": .integer(1), "CustomerID": .integer(1), "Note": .string("then")], etag: "\"1\"")
        let bindings = [Binding(navigation: "Customer", targets: [b])]
        let operations = try store.perform(
            [
                .createLink(link(b, "Orders", order)),
                .update(order, changes: ["Note": .string("now")], bindings: bindings),
                .update(order, changes: ["Note": .string("last")], bindings: bindings),
            ], changeSet: true)
        let plan = try store.plan()
        let sent = try #require(plan.changeSets.first?.requests)
        #expect(sent.map(\.operation) == [operations[1]] + operations)
        #expect(sent.prefix(3).map(\.modification.ifMatch) == ["\"1\"", nil, "*"])
        #expect(store.requests(plan).first == #"PATCH Orders(1) {"Note":"then"}"#)
    }

    @Test func `without PATCH, the check of an ETag repeats all values`() throws {
        store.service = ServiceOptions(supportsPatch: false)
        let order = try store.download(
            "Orders", ["OrderID": .integer(1), "CustomerID": .integer(1), "Note": .string("then")], etag: "\"1\"")
        // The store does not have customer 99.
        try store.perform(
            [
                .updateLink(link(order, "Customer", b)),
                .update(order, changes: ["CustomerID": .integer(99)], bindings: []),
            ],
            changeSet: true)
        let plan = try store.plan()
        #expect(plan.changeSets.first?.requests.map(\.modification.ifMatch) == ["\"1\"", nil, "*"], "\(plan.held)")
        #expect(store.requests(plan).first == #"PUT Orders(1) {"OrderID":1,"CustomerID":1,"Note":"then"}"#)
    }

    @Test func `without PATCH, the check of an ETag does not remove a link whose replacement follows`() throws {
        store.service = ServiceOptions(supportsPatch: false)
        let order = try store.download(
            "Orders", ["OrderID": .integer(1), "CustomerID": .integer(1), "Note": .string("then")], etag: "\"1\"")
        // The store does not have customer 99.
        let operations = try store.perform(
            [
                .deleteLink(link(order, "Customer", a)), .updateLink(link(order, "Customer", b)),
                .update(order, changes: ["CustomerID": .integer(99)], bindings: []),
            ], changeSet: true)
        let plan = try store.plan()
        let sent = try #require(plan.changeSets.first?.requests, "\(plan.held)")
        #expect(sent.map(\.operation) == [operations[2], operations[1], operations[2]])
        #expect(store.requests(plan).first == #"PUT Orders(1) {"OrderID":1,"CustomerID":1,"Note":"then"}"#)
    }

    @Test func `no check precedes an update that is sent as links only, because these have no ETag`() throws {
        store.service = ServiceOptions(supportsBind: false)
        let customer = try store.download(
            "Customers", ["CustomerID": .integer(9), "Name": .string("c")], etag: "\"9\"")
        let orders = try (1...2).map { try store.download("Orders", ["OrderID": .integer($0), "CustomerID": .null]) }
        let operations = try store.perform(
            [
                .createLink(link(customer, "Orders", orders[0])),
                .update(customer, changes: [:], bindings: [Binding(navigation: "Orders", targets: [orders[1]])]),
            ], changeSet: true)
        let plan = try store.plan()
        #expect(plan.changeSets.first?.requests.map(\.operation) == operations, "\(plan.held)")
    }

    @Test func `an update of a principal follows the deletion of a dependent entity, with its ETag`() throws {
        let customer = try store.download("Customers", ["CustomerID": .integer(3)], etag: "\"3\"")
        let order = try store.download("Orders", ["OrderID": .integer(1), "CustomerID": .integer(3)])
        let operations = try store.perform(
            [.delete(order), .update(customer, changes: ["Name": .string("closed")], bindings: [])], changeSet: true)
        let requests = try #require(try store.plan().changeSets.first?.requests)
        #expect(requests.map(\.operation) == operations)
        #expect(requests.last?.modification.ifMatch == "\"3\"")
    }

    @Test func `the other operations of the app's change set stay in order`() throws {
        let gone = try store.download("Orders", ["OrderID": .integer(1)], etag: "\"1\"")
        let order = try store.download("Orders", ["OrderID": .integer(2)], etag: "\"2\"")
        let sequences = try store.perform(
            [
                .delete(gone), .createLink(link(a, "Orders", order)),
                .update(order, changes: ["Note": .string("n")], bindings: []),
            ], changeSet: true)
        #expect(try store.plan().changeSets[0].requests.map(\.operation) == [sequences[0], sequences[2], sequences[1]])
        #expect(
            try store.plan().changeSets[0].requests.map(\.modification.ifMatch) == ["\"1\"", "\"2\"", nil])
    }

    @Test func `an update follows an earlier update of the same entity with links`() throws {
        let order = try store.download("Orders", ["OrderID": .integer(1)], etag: "\"1\"")
        let operations = try store.perform(
            [
                .update(
                    order, changes: ["Note": .string("first")],
                    bindings: [Binding(navigation: "Customer", targets: [b])]),
                .update(order, changes: ["Note": .string("last")], bindings: []),
            ], changeSet: true)
        #expect(try store.plan().changeSets.first?.requests.map(\.operation) == operations)
    }

    @Test
    func `deleting and replacing a link in a change set is one request if the replacement releases the former target`()
        throws
    {
        let order = try store.download("Orders", ["OrderID": .integer(1), "CustomerID": .integer(1)])
        let removals: [Operation.Action] = [
            .deleteLink(link(order, "Customer", a)), .deleteLink(link(a, "Orders", order)),
        ]
        let replacements: [Operation.Action] = [
            .updateLink(link(order, "Customer", b)), .createLink(link(b, "Orders", order)),
            .update(order, changes: [:], bindings: [Binding(navigation: "Customer", targets: [b])]),
            .update(order, changes: ["CustomerID": .integer(2)], bindings: []),
        ]
        for removal in removals {
            for replacement in replacements {
                let store = try TestStore(replaying: self.store.records)
                let operations = try store.perform([removal, replacement], changeSet: true)
                let plan = try store.plan()
                #expect(plan.changeSets.map(\.requests.count) == [1], "\(removal) \(replacement)")
                #expect(plan.prepared(as: 1).operations.sorted() == operations)
                try store.answer(plan)
                #expect(try store.targets(order, "Customer") == [b])
            }
        }
    }

    @Test func `the deletion of the link of a displaced partner is sent as a separate request`() throws {
        let person = try store.download("Persons", ["PersonID": .integer(1)])
        let old = try store.download("IDCards", ["IDCardID": .integer(1), "PersonID": .integer(1)])
        let new = try store.download("IDCards", ["IDCardID": .integer(2), "PersonID": .null])
        try store.perform(
            [.deleteLink(link(old, "Person", person)), .updateLink(link(new, "Person", person))], changeSet: true)
        #expect(try store.plan().changeSets.map(\.requests.count) == [2])
    }
}
