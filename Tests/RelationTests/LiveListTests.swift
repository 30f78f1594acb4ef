import Testing
import Tidelog

/// Typed live queries.
@Suite(.timeLimit(.minutes(10))) struct LiveListTests {
    @Test func `the first list has all entities, and each of them is inserted`() async throws {
        let trade = try await Trade()
        try await trade.box(Order.self).put([Order(3), Order(1), Order(2)])
        var lists = try trade.box(Order.self).query { Order.total > 1 }.orderBy(Order.total).observe()
            .makeAsyncIterator()
        let first = try #require(try await lists.next())
        #expect(first.entities.map(\.total) == [2, 3])
        #expect(first.difference.inserted.map(\.identity) == first.entities.map(\.id))
        #expect(first.difference.inserted.map(\.index) == [0, 1])
        #expect(first.causes.isEmpty)
    }

    @Test func `a difference names inserted, removed, moved and changed entities by identity`() async throws {
        let trade = try await Trade()
        let box = try trade.box(Order.self)
        let orders = (1...4).map { Order($0 * 10) }
        try await box.put(orders)
        var lists = try box.query().orderBy(Order.total).observe().makeAsyncIterator()
        let first = try #require(try await lists.next())

        let new = Order(5)
        orders[0].total = 45
        let changes = ChangeSet()
        changes.createEntity(new)
        changes.updateEntity(orders[0])
        changes.deleteEntity(orders[2])
        try await trade.store.applyChanges(changes)
        let second = try #require(try await lists.next())
        #expect(second.entities == [new, orders[1], orders[3], orders[0]])
        #expect(second.difference.inserted.map(\.identity) == [new.id])
        #expect(second.difference.removed.map(\.identity) == [orders[2].id])
        #expect(second.difference.moved.map(\.identity) == [orders[0].id])
        #expect(second.difference.changed.map(\.identity) == [orders[0].id])
        #expect(second.difference.changed.map(\.to) == [3])
        #expect(second.causes == [.localEdit])
        #expect(second.applied(to: first.entities) == second.entities)
    }

    @Test func `applying a difference keeps the objects that have not changed, with their unsaved changes`()
        async throws
    {
        let trade = try await Trade()
        let box = try trade.box(Order.self)
        let orders = [Order(1), Order(2)]
        try await box.put(orders)
        var lists = try box.query().orderBy(Order.total).observe().makeAsyncIterator()
        let shown = try #require(try await lists.next()).entities
        shown[0].total = 7
        orders[1].total = 3
        try await box.put(orders[1])
        let next = try #require(try await lists.next()).applied(to: shown)
        #expect(next[0] === shown[0])
        #expect(next[0].total == 7)
        #expect(next[1] !== shown[1])
        #expect(next[1].total == 3)
    }

    @Test func `a list contains all entities even if the store has a page size`() async throws {
        let trade = try await Trade(pageSize: 2)
        try await trade.box(Order.self).put((1...5).map { Order($0) })
        var lists = try trade.box(Order.self).query().observe().makeAsyncIterator()
        #expect(try await lists.next()?.entities.count == 5)
    }

    @Test func `an observed box of a derived class contains only its own entities`() async throws {
        let trade = try await Trade()
        try await trade.box(Person.self).put([Person("Ada"), Employee(employee: "Grace")])
        var lists = try trade.box(Employee.self).query().observe().makeAsyncIterator()
        #expect(try await lists.next()?.entities.map { $0[Person.name] } == ["Grace"])
    }

    @Test func `a data query is observed as objects of a class`() async throws {
        let trade = try await Trade()
        try await trade.box(Order.self).put((1...3).map { Order($0) })
        let query = DataQuery().filter(Order.total > 1).orderBy(Order.total, .descending).top(1).inlineCount()
        var lists = try trade.store.observe(Order.self, matching: query).makeAsyncIterator()
        let first = try #require(try await lists.next())
        #expect(first.entities.map(\.total) == [3])
        #expect(first.count == 2)
    }

    @Test func `a URL is observed as objects of a class`() async throws {
        let trade = try await Trade()
        try await trade.box(Order.self).put((1...3).map { Order($0) })
        let query = DataQuery().withURL("Orders?$filter=Total gt 2")
        var lists = try trade.store.observe(Order.self, matching: query).makeAsyncIterator()
        #expect(try await lists.next()?.entities.map(\.total) == [3])
    }

    @Test func `a change of an expanded entity changes the list`() async throws {
        let trade = try await Trade()
        let customer = Customer("Ada")
        try await trade.box(Order.self).put(Order(1, owner: customer))
        var lists = try trade.box(Order.self).query().expand(Order.owner).observe().makeAsyncIterator()
        _ = try await lists.next()
        customer.name = "Grace"
        try await trade.box(Customer.self).put(customer)
        let update = try #require(try await lists.next())
        #expect(update.difference.changed.count == 1)
        #expect(update.entities[0].owner.target?.name == "Grace")
    }

    @Test func `the targets of a relation are observed`() async throws {
        let trade = try await Trade()
        let customer = Customer("Ada")
        try await trade.box(Customer.self).put(customer)
        var lists = try customer.ownedOrders.observe().makeAsyncIterator()
        #expect(try await lists.next()?.entities.isEmpty == true)
        let order = Order(1, owner: customer)
        try await trade.box(Order.self).put(order)
        #expect(try await lists.next()?.entities == [order])
    }

    @Test func `a relation of an unsaved entity is not observed`() {
        let error = #expect(throws: TidelogError.self) { _ = try Customer("Ada").ownedOrders.observe() }
        #expect(error?.code == .unsupported)
    }

    @Test func `an entity of a different class ends the list with an error`() async throws {
        let trade = try await Trade()
        try await trade.box(Order.self).put(Order(1))
        var lists = try trade.store.observe(Customer.self, matching: DataQuery().withURL("Orders")).makeAsyncIterator()
        await #expect {
            _ = try await lists.next()
        } throws: {
            ($0 as? TidelogError)?.code == .invalidRequest
        }
    }

    @Test func `groups of an aggregation are refused, because they have no identity`() async throws {
        let trade = try await Trade()
        try await trade.box(Order.self).put(Order(1))
        let query = DataQuery().withURL("Orders?$apply=aggregate(Total with sum as Sum)")
        var lists = try trade.store.observe(Order.self, matching: query).makeAsyncIterator()
        let error = await #expect(throws: TidelogError.self) { _ = try await lists.next() }
        #expect(error?.code == .invalidRequest)
        #expect(error?.recovery?.contains("observe(_:)") == true)
    }

    @Test func `an earlier state and a service are not observed`() async throws {
        let trade = try await Trade()
        let error = #expect(throws: TidelogError.self) { _ = try trade.server.observe(Order.self) }
        #expect(error?.code == .unsupported)
    }

    @Test func `the sequence ends when the store is closed`() async throws {
        let trade = try await Trade()
        var lists = try trade.box(Order.self).query().observe().makeAsyncIterator()
        _ = try await lists.next()
        await trade.provider.close()
        #expect(try await lists.next() == nil)
    }
}
