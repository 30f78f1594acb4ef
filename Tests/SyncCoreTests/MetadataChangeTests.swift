import EDM
import Operations
import SeededRandom
import SyncCore
import Testing

/// The state after a change of the service's metadata.
struct MetadataChangeTests {
    /// Returns a metadata document in which the given texts are replaced.
    private static func changed(_ replacements: [(String, String)], of document: String = TestModel.metadata) -> [UInt8]
    {
        var text = document
        for (old, new) in replacements {
            precondition(text.contains(old), "the document has no \(old)")
            text = text.replacing(old, with: new)
        }
        return Array(text.utf8)
    }

    /// Appends the records with which the engine installs changed metadata.
    private static func refresh(_ store: TestStore, _ metadata: [UInt8]) throws -> [IncompatibleOperation] {
        let new = try CSDLReader.read(metadata)
        let fit = OperationCompatibility(storage: store.state, from: store.model, to: new)
        var incompatible: [IncompatibleOperation] = []
        var compatibleAgain: [SequenceNumber] = []
        for pending in try store.state.pendingOperations() {
            guard let reason = try fit.misfit(of: pending.operation) else {
                if pending.isIncompatible { compatibleAgain.append(pending.sequence) }
                continue
            }
            incompatible.append(
                IncompatibleOperation(operation: pending.sequence, refusal: Refusal(modelChanged: reason)))
        }
        try store.add(.serviceInstalled(ServiceDescription(root: "http://127.0.0.1/v4/", metadata: metadata)))
        if !incompatible.isEmpty { try store.add(.operationsIncompatible(incompatible)) }
        if !compatibleAgain.isEmpty { try store.add(.operationsReleased(compatibleAgain)) }
        let again = try TestStore(replaying: store.records)
        #expect(try store.digest() == again.digest(), "a replay of the log has another state")
        return incompatible
    }

    private static let note = "<Property Name=\"Note\" Type=\"Edm.String\"/>"
    private static let mayorSet = "<EntitySet Name=\"Mayors\" EntityType=\"Shop.Mayor\">"

    /// The document without the set of mayors and the properties that lead to it.
    private static var withoutMayors: [UInt8] {
        changed([
            ("<NavigationPropertyBinding Path=\"Mayor\" Target=\"Mayors\"/>", ""),
            (mayorSet + "<NavigationPropertyBinding Path=\"City\" Target=\"Cities\"/></EntitySet>", ""),
            (
                "<NavigationProperty Name=\"Mayor\" Type=\"Shop.Mayor\" Nullable=\"true\" Partner=\"City\"></NavigationProperty>",
                ""
            ),
            (" Partner=\"Mayor\"", ""),
        ])
    }

    // MARK: Values

    @Test func `additions to the metadata do not change the state`() throws {
        let store = try TestStore()
        let order = try store.download("Orders", ["OrderID": .integer(1), "Note": .string("a")])
        try store.perform([.update(order, changes: ["Note": .string("b")], bindings: [])])
        let incompatible = try Self.refresh(
            store, Self.changed([(Self.note, Self.note + "<Property Name=\"Weight\" Type=\"Edm.Decimal\"/>")]))
        #expect(incompatible == [])
        #expect(try store.value(order, "Note") == .string("b"))
        #expect(try store.value(order, "Weight") == nil)
    }

    @Test
    func
        `values of a removed property are dropped, and an update of it moves to the error archive with its other effects`()
        throws
    {
        let store = try TestStore()
        let order = try store.download("Orders", ["OrderID": .integer(1), "Note": .string("a")])
        let customer = try store.download("Customers", ["CustomerID": .integer(7)])
        let update = try store.perform([
            .update(order, changes: ["Note": .string("b"), "CustomerID": .integer(7)], bindings: [])
        ])[0]
        let incompatible = try Self.refresh(store, Self.changed([(Self.note, "")]))
        #expect(incompatible.map(\.operation) == [update])
        #expect(incompatible.first?.refusal.message == "Orders no longer has a property Note.")
        #expect(try store.value(order, "Note") == nil)
        #expect(try store.value(order, "CustomerID") == .integer(7))
        #expect(try store.targets(order, "Customer") == [customer])
        #expect(try store.plan(retrying: [update]).changeSets.isEmpty)
    }

    @Test func `values of an incompatible type are dropped, and numbers are converted to a wider type`() throws {
        let store = try TestStore()
        let order = try store.download(
            "Orders", ["OrderID": .integer(1), "Note": .string("a"), "CustomerID": .integer(3)])
        _ = try Self.refresh(
            store,
            Self.changed([
                (Self.note, "<Property Name=\"Note\" Type=\"Edm.Date\"/>"),
                (
                    "<Property Name=\"CustomerID\" Type=\"Edm.Int32\"/>",
                    "<Property Name=\"CustomerID\" Type=\"Edm.Int64\"/>"
                ),
            ]))
        #expect(try store.value(order, "Note") == nil)
        #expect(try store.value(order, "CustomerID") == .integer(3))
    }

    // MARK: Sets

    @Test
    func `removing a set removes its entities and links, and moves pending operations on them to the error archive`()
        throws
    {
        let store = try TestStore()
        let city = try store.download("Cities", ["CityID": .integer(1)])
        let mayor = try store.download("Mayors", ["MayorID": .integer(1), "CityID": .integer(1)])
        let other = try store.download("Cities", ["CityID": .integer(2)])
        let created = try store.create("Mayors", [:], bindings: [Binding(navigation: "City", targets: [other])])
        try store.perform([.delete(mayor)])
        let before = try store.state.pendingOperations().map(\.sequence)
        let incompatible = try Self.refresh(store, Self.withoutMayors)
        #expect(incompatible.map(\.operation) == before)
        #expect(Set(incompatible.map(\.refusal.message)) == ["The service no longer has an entity set Mayors."])
        #expect(try store.state.row(mayor) == nil && store.state.row(created) == nil)
        #expect(try store.state.row(city) != nil)
        #expect(try store.state.allLinks == [])
        #expect(try store.plan(retrying: Set(before)).changeSets.isEmpty)
        try store.undo(Set(before))
        #expect(try store.state.pendingOperations().isEmpty)
    }

    @Test func `an incompatible operation waits in the error archive until the metadata fit again`() throws {
        let store = try TestStore()
        let order = try store.download("Orders", ["OrderID": .integer(1), "Note": .string("a")])
        let update = try store.perform([.update(order, changes: ["Note": .string("b")], bindings: [])])[0]
        _ = try Self.refresh(store, Self.changed([(Self.note, "")]))
        #expect(try store.value(order, "Note") == nil)
        _ = try Self.refresh(store, TestModel.service.metadata)
        #expect(try store.state.pendingOperation(update)?.status == .pending)
        #expect(try store.value(order, "Note") == .string("b"))
        #expect(try store.plan().changeSets.map(\.operations) == [[update]])
    }

    @Test func `a change of one set's metadata does not hold back operations on others`() throws {
        let store = try TestStore()
        let order = try store.download("Orders", ["OrderID": .integer(1)])
        let customer = try store.download("Customers", ["CustomerID": .integer(1)])
        try store.perform([.update(order, changes: ["Note": .string("b")], bindings: [])])
        let kept = try store.perform([.update(customer, changes: ["Name": .string("B")], bindings: [])])
        _ = try Self.refresh(store, Self.changed([(Self.note, "")]))
        #expect(try store.plan().changeSets.map(\.operations) == [kept])
    }

    // MARK: Links

    @Test func `links are kept when the ends of their association are exchanged`() throws {
        let store = try TestStore(TestModel.legacyService)
        let customer = try store.download("Customers", ["CustomerID": .integer(1)])
        let order = try store.download("Orders", ["OrderID": .integer(1), "CustomerID": .integer(1)])
        let before = try #require(
            store.model.findEntityType("Shop.Order")?.findProperty("Customer")?.navigation?.relationship)
        let ends = [
            "<End Role=\"Customer\" Type=\"Shop.Customer\" Multiplicity=\"0..1\"/>",
            "<End Role=\"Order\" Type=\"Shop.Order\" Multiplicity=\"*\"/>",
        ]
        _ = try Self.refresh(
            store,
            Self.changed([(ends[0], "FIRST"), (ends[1], ends[0]), ("FIRST", ends[1])], of: TestModel.legacyMetadata))
        let after = try #require(
            store.model.findEntityType("Shop.Order")?.findProperty("Customer")?.navigation?.relationship)
        #expect(before.isForward != after.isForward, "the document does not contain the case of this test")
        #expect(try store.targets(order, "Customer") == [customer])
        #expect(try store.targets(customer, "Orders") == [order])
    }

    @Test(arguments: [false, true])
    func `links are kept when their relationship is renamed because of an added or removed partner`(_ loses: Bool)
        throws
    {
        let partner = "Type=\"Collection(Shop.Supplier)\" Partner=\"Products\"/>"
        let back = "Type=\"Collection(Shop.Product)\" Partner=\"Suppliers\"/>"
        let without = Self.changed([
            (partner, "Type=\"Collection(Shop.Supplier)\"/>"), (back, "Type=\"Collection(Shop.Product)\"/>"),
        ])
        let documents = loses ? [TestModel.service.metadata, without] : [without, TestModel.service.metadata]
        let store = try TestStore(ServiceDescription(root: "http://127.0.0.1/v4/", metadata: documents[0]))
        let supplier = try store.download("Suppliers", ["SupplierID": .integer(1)])
        let product = try store.download("Products", ["ProductID": .integer(1)])
        try store.add(
            .entitiesRead([
                EntityImage(
                    entity: supplier, set: "Suppliers", type: "Shop.Supplier", values: ["SupplierID": .integer(1)],
                    links: [.init(navigation: "Products", targets: [product], isComplete: true)])
            ]))
        #expect(try store.targets(product, "Suppliers") == (loses ? [supplier] : []))
        _ = try Self.refresh(store, documents[1])
        #expect(try store.targets(supplier, "Products") == [product])
        #expect(try store.targets(product, "Suppliers") == (loses ? [] : [supplier]) || loses)
    }

    @Test func `a new referential constraint links entities by their existing values`() throws {
        let constraint = "<ReferentialConstraint Property=\"CustomerID\" ReferencedProperty=\"CustomerID\"/>"
        let without = Self.changed([(constraint, "")])
        let store = try TestStore(ServiceDescription(root: "http://127.0.0.1/v4/", metadata: without))
        let customer = try store.download("Customers", ["CustomerID": .integer(1)])
        let order = try store.download("Orders", ["OrderID": .integer(1), "CustomerID": .integer(1)])
        #expect(try store.targets(order, "Customer") == [])
        _ = try Self.refresh(store, TestModel.service.metadata)
        #expect(try store.targets(order, "Customer") == [customer])
        // The constraint is removed again; no record removes the link.
        _ = try Self.refresh(store, without)
        #expect(try store.targets(order, "Customer") == [customer])
    }

    @Test func `links that exceed the multiplicity of a single-valued end are dropped`() throws {
        let many = "<NavigationProperty Name=\"Suppliers\" Type=\"Collection(Shop.Supplier)\" Partner=\"Products\"/>"
        let store = try TestStore()
        let suppliers = try [1, 2].map { try store.download("Suppliers", ["SupplierID": .integer($0)]) }
        let product = try store.download("Products", ["ProductID": .integer(1)])
        try store.add(
            .entitiesRead([
                EntityImage(
                    entity: product, set: "Products", type: "Shop.Product", values: ["ProductID": .integer(1)],
                    links: [.init(navigation: "Suppliers", targets: suppliers, isComplete: true)])
            ]))
        #expect(try store.targets(product, "Suppliers").count == 2)
        _ = try Self.refresh(
            store,
            Self.changed([
                (many, "<NavigationProperty Name=\"Suppliers\" Type=\"Shop.Supplier\" Partner=\"Products\"/>")
            ]))
        #expect(try store.targets(product, "Suppliers") == [suppliers[0]])
    }

    // MARK: Random changes

    @Test(arguments: 1...40)
    func
        `any change of the metadata leads to a state derived from the log, and no plan contains incompatible operations`(
            _ seed: Int
        ) throws
    {
        let store = try TestStore()
        for set in RandomOperations.sets {
            for key in 1...3 {
                let name = try #require(store.model.findEntitySet(set)).entityType.keyProperties[0].name
                try store.download(set, [name: .integer(Int64(key))])
            }
        }
        var operations = RandomOperations(
            random: SeededRandom(seed: UInt64(seed)), model: store.model,
            rows: { (try? store.state.rows(set: $0)) ?? [] }, set: { (try? store.state.set(of: $0)) ?? nil })
        for _ in 0..<25 {
            let actions = operations.actions(next: try store.newID())
            _ = try? store.perform(actions, changeSet: actions.count > 1)
        }
        let documents = [
            Self.withoutMayors, Self.changed([(Self.note, "")]),
            Self.changed([
                ("Type=\"Collection(Shop.Product)\" Partner=\"Suppliers\"/>", "Type=\"Collection(Shop.Order)\"/>"),
                (" Partner=\"Products\"", ""),
                ("<NavigationPropertyBinding Path=\"Products\" Target=\"Products\"/>", ""),
            ]),
            Self.changed([
                ("<Property Name=\"OwnerID\" Type=\"Edm.Int32\"/>", "<Property Name=\"OwnerID\" Type=\"Edm.String\"/>")
            ]),
            Self.changed([("Type=\"Collection(Shop.Child)\"", "Type=\"Shop.Child\"")]),
        ]
        for number in 0..<4 {
            let incompatible = try Self.refresh(store, documents[(seed + number * 3) % documents.count])
            let plan = try store.plan(retrying: Set(store.state.pendingOperations(.rejected).map(\.sequence)))
            let sent = Set(plan.changeSets.flatMap(\.operations))
            #expect(sent.isDisjoint(with: incompatible.map(\.operation)), "seed \(seed)")
            #expect(try plan.held.keys.filter { try store.state.pendingOperation($0) == nil } == [], "seed \(seed)")
        }
        _ = try Self.refresh(store, TestModel.service.metadata)
        #expect(try store.state.pendingOperations().filter(\.isIncompatible) == [], "seed \(seed)")
    }
}
