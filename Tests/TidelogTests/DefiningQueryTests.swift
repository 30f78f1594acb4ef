import Testing
import Tidelog

/// API samples of defining queries, and the resulting content of the store.
@Suite struct DefiningQueryTests {
    private static func query(_ name: String, _ text: String) -> OfflineODataDefiningQuery {
        OfflineODataDefiningQuery(name: name, query: text, automaticallyRetrievesStreams: false)
    }

    @Test(arguments: Client.offline)
    func `the sample of defining queries filters, expands and constrains`(_ client: Client) async throws {
        let shop = try await Shop(
            client,
            queries: [
                Self.query("Customers_1", "/Customers?$filter=CustomerID eq 1"),
                Self.query("Orders_1", "/Orders?$filter=CustomerID eq 1"),
                Self.query("Suppliers", "/Suppliers?$filter=SupplierID eq 1&$expand=Products"),
                Self.query("Car", "/Cars(2)"),
            ])
        let store = try #require(shop.store)
        #expect(
            try await store.getDefiningQueries().map(\.name).sorted() == [
                "Car", "Customers_1", "Orders_1", "Suppliers",
            ])
        let customer = try await shop.first("Customers")
        #expect(try await shop.fetch("Customers").count == 1)
        #expect(try await shop.related(customer, "Orders").count == 2)
        let supplier = try await shop.first("Suppliers")
        #expect(try await shop.related(supplier, "Products").count == 2)
        #expect(try await shop.fetch("Products").count == 2)
        #expect(try await shop.fetch("Cars").map { $0["CarID"] } == [.integer(2)])
        #expect(try await shop.fetch("Owners").isEmpty)
    }

    @Test(arguments: Client.offline)
    func `a query can be added and removed while the store is open`(_ client: Client) async throws {
        let shop = try await Shop(client, queries: [Self.query("Customers", "/Customers")])
        let store = try #require(shop.store)
        try await store.add(definingQuery: Self.query("Orders", "Orders?$filter=OrderID le 2"))
        try await store.download(withSubset: ["Orders"])
        #expect(try await shop.fetch("Orders").count == 2)
        // A query with the same name replaces the previous one.
        try await store.add(definingQuery: Self.query("Orders", "Orders?$filter=OrderID eq 3"))
        try await store.download()
        #expect(try await shop.fetch("Orders").map { $0["OrderID"] } == [.integer(3)])
        try await store.remove(definingQuery: "Orders")
        #expect(try await shop.fetch("Orders").isEmpty)
        #expect(try await store.getDefiningQueries().map(\.name) == ["Customers"])
        await #expect(throws: TidelogError.self) { try await store.remove(definingQuery: "Orders") }
    }

    @Test(arguments: Client.offline)
    func `an entity that two queries deliver is kept until neither delivers it`(_ client: Client) async throws {
        let shop = try await Shop(
            client,
            queries: [
                Self.query("low", "/Orders?$filter=OrderID le 3"), Self.query("high", "/Orders?$filter=OrderID ge 3"),
            ])
        let store = try #require(shop.store)
        try await store.remove(definingQuery: "low")
        #expect(try await shop.fetch("Orders").map { $0["OrderID"] } == [.integer(3), .integer(4)])
    }

    @Test(arguments: Client.offline)
    func `a query of an unknown set is refused when it is added`(_ client: Client) async throws {
        let shop = try await Shop(client, queries: [])
        let store = try #require(shop.store)
        for text in ["/Nothing", "/Customers?$filter=Nothing eq 1", "/Customers(1)/Name", "", "/$metadata"] {
            await #expect(throws: TidelogError.self, "\(text)") {
                try await store.add(definingQuery: Self.query("wrong", text))
            }
        }
        #expect(try await store.getDefiningQueries().isEmpty)
    }

    @Test(arguments: Client.offline)
    func `a download removes deleted entities and keeps pending changes`(
        _ client: Client
    ) async throws {
        let shop = try await Shop(client)
        let store = try #require(shop.store)
        let mine = try await shop.one("Orders", 3)
        mine["Note"] = .string("mine")
        try await shop.service.updateEntity(mine)
        let new = try shop.new("Customers", ["Name": .string("new here")])
        try await shop.service.createEntity(new)

        try await shop.server.deleteEntity(
            try await shop.server.executeQuery(
                DataQuery().withURL("Orders(4)")
            ).requiredEntity())
        let theirs = try await shop.server.executeQuery(DataQuery().withURL("Orders(2)")).requiredEntity()
        theirs["Note"] = .string("theirs")
        try await shop.server.updateEntity(theirs)

        try await store.download()
        let notes = try await shop.fetch("Orders").map { $0["Note"] }
        #expect(notes == ["engine parts", "theirs", "mine"].map { .string($0) })
        #expect(try await shop.fetch("Customers").count == 4)
        try await shop.synchronize()
    }

    @Test(arguments: Client.offline)
    func `a download follows the pages of the service`(_ client: Client) async throws {
        let shop = try await Shop(client, queries: [Self.query("Orders", "/Orders")])
        let store = try #require(shop.store)
        shop.setPageSize(1)
        let report = try await store.download()
        #expect(report.pages == 4)
        #expect(report.entities == 4)
        #expect(try await shop.fetch("Orders").count == 4)
    }

    @Test(arguments: Client.offline)
    func `a store opens without a network and has the same content`(_ client: Client) async throws {
        let shop = try await Shop(client)
        let store = try #require(shop.store)
        try await shop.service.createEntity(try shop.new("Customers", ["Name": .string("kept")]))
        let digest = try await store.stateDigest()
        await store.close()
        let again = OfflineODataProvider(parameters: OfflineODataParameters(storePath: store.parameters.storePath))
        try await again.open()
        #expect(try await again.stateDigest() == digest)
        #expect(try await again.hasPendingUpload)
        await again.close()
    }
}
