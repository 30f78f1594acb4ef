import EDM
import ODataSandbox
import TestSupport
import Testing
import Tidelog

/// Which entities are local, pending or in error: those that an operation changes, not those that it only refers to.
///
/// Features: UQ-21, EA-05, QY-02, QY-06.
struct PendingStateTests {
    private static func keys(_ shop: Shop, _ url: String) async throws -> [Int64] {
        try await shop.service.executeQuery(DataQuery().withURL(url)).entityList()
            .compactMap { $0.key?.values.first?.value.integerValue }.sorted()
    }

    private static let functions = ["sap.islocal()", "sap.haspendingchanges()"]

    @Test(arguments: Client.offline)
    func `a new entity created through a parent does not change the state of the parent`(_ client: Client) async throws
    {
        let shop = try await Shop(client)
        let customer = try await shop.one("Customers", 1)
        let order = try shop.new("Orders", ["Note": .string("new")])
        try await shop.service.createRelatedEntity(order, in: customer, property: try shop.property("Customers/Orders"))
        for function in Self.functions {
            #expect(try await Self.keys(shop, "Customers?$filter=\(function)").isEmpty, "\(function)")
        }
        let again = try await shop.one("Customers", 1)
        #expect(again.state == .clean && !again.isLocal)
        try await shop.service.loadEntity(order)
        #expect(order.state == .pending && order.isLocal)
    }

    @Test(arguments: Client.offline)
    func `a rejected order is in error, and its customer is not`(_ client: Client) async throws {
        let shop = try await Shop(client)
        let store = try #require(shop.store)
        let wrong = try shop.new("Orders", ["CustomerID": .integer(400), "Note": .string("wrong")])
        try await shop.service.createEntity(wrong)
        try await store.upload()
        let notes = try await shop.service.executeQuery(DataQuery().withURL("Orders?$filter=sap.inerrorstate()"))
        #expect(notes.entityList().map { $0["Note"] } == [.string("wrong")])
        #expect(try await Self.keys(shop, "Customers?$filter=sap.inerrorstate()").isEmpty)
        let all = try await shop.service.executeQuery(DataQuery().withURL("Orders")).entityList()
        let others = try await shop.service.executeQuery(DataQuery().withURL("Orders?$filter=not sap.inerrorstate()"))
        #expect(others.entityList().count == all.count - 1)
    }

    @Test(arguments: Client.offline)
    func `a moved order is local, and its customers are not`(_ client: Client) async throws {
        let shop = try await Shop(client)
        let order = try await shop.one("Orders", 1)
        try await shop.service.updateLink(
            from: order, property: try shop.property("Orders/Customer"), to: try await shop.one("Customers", 2))
        for function in Self.functions {
            #expect(try await Self.keys(shop, "Customers?$filter=\(function)").isEmpty, "\(function)")
            #expect(try await Self.keys(shop, "Orders?$filter=\(function)") == [1], "\(function)")
        }
    }

    @Test(arguments: Client.offline)
    func `a link created from the customer makes the order local, which stores the link`(_ client: Client) async throws
    {
        let shop = try await Shop(client)
        let moved = try await shop.one("Orders", 1)
        try await shop.service.createLink(
            from: try await shop.one("Customers", 2), property: try shop.property("Customers/Orders"), to: moved)
        #expect(try await Self.keys(shop, "Orders?$filter=sap.islocal()") == [1])
        #expect(try await Self.keys(shop, "Customers?$filter=sap.islocal()").isEmpty)
    }

    @Test(arguments: Client.offline)
    func `a link is in error because of its own operation, not because of one on its target`(_ client: Client)
        async throws
    {
        let shop = try await Shop(client)
        let store = try #require(shop.store)
        let order = try await shop.one("Orders", 1)
        // The service rejects the change of the order. The later link is a draft and is not sent.
        order["Note"] = .string("refused")
        shop.transport.add(
            Fault(.refuse(status: 400), times: 1, method: client.dialect == .v2 ? "MERGE" : "PATCH", part: .any))
        try await shop.service.updateEntity(order)
        let report = try await store.upload()
        #expect(report.rejected.count == 1)
        try await shop.service.updateLink(
            from: order, property: try shop.property("Orders/Customer"), to: try await shop.one("Customers", 2),
            options: RequestOptions(delivery: .draft))
        let links = client.dialect == .v2 ? "$links/Orders" : "Orders/$ref"
        #expect(try await Self.links(shop, "Customers(2)/\(links)?$filter=sap.inerrorstate()").isEmpty)
        #expect(try await Self.links(shop, "Customers(2)/\(links)?$filter=sap.islocal()") == ["Orders(1)"])
        #expect(try await Self.keys(shop, "Orders?$filter=sap.inerrorstate()") == [1])
    }

    private static func links(_ shop: Shop, _ url: String) async throws -> [String] {
        try await shop.service.executeQuery(DataQuery().withURL(url)).entityList().compactMap(\.readLink)
    }

    // MARK: The error archive and the queue

    @Test(arguments: Client.offline)
    func `the error archive expands and filters by the affected entity`(_ client: Client) async throws {
        let shop = try await Shop(client)
        let store = try #require(shop.store)
        for (note, customer) in [("first", 400), ("second", 401)] {
            let order = try shop.new("Orders", ["CustomerID": .integer(Int64(customer)), "Note": .string(note)])
            try await shop.service.createEntity(order)
        }
        try await store.upload()
        let all = try await shop.service.entities(
            OfflineODataErrorArchiveEntity.self, in: "ErrorArchive",
            DataQuery().withURL("ErrorArchive?$expand=AffectedEntity"))
        #expect(all.map { $0.affectedEntity?["Note"] } == [.string("first"), .string("second")])
        #expect(all.allSatisfy { $0.requestState == "rejected" && $0.requestID != nil })
        let found = try await shop.service.executeQuery(
            DataQuery().withURL("ErrorArchive?$filter=AffectedEntity/Note eq 'second'")
        ).entityList()
        #expect(found.count == 1 && found.first is OfflineODataErrorArchiveEntity)
        let queued = try await shop.service.executeQuery(
            DataQuery().withURL("RequestQueue?$filter=AffectedEntity/Name eq 'nobody'"))
        #expect(queued.entityList().isEmpty)
        let archived = try #require(found.first)
        try await shop.service.loadProperty(OfflineODataErrorArchiveEntity.affectedEntity.property, into: archived)
        #expect(
            archived.relatedEntity(OfflineODataErrorArchiveEntity.affectedEntity.property)?["Note"] == .string("second")
        )
    }

    @Test(arguments: Client.offline)
    func `the queue expands the dependent requests of a request`(_ client: Client) async throws {
        let shop = try await Shop(client)
        let order = try shop.new("Orders", ["CustomerID": .integer(400), "Note": .string("wrong")])
        try await shop.service.createEntity(order)
        try await #require(shop.store).upload()
        order["Note"] = .string("later")
        try await shop.service.updateEntity(order)
        let first = try #require(
            try await shop.service.entities(
                OfflineODataRequestQueueEntity.self, in: "RequestQueue",
                DataQuery().withURL("RequestQueue?$expand=DependentRequests&$orderby=RequestID")
            ).first)
        #expect(first.dependentRequests.count == 1)
        #expect(first.dependentRequests.first?.action == "update")
    }
}
