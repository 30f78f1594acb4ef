import ODataSandbox
import TestSupport
import Testing
import Tidelog

/// `$all` and `$crossjoin`, which combine entity sets. They belong to V4.
@Suite struct MixedQueryTests {
    private let online = Client(dialect: .v4, isOnline: true)

    private func read(_ url: String, _ shop: Shop) async throws -> QueryResult {
        try await shop.service.executeQuery(DataQuery().withURL(url))
    }

    @Test func `the path $all returns the entities of all sets with their types`() async throws {
        let shop = try await Shop(online)
        let all = try await read("$all", shop).entityList()
        let types = Dictionary(grouping: all, by: \.entityType.localName).mapValues(\.count)
        #expect(types["Customer"] == 3)
        #expect(types["Order"] == 4)
        #expect(types["Photo"] == 1)
        let order = try #require(all.first { $0.readLink == "Orders(1)" })
        #expect(order.entitySet?.name == "Orders")
        #expect(order["Note"] == .string("engine parts"))
    }

    @Test func `an entity of $all can be changed like any other`() async throws {
        let shop = try await Shop(online)
        let order = try #require(try await read("$all", shop).entityList().first { $0.readLink == "Orders(1)" })
        order["Note"] = .string("from all")
        try await shop.service.updateEntity(order)
        #expect(shop.transport.sandbox.stateText(of: ["Orders"]).contains("from all"))
    }

    @Test func `the path $crossjoin returns the combinations that match, with links to their entities`() async throws {
        let shop = try await Shop(online)
        let url = "$crossjoin(Customers,Orders)?$filter=Customers/CustomerID eq Orders/CustomerID"
        let result = try await read(url, shop)
        #expect(result.entityList().isEmpty)
        let links = result.joinedEntities.map { [$0["Customers"]?.readLink, $0["Orders"]?.readLink] }
        #expect(
            links == [
                ["Customers(1)", "Orders(1)"], ["Customers(1)", "Orders(2)"], ["Customers(2)", "Orders(3)"],
            ])
    }

    @Test func `the path $crossjoin with $expand returns the entities themselves`() async throws {
        let shop = try await Shop(online)
        let url =
            "$crossjoin(Customers,Orders)?$expand=Customers,Orders&$top=1&$orderby=Orders/Amount desc"
            + "&$filter=Customers/CustomerID eq Orders/CustomerID"
        let row = try #require(try await read(url, shop).joinedEntities.first)
        #expect(row["Customers"]?["Name"] == .string("Ada Lovelace"))
        #expect(row["Orders"]?["Note"] == .string("engine parts"))
        #expect(row["Orders"]?.entitySet?.name == "Orders")
    }

    @Test(arguments: Client.online.filter { $0.dialect == .v2 })
    func `V2 has neither, and nothing is sent`(_ client: Client) async throws {
        let shop = try await Shop(client)
        shop.transport.forgetRequests()
        for url in ["$all", "$crossjoin(Customers,Orders)"] {
            try await shop.expectRefusal(.invalidRequest) { _ = try await read(url, shop) }
        }
        #expect(shop.transport.requests.isEmpty)
    }
}
