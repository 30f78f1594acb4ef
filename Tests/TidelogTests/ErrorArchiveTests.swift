import EDM
import Synchronization
import Testing
import Tidelog

/// Rejected operations that the app finds, corrects or discards.
///
/// Features: UQ-05, EA-02, EA-11.
struct ErrorArchiveTests {
    /// A store with an order of a customer that does not exist at the service, and the service's error.
    private struct Refused {
        let shop: Shop
        let store: OfflineODataProvider
        let order: EntityValue
        let entry: ErrorArchiveEntry

        init(_ client: Client) async throws {
            shop = try await Shop(client)
            store = try #require(shop.store)
            order = try shop.new("Orders", ["CustomerID": .integer(400), "Note": .string("wrong")])
            try await shop.service.createEntity(order, options: RequestOptions(customTag: "form 4"))
            try await store.upload()
            entry = try #require(try await store.errorArchive().first)
        }

        func query(_ url: String) async throws -> [EntityValue] {
            try await shop.service.executeQuery(DataQuery().withURL(url)).entityList()
        }
    }

    @Test(arguments: Client.offline)
    func `an entry contains the request, the service's error and the app's tag, and leads to its entity`(
        _ client: Client
    ) async throws {
        let refused = try await Refused(client)
        let entry = refused.entry
        #expect(entry.requestID == refused.order.lastOperation && entry.state == .rejected)
        #expect((400..<500).contains(entry.httpStatusCode ?? 0) && !entry.message.isEmpty)
        #expect(entry.requestMethod == "POST" && entry.requestURL.hasSuffix("Orders"))
        #expect(entry.requestBody?.contains("wrong") == true)
        #expect(entry.customTag == "form 4" && entry.action == "create")
        let affected = try #require(
            try await refused.query("ErrorArchive(\(entry.requestID))/AffectedEntity").first)
        #expect(affected["Note"] == .string("wrong") && affected.state == .error)
        // A rejection leaves the local changes in place.
        try await refused.shop.service.loadEntity(refused.order)
        #expect(refused.order["CustomerID"] == .integer(400))
    }

    @Test(arguments: Client.offline)
    func `the error archive supports filter, order, count, selection and key`(_ client: Client) async throws {
        let refused = try await Refused(client)
        let second = try refused.shop.new("Orders", ["CustomerID": .integer(401)])
        try await refused.shop.service.createEntity(second)
        try await refused.store.upload()
        let literal = client.dialect == .v2 ? "\(refused.entry.requestID)L" : "\(refused.entry.requestID)"
        #expect(try await refused.query("ErrorArchive").count == 2)
        #expect(try await refused.query("ErrorArchive(\(literal))").first?["CustomTag"] == .string("form 4"))
        #expect(try await refused.query("ErrorArchive?$filter=CustomTag eq 'form 4'").count == 1)
        #expect(try await refused.query("ErrorArchive?$filter=HTTPStatusCode lt 300").isEmpty)
        let last = try await refused.query("ErrorArchive?$orderby=RequestID desc&$top=1&$select=Code")
        #expect(last.first?["RequestID"] == .integer(Int64(try #require(second.lastOperation))))
        #expect(last.first?["Message"] == nil)
        let set = try refused.shop.service.entitySet(withName: "ErrorArchive")
        let tag = try #require(set.entityType.findProperty("CustomTag"))
        let counted = try await refused.shop.service.executeQuery(
            DataQuery().from(set).filter(tag.equal("form 4")).inlineCount())
        #expect(counted.count == 1)
        await #expect(throws: TidelogError.self) { _ = try await refused.query("ErrorArchive?$filter=Nothing eq 1") }
    }

    @Test(arguments: Client.offline)
    func `a corrected entity is sent as one request, and the archive is empty afterwards`(_ client: Client) async throws
    {
        let refused = try await Refused(client)
        refused.order["CustomerID"] = .integer(1)
        refused.order["Note"] = .string("right")
        try await refused.shop.service.updateEntity(refused.order)
        let report = try await refused.store.upload()
        #expect(report.rejected.isEmpty && report.remaining == 0)
        #expect(try await refused.store.errorArchive().isEmpty)
        let sent = try await refused.shop.server.executeQuery(
            DataQuery().from(try refused.shop.set("Orders")).filter(
                try refused.shop.property("Orders/Note").equal("right"))
        ).entityList()
        #expect(sent.count == 1 && sent.first?["CustomerID"] == .integer(1))
    }

    @Test(arguments: Client.offline)
    func `discarding an entry undoes its dependents and leaves the others`(_ client: Client) async throws {
        let refused = try await Refused(client)
        let other = try refused.shop.new("Orders", ["CustomerID": .integer(401)])
        try await refused.shop.service.createEntity(other)
        refused.order["Note"] = .string("later")
        try await refused.shop.service.updateEntity(refused.order)
        try await refused.store.upload()
        let archived = try await refused.query("ErrorArchive(\(refused.entry.requestID))")
        try await refused.shop.service.deleteEntity(try #require(archived.first))
        #expect(try await refused.store.errorArchive().map(\.requestID) == [try #require(other.lastOperation)])
        #expect(try await refused.store.operationStatus().count == 1)
        #expect(try await refused.store.discardAllErrors().undone.count == 1)
        #expect(try await refused.store.operationStatus().isEmpty)
        await #expect(throws: TidelogError.self) { try await refused.shop.service.loadEntity(refused.order) }
    }

    @Test func `a retry sends only the given operations, and each rejection is reported to the app`() async throws {
        let shop = try await Shop(Client(dialect: .v4, isOnline: false))
        await shop.store?.close()
        let reported = Mutex<[SequenceNumber]>([])
        var parameters = try #require(shop.store).parameters
        parameters.requestFailed = { entry in reported.withLock { $0.append(entry.requestID) } }
        let store = OfflineODataProvider(parameters: parameters)
        try await store.open()
        let service = DataService(provider: store)
        var operations: [SequenceNumber] = []
        for number in 0..<2 {
            let order = try shop.new("Orders", ["CustomerID": .integer(Int64(400 + number))])
            try await service.createEntity(order)
            operations.append(try #require(order.lastOperation))
        }
        try await store.upload()
        #expect(reported.withLock { $0 } == operations)
        let report = try await store.retry([operations[1]])
        #expect(report.rejected.map(\.operation) == [operations[1]])
        #expect(reported.withLock { $0 } == operations + [operations[1]])
        await #expect(throws: TidelogError.self) { try await store.retry([99_999]) }
    }

    @Test func `the queue contains each request, its hold reason and its dependents`() async throws {
        let refused = try await Refused(Client(dialect: .v4, isOnline: false))
        refused.order["Note"] = .string("later")
        try await refused.shop.service.updateEntity(
            refused.order, options: RequestOptions(unmodifiableRequest: true, uploadCategory: .named("tour")))
        let queue = try await refused.query("RequestQueue?$orderby=RequestID")
        #expect(queue.map { $0["Status"] } == [.string("rejected"), .string("pending")])
        #expect(queue[1]["Method"] == .string("PATCH") && queue[1]["UploadCategory"] == .string("tour"))
        #expect(queue[1]["Body"] == .string(#"{"Note":"later"}"#))
        #expect(queue[1]["Unmodifiable"] == .boolean(true))
        let waiting = try await refused.query("RequestQueue(\(refused.entry.requestID))/DependentRequests")
        #expect(waiting.map { $0["RequestID"] } == [queue[1]["RequestID"]])
    }

    @Test func `a draft is not sent before its release`() async throws {
        let shop = try await Shop(Client(dialect: .v4, isOnline: false))
        let store = try #require(shop.store)
        let customer = try await shop.one("Customers", 1)
        customer["Name"] = .string("draft")
        try await shop.service.updateEntity(customer, options: RequestOptions(delivery: .draft))
        #expect(try await !store.hasPendingUpload)
        #expect(try await store.upload().batches == 0)
        try await shop.service.loadEntity(customer)
        #expect(customer["Name"] == .string("draft"))
        let operation = try #require(customer.lastOperation)
        #expect(try await store.release([operation]) == [operation])
        #expect(try await store.upload().confirmed == [operation])
    }

    @Test func `operations that cancel each other out are not sent if the app enables coalescing`() async throws {
        let shop = try await Shop(Client(dialect: .v4, isOnline: false))
        let store = try #require(shop.store)
        let order = try shop.new("Orders", ["Note": .string("x")])
        try await shop.service.createEntity(order)
        try await shop.service.deleteEntity(order)
        let report = try await store.upload(UploadOptions(coalesces: true))
        #expect(report.batches == 0 && report.elided.count == 2 && report.remaining == 0)
    }

    @Test func `an update without changes is sent only on request`() async throws {
        let shop = try await Shop(Client(dialect: .v4, isOnline: false))
        let store = try #require(shop.store)
        let customer = try await shop.one("Customers", 1)
        try await shop.service.updateEntity(customer)
        #expect(try await !store.hasPendingUpload)
        try await shop.service.updateEntity(
            customer, options: RequestOptions(sendEmptyUpdate: true, preferNoContent: true))
        let planned = try #require(try await store.plannedBatch())
        #expect(String(decoding: planned.body, as: UTF8.self).contains("Prefer: return=minimal"))
        #expect(try await store.upload().confirmed.count == 1)
    }

    @Test(arguments: ["X", "X: {Orders(1)}", "X: {Orders(1)/OrderID", "X: }", "X Y: a", ": a", "X: ä"])
    func `an invalid header template is refused`(_ template: String) async throws {
        let shop = try await Shop(Client(dialect: .v4, isOnline: false))
        let customer = try await shop.one("Customers", 1)
        customer["Name"] = .string("x")
        await #expect(throws: TidelogError.self) {
            try await shop.service.updateEntity(customer, options: RequestOptions(customHeaderTemplates: [template]))
        }
    }
}
