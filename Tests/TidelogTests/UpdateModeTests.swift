import ODataSandbox
import TestSupport
import Testing
import Tidelog

/// SV-02: an update that merges, or replaces the entity.
@Suite struct UpdateModeTests {
    private let replacing: RequestOptions = {
        var options = RequestOptions()
        options.updateMode = .replace
        return options
    }()

    @Test(arguments: Client.all)
    func `a replacing update overwrites the changes of another client, and a merging update keeps them`(
        _ client: Client
    ) async throws {
        let shop = try await Shop(client)
        for options in [RequestOptions.none, replacing] {
            let theirs = Value.integer(options.updateMode == .merge ? 77 : 78)
            let customer = try await shop.one("Orders", 1)
            let quantity = try #require(customer["Quantity"])
            let other = try await shop.server.executeQuery(DataQuery().withURL("Orders(1)")).requiredEntity()
            other["Quantity"] = theirs
            try await shop.server.updateEntity(other)
            customer["Note"] = .string("mine")
            try await shop.service.updateEntity(customer, headers: ["If-Match": "*"], options: options)
            if let store = shop.store {
                let report = try await store.upload(UploadOptions(conflicts: ConflictHandling(policy: .clientWins)))
                #expect(report.rejected.isEmpty, "\(report.rejected)")
            }
            let result = try await shop.server.executeQuery(DataQuery().withURL("Orders(1)")).requiredEntity()
            #expect(result["Note"] == .string("mine"))
            #expect(result["Quantity"] == (options.updateMode == .merge ? theirs : quantity))
            if let store = shop.store { try await store.download() }
        }
    }

    @Test(arguments: Client.offline)
    func `a replacing update of an entity that was not read is refused if a mandatory property is unset`(
        _ client: Client
    ) async throws {
        let shop = try await Shop(client)
        let customer = try await shop.first("Customers")
        let blank = EntityValue(customer.entityType)
        blank.readLink = customer.readLink
        let error = await #expect(throws: TidelogError.self) {
            try await shop.service.updateEntity(blank, options: replacing)
        }
        #expect(error?.code == .refused(.notAllowed))
        #expect(error?.message.contains("Name") == true)
        #expect(try await shop.store?.requestQueueIsEmpty == true)
    }

    @Test(arguments: Client.offline)
    func `a replacing update logs all writable properties, and null for unset ones`(_ client: Client) async throws {
        let shop = try await Shop(client)
        let store = try #require(shop.store)
        let order = try await shop.one("Orders", 1)
        order.unsetDataValue(for: try shop.property("Orders/Note"))
        try await shop.service.updateEntity(order, options: replacing)
        let batch = String(decoding: try #require(try await store.plannedBatch()).body, as: UTF8.self)
        #expect(batch.contains("\"Note\":null"))
        #expect(batch.contains("\"Quantity\":"))
        #expect(!batch.contains("\"OrderID\":"))
    }

    @Test(arguments: Client.offline)
    func `a replacing update of an entity that was read earlier keeps its links`(_ client: Client) async throws {
        let shop = try await Shop(client)
        let stale = try await shop.one("Orders", 1)
        let customer = try shop.new("Customers", ["Name": .string("New")])
        try await shop.service.createEntity(customer)
        try await shop.service.updateLink(
            from: try await shop.one("Orders", 1), property: try shop.property("Orders/Customer"), to: customer)
        stale["Note"] = .string("mine")
        try await shop.service.updateEntity(stale, options: replacing)
        let linked = try await shop.service.executeQuery(DataQuery().withURL("Orders(1)/Customer")).optionalEntity()
        #expect(linked?.entityID == customer.entityID)
    }
}
