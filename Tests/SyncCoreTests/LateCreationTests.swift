import EDM
import Operations
import SyncCore
import Testing

/// Links of creations in doubt that are confirmed after a download has delivered the new entity under another ID.
struct LateCreationTests {
    /// The metadata, with persons and cards without a referential constraint.
    private static let service: ServiceDescription = {
        let constraint = "<ReferentialConstraint Property=\"PersonID\" ReferencedProperty=\"PersonID\"/>"
        let text = TestModel.metadata.replacing(constraint, with: "")
        return ServiceDescription(root: TestModel.service.root, metadata: Array(text.utf8))
    }()

    let store: TestStore

    init() throws {
        store = try TestStore(Self.service)
        for set in ["Orders", "Cities", "Mayors", "Persons", "IDCards"] {
            try store.add(.definingQueryAdded(DefiningQuery(name: set, query: set)))
        }
    }

    /// Sends a creation and loses the response.
    private func send(_ creation: Creation, below parent: Parent? = nil) throws -> (SequenceNumber, BatchID) {
        let operation = try store.perform([.create(creation, parent: parent)])[0]
        let batch = try store.state.header().nextBatch
        let request = BatchPrepared.Request(contentID: "1", operation: operation)
        try store.add(.batchPrepared(BatchPrepared(batch: batch, changeSets: [[request]])))
        try store.add(.batchInterrupted(BatchInterrupted(batch: batch, reason: "cut")))
        return (operation, batch)
    }

    private func page(_ query: String, _ images: [EntityImage], links: [DownloadPage.ChangedLink] = []) throws {
        try store.add(.downloadStarted([QueryStart(query: query, mode: .delta)]))
        try store.add(.downloadPage(DownloadPage(query: query, entities: images, links: links)))
        try store.add(.downloadFinished(DownloadFinished(query: query, deltaLink: "delta")))
    }

    private func confirm(_ sent: (operation: SequenceNumber, batch: BatchID), _ images: [EntityImage] = []) throws {
        let outcome = BatchAnswered.Outcome(operation: sent.operation, result: .confirmed(images: images))
        try store.add(.batchAnswered(BatchAnswered(batch: sent.batch, outcomes: [outcome])))
    }

    private func image(_ id: EntityID, _ set: String, _ values: PropertyValues, etag: String? = nil) -> EntityImage {
        let type = store.model.findEntitySet(set)?.entityType.name ?? ""
        return EntityImage(entity: id, set: set, type: type, values: values, etag: etag)
    }

    @Test(arguments: [true, false])
    func `the binding of an existing entity does not replace its downloaded dependent properties`(
        _ hasKey: Bool
    ) throws {
        try store.download("Customers", ["CustomerID": .integer(1)])
        let order = try store.download("Orders", ["OrderID": .integer(7), "CustomerID": .integer(1)], etag: "1")
        let new = try store.newID()
        let sent = try send(
            store.creation(new, "Customers", bindings: [Binding(navigation: "Orders", targets: [order])]))
        #expect(try store.targets(order, "Customer") == [new])
        let twin = try store.newID()
        try page("All", [image(twin, "Customers", ["CustomerID": .integer(3)])])
        try page("Orders", [image(order, "Orders", ["OrderID": .integer(7), "CustomerID": .integer(3)], etag: "3")])
        if hasKey { try store.add(.entitiesMissing([twin])) }
        try confirm(sent, hasKey ? [image(new, "Customers", ["CustomerID": .integer(3)])] : [])
        #expect(try store.targets(order, "Customer") == [hasKey ? new : twin])
        #expect(try store.value(order, "CustomerID") == .integer(3))
    }

    @Test func `the binding of an existing entity is stored if no download has shown its dependent properties`() throws
    {
        let order = try store.download("Orders", ["OrderID": .integer(7), "CustomerID": .null], etag: "1")
        let new = try store.newID()
        let sent = try send(
            store.creation(new, "Customers", bindings: [Binding(navigation: "Orders", targets: [order])]))
        try page("All", [image(try store.newID(), "Customers", ["CustomerID": .integer(3)])])
        try confirm(sent)
        #expect(try store.targets(order, "Customer") == [new])
    }

    @Test(arguments: [true, false])
    func `a new entity does not displace the downloaded one at a single end of its principal`(
        _ isBelow: Bool
    ) throws {
        let city = try store.download("Cities", ["CityID": .integer(1)], etag: "1")
        let new = try store.newID()
        let sent = try send(
            store.creation(
                new, "Mayors", bindings: isBelow ? [] : [Binding(navigation: "City", targets: [city])]),
            below: isBelow ? Parent(entity: city, navigation: "Mayor") : nil)
        let twin = try store.newID()
        try page("Mayors", [image(twin, "Mayors", ["MayorID": .integer(5), "CityID": .integer(1)])])
        try confirm(sent)
        #expect(try store.targets(city, "Mayor") == [twin])
        #expect(try store.value(twin, "CityID") == .integer(1))
    }

    @Test(arguments: [true, false])
    func `a link without dependent properties does not replace the downloaded one at a single end`(
        _ isBelow: Bool
    ) throws {
        let person = try store.download("Persons", ["PersonID": .integer(1)])
        let new = try store.newID()
        let sent = try send(
            store.creation(
                new, "IDCards", bindings: isBelow ? [] : [Binding(navigation: "Person", targets: [person])]),
            below: isBelow ? Parent(entity: person, navigation: "IDCard") : nil)
        let twin = try store.newID()
        try page(
            "IDCards", [image(twin, "IDCards", ["IDCardID": .integer(5)])],
            links: [DownloadPage.ChangedLink(source: person, navigation: "IDCard", target: twin, isAdded: true)])
        try confirm(sent)
        #expect(try store.targets(person, "IDCard") == [twin])
    }

    @Test func `the link of a new entity is stored if the page only removes the former one`() throws {
        let person = try store.download("Persons", ["PersonID": .integer(1)])
        let new = try store.newID()
        let sent = try send(
            store.creation(new, "IDCards", bindings: [Binding(navigation: "Person", targets: [person])]))
        try page(
            "Persons", [],
            links: [DownloadPage.ChangedLink(source: person, navigation: "IDCard", target: nil, isAdded: false)])
        try confirm(sent)
        #expect(try store.targets(person, "IDCard") == [new])
    }

    @Test func `the link of a new entity in a collection is stored`() throws {
        let customer = try store.download("Customers", ["CustomerID": .integer(1)], etag: "1")
        let new = try store.newID()
        let sent = try send(store.creation(new, "Orders"), below: Parent(entity: customer, navigation: "Orders"))
        let other = try store.newID()
        try page("Orders", [image(other, "Orders", ["OrderID": .integer(5), "CustomerID": .integer(1)])])
        try confirm(sent)
        #expect(try store.targets(customer, "Orders") == [new, other])
    }

    @Test func `the link of a new entity is stored if both of its ends are collections`() throws {
        let other = try store.download("Suppliers", ["SupplierID": .integer(1)])
        let product = try store.download("Products", ["ProductID": .integer(1)])
        let new = try store.newID()
        let sent = try send(
            store.creation(new, "Suppliers", bindings: [Binding(navigation: "Products", targets: [product])]))
        try page("All", [], links: [.init(source: product, navigation: "Suppliers", target: other, isAdded: true)])
        try confirm(sent)
        #expect(try Set(store.targets(product, "Suppliers")) == [new, other])
    }
}
