import Testing
import Tidelog

/// Query builder beyond comparisons: aggregates, computed values, lambdas, search and pages.
@Suite struct QueryLanguageTests {
    @Test(arguments: Client.offline)
    func `the sample of the page on queries computes a sum for each name`(_ client: Client) async throws {
        let shop = try await Shop(client)
        let service = shop.service
        let orders = try shop.set("Orders")
        let (customerID, customer) = (try shop.property("Orders/CustomerID"), try shop.property("Orders/Customer"))
        let (amount, name) = (try shop.property("Orders/Amount"), try shop.property("Customers/Name"))

        let query = DataQuery().from(orders).filter(customerID.isNotNull())
            .groupBy([customer.path(name)], amount.sum(as: "Total"), .count(as: "Orders"))
            .orderBy(QueryPath.named("Total"), .descending)
        let result = try await service.executeQuery(query)
        let first = try result.requiredEntity()
        #expect(first["Total"] == .decimal(try #require(DecimalValue("1200.6250"))))
        #expect(first["Orders"] == .decimal(DecimalValue(2)))
        #expect(first["Customer"] == .complex(ComplexValue(properties: ["Name": .string("Ada Lovelace")])))
        #expect(first.readLink == nil)
        #expect(first.entityID == nil)
        #expect(result.entityList().count == 2)
    }

    @Test(arguments: Client.offline)
    func `options before an aggregate restrict its input, and options after it apply to its result`(
        _ client: Client
    ) async throws {
        let shop = try await Shop(client)
        let (quantity, id) = (try shop.property("Orders/Quantity"), try shop.property("Orders/OrderID"))
        let of = DataQuery().from(try shop.set("Orders"))
        func total(_ query: DataQuery) async throws -> Value? {
            try await shop.service.executeQuery(query).optionalEntity()?["Total"]
        }
        let sum = quantity.sum(as: "Total")
        #expect(try await total(of.aggregate(sum)) == .integer(10_006))
        #expect(try await total(of.filter(quantity.lessThan(10)).aggregate(sum)) == .integer(6))
        #expect(try await total(of.orderBy(id).top(2).aggregate(sum)) == .integer(10_003))
        #expect(try await total(of.aggregate(sum).filter(QueryPath.named("Total").lessThan(10))) == nil)
        let doubled = of.compute(quantity.multiplied(by: 2), as: "Double")
            .aggregate(QueryPath.named("Double").max(as: "Total"))
        #expect(try await total(doubled) == .integer(20_000))
        #expect(
            try await total(of.aggregate(quantity.average(as: "Total")))
                == .decimal(try #require(DecimalValue("2501.5"))))
        #expect(
            try await total(of.aggregate(try shop.property("Orders/CustomerID").countDistinct(as: "Total")))
                == .decimal(DecimalValue(2)))
    }

    @Test(arguments: Client.offline)
    func `a long chain of conditions is accepted, and a deeply nested condition is refused`(_ client: Client)
        async throws
    {
        let shop = try await Shop(client)
        let (id, of) = (try shop.property("Orders/OrderID"), DataQuery().from(try shop.set("Orders")))
        let either = (2...300).reduce(id.equal(1)) { $0.or(id.equal($1)) }
        let all = (2...300).reduce(either) { $0.and(id.notEqual(-$1)) }
        #expect(try await shop.service.executeQuery(of.filter(all)).entityList().count == 4)
        let deep = (0..<100).reduce(id.equal(1)) { inner, _ in inner.not() }
        let error = await #expect(throws: TidelogError.self) {
            _ = try await shop.service.executeQuery(of.filter(deep))
        }
        #expect(error?.code == .invalidRequest)
    }

    @Test(arguments: Client.offline)
    func `conditions may contain lambdas, counts of related entities, lists and arithmetic`(_ client: Client)
        async throws
    {
        let shop = try await Shop(client)
        let (orders, customer) = (try shop.property("Customers/Orders"), try shop.property("Orders/Customer"))
        let (quantity, id) = (try shop.property("Orders/Quantity"), try shop.property("Orders/OrderID"))
        let name = try shop.property("Customers/Name")
        func customers(_ filter: QueryFilter) async throws -> [Value?] {
            try await shop.fetch("Customers", matching: DataQuery().filter(filter)).map { $0["CustomerID"] }
        }
        func found(_ filter: QueryFilter) async throws -> [Value?] {
            try await shop.fetch("Orders", matching: DataQuery().filter(filter)).map { $0["OrderID"] }
        }
        #expect(try await customers(orders.any { $0.path(quantity).greaterThan(5) }) == [.integer(1)])
        #expect(try await customers(orders.all { $0.path(quantity).greaterThan(2) }) == [.integer(1), .integer(3)])
        #expect(try await customers(orders.any()) == [.integer(1), .integer(2)])
        #expect(try await customers(orders.count().equal(0)) == [.integer(3)])
        let nested = orders.any("o") { order in
            order.path(customer).path(orders).any("other") { $0.path(id).greaterThan(order.path(id)) }
        }
        #expect(try await customers(nested) == [.integer(1)])
        #expect(try await found(id.isIn([1, 3, 9])) == [.integer(1), .integer(3)])
        #expect(try await found(quantity.adding(id).equal(4)) == [.integer(1), .integer(3)])
        #expect(try await found(customer.path(name).startsWith("Grace")) == [.integer(3)])
        #expect(try await found(QueryFilter.entityExists(customer).not()) == [.integer(4)])
    }

    @Test(arguments: Client.offline)
    func `conditions may use the local state of entities, also of expanded ones`(_ client: Client) async throws {
        let shop = try await Shop(client)
        let orders = try shop.property("Customers/Orders")
        let ada = try await shop.one("Customers", 1)
        let order = try shop.new("Orders", ["Note": .string("new")])
        try await shop.service.createRelatedEntity(order, in: ada, property: orders)
        let local = DataQuery().filter(QueryFilter.isLocal)
        #expect(try await shop.fetch("Orders", matching: local).map { $0["Note"] } == [.string("new")])
        #expect(try await shop.fetch("Orders", matching: DataQuery().filter(!QueryFilter.hasPendingChanges)).count == 4)
        #expect(try await shop.fetch("Orders", matching: DataQuery().filter(QueryFilter.isInErrorState)).isEmpty)
        let query = DataQuery().filter(try shop.property("Customers/CustomerID").equal(1)).expand(orders, with: local)
        let expanded = try await shop.first("Customers", matching: query)
        let found = expanded.relatedEntities(orders)
        #expect(found.map { $0["Note"] } == [.string("new")])
        #expect(found.allSatisfy { $0.isLocal && $0.isFromLocalRelationship })
        let others = try await shop.first("Customers", matching: DataQuery().expand(orders)).relatedEntities(orders)
        #expect(others.map(\.isFromLocalRelationship) == [false, false, true])
    }

    @Test(arguments: Client.offline)
    func `a search matches only the selected string properties`(_ client: Client) async throws {
        let shop = try await Shop(client)
        let (note, id) = (try shop.property("Orders/Note"), try shop.property("Orders/OrderID"))
        #expect(
            try await shop.fetch("Orders", matching: DataQuery().search("ENGINE")).map { $0["OrderID"] } == [
                .integer(1)
            ])
        #expect(try await shop.fetch("Orders", matching: DataQuery().search("e", "card").select(note)).count == 1)
        // Without a selected string, the search matches every entity.
        #expect(try await shop.fetch("Orders", matching: DataQuery().search("engine").select(id)).count == 4)
    }

    @Test(arguments: Client.offline + Client.online.filter { $0.dialect == .v4 })
    func `the pages of a query together contain all entities`(_ client: Client) async throws {
        let shop = try await Shop(client)
        let id = try shop.property("Orders/OrderID")
        var query: DataQuery? = DataQuery().from(try shop.set("Orders")).orderBy(id, .descending).pageSize(3)
        var pages: [[Int?]] = []
        while let next = query {
            let result = try await shop.service.executeQuery(next)
            pages.append(result.entityList().map { id.optionalInt(from: $0) })
            query = result.nextQuery.map { client.isOnline ? $0.pageSize(3) : $0 }
        }
        #expect(pages == [[4, 3, 2], [1]])
    }

    @Test(arguments: Client.offline)
    func `the page size of the store applies to queries without one`(_ client: Client) async throws {
        let shop = try await Shop(client) { $0.pageSize = 3 }
        let id = try shop.property("Orders/OrderID")
        let query = DataQuery().from(try shop.set("Orders")).orderBy(id)
        func pages(_ first: DataQuery) async throws -> [Int] {
            var (sizes, query) = ([Int](), Optional(first))
            while let next = query {
                let result = try await shop.service.executeQuery(next)
                sizes.append(result.entityList().count)
                query = result.nextQuery
            }
            return sizes
        }
        #expect(try await pages(query) == [3, 1])
        // A next link keeps the page size of its query.
        #expect(try await pages(query.pageSize(1)) == [1, 1, 1, 1])
        #expect(try await shop.service.executeQuery(DataQuery().withURL("Orders")).nextQuery != nil)
        let customer = try await shop.fetch("Customers")[0]
        try await shop.service.loadProperty(try shop.property("Customers/Orders"), into: customer)
    }

    @Test(arguments: Client.offline)
    func `a page continues after the previous one if entities are inserted or deleted`(_ client: Client) async throws {
        let shop = try await Shop(client)
        let id = try shop.property("Orders/OrderID")
        let query = DataQuery().from(try shop.set("Orders")).orderBy(id).pageSize(2)
        let first = try await shop.service.executeQuery(query)
        try await shop.service.deleteEntity(try #require(first.entityList().first))
        let second = try await shop.service.executeQuery(try #require(first.nextQuery))
        #expect(second.entityList().map { id.optionalInt(from: $0) } == [3, 4])
    }

    @Test(arguments: Client.offline)
    func `a page size must be positive`(_ client: Client) async throws {
        let shop = try await Shop(client)
        try await shop.expectRefusal(.invalidRequest) {
            _ = try await shop.service.executeQuery(DataQuery().from(try shop.set("Orders")).pageSize(0))
        }
    }

    @Test(arguments: Client.offline)
    func `a URL may address a value, a count or links`(_ client: Client) async throws {
        let shop = try await Shop(client)
        func read(_ url: String) async throws -> QueryResult {
            try await shop.service.executeQuery(DataQuery().withURL(url))
        }
        #expect(try await read("Customers(1)/Name").value == .string("Ada Lovelace"))
        #expect(try await read("Customers(1)/Address/City/$value").value == .string("Genève"))
        #expect(try await read("Customers(1)/Orders(2)/Customer/Name").value == .string("Ada Lovelace"))
        #expect(try await read("Customers(3)/Address").value == .null)
        #expect(try await read("Customers(1)/Orders/$count").value == .integer(2))
        let links = client.dialect == .v2 ? "Customers(1)/$links/Orders" : "Customers(1)/Orders/$ref"
        let found = try await read(links).entityList()
        #expect(found.map(\.readLink).count == 2)
        #expect(found.allSatisfy { $0.properties.isEmpty })
        let metadata = try await read("$metadata").value
        #expect(metadata?.stringValue?.contains("EntityContainer") == true)
    }

    @Test func `V2 selects properties of an expansion by a path`() async throws {
        let shop = try await Shop(Client(dialect: .v2, isOnline: false))
        let query = DataQuery().withURL("Orders(1)?$expand=Customer&$select=Note,Customer/Name")
        let order = try await shop.service.executeQuery(query).requiredEntity()
        let customer = try #require(order.relatedEntity(try shop.property("Orders/Customer")))
        #expect(Set(customer.properties.map(\.name)) == ["CustomerID", "Name"])
    }

    @Test(arguments: Client.offline)
    func `missing resources are not found, and unsupported ones are refused by name`(_ client: Client) async throws {
        let shop = try await Shop(client)
        for url in ["Customers(99)/Name", "Orders(4)/Customer/Name", "Customers(3)/Rating/$value"] {
            try await shop.expectRefusal(.notFound) {
                _ = try await shop.service.executeQuery(DataQuery().withURL(url))
            }
        }
        try await shop.expectRefusal(.unsupported) {
            _ = try await shop.service.executeQuery(DataQuery().withURL("Photos(1)/$value"))
        }
        try await shop.expectRefusal(.invalidRequest) {
            _ = try await shop.service.executeQuery(DataQuery().withURL("$metadata?$format=json"))
        }
    }
}
