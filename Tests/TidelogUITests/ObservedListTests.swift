import Observation
import ShopService
import Testing
import Tidelog
import TidelogUI

/// Lists for views, on the main actor.
@Suite(.timeLimit(.minutes(10))) @MainActor struct ObservedListTests {
    @Test func `a list is empty until its query is read, and updates when the store changes`() async throws {
        let shop = try await Shop()
        let box = try shop.service.box(for: Order.self)
        let list = ObservedList(box.query { Order.note == "mine" }.orderBy(Order.total))
        #expect(list.entities.isEmpty)
        #expect(!list.isLoaded)
        await changes { list.isLoaded }
        #expect(list.entities.isEmpty)
        #expect(list.isUpdating)

        try await box.put([order("mine", 2), order("mine", 1), order("yours", 3)])
        await changes { list.entities.count == 2 }
        #expect(list.entities.map(\.total) == [1, 2])
        #expect(list.lastChange?.inserted.map(\.index) == [0, 1])
    }

    @Test func `a view that reads the entities is informed of a change`() async throws {
        let shop = try await Shop()
        let box = try shop.service.box(for: Order.self)
        let list = ObservedList(box.query { Order.note == "mine" })
        await changes { list.isLoaded }
        let isInformed = Flag()
        _ = withObservationTracking {
            list.entities.count
        } onChange: {
            isInformed.set()
        }
        try await box.put(order("mine", 1))
        await changes { list.entities.count == 1 }
        #expect(isInformed.isSet)
    }

    @Test func `an object is replaced only if its entity has changed`() async throws {
        let shop = try await Shop()
        let box = try shop.service.box(for: Order.self)
        let orders = [order("mine", 1), order("mine", 2)]
        try await box.put(orders)
        let list = ObservedList(box.query { Order.note == "mine" }.orderBy(Order.total))
        await changes { list.isLoaded }
        let shown = list.entities
        shown[0].quantity = 9
        orders[1].total = 5
        try await box.put(orders[1])
        await changes { list.lastChange?.changed.count == 1 }
        #expect(list.entities[0] === shown[0])
        #expect(list.entities[0].quantity == 9)
        #expect(list.entities[1] !== shown[1])
        #expect(list.entities[1].total == 5)
    }

    @Test func `the query can be replaced, and the old entities remain until its first result`() async throws {
        let shop = try await Shop()
        let box = try shop.service.box(for: Order.self)
        try await box.put([order("mine", 1), order("yours", 2)])
        let list = ObservedList(box.query { Order.note == "mine" })
        await changes { list.isLoaded }
        list.observe(box.query { Order.note == "yours" })
        #expect(list.entities.map(\.note) == ["mine"])
        await changes { list.entities.map(\.note) == ["yours"] }
        #expect(list.isLoaded)
    }

    @Test func `the targets of a relation are shown`() async throws {
        let shop = try await Shop()
        let customer = Customer(withDefaults: false)
        customer.name = "Ada"
        try await shop.service.box(for: Customer.self).put(customer)
        let list = ObservedList(try customer.orders.observe())
        await changes { list.isLoaded }
        let order = order("hers", 1)
        order.customer.target = customer
        try await shop.service.box(for: Order.self).put(order)
        await changes { list.entities == [order] }
    }

    @Test func `a query that cannot be answered ends with an error, and the entities remain`() async throws {
        let shop = try await Shop()
        let box = try shop.service.box(for: Order.self)
        try await box.put(order("mine", 1))
        let list = ObservedList(box.query { Order.note == "mine" })
        await changes { list.isLoaded }
        list.observe(try shop.service.observe(Order.self, matching: DataQuery().withURL("Orders?$filter=Nothing eq 1")))
        await changes { list.error != nil }
        #expect(!list.isUpdating)
        #expect(!list.isLoaded)
        #expect(list.entities.map(\.note) == ["mine"])
    }

    @Test func `closing the store ends the updates without an error`() async throws {
        let shop = try await Shop()
        let list = ObservedList(try shop.service.box(for: Order.self).query())
        await changes { list.isLoaded }
        await shop.provider.close()
        await changes { !list.isUpdating }
        #expect(list.error == nil)
        #expect(!list.entities.isEmpty)
    }

    @Test func `a stopped list does not change`() async throws {
        let shop = try await Shop()
        let box = try shop.service.box(for: Order.self)
        let query = box.query { Order.note == "mine" }
        let (list, witness) = (ObservedList(query), ObservedList(query))
        await changes { list.isLoaded && witness.isLoaded }
        list.stop()
        #expect(!list.isUpdating)
        try await box.put(order("mine", 1))
        await changes { witness.entities.count == 1 }
        #expect(list.entities.isEmpty)
    }

    @Test func `a list without references is released, although its query has no end`() async throws {
        let shop = try await Shop()
        weak var released: ObservedList<Order>?
        do {
            let list = ObservedList(try shop.service.box(for: Order.self).query())
            released = list
            await changes { list.isLoaded }
        }
        #expect(released == nil)
    }

    private func order(_ note: String, _ total: Int) -> Order {
        let order = Order(withDefaults: false)
        (order.note, order.total) = (note, total)
        return order
    }
}
