import ODataSandbox
import TestSupport
import Testing
import Tidelog

/// CS-05: flags of each kind of change. QY-14: conditions on relatives with changes.
@Suite struct EntityFlagTests {
    @Test(arguments: Client.offline)
    func `CS-05: the flags follow an entity from its creation to its deletion`(_ client: Client) async throws {
        let shop = try await Shop(client)
        let store = try #require(shop.store)
        let order = try shop.new("Orders", ["Note": .string("new")])
        #expect(order.isNew && !order.isCreated && !order.isUpdated && !order.isDeleted && !order.hasError)
        try await shop.service.createEntity(order)
        #expect(!order.isNew && order.isCreated && order.isLocal && !order.isUpdated)
        try await store.upload()
        try await shop.service.loadEntity(order)
        #expect(!order.isNew && !order.isCreated && !order.isLocal && !order.isUpdated && !order.isDraft)
        order["Note"] = .string("changed")
        try await shop.service.updateEntity(order)
        #expect(order.isUpdated && order.isLocal && !order.isCreated)
        try await shop.service.deleteEntity(order)
        #expect(order.isDeleted && !order.isUpdated)
    }

    @Test(arguments: Client.offline)
    func `CS-05: an entity with a rejected creation is created and has an error`(_ client: Client) async throws {
        let shop = try await Shop(client)
        let store = try #require(shop.store)
        let wrong = try shop.new("Orders", ["CustomerID": .integer(400), "Note": .string("wrong")])
        try await shop.service.createEntity(wrong)
        try await store.upload()
        try await shop.service.loadEntity(wrong)
        #expect(wrong.hasError && wrong.isCreated && wrong.isLocal)
    }

    @Test(arguments: Client.offline)
    func `QY-14: entities with local relatives and with relatives that have pending changes are found`(
        _ client: Client
    ) async throws {
        let shop = try await Shop(client)
        let store = try #require(shop.store)
        func found(_ set: String, _ filter: QueryFilter) async throws -> [Value] {
            try await shop.fetch(set, matching: DataQuery().filter(filter)).compactMap { $0.key?.values.first?.value }
        }
        #expect(try await found("Customers", .hasLocalRelatives).isEmpty)
        let order = try await shop.one("Orders", 1)
        order["Note"] = .string("changed")
        try await shop.service.updateEntity(order)
        let customer = try #require(order["CustomerID"])
        #expect(try await found("Customers", .hasLocalRelatives) == [customer])
        #expect(try await found("Customers", .hasRelativesWithPendingChanges) == [customer])
        #expect(try await found("Customers", .hasPendingChanges).isEmpty)
        #expect(try await found("Orders", .hasRelativesWithPendingChanges).isEmpty)
        let others = try await shop.fetch("Customers").count
        #expect(try await found("Customers", !.hasRelativesWithPendingChanges).count == others - 1)
        let url = DataQuery().withURL("Customers?$filter=sap.hasRelativesWithPendingChanges() and Name ne null&$top=5")
        #expect(try await shop.service.executeQuery(url).entityList().count == 1)
        try await store.upload()
        #expect(try await found("Customers", .hasRelativesWithPendingChanges).isEmpty)
    }

    @Test(arguments: Client.offline)
    func `QY-14: a live query follows the relatives of its entities`(_ client: Client) async throws {
        let shop = try await Shop(client)
        var results = try shop.service.observe(
            DataQuery().from(try shop.set("Customers")).filter(.hasRelativesWithPendingChanges)
        ).makeAsyncIterator()
        #expect(try await results.next()?.result.entityList().isEmpty == true)
        let order = try await shop.one("Orders", 1)
        order["Note"] = .string("changed")
        try await shop.service.updateEntity(order)
        #expect(try await results.next()?.result.entityList().count == 1)
    }
}
