import ODataSandbox
import TestSupport
import Testing
import Tidelog

/// Change sets with queries between them, in one call.
@Suite struct RequestBatchTests {
    @Test(arguments: Client.all)
    func `a query of a batch sees the change sets before it, and not those after it`(
        _ client: Client
    ) async throws {
        let shop = try await Shop(client)
        let batch = RequestBatch()
        let before = batch.addQuery(DataQuery().from(try shop.set("Customers")))
        let changes = ChangeSet()
        changes.createEntity(try shop.new("Customers", ["Name": .string("in between")]))
        batch.addChanges(changes)
        let after = batch.addQuery(DataQuery().from(try shop.set("Customers")))
        try await shop.service.processBatch(batch)
        #expect(try batch.queryResult(before).entityList().count == 3)
        #expect(try batch.queryResult(after).entityList().count == 4)
        #expect(changes.isApplied)
    }

    @Test(arguments: Client.online)
    func `an online batch is one request`(_ client: Client) async throws {
        let shop = try await Shop(client)
        shop.transport.forgetRequests()
        let batch = RequestBatch()
        for name in ["first", "second"] {
            let changes = ChangeSet()
            changes.createEntity(try shop.new("Customers", ["Name": .string(name)]))
            batch.addChanges(changes)
        }
        let query = batch.addQuery(DataQuery().from(try shop.set("Customers")))
        try await shop.service.processBatch(batch)
        #expect(shop.transport.requests.filter { $0.method == "POST" }.map(\.url).count == 1)
        #expect(try batch.queryResult(query).entityList().count == 5)
    }

    @Test(arguments: Client.all)
    func `a change set may refer to entities that an earlier one created`(_ client: Client) async throws {
        let shop = try await Shop(client)
        let customer = try shop.new("Customers", ["Name": .string("parent")])
        let first = ChangeSet()
        first.createEntity(customer)
        let second = ChangeSet()
        let order = try shop.new("Orders", ["Note": .string("child")])
        second.createRelatedEntity(order, in: customer, property: try shop.property("Customers/Orders"))
        let batch = RequestBatch()
        batch.addChanges(first)
        batch.addChanges(second)
        try await shop.service.processBatch(batch)
        #expect(try await shop.areLinked(order, "Customer", customer, "Orders"))
    }

    @Test(arguments: Client.all)
    func `a refused change set leaves the earlier one in place and states the reason`(_ client: Client) async throws {
        let shop = try await Shop(client)
        let good = ChangeSet()
        good.createEntity(try shop.new("Customers", ["Name": .string("good")]))
        let bad = ChangeSet()
        bad.createEntity(try shop.new("Customers", ["Name": .string("half")]))
        // A car must have an owner.
        bad.createEntity(try shop.new("Cars", ["Model": .string("alone")]))
        let batch = RequestBatch()
        batch.addChanges(good)
        batch.addChanges(bad)
        await #expect(throws: TidelogError.self) { try await shop.service.processBatch(batch) }
        #expect(good.isApplied)
        #expect(!bad.isApplied)
        #expect(try await shop.fetch("Customers").count == 4)
        #expect(try await shop.fetch("Cars").count == 2)
    }
}
