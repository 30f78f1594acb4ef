import Testing
import Tidelog

/// Comparisons and functions of the query builder, on known rows.
@Suite struct QueryTests {
    /// A condition, and the keys of the matching entities.
    struct Case: Sendable, CustomTestStringConvertible {
        let name: String
        let set: String
        let keys: [Int]
        let filter: @Sendable (Shop) throws -> QueryFilter

        init(_ name: String, _ set: String, _ keys: [Int], _ filter: @escaping @Sendable (Shop) throws -> QueryFilter) {
            self.name = name
            self.set = set
            self.keys = keys
            self.filter = filter
        }

        var testDescription: String { name }
    }

    static let cases: [Case] = [
        Case("equal", "Customers", [1]) { try $0.property("Customers/Name").equal("Ada Lovelace") },
        Case("equal with a quotation mark", "Customers", [3]) {
            try $0.property("Customers/Name").equal("O'Neil & Söhne")
        },
        Case("notEqual", "Customers", [2, 3]) { try $0.property("Customers/Name").notEqual("Ada Lovelace") },
        Case("greaterThan", "Orders", [1, 2]) { try $0.property("Orders/Quantity").greaterThan(2) },
        Case("greaterEqual", "Orders", [1, 2, 4]) { try $0.property("Orders/Quantity").greaterEqual(2) },
        Case("lessThan", "Orders", [3]) { try $0.property("Orders/Quantity").lessThan(2) },
        Case("lessEqual", "Orders", [3, 4]) { try $0.property("Orders/Quantity").lessEqual(2) },
        Case("an Int64 beyond the precision of a double", "Orders", [3]) {
            try $0.property("Orders/Total").equal(9_007_199_254_740_993)
        },
        Case("Int64 one below", "Orders", []) { try $0.property("Orders/Total").equal(9_007_199_254_740_992) },
        Case("decimal of another scale", "Orders", [3]) {
            try $0.property("Orders/Amount").equal(#require(DecimalValue("11.8")))
        },
        Case("decimal from an integer", "Orders", [1]) { try $0.property("Orders/Amount").greaterThan(100) },
        Case("isNull", "Orders", [4]) { try $0.property("Orders/CustomerID").isNull() },
        Case("isNotNull", "Orders", [1, 2, 3]) { try $0.property("Orders/CustomerID").isNotNull() },
        Case("notEqual takes null along", "Orders", [3, 4]) { try $0.property("Orders/CustomerID").notEqual(1) },
        Case("greaterThan leaves null out", "Orders", [1, 2, 3]) {
            try $0.property("Orders/CustomerID").greaterThan(0)
        },
        Case("not", "Orders", [1, 2]) { try $0.property("Orders/Quantity").lessEqual(2).not() },
        Case("and", "Orders", [4]) { shop in
            let quantity = try shop.property("Orders/Quantity")
            return quantity.greaterThan(1) && quantity.lessThan(3)
        },
        Case("or", "Orders", [2, 3]) { shop in
            let quantity = try shop.property("Orders/Quantity")
            return quantity.greaterThan(3) || quantity.lessThan(2)
        },
        Case("or within and", "Orders", [3]) { shop in
            let quantity = try shop.property("Orders/Quantity")
            let id = try shop.property("Orders/OrderID")
            return (quantity.equal(1) || quantity.equal(2)) && !id.equal(4)
        },
        Case("contains", "Customers", [2]) { try $0.property("Customers/Name").contains("Hop") },
        Case("contains minds the case", "Customers", []) { try $0.property("Customers/Name").contains("hop") },
        Case("contains of a quotation mark", "Customers", [3]) { try $0.property("Customers/Name").contains("O'N") },
        Case("contains of what LIKE would take for a wildcard", "Customers", []) {
            try $0.property("Customers/Name").contains("%")
        },
        Case("startsWith", "Customers", [1]) { try $0.property("Customers/Name").startsWith("Ada") },
        Case("endsWith", "Customers", [3]) { try $0.property("Customers/Name").endsWith("Söhne") },
        Case("toLower", "Customers", [2]) { try $0.property("Customers/Name").toLower().equal("grace hopper") },
        Case("toUpper", "Customers", [1]) { try $0.property("Customers/Name").toUpper().startsWith("ADA") },
        Case("length", "Customers", [1, 2]) { try $0.property("Customers/Name").length().equal(12) },
        Case("trim", "Customers", [1]) { try $0.property("Customers/Name").trim().equal("Ada Lovelace") },
        Case("property against property", "Orders", []) { shop in
            try shop.property("Orders/Note").equal(try shop.property("Orders/Note")).not()
        },
        Case("year", "Orders", [1, 2, 3, 4]) { try $0.property("Orders/PlacedAt").year().equal(2024) },
        Case("month", "Orders", [3]) { try $0.property("Orders/PlacedAt").month().equal(3) },
        Case("day", "Orders", [2]) { try $0.property("Orders/PlacedAt").day().equal(29) },
        Case("round", "Products", [1]) { try $0.property("Products/Price").round().equal(50) },
        Case("a point in time", "Orders", [3, 4]) { shop in
            let moment = try #require(GlobalDateTime("2024-03-01T00:00:00Z"))
            return try shop.property("Orders/PlacedAt").greaterThan(moment)
        },
        Case("a point in time in another zone", "Orders", [3]) { shop in
            let moment = try #require(GlobalDateTime("2024-03-10T06:00:00Z"))
            return try shop.property("Orders/PlacedAt").equal(moment)
        },
    ]

    @Test(arguments: Client.all)
    func `each comparison and function finds the expected rows`(_ client: Client) async throws {
        let shop = try await Shop(client)
        for item in Self.cases {
            let key = try #require(try shop.set(item.set).entityType.keyProperties.first)
            do {
                let found = try await shop.fetch(item.set, matching: DataQuery().filter(try item.filter(shop)))
                let keys = found.compactMap { key.optionalInt(from: $0) }.sorted()
                #expect(keys == item.keys, "\(item.name)")
            } catch {
                Issue.record("\(item.name): \(error)")
            }
        }
    }

    @Test(arguments: Client.offline)
    func `a filter finds entities that were created and changed locally`(_ client: Client) async throws {
        let shop = try await Shop(client)
        let name = try shop.property("Customers/Name")
        try await shop.service.createEntity(try shop.new("Customers", ["Name": .string("Zoe")]))
        let ada = try await shop.one("Customers", 1)
        ada["Name"] = .string("Zelda")
        try await shop.service.updateEntity(ada)
        let query = DataQuery().filter(name.startsWith("Z")).orderBy(name)
        #expect(
            try await shop.fetch("Customers", matching: query).map { $0["Name"] }
                == ["Zelda", "Zoe"].map { .string($0) })
        let gone = DataQuery().filter(name.startsWith("Ada"))
        #expect(try await shop.fetch("Customers", matching: gone).isEmpty)
    }

    @Test(arguments: Client.all)
    func `the sample of an entity list selects and orders with the dynamic API`(_ client: Client) async throws {
        let shop = try await Shop(client)
        let customers = try shop.service.entitySet(withName: "Customers")
        let type = customers.entityType
        let customerID = try type.property(withName: "CustomerID")
        let name = try type.property(withName: "Name")
        let query = DataQuery().select(customerID, name).from(customers).orderBy(name)
        let found = try await shop.service.executeQuery(query).entityList()
        #expect(try found.map { try name.stringValue(from: $0) } == ["Ada Lovelace", "Grace Hopper", "O'Neil & Söhne"])
        #expect(found.allSatisfy { $0["Rating"] == nil })
    }

    @Test(arguments: Client.all)
    func `skip and top return a part of an ordered result, and the count ignores them`(_ client: Client) async throws {
        let shop = try await Shop(client)
        let id = try shop.property("Orders/OrderID")
        let query = DataQuery().from(try shop.set("Orders")).orderBy(id, .descending).skip(1).top(2).inlineCount()
        let result = try await shop.service.executeQuery(query)
        #expect(result.entityList().map { id.optionalInt(from: $0) } == [3, 2])
        #expect(result.count == 4)
    }

    @Test(arguments: Client.all)
    func `two filters of a query are combined with and, and two orders apply in sequence`(_ client: Client) async throws
    {
        let shop = try await Shop(client)
        let customer = try shop.property("Orders/CustomerID")
        let quantity = try shop.property("Orders/Quantity")
        let query = DataQuery().filter(customer.isNotNull()).filter(quantity.greaterThan(1))
            .orderBy(customer).orderBy(quantity, .descending)
        let found = try await shop.fetch("Orders", matching: query)
        #expect(found.map { $0["OrderID"] } == [.integer(2), .integer(1)])
    }

    @Test(arguments: Client.all)
    func `expand reads related entities`(_ client: Client) async throws {
        let shop = try await Shop(client)
        let orders = try shop.property("Customers/Orders")
        let customer = try shop.property("Orders/Customer")
        let ada = try await shop.first("Customers", matching: DataQuery().top(1).expand(orders))
        #expect(ada.isLoaded(orders))
        #expect(orders.entityList(from: ada).map { $0["OrderID"] } == [.integer(1), .integer(2)])
        let order = try await shop.first("Orders", matching: DataQuery().expand(customer))
        #expect(customer.entityValue(from: order)?["Name"] == .string("Ada Lovelace"))
        let free = try await shop.first(
            "Orders", matching: DataQuery().filter(try shop.property("Orders/OrderID").equal(4)).expand(customer))
        #expect(customer.entityValue(from: free) == nil)
    }

    @Test(arguments: Client.all.filter { $0.dialect == .v4 })
    func `V4 expansions may have filters`(_ client: Client) async throws {
        let shop = try await Shop(client)
        let nested = DataQuery().filter(try shop.property("Orders/Quantity").greaterThan(5))
        let orders = try shop.property("Customers/Orders")
        let ada = try await shop.first("Customers", matching: DataQuery().expand(orders, with: nested))
        #expect(ada.relatedEntities(orders).map { $0["OrderID"] } == [.integer(2)])
    }

    @Test(arguments: Client.all)
    func `the sample of loadProperty reads a navigation property`(_ client: Client) async throws {
        let shop = try await Shop(client)
        let orders = try shop.property("Customers/Orders")
        let customer = try await shop.first("Customers")
        #expect(!customer.isLoaded(orders))
        try await shop.service.loadProperty(orders, into: customer)
        #expect(customer.relatedEntities(orders).count == 2)
        let owner = try await shop.first("Owners")
        let car = try shop.property("Owners/Car")
        try await shop.service.loadProperty(car, into: owner)
        #expect(owner.relatedEntity(car)?["Model"] == .string("Motorwagen"))
    }

    @Test(arguments: Client.all)
    func `the sample of loadProperty reads an entity by its key properties`(_ client: Client) async throws {
        let shop = try await Shop(client)
        let name = try shop.property("Customers/Name")
        let orders = try shop.property("Customers/Orders")
        let customer = try shop.new("Customers", ["CustomerID": .integer(2)])
        try await shop.service.loadProperty(name, into: customer)
        try await shop.service.loadProperty(orders, into: customer)
        #expect(customer["Name"] == .string("Grace Hopper"))
        #expect(customer.relatedEntities(orders).map { $0["OrderID"] } == [.integer(3)])
    }

    @Test(arguments: Client.all)
    func `withURL accepts the URL of a service`(_ client: Client) async throws {
        let shop = try await Shop(client)
        let query = DataQuery().withURL("Customers?$filter=startswith(Name,'A')&$expand=Orders&$orderby=Name desc")
        let found = try await shop.service.executeQuery(query).entityList()
        #expect(found.map { $0["CustomerID"] } == [.integer(1)])
        #expect(found.first?.relatedEntities(try shop.property("Customers/Orders")).count == 2)
        let below = try await shop.service.executeQuery(DataQuery().withURL("Customers(1)/Orders?$top=1"))
        #expect(below.entityList().count == 1)
    }

    @Test(arguments: Client.all)
    func `a missing entity is an error for a single result, and an empty list otherwise`(_ client: Client) async throws
    {
        let shop = try await Shop(client)
        let id = try shop.property("Customers/CustomerID")
        let query = DataQuery().from(try shop.set("Customers")).filter(id.equal(99))
        let result = try await shop.service.executeQuery(query)
        #expect(result.optionalEntity() == nil)
        do {
            _ = try result.requiredEntity()
            Issue.record("There is no such entity.")
        } catch {
            #expect(error.code == .notFound)
        }
        await #expect(throws: TidelogError.self) {
            try await shop.service.loadEntity(try shop.new("Customers", ["CustomerID": .integer(99)]))
        }
    }
}
