import Testing
import Tidelog

@Suite(.timeLimit(.minutes(10)))
struct LiveEntitiesTests {
    @Test func `a live query returns entities with the difference to the previous result`() async throws {
        let shop = try await Shop(Client(dialect: .v4, isOnline: false))
        let name = try shop.property("Customers/Name")
        var results = try shop.service.observe(DataQuery().from(try shop.set("Customers")).orderBy(name))
            .makeAsyncIterator()
        let first = try #require(try await results.next())
        #expect(first.difference.inserted.count == first.result.entityList().count)
        let customer = try shop.new("Customers", ["Name": .string("Aaa")])
        try await shop.service.createEntity(customer)
        let second = try #require(try await results.next())
        #expect(second.difference.inserted.map(\.identity) == [.entity(try #require(customer.entityID))])
        #expect(second.result.entityList().first?[name.name] == .string("Aaa"))
        #expect(second.causes == [.localEdit])
    }

    @Test func `live queries of an online provider are refused with an explanation`() async throws {
        let shop = try await Shop(Client(dialect: .v4, isOnline: true))
        let error = #expect(throws: TidelogError.self) {
            _ = try shop.service.observe(DataQuery().from(try shop.set("Customers")))
        }
        #expect(error?.code == .unsupported)
    }
}
