import EDM
import Testing

@testable import Views

/// The tables that a query read include those whose changes may affect its result.
struct ReadTablesTests {
    @Test(arguments: ["Orders(1)/Customer", "Customers(2)/Orders", "Orders?$filter=Customer/Name eq 'x'"])
    func `the first link of a relationship invalidates results that were empty`(url: String) throws {
        let shop = try SmallShop()
        try shop.put("Orders", 1)
        try shop.put("Customers", 2)
        _ = shop.state.drainReadTables()
        #expect(try shop.find(url) == [])
        let read = shop.state.drainReadTables()
        _ = try shop.state.drainChangedTables()
        try shop.link(1, to: 2)
        #expect(!read.isDisjoint(with: try shop.state.drainChangedTables()), "\(read.sorted())")
    }
}
