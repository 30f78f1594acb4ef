import EDM
import Operations
import Testing

@testable import SyncCore

/// Dependent properties and links of referential constraints, as the fold keeps them consistent.
struct ConstraintFoldTests {
    // MARK: Values

    private static func constraint(_ pairs: [(dependent: String, principal: String)]) -> RelationshipIndex.Constraint {
        RelationshipIndex.Constraint(
            relationship: "R", dependentSet: "Orders", principalSet: "Customers", dependentIsFirst: true,
            pairs: pairs.map { ReferentialConstraint(dependent: $0.dependent, principal: $0.principal) },
            isDependentSingle: false)
    }

    private let names = NameTable()

    @Test func `a property that one pair changes and another pair restores keeps its notation`() throws {
        let (short, long) = (try #require(DecimalValue("1.5")), try #require(DecimalValue("1.50")))
        let principal: PropertyValues = ["A": .integer(2), "B": .decimal(long)]
        let constraint = Self.constraint([("Code", "A"), ("Code", "B")])
        var values: PropertyValues = ["Code": .decimal(short), "Note": .string("n")]
        let before = values
        #expect(!constraint.copyValues(of: principal, to: &values, with: names))
        // Both decimals are equal.
        #expect(ValueCodec.encode(values) == ValueCodec.encode(before))
        // The last pair determines the value.
        values["Code"] = .integer(7)
        #expect(constraint.copyValues(of: principal, to: &values, with: names) && values["Code"] == .decimal(long))
    }

    @Test func `a value that the principal lacks becomes null only if it is set`() {
        let constraint = Self.constraint([("Code", "A")])
        var values: PropertyValues = ["Code": .integer(7)]
        #expect(constraint.copyValues(of: [:], to: &values, with: names) && values["Code"] == .null)
        #expect(!constraint.copyValues(of: [:], to: &values, with: names))
        var none: PropertyValues = ["Note": .string("n")]
        #expect(!constraint.copyValues(of: [:], to: &none, with: names) && none["Code"] == nil)
    }

    @Test func `a changed value of a principal is copied to its dependent entities`() throws {
        let store = try TestStore()
        let customer = try store.create("Customers")
        let order = try store.create("Orders", bindings: [Binding(navigation: "Customer", targets: [customer])])
        // The rules refuse a change of a key, but not the fold.
        try store.add(.operation(Operation(.update(customer, changes: ["CustomerID": .integer(7)], bindings: []))))
        #expect(try store.value(order, "CustomerID") == .integer(7))
        #expect(try store.targets(order, "Customer") == [customer])
    }

    @Test func `the orders of a removed customer are linked to the entity that has its key now`() throws {
        let store = try TestStore()
        let values: PropertyValues = ["CustomerID": .integer(1)]
        let twin = try store.download("Customers", values)
        let order = try store.download("Orders", ["OrderID": .integer(1), "CustomerID": .integer(1)])
        let customer = try store.newID()
        let type = try #require(store.model.findEntitySet("Customers")).entityType.name
        try store.add(.entitiesRead([EntityImage(entity: customer, set: "Customers", type: type, values: values)]))
        #expect(try store.targets(order, "Customer") == [twin])
        try store.add(.entitiesMissing([twin]))
        #expect(try store.targets(order, "Customer") == [customer])
        #expect(try store.value(order, "CustomerID") == .integer(1))
        // Without a successor, the order keeps its reference.
        try store.add(.entitiesMissing([customer]))
        #expect(try store.targets(order, "Customer").isEmpty)
        #expect(try store.value(order, "CustomerID") == .integer(1))
    }

    /// The link is from the first to the second end for children, and the other way round for orders.
    @Test(arguments: [("Orders", "Order", "Customer"), ("Children", "Child", "Father")])
    func `the binding of a new entity determines its values, although a read has linked it to another principal`(
        _ set: String, _ type: String, _ principal: String
    ) throws {
        let store = try TestStore()
        let principals = try (1...2).map { try store.download("\(principal)s", ["\(principal)ID": .integer($0)]) }
        let id = try store.create(set, bindings: [Binding(navigation: principal, targets: [principals[0]])])
        // The service has the new entity already, and another client has changed it.
        try store.add(
            .entitiesRead([
                EntityImage(
                    entity: id, set: set, type: "Shop.\(type)",
                    values: ["\(type)ID": .integer(7), "\(principal)ID": .integer(2)])
            ]))
        #expect(try store.state.serviceRow(id)?.values["\(principal)ID"] == .integer(2))
        #expect(try store.targets(id, principal) == [principals[0]])
        #expect(try store.value(id, "\(principal)ID") == .integer(1))
    }

    /// A store whose orders have a property that can be NaN, which is not equal to itself.
    private func weighing() throws -> (TestStore, customer: EntityID, order: EntityID) {
        let note = "<Property Name=\"Note\" Type=\"Edm.String\"/>"
        let metadata = TestModel.metadata.replacing(
            note, with: note + "<Property Name=\"Weight\" Type=\"Edm.Double\"/>")
        let store = try TestStore(
            ServiceDescription(root: TestModel.service.root, metadata: Array(metadata.utf8)))
        let customer = try store.download("Customers", ["CustomerID": .integer(1)])
        let order = try store.download(
            "Orders", ["OrderID": .integer(1), "CustomerID": .integer(1), "Weight": .double(.nan)])
        #expect(try store.targets(order, "Customer") == [customer])
        return (store, customer, order)
    }

    @Test(arguments: [false, true])
    func `a change that leaves an order with a NaN as it is saves no base state of it`(_ isUpdate: Bool) throws {
        let (store, customer, order) = try weighing()
        try store.perform([
            isUpdate
                ? .update(customer, changes: ["Name": .string("Ada")], bindings: [])
                : .updateLink(link(order, "Customer", customer))
        ])
        #expect(try store.state.base(order) == nil)
        #expect(try store.targets(order, "Customer") == [customer])
    }

    @Test func `a read of a customer stores no merge base of its order with a NaN`() throws {
        let (store, _, order) = try weighing()
        try store.perform([.update(order, changes: ["Note": .string("n")], bindings: [])])
        try store.download("Customers", ["CustomerID": .integer(1), "Name": .string("Ada")])
        #expect(try store.state.bookkeeping.mergeBase(order) == nil)
    }

    // MARK: Rebases of long queues

    /// Articles with lines whose key contains the article's code. A link of a line changes no value.
    private static let metadata = """
        <edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx"><edmx:DataServices>
        <Schema Namespace="Shop" xmlns="http://docs.oasis-open.org/odata/ns/edm">
        <EntityType Name="Article"><Key><PropertyRef Name="Code"/></Key>
        <Property Name="Code" Type="Edm.String" Nullable="false"/>
        <NavigationProperty Name="Lines" Type="Collection(Shop.Line)" Partner="Article"/></EntityType>
        <EntityType Name="Line"><Key><PropertyRef Name="ArticleCode"/><PropertyRef Name="Number"/></Key>
        <Property Name="ArticleCode" Type="Edm.String" Nullable="false"/>
        <Property Name="Number" Type="Edm.Int32" Nullable="false"/>
        <NavigationProperty Name="Article" Type="Shop.Article" Partner="Lines">
        <ReferentialConstraint Property="ArticleCode" ReferencedProperty="Code"/></NavigationProperty></EntityType>
        <EntityContainer Name="Container">
        <EntitySet Name="Articles" EntityType="Shop.Article">
        <NavigationPropertyBinding Path="Lines" Target="Lines"/></EntitySet>
        <EntitySet Name="Lines" EntityType="Shop.Line">
        <NavigationPropertyBinding Path="Article" Target="Articles"/></EntitySet>
        </EntityContainer></Schema></edmx:DataServices></edmx:Edmx>
        """

    /// Returns a store with an article and its line.
    private func articles(
        _ metadata: String = Self.metadata
    ) throws -> (store: TestStore, article: EntityID, line: EntityID) {
        let store = try TestStore(ServiceDescription(root: "http://127.0.0.1/", metadata: Array(metadata.utf8)))
        let article = try store.download("Articles", ["Code": .string("A")])
        let line = try store.download("Lines", ["ArticleCode": .string("A"), "Number": .integer(1)])
        #expect(try store.targets(line, "Article") == [article])
        return (store, article, line)
    }

    @Test func `the removal of a link does not change the key of its dependent entity`() throws {
        let (store, article, line) = try articles()
        try store.add(.operation(Operation(.deleteLink(link(line, "Article", article)))))
        #expect(try store.targets(line, "Article").isEmpty)
        #expect(try store.value(line, "ArticleCode") == .string("A"))
    }

    @Test func `the deletion of a principal sets no default as the key of its dependent entity`() throws {
        let end = #"Partner="Article"/>"#
        let defaults = #"Partner="Article"><OnDelete Action="SetDefault"/></NavigationProperty>"#
        let (store, article, line) = try articles(Self.metadata.replacing(end, with: defaults))
        try store.add(.operation(Operation(.delete(article))))
        #expect(try store.targets(line, "Article").isEmpty)
        #expect(try store.value(line, "ArticleCode") == .string("A"))
    }

    /// The update reads the links of the line, and not the removed link by itself.
    @Test func `an update that keeps a link is reapplied if an earlier operation removes exactly this link`() throws {
        let (article, line) = (EntityID(rawValue: 1), EntityID(rawValue: 2))
        let images = [
            EntityImage(entity: article, set: "Articles", type: "Shop.Article", values: ["Code": .string("A")]),
            EntityImage(
                entity: line, set: "Lines", type: "Shop.Line",
                values: ["ArticleCode": .string("A"), "Number": .integer(1)]),
        ]
        let removal: SequenceNumber = 3
        let records: [Record.Body] = [
            .serviceInstalled(ServiceDescription(root: "http://127.0.0.1/", metadata: Array(Self.metadata.utf8))),
            .entitiesRead(images),
            .operation(Operation(.deleteLink(link(line, "Article", article)))),
            .operation(Operation(.update(line, changes: ["ArticleCode": .string("A")], bindings: []))),
            // After a fact, the effects of all operations are known.
            .entitiesRead(images),
            // Now the update finds the link.
            .operationsUndone([removal]),
            // The removal precedes the update, as before, so that the update has to restore the link.
            .operationsRedone([removal]),
        ]
        let (some, all) = (WorkingSet(), WorkingSet())
        var (partial, whole) = (try Fold(storage: some), try Fold(storage: all))
        (partial.longQueue, whole.longQueue) = (0, .max)
        for (index, body) in records.enumerated() {
            let (record, sequence) = (Record(time: 0, body: body), SequenceNumber(index + 1))
            try partial.apply(record, sequence: sequence)
            try partial.finishRebase()
            try whole.apply(record, sequence: sequence)
            try whole.finishRebase()
            #expect(try StateDigest(of: some) == StateDigest(of: all), "record \(sequence)")
        }
        #expect(partial.partialReplaysOfEnded == 1 && whole.partialReplaysOfEnded == 0)
        #expect(try some.links(of: line).map(\.inLocal) == [true])
    }
}
