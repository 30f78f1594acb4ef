import Testing
import Tidelog

/// AX-15: `$apply` within `$expand`, answered by the store of a V4 service.
@Suite struct ExpandedAggregateTests {
    private static let client = Client(dialect: .v4, isOnline: false)

    private func totals(_ shop: Shop, _ query: DataQuery) async throws -> [[Value?]] {
        let orders = try shop.property("Customers/Orders")
        return try await shop.service.executeQuery(query).entityList().map { customer in
            customer.relatedEntities(orders).map { $0["Total"] }
        }
    }

    @Test func `each entity has the aggregate of its own targets`() async throws {
        let shop = try await Shop(Self.client)
        let url = "Customers?$orderby=CustomerID&$expand=Orders($apply=aggregate(Quantity with sum as Total))"
        #expect(
            try await totals(shop, DataQuery().withURL(url)) == [[.integer(10_003)], [.integer(1)], [.null]])
    }

    @Test func `groups of targets are sorted and limited by the other options`() async throws {
        let shop = try await Shop(Self.client)
        let url =
            "Customers(1)?$expand=Orders($apply=groupby((Note),aggregate(Quantity with sum as Total));$orderby=Total;$top=1)"
        #expect(try await totals(shop, DataQuery().withURL(url)) == [[.integer(3)]])
    }

    @Test func `the filter of a transformation restricts the targets, which stay entities`() async throws {
        let shop = try await Shop(Self.client)
        let url = "Customers(1)?$expand=Orders($apply=filter(Quantity gt 5)/compute(Quantity mul 2 as Total))"
        let customer = try await shop.service.executeQuery(DataQuery().withURL(url)).requiredEntity()
        let found = customer.relatedEntities(try shop.property("Customers/Orders"))
        #expect(found.map { $0["Total"] } == [.integer(20_000)])
        #expect(found.map(\.readLink) == ["Orders(2)"])
    }

    @Test func `apply on a single-valued navigation property is refused`() async throws {
        let shop = try await Shop(Self.client)
        await #expect(throws: TidelogError.self) {
            try await shop.service.executeQuery(
                DataQuery().withURL("Orders?$expand=Customer($apply=aggregate(Rating with max as Total))"))
        }
    }
}
