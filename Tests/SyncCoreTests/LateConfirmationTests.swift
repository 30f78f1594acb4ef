import EDM
import Operations
import SyncCore
import Testing

/// Operations in doubt that are confirmed after a download has delivered their entities.
struct LateConfirmationTests {
    let store: TestStore
    let customer: EntityID

    init() throws {
        store = try TestStore()
        for set in ["Orders", "Suppliers"] {
            try store.add(.definingQueryAdded(DefiningQuery(name: set, query: set)))
        }
        customer = try store.download("Customers", ["CustomerID": .integer(1), "Name": .string("Ada")], etag: "1")
    }

    /// Sends operations in one change set and loses the response.
    @discardableResult
    private func send(_ operations: [SequenceNumber], isInterrupted: Bool = true) throws -> BatchID {
        let batch = try store.state.header().nextBatch
        let requests = operations.map { BatchPrepared.Request(contentID: "\($0)", operation: $0) }
        try store.add(.batchPrepared(BatchPrepared(batch: batch, changeSets: [requests])))
        if isInterrupted { try store.add(.batchInterrupted(BatchInterrupted(batch: batch, reason: "cut"))) }
        return batch
    }

    private func confirm(_ operations: [SequenceNumber], of batch: BatchID, _ images: [EntityImage] = []) throws {
        let outcomes = operations.map {
            BatchAnswered.Outcome(operation: $0, result: .confirmed(images: images))
        }
        try store.add(.batchAnswered(BatchAnswered(batch: batch, outcomes: outcomes)))
    }

    private func page(_ query: String, _ images: [EntityImage], links: [DownloadPage.ChangedLink] = []) throws {
        try store.add(.downloadStarted([QueryStart(query: query, mode: .delta)]))
        try store.add(.downloadPage(DownloadPage(query: query, entities: images, links: links)))
        try store.add(.downloadFinished(DownloadFinished(query: query, deltaLink: "delta")))
    }

    private func image(_ name: String, etag: String? = "3") -> EntityImage {
        EntityImage(
            entity: customer, set: "Customers", type: "Shop.Customer",
            values: ["CustomerID": .integer(1), "Name": .string(name)], etag: etag)
    }

    private func rename(_ name: String) throws -> SequenceNumber {
        try store.perform([.update(customer, changes: ["Name": .string(name)], bindings: [])])[0]
    }

    private func conflict() throws -> Conflict? {
        try ConflictFinder(storage: store.state, model: store.model, index: RelationshipIndex(store.model)).conflict(
            on: customer)
    }

    // MARK: Values

    @Test func `a value that a download has shown since the transmission stays`() throws {
        let update = try rename("mine")
        let batch = try send([update])
        try page("All", [image("theirs")])
        #expect(try store.value(customer, "Name") == .string("mine"))
        try confirm([update], of: batch)
        #expect(try store.value(customer, "Name") == .string("theirs"))
        #expect(try store.state.bookkeeping.openBatches().isEmpty)
    }

    @Test func `the response to a repeated request does not replace a later download`() throws {
        let update = try rename("mine")
        let batch = try send([update])
        try page("All", [image("theirs")])
        try confirm([update], of: batch, [image("mine", etag: "2")])
        #expect(try store.value(customer, "Name") == .string("theirs"))
        #expect(try store.state.row(customer)?.etag == "3")
    }

    @Test func `a version that was read for the confirmation replaces the download`() throws {
        let update = try rename("mine")
        let batch = try send([update])
        try page("All", [image("theirs")])
        try confirm([update], of: batch)
        try store.add(.entitiesRead([image("latest", etag: "4")]))
        #expect(try store.value(customer, "Name") == .string("latest"))
    }

    @Test func `a value is stored if no download has shown it, or only the version before the transmission`() throws {
        let first = try rename("mine")
        var batch = try send([first])
        try page("All", [image("Ada", etag: "1")])
        try confirm([first], of: batch)
        #expect(try store.value(customer, "Name") == .string("mine"))
        let second = try rename("again")
        batch = try send([second])
        var partial = image("", etag: "5")
        partial.values["Name"] = nil
        try page("All", [partial])
        try confirm([second], of: batch)
        #expect(try store.value(customer, "Name") == .string("again"))
    }

    @Test func `a value is stored if its operation was sent again after the download`() throws {
        let update = try rename("mine")
        try send([update])
        try page("All", [image("theirs")])
        try store.add(.operationsReleased([update]))
        let batch = try send([update])
        try confirm([update], of: batch)
        #expect(try store.value(customer, "Name") == .string("mine"))
    }

    @Test func `a response without an interruption replaces a page that arrived during the transmission`() throws {
        let update = try rename("mine")
        let batch = try send([update], isInterrupted: false)
        try page("All", [image("theirs")])
        try confirm([update], of: batch)
        #expect(try store.value(customer, "Name") == .string("mine"))
    }

    @Test(arguments: [("mine", false), ("theirs", true)])
    func `a later pending change conflicts only with a downloaded value of another client`(
        _ shown: String, _ isConflict: Bool
    ) throws {
        let first = try rename("mine")
        let batch = try send([first])
        _ = try rename("later")
        try page("All", [image(shown)])
        try confirm([first], of: batch)
        #expect(try (conflict() != nil) == isConflict)
        #expect(try store.value(customer, "Name") == .string("later"))
    }

    // MARK: Links

    @Test func `a link stays removed if a download has shown other dependent properties`() throws {
        let other = try store.download("Customers", ["CustomerID": .integer(2)], etag: "1")
        let order = try store.download("Orders", ["OrderID": .integer(7), "CustomerID": .integer(1)], etag: "1")
        let linked = try store.perform([.updateLink(link(order, "Customer", other))])[0]
        let batch = try send([linked])
        #expect(try store.targets(order, "Customer") == [other])
        let values: PropertyValues = ["OrderID": .integer(7), "CustomerID": .integer(1)]
        try page(
            "Orders", [EntityImage(entity: order, set: "Orders", type: "Shop.Order", values: values, etag: "3")])
        try confirm([linked], of: batch)
        #expect(try store.targets(order, "Customer") == [customer])
        #expect(try store.value(order, "CustomerID") == .integer(1))
    }

    @Test(arguments: [true, false], [true, false])
    func `a link to a new entity does not replace downloaded dependent properties, with or without its key`(
        _ isFromNew: Bool, _ hasKey: Bool
    ) throws {
        let order = try store.download("Orders", ["OrderID": .integer(7), "CustomerID": .integer(1)], etag: "1")
        let new = try store.newID()
        let operations = try store.perform(
            [
                .create(store.creation(new, "Customers", ["Name": .string("Bob")]), parent: nil),
                isFromNew ? .createLink(link(new, "Orders", order)) : .updateLink(link(order, "Customer", new)),
            ], changeSet: true)
        let batch = try send(operations)
        let twin = try store.newID()
        let created: PropertyValues = ["CustomerID": .integer(3), "Name": .string("Bob")]
        try page("All", [EntityImage(entity: twin, set: "Customers", type: "Shop.Customer", values: created)])
        let values: PropertyValues = ["OrderID": .integer(7), "CustomerID": .integer(3)]
        try page("Orders", [EntityImage(entity: order, set: "Orders", type: "Shop.Order", values: values, etag: "3")])
        if hasKey { try store.add(.entitiesMissing([twin])) }
        try confirm(
            operations, of: batch,
            hasKey ? [EntityImage(entity: new, set: "Customers", type: "Shop.Customer", values: created)] : [])
        #expect(try store.targets(order, "Customer") == [hasKey ? new : twin])
        #expect(try store.value(order, "CustomerID") == .integer(3))
    }

    @Test(arguments: [true, false], [true, false])
    func `a link without dependent properties is stored unless a download has shown the links of its end`(
        _ isShown: Bool, _ isFromTarget: Bool
    ) throws {
        let supplier = try store.download("Suppliers", ["SupplierID": .integer(1)])
        let product = try store.download("Products", ["ProductID": .integer(1)])
        let linked = try store.perform([.createLink(link(supplier, "Products", product))])[0]
        let batch = try send([linked])
        let removed =
            isFromTarget
            ? DownloadPage.ChangedLink(source: product, navigation: "Suppliers", target: supplier, isAdded: false)
            : DownloadPage.ChangedLink(source: supplier, navigation: "Products", target: product, isAdded: false)
        try page("Suppliers", [], links: isShown ? [removed] : [])
        try confirm([linked], of: batch)
        #expect(try store.targets(supplier, "Products") == (isShown ? [] : [product]))
    }

    @Test func `the binding of an update is stored if only its values were shown`() throws {
        let supplier = try store.download("Suppliers", ["SupplierID": .integer(1)])
        let product = try store.download("Products", ["ProductID": .integer(1)])
        let update = try store.perform([
            .update(supplier, changes: [:], bindings: [Binding(navigation: "Products", targets: [product])])
        ])[0]
        let batch = try send([update])
        try page(
            "Suppliers",
            [
                EntityImage(
                    entity: supplier, set: "Suppliers", type: "Shop.Supplier", values: ["SupplierID": .integer(1)])
            ])
        try confirm([update], of: batch)
        #expect(try store.targets(supplier, "Products") == [product])
    }

    @Test func `the target of a shown binding has no conflict if the response contains a new version of it`() throws {
        let other = try store.download("Customers", ["CustomerID": .integer(2), "Name": .string("Bob")], etag: "1")
        let values: PropertyValues = ["OrderID": .integer(7), "CustomerID": .integer(1)]
        let order = try store.download("Orders", values, etag: "1")
        let later = try store.download("Orders", ["OrderID": .integer(8), "CustomerID": .integer(1)], etag: "1")
        let update = try store.perform([
            .update(order, changes: [:], bindings: [Binding(navigation: "Customer", targets: [other])])
        ])[0]
        let batch = try send([update])
        // A pending change of the target, for which the versions of the target are compared.
        try store.perform([.updateLink(link(later, "Customer", other))])
        try page(
            "Orders", [EntityImage(entity: order, set: "Orders", type: "Shop.Order", values: values, etag: "3")])
        let answer = EntityImage(
            entity: other, set: "Customers", type: "Shop.Customer",
            values: ["CustomerID": .integer(2), "Name": .string("Rob")], etag: "2")
        try confirm([update], of: batch, [answer])
        #expect(try store.targets(order, "Customer") == [customer])
        #expect(try store.value(other, "Name") == .string("Rob"))
        #expect(try store.state.bookkeeping.mergeBase(other) == nil)
    }

    // MARK: Replay

    @Test func `the shown effects are part of a snapshot`() throws {
        let update = try rename("mine")
        let batch = try send([update])
        try page("All", [image("theirs")])
        let effects = [ShownEffect(entity: customer, name: "Name")]
        #expect(try store.state.bookkeeping.openBatch(batch)?.shown == effects)
        let again = try TestStore(replaying: store.records)
        #expect(try again.digest() == store.digest())
        let item = SnapshotItem.openBatch(try #require(try again.state.bookkeeping.openBatch(batch)))
        let (kind, payload) = SnapshotCodec.encode(item)
        #expect(try SnapshotCodec.decode(kind, payload: payload) == item)
    }
}
