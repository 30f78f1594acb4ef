import Testing
import Tidelog

/// Entities as `Identifiable` and `Hashable`.
@Suite struct IdentityTests {
    /// Returns the identity that generic code, such as `ForEach`, uses.
    private func identity<Item: Identifiable>(_ item: Item) -> Item.ID { item.id }

    @Test func `two objects of one entity are equal, whatever their values`() async throws {
        let trade = try await Trade()
        let id = try await trade.box(Order.self).put(Order(1))
        let first = try #require(try await trade.box(Order.self).get(id))
        let second = try #require(try await trade.box(Order.self).get(id))
        second.total = 2
        #expect(first !== second)
        #expect(first == second)
        #expect(first.hashValue == second.hashValue)
        #expect(first.id == second.id)
        #expect(Set([first, second]).count == 1)
    }

    @Test func `objects of different entities with equal values are different`() async throws {
        let trade = try await Trade()
        try await trade.box(Order.self).put([Order(1), Order(1)])
        let orders = try await trade.box(Order.self).all
        #expect(orders[0] != orders[1])
        #expect(Set(orders).count == 2)
    }

    @Test func `new objects are different until they are saved`() async throws {
        let trade = try await Trade()
        let (first, second) = (Order(1), Order(1))
        #expect(first != second)
        #expect(first == first)
        let new = first.id
        let id = try await trade.box(Order.self).put(first)
        #expect(first.id != new)
        #expect(try await trade.box(Order.self).get(id) == first)
    }

    @Test func `the identity remains when the service assigns the key`() async throws {
        let trade = try await Trade()
        let order = Order(1)
        try await trade.box(Order.self).put(order)
        let identity = order.id
        try await trade.synchronize()
        let confirmed = try #require(try await trade.box(Order.self).all.first)
        #expect(confirmed.readLink != order.readLink)
        #expect(confirmed.id == identity)
    }

    @Test func `entities with the same ID in different stores are different`() async throws {
        let (here, there) = (try await Trade(), try await Trade())
        let order = Order(1)
        let other = Order(1)
        let ids = (try await here.box(Order.self).put(order), try await there.box(Order.self).put(other))
        #expect(ids.0 == ids.1)
        #expect(order != other)
    }

    @Test func `entities of a service are identified by their link`() async throws {
        let trade = try await Trade()
        try await trade.box(Order.self).put([Order(1), Order(2)])
        try await trade.synchronize()
        let once = try await trade.server.entities(Order.self, in: "Orders")
        let again = try await trade.server.entities(Order.self, in: "Orders")
        #expect(once == again)
        #expect(once[0] != once[1])
    }

    @Test func `a class with a property id keeps it, and its objects have an identity`() async throws {
        let trade = try await Trade()
        let customer = Customer("Ada")
        try await trade.box(Customer.self).put(customer)
        try await trade.synchronize()
        let confirmed = try #require(try await trade.box(Customer.self).all.first)
        let number: Int? = confirmed.id
        #expect(number == 1)
        #expect(identity(confirmed) == identity(customer))
        #expect(confirmed == customer)
    }

    @Test func `a relation contains an entity by identity`() async throws {
        let trade = try await Trade()
        let customer = Customer("Ada")
        let order = Order(1, owner: customer)
        let id = try await trade.box(Order.self).put(order)
        let again = try #require(try await trade.box(Customer.self).all.first)
        let same = try #require(try await trade.box(Order.self).get(id))
        #expect(again.ownedOrders.contains(same))
        #expect(again.ownedOrders.firstIndex(of: same) == 0)
        #expect(!again.ownedOrders.contains(Order(1)))
    }
}
