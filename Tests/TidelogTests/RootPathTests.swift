import Testing
import Tidelog

/// AX-13: paths from `$root` in conditions. AX-14: `$all`. Both are answered by the store, of V4 services.
@Suite struct RootPathTests {
    private static let client = Client(dialect: .v4, isOnline: false)

    private func keys(_ shop: Shop, _ url: String) async throws -> [Int64] {
        try await shop.service.executeQuery(DataQuery().withURL(url)).entityList().compactMap {
            $0.key?.values.first?.value.integerValue
        }
    }

    @Test func `a condition compares with an entity of another set`() async throws {
        let shop = try await Shop(Self.client)
        #expect(try await keys(shop, "Orders?$filter=CustomerID eq $root/Customers(2)/CustomerID") == [3])
        #expect(try await keys(shop, "Orders?$filter=Note eq $root/Orders(1)/Note") == [1])
        #expect(try await keys(shop, "Orders?$filter=CustomerID eq $root/Customers(99)/CustomerID") == [4])
    }

    @Test func `a condition counts the entities of a set, and tests them`() async throws {
        let shop = try await Shop(Self.client)
        #expect(try await keys(shop, "Orders?$filter=$root/Customers/$count eq 3&$top=1") == [1])
        #expect(try await keys(shop, "Customers?$filter=$root/Orders/any(o:o/CustomerID eq 99)") == [])
    }

    @Test func `an unknown set after root is refused, and a function is the service's`() async throws {
        let shop = try await Shop(Self.client)
        await #expect(throws: TidelogError.self) { try await keys(shop, "Orders?$filter=$root/Nothing/$count eq 1") }
    }

    @Test func `all returns the entities of all sets, also cast to one type`() async throws {
        let shop = try await Shop(Self.client)
        let all = try await shop.service.executeQuery(DataQuery().withURL("$all")).entityList()
        var expected = 0
        for set in Shop.sets { expected += try await shop.fetch(set).count }
        #expect(all.count == expected)
        #expect(Set(all.compactMap(\.readLink)).count == expected)
        let orders = try await shop.service.executeQuery(DataQuery().withURL("$all/Shop.Order")).entityList()
        #expect(orders.count == 4)
    }
}
