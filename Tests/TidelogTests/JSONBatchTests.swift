import ODataSandbox
import ODataWire
import TestSupport
import Testing
import Tidelog

/// Batches of V4 in the JSON format, end to end.
@Suite struct JSONBatchTests {
    private func shop(_ client: Client) async throws -> Shop {
        try await Shop(client, options: ServiceOptions(batchFormat: .json))
    }

    private static let offline = Client.offline.filter { $0.dialect == .v4 }
    private static let all = Client.all.filter { $0.dialect == .v4 }

    /// Returns the bodies of the batch requests.
    private func batches(_ shop: Shop) -> [String] {
        shop.transport.requests.filter { $0.url.hasSuffix("$batch") }.map { String(decoding: $0.body, as: UTF8.self) }
    }

    @Test(arguments: offline)
    func `a parent with two children, an update and a delete are carried out`(_ client: Client) async throws {
        let shop = try await shop(client)
        let changes = ChangeSet()
        let customer = try shop.new("Customers", ["Name": .string("parent")])
        changes.createEntity(customer)
        for note in ["a", "b"] {
            changes.createRelatedEntity(
                try shop.new("Orders", ["Note": .string(note)]), in: customer,
                property: try shop.property("Customers/Orders"))
        }
        try await shop.service.applyChanges(changes)
        let order = try await shop.one("Orders", 1)
        order["Note"] = .string("changed")
        try await shop.service.updateEntity(order)
        try await shop.service.deleteEntity(try await shop.one("Orders", 3))
        shop.transport.forgetRequests()
        try await shop.synchronize()
        #expect(shop.serverLinks("Customers").hasSuffix("Customers(4)\n  Orders: Orders(5), Orders(6)\n"))
        let sent = batches(shop)
        #expect(sent.count == 1)
        #expect(sent.allSatisfy { $0.hasPrefix("{\"requests\":[{\"id\":\"1\",\"atomicityGroup\":\"g1\"") })
        #expect(sent.joined().contains("\"if-match\""))
    }

    @Test(arguments: offline)
    func `a rejected change set leaves the service unchanged, and the others are carried out`(_ client: Client)
        async throws
    {
        let shop = try await shop(client)
        let order = try await shop.one("Orders", 1)
        shop.transport.change { sandbox in
            let url = "/v4/Orders(1)"
            let patch = WireRequest(
                method: "PATCH", url: url, headers: ["If-Match": "*", "Content-Type": "application/json"],
                body: Array(#"{"Note":"theirs"}"#.utf8))
            #expect(sandbox.handle(patch).status == 204)
        }
        let changes = ChangeSet()
        order["Note"] = .string("mine")
        changes.updateEntity(order)
        changes.createEntity(try shop.new("Customers", ["Name": .string("not alone")]))
        try await shop.service.applyChanges(changes)
        try await shop.service.createEntity(try shop.new("Suppliers", ["Name": .string("arrives")]))
        let store = try #require(shop.store)
        let report = try await store.upload()
        #expect(report.inDoubt.isEmpty)
        #expect(report.conflicts.count == 1 && report.rejected.isEmpty)
        let state = shop.serverState()
        #expect(state.contains("theirs"))
        #expect(!state.contains("mine"))
        #expect(!state.contains("not alone"))
        #expect(state.contains("arrives"))
    }

    @Test(arguments: all)
    func `a query between change sets sees the previous ones`(_ client: Client) async throws {
        let shop = try await shop(client)
        let batch = RequestBatch()
        let first = ChangeSet()
        first.createEntity(try shop.new("Customers", ["Name": .string("first")]))
        batch.addChanges(first)
        let between = batch.addQuery(DataQuery().from(try shop.set("Customers")))
        let second = ChangeSet()
        second.createEntity(try shop.new("Customers", ["Name": .string("second")]))
        batch.addChanges(second)
        shop.transport.forgetRequests()
        try await shop.service.processBatch(batch)
        #expect(try batch.queryResult(between).entityList().count == 4)
        if client.isOnline { #expect(batches(shop).count == 1) }
        try await shop.synchronize()
        #expect(try await shop.fetch("Customers").count == 5)
    }

    @Test(arguments: all.filter(\.isOnline))
    func `an online change set that is rejected stops the later ones with a reason`(_ client: Client) async throws {
        let shop = try await shop(client)
        let before = shop.serverState()
        let bad = ChangeSet()
        bad.createEntity(try shop.new("Cars", ["Model": .string("alone")]))
        let good = ChangeSet()
        good.createEntity(try shop.new("Customers", ["Name": .string("after")]))
        let batch = RequestBatch()
        batch.addChanges(bad)
        batch.addChanges(good)
        await #expect(throws: TidelogError.self) { try await shop.service.processBatch(batch) }
        #expect(!bad.isApplied)
        #expect(!good.isApplied)
        #expect(shop.serverState() == before)
    }

    @Test(arguments: offline)
    func `the plan shows the JSON batch as it will be sent`(_ client: Client) async throws {
        let shop = try await shop(client)
        try await shop.service.createEntity(try shop.new("Customers", ["Name": .string("planned")]))
        let store = try #require(shop.store)
        let planned = try #require(try await store.plannedBatch())
        #expect(planned.headers["Content-Type"] == "application/json")
        shop.transport.forgetRequests()
        try await store.upload()
        #expect(batches(shop) == [String(decoding: planned.body, as: UTF8.self)])
    }
}
