import EDM
import Operations
import SyncCore

/// A log with records of nearly all kinds, which change nearly all kinds of items.
struct MixedLog {
    private let store: TestStore
    private var batch: BatchID = 0

    static func records() throws -> [Record] {
        var log = try MixedLog(store: TestStore())
        try log.write()
        return log.store.records
    }

    private init(store: TestStore) { self.store = store }

    private mutating func write() throws {
        try store.add(.definingQueryAdded(DefiningQuery(name: "Orders", query: "Orders")))
        let (first, second, third) = (try customer(1), try customer(2), try customer(3))
        let (order, other) = (try newOrder(1, of: 1), try newOrder(2, of: 2))
        try store.add(.downloadFinished(DownloadFinished(query: "All", deltaLink: "d1")))
        try store.add(.downloadFinished(query: "Orders"))
        let rename = try update(first, "mine")
        let created = try store.create("Customers", ["Name": .string("new")])
        let creation = try store.state.header().applied
        try store.create("Orders", bindings: [Binding(navigation: "Customer", targets: [created])])
        let bound = try store.state.header().applied
        let deletion = try store.perform([.delete(third)])[0]
        let moved = try store.perform([.updateLink(link(order, "Customer", second))])[0]
        try send([rename, creation, bound])
        try store.add(.batchAccepted(BatchAccepted(batch: batch, monitor: "m")))
        try store.add(.batchInterrupted(BatchInterrupted(batch: batch, reason: "cut")))
        try store.add(.downloadStarted([QueryStart(query: "All", mode: .delta)]))
        try store.add(.downloadPage(DownloadPage(query: "All", entities: [image(first, 1, "theirs", etag: "2")])))
        try store.add(.downloadFinished(DownloadFinished(query: "All", deltaLink: "d2")))
        let answer = image(created, 9, "new", etag: "1")
        try answered([
            (rename, .confirmed(images: [])), (creation, .confirmed(images: [answer])), (bound, .rejected(refusal)),
        ])
        try store.undo([bound])
        try store.add(.operationsRedone([bound]))
        try store.add(.deliveryChanged([bound, moved], to: .draft))
        try store.add(.deliveryChanged([bound, moved], to: .queued))
        try conflict(on: second)
        try send([deletion, moved])
        try answered([(deletion, .confirmed(images: [])), (moved, .deferred(refusal, attempts: 1))])
        try store.add(.uploadPostponed(UploadPostponed(notBefore: 90, attempt: 1, reason: "busy")))
        try endWithoutSending(first)
        try links()
        try store.add(.entitiesMissing([other]))
        try store.add(
            .operationsIncompatible([IncompatibleOperation(operation: moved, refusal: Refusal(modelChanged: "gone"))]))
        try store.add(.lost)
        try store.add(.operationsReleased([moved]))
        try store.add(.downloadStarted(queries: ["All"]))
        try store.add(.downloadPage(DownloadPage(query: "All", entities: [image(second, 2, "again", etag: "5")])))
        try store.add(.downloadFinished(query: "All"))
        try store.add(.definingQueryRemoved(name: "Orders"))
        try store.add(
            .serviceInstalled(ServiceDescription(root: "http://other/", metadata: TestModel.service.metadata)))
    }

    private let refusal = Refusal(status: 400, code: "No", message: "no", method: "POST", url: "x")

    private func image(_ id: EntityID, _ key: Int64, _ name: String, etag: String) -> EntityImage {
        EntityImage(
            entity: id, set: "Customers", type: "Shop.Customer",
            values: ["CustomerID": .integer(key), "Name": .string(name)], etag: etag)
    }

    private func update(_ id: EntityID, _ name: String) throws -> SequenceNumber {
        try store.perform([.update(id, changes: ["Name": .string(name)], bindings: [])])[0]
    }

    /// Downloads a customer in a page of its own.
    private func customer(_ key: Int64) throws -> EntityID {
        let id = try store.newID()
        if key == 1 { try store.add(.downloadStarted(queries: ["All", "Orders"])) }
        try store.add(
            .downloadPage(
                DownloadPage(query: "All", entities: [image(id, key, "Ada", etag: "1")], next: "page\(key)")))
        return id
    }

    private func newOrder(_ key: Int64, of customer: Int64) throws -> EntityID {
        let id = try store.newID()
        let values: PropertyValues = ["OrderID": .integer(key), "CustomerID": .integer(customer)]
        let open = OpenLink(query: "Orders", set: "Orders", source: "Orders(1)", navigation: "Customer", target: "x")
        try store.add(.linksLeftOpen([open]))
        let refused = QuarantinedEntity(query: "Orders", set: "Orders", name: "o", reason: .tooLarge, message: "m")
        try store.add(.entitiesQuarantined([refused]))
        try store.add(
            .downloadPage(
                DownloadPage(
                    query: "Orders",
                    entities: [EntityImage(entity: id, set: "Orders", type: "Shop.Order", values: values)])))
        return id
    }

    private mutating func send(_ operations: [SequenceNumber]) throws {
        batch = try store.state.header().nextBatch
        let requests = operations.map { [BatchPrepared.Request(contentID: "\($0)", operation: $0)] }
        try store.add(.batchPrepared(BatchPrepared(batch: batch, changeSets: requests)))
    }

    private func answered(_ results: [(SequenceNumber, BatchAnswered.Result)]) throws {
        try store.add(
            .batchAnswered(
                BatchAnswered(batch: batch, outcomes: results.map { .init(operation: $0.0, result: $0.1) })))
    }

    /// Two clients change an entity, which leaves a merge base until the conflict is resolved.
    private func conflict(on id: EntityID) throws {
        let own = try update(id, "mine")
        try store.add(.entitiesRead([image(id, 2, "theirs", etag: "2")]))
        try store.add(
            .conflictResolved(
                ConflictResolved(
                    entity: id, decision: .merged,
                    dropped: [ConflictResolved.PartialUpdate(operation: own, properties: ["Name"])], released: [own])))
        try store.add(.entitiesRead([image(id, 2, "again", etag: "3")]))
        let later = try update(id, "later")
        try store.add(.entitiesRead([image(id, 2, "third", etag: "4")]))
        try store.add(
            .operationsAmended([
                AmendedOperation(
                    operation: later,
                    content: Operation(.update(id, changes: ["Name": .string("amended")], bindings: [])))
            ]))
    }

    private func endWithoutSending(_ id: EntityID) throws {
        let brief = try store.create("Customers", ["Name": .string("brief")])
        let created = try store.state.header().applied
        let deleted = try store.perform([.delete(brief)])[0]
        try store.add(.operationsElided([created, deleted]))
        try store.add(.clientChangesKept([try update(id, "kept")]))
        let content = StreamDigest([UInt8](repeating: 7, count: StreamDigest.length)).map {
            StreamContent(digest: $0, byteCount: 3, mediaType: "text/plain")
        }
        try store.add(.streamsStored([StreamImage(entity: id, content: content, etag: "s")]))
    }

    /// Links without dependent properties.
    private func links() throws {
        let supplier = try store.download("Suppliers", ["SupplierID": .integer(1)])
        let products = try (1...2).map { try store.download("Products", ["ProductID": .integer($0)]) }
        try store.add(
            .downloadPage(
                DownloadPage(
                    query: "All",
                    links: [.init(source: supplier, navigation: "Products", target: products[0], isAdded: true)])))
        try store.perform([.deleteLink(link(supplier, "Products", products[0]))])
        try store.perform([.createLink(link(supplier, "Products", products[1]))])
    }
}
