import Testing
import Tidelog

/// AX-01: queries for a number only. AX-11: copies without a key. HX-05: all links of a collection.
@Suite struct CountTests {
    @Test(arguments: Client.all)
    func `count returns the number of matches and no entities, ignoring top and skip`(_ client: Client) async throws {
        let shop = try await Shop(client)
        let quantity = try shop.property("Orders/Quantity")
        let query = DataQuery().from(try shop.set("Orders")).filter(quantity.greaterThan(1)).orderBy(quantity)
        let whole = try await shop.service.executeQuery(query).entityList().count
        let result = try await shop.service.executeQuery(query.top(1).skip(1).count())
        #expect(result.count == whole)
        #expect(result.entityList().isEmpty)
        #expect(whole > 0)
    }

    @Test(arguments: Client.offline)
    func `count of a query with a URL is refused`(_ client: Client) async throws {
        let shop = try await Shop(client)
        let error = await #expect(throws: TidelogError.self) {
            try await shop.service.executeQuery(DataQuery().withURL("Orders").count())
        }
        #expect(error?.code == .invalidRequest)
    }

    @Test(arguments: Client.all)
    func `a copy without key can be created`(_ client: Client) async throws {
        let shop = try await Shop(client)
        let copy = try await shop.first("Orders").copyWithoutKey()
        #expect(copy.key == nil)
        #expect(copy["Note"] == .string("engine parts"))
        let before = try await shop.fetch("Orders").count
        try await shop.service.createEntity(copy)
        #expect(try await shop.fetch("Orders").count == before + 1)
    }

    @Test(arguments: Client.all)
    func `replaceLinks creates and deletes the links that differ`(_ client: Client) async throws {
        let shop = try await Shop(client)
        let customer = try await shop.one("Customers", 1)
        let orders = try shop.property("Customers/Orders")
        let targets = [try await shop.one("Orders", 2), try await shop.one("Orders", 4)]
        try await shop.service.replaceLinks(from: customer, property: orders, with: targets)
        #expect(
            try await shop.related(customer, "Orders").compactMap { $0["OrderID"]?.integerValue }.sorted() == [2, 4])
        if let store = shop.store {
            #expect(try await store.operationStatus().map(\.action) == [.deleteLink, .createLink])
            try await shop.service.replaceLinks(from: customer, property: orders, with: targets)
            #expect(try await store.operationStatus().count == 2)
        }
    }

    @Test(arguments: Client.all)
    func `replaceLinks with an empty list removes all links`(_ client: Client) async throws {
        let shop = try await Shop(client)
        let customer = try await shop.one("Customers", 1)
        try await shop.service.replaceLinks(from: customer, property: try shop.property("Customers/Orders"), with: [])
        #expect(try await shop.related(customer, "Orders").isEmpty)
    }

    @Test(arguments: Client.offline)
    func `replaceLinks refuses a single-valued property, and links that the metadata forbid to delete`(
        _ client: Client
    ) async throws {
        let shop = try await Shop(client)
        let order = try await shop.one("Orders", 1)
        let error = await #expect(throws: TidelogError.self) {
            try await shop.service.replaceLinks(from: order, property: try shop.property("Orders/Customer"), with: [])
        }
        #expect(error?.code == .invalidRequest)
        let father = try await shop.first("Fathers")
        let refused = await #expect(throws: TidelogError.self) {
            try await shop.service.replaceLinks(from: father, property: try shop.property("Fathers/Children"), with: [])
        }
        guard case .refused? = refused?.code else { return #expect(Bool(false), "\(refused.debugDescription)") }
        #expect(try await shop.store?.operationStatus().isEmpty == true)
    }
}
