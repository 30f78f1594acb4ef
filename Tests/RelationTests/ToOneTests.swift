import Testing
import Tidelog

/// Relations to at most one entity.
@Suite struct ToOneTests {
    /// Returns two customers with the keys 1 and 2.
    private func twoCustomers(_ trade: Trade) async throws -> (Customer, Customer) {
        let (ada, grace) = (Customer("Ada"), Customer("Grace"))
        (ada[Customer.id], grace[Customer.id]) = (1, 2)
        try await trade.box(Customer.self).put([ada, grace])
        return (ada, grace)
    }

    @Test func `saving an order saves its new customer`() async throws {
        let trade = try await Trade()
        let order = Order(5)
        let customer = Customer("Ada")
        #expect(try await trade.box(Customer.self).isEmpty)
        order.owner.target = customer
        try await trade.box(Order.self).put(order)
        #expect(try await trade.box(Customer.self).count == 1)
        #expect(try await trade.box(Order.self).count == 1)
        #expect(try await trade.box(Order.self).all[0].owner.target?.name == "Ada")
        try await trade.synchronize()
        #expect(try await trade.box(Order.self).all[0].owner.target?.name == "Ada")
    }

    @Test func `saving an order links its existing customer and does not save changes of the customer`()
        async throws
    {
        let trade = try await Trade()
        let customer = Customer("Ada")
        try await trade.box(Customer.self).put(customer)
        customer.name = "Grace"
        try await trade.box(Order.self).put(Order(5, owner: customer))
        let read = try #require(try await trade.box(Order.self).all[0].owner.target)
        #expect(read.name == "Ada")
        #expect(customer.name == "Grace")
    }

    @Test func `two orders of one new customer create it once, in one change set`() async throws {
        let trade = try await Trade()
        let customer = Customer("Ada")
        let ids = try await trade.box(Order.self).put([Order(1, owner: customer), Order(2, owner: customer)])
        #expect(ids.count == 2)
        #expect(try await trade.box(Customer.self).count == 1)
        #expect(try await trade.box(Customer.self).all[0].ownedOrders.count == 2)
        #expect(try await trade.changeSets == [3])
        try await trade.synchronize()
        #expect(try await trade.box(Customer.self).all[0].ownedOrders.count == 2)
    }

    @Test(arguments: 0..<4)
    func `each of four ways to clear a target is saved with the order`(way: Int) async throws {
        let trade = try await Trade()
        try await trade.box(Order.self).put(Order(1, owner: Customer("Ada")))
        let order = try await trade.box(Order.self).all[0]
        switch way {
        case 0: order.owner.target = nil
        case 1: order.owner.targetID = nil
        case 2: order.owner = nil
        default: order.owner = ToOne(target: nil)
        }
        #expect(!order.owner.hasValue)
        #expect(order.owner.target == nil)
        let before = try await trade.box(Order.self).all[0]
        #expect(before.owner.hasValue, "nothing changes before the order is saved")
        try await trade.box(Order.self).put(order)
        #expect(try await !trade.box(Order.self).all[0].owner.hasValue)
        #expect(try await trade.box(Customer.self).count == 1, "the customer stays")
        try await trade.synchronize()
        #expect(try await !trade.box(Order.self).all[0].owner.hasValue)
    }

    @Test func `the ID of a target can be read and set without loading the target`() async throws {
        let trade = try await Trade()
        let ada = try await trade.box(Customer.self).put(Customer("Ada"))
        let grace = try await trade.box(Customer.self).put(Customer("Grace"))
        let order = Order(1)
        order.owner.targetID = ada
        #expect(order.owner.state == .unloaded(ada))
        let id = try await trade.box(Order.self).put(order)
        let read = try #require(try await trade.box(Order.self).get(id))
        #expect(read.owner.targetID == ada)
        #expect(read.owner.state == .unloaded(ada))
        #expect(read.owner.target?.name == "Ada")
        #expect(read.owner.state == .loaded)
        read.owner.targetID = grace
        #expect(read.owner.target?.name == "Grace")
        try await trade.box(Order.self).put(read)
        #expect(try await trade.box(Order.self).get(id)?.owner.targetID == grace)
        try await trade.synchronize()
        #expect(try await trade.box(Order.self).get(id)?.owner.targetID == grace)
    }

    @Test func `the target is loaded once, and again after a reset`() async throws {
        let trade = try await Trade()
        let customer = Customer("Ada")
        try await trade.box(Order.self).put(Order(1, owner: customer))
        let order = try await trade.box(Order.self).all[0]
        let first = try #require(order.owner.target)
        #expect(order.owner.target === first)
        customer.name = "Ada Lovelace"
        try await trade.box(Customer.self).put(customer)
        #expect(order.owner.target?.name == "Ada")
        order.owner.reset()
        #expect(order.owner.target?.name == "Ada Lovelace")
    }

    @Test func `reset keeps an unsaved target`() async throws {
        let trade = try await Trade()
        try await trade.box(Order.self).put(Order(1, owner: Customer("Ada")))
        let order = try await trade.box(Order.self).all[0]
        let grace = Customer("Grace")
        order.owner.target = grace
        order.owner.reset()
        #expect(order.owner.target === grace)
        #expect(order.owner.hasPendingChange)
    }

    @Test func `setting the current target is no change`() async throws {
        let trade = try await Trade()
        try await trade.box(Order.self).put(Order(1, owner: Customer("Ada")))
        try await trade.synchronize()
        let order = try await trade.box(Order.self).all[0]
        order.owner.target = order.owner.target
        #expect(!order.owner.hasPendingChange)
        try await trade.box(Order.self).put(order)
        #expect(try await trade.pending == 0)
    }

    @Test func `a relation can be assigned from another object`() async throws {
        let trade = try await Trade()
        let first = Order(1, owner: Customer("Ada"))
        try await trade.box(Order.self).put(first)
        let second = Order(2)
        second.owner = try await trade.box(Order.self).all[0].owner
        try await trade.box(Order.self).put(second)
        #expect(try await trade.box(Customer.self).count == 1)
        #expect(try await trade.box(Customer.self).all[0].ownedOrders.count == 2)
    }

    @Test func `an order whose customer is deleted has no customer`() async throws {
        let trade = try await Trade()
        let customer = Customer("Ada")
        try await trade.box(Order.self).put(Order(1, owner: customer))
        try await trade.synchronize()
        let order = try await trade.box(Order.self).all[0]
        #expect(order.owner.hasValue)
        let read = try await trade.box(Customer.self).all[0]
        try await trade.box(Customer.self).remove(read)
        #expect(!order.owner.hasValue)
        #expect(order.owner.targetID == nil)
    }

    @Test func `a foreign key without an entity is unresolvable and states the key`() async throws {
        let trade = try await Trade()
        let visit = Visit()
        visit.customerID = 4711
        try await trade.box(Visit.self).put(visit)
        let read = try await trade.box(Visit.self).all[0]
        #expect(read.customer.target == nil)
        #expect(read.customer.state == .unresolvable("Customers(4711)"))
        #expect(read.customer.hasValue)
    }

    @Test func `the ID of no entity is refused when the order is saved, and nothing is saved`() async throws {
        let trade = try await Trade()
        let order = Order(1)
        order.owner.targetID = EntityID(rawValue: 4711)
        await #expect {
            try await trade.box(Order.self).put(order)
        } throws: {
            ($0 as? TidelogError)?.code == .refused(.entityNotFound)
        }
        #expect(try await trade.pending == 0)
        #expect(try await trade.box(Order.self).isEmpty)
    }

    @Test func `a relation of a closed store states why the target is missing`() async throws {
        let trade = try await Trade()
        try await trade.box(Order.self).put(Order(1, owner: Customer("Ada")))
        let order = try await trade.box(Order.self).all[0]
        await trade.provider.close()
        #expect(order.owner.target == nil)
        guard case .failed = order.owner.state else {
            Issue.record("\(order.owner.state)")
            return
        }
        #expect(throws: TidelogError.self) { try order.owner.resolve() }
    }

    @Test func `online, the target is loaded explicitly or by expansion`() async throws {
        let trade = try await Trade()
        try await trade.box(Order.self).put(Order(1, owner: Customer("Ada")))
        try await trade.synchronize()
        let order = try await trade.server.entities(Order.self, in: "Orders")[0]
        #expect(order.owner.target == nil)
        #expect(order.owner.state == .failed(.unsupported))
        #expect(try await order.owner.load()?.name == "Ada")
        #expect(order.owner.target?.name == "Ada")
        let query = DataQuery().expand(Order.owner)
        let expanded = try await trade.server.entities(Order.self, in: "Orders", query)[0]
        #expect(expanded.owner.target?.name == "Ada")
    }

    @Test func `both partners of a one-to-one relation refer to each other`() async throws {
        let trade = try await Trade()
        let person = Person("Ada")
        person.passport.target = Passport("P1")
        try await trade.box(Person.self).put(person)
        let passport = try await trade.box(Passport.self).all[0]
        #expect(passport.holder.target?.key == person.key)
        let other = Person("Grace")
        try await trade.box(Person.self).put(other)
        passport.holder.target = other
        try await trade.box(Passport.self).put(passport)
        let ada = try #require(try await trade.box(Person.self).query { Person.name.equal("Ada") }.first())
        #expect(!ada.passport.hasValue)
        #expect(other.passport.target?.key == passport.key)
        try await trade.synchronize()
        let grace = try #require(try await trade.box(Person.self).query { Person.name.equal("Grace") }.first())
        #expect(grace.passport.hasValue)
    }

    @Test func `two new entities with a relation to each other are saved in either order`() async throws {
        let trade = try await Trade()
        let person = Person("Ada")
        let passport = Passport("P1")
        person.passport.target = passport
        passport.holder.target = person
        try await trade.box(Passport.self).put(passport)
        #expect(try await trade.box(Person.self).all[0].passport.hasValue)
        try await trade.synchronize()
        #expect(try await trade.box(Person.self).all[0].passport.hasValue)
    }

    @Test func `the target follows a saved foreign key`() async throws {
        let trade = try await Trade()
        let (ada, grace) = try await twoCustomers(trade)
        let visit = Visit()
        visit.customer.target = ada
        try await trade.box(Visit.self).put(visit)
        #expect(visit.customer.target === ada)
        visit.customerID = 2
        try await trade.box(Visit.self).put(visit)
        #expect(visit.customer.target?.name == "Grace")
        #expect(visit.customer.targetID == grace.entityID)
        visit.customer.target = ada
        #expect(visit.customer.hasPendingChange)
        try await trade.box(Visit.self).put(visit)
        #expect(visit.customerID == 1)
        visit.customerID = nil
        try await trade.box(Visit.self).put(visit)
        #expect(!visit.customer.hasValue)
    }

    @Test func `a target that is set after the foreign key takes precedence`() async throws {
        let trade = try await Trade()
        let (ada, _) = try await twoCustomers(trade)
        let visit = Visit()
        visit.customer.target = ada
        try await trade.box(Visit.self).put(visit)
        visit.customerID = 2
        visit.customer.target = nil
        try await trade.box(Visit.self).put(visit)
        #expect(!visit.customer.hasValue)
        #expect(visit.customerID == nil)
    }

    @Test func `a target that another object has set is visible after loading`() async throws {
        let trade = try await Trade()
        let order = Order(7, owner: Customer("Ada"))
        let id = try await trade.box(Order.self).put(order)
        let other = try #require(try await trade.box(Order.self).get(id))
        #expect(other.owner.target?.name == "Ada")
        #expect(!other.owner.isStale)
        order.owner.target = Customer("Grace")
        try await trade.box(Order.self).put(order)
        #expect(other.owner.isStale)
        try await trade.store.loadEntity(other)
        #expect(other.owner.target?.name == "Grace")
        #expect(!other.owner.isStale)
    }

    @Test func `a target of another class is reported as a failure`() async throws {
        let trade = try await Trade()
        let order = Order(7, owner: Customer("Ada"))
        let id = try await trade.box(Order.self).put(order)
        let read = try #require(try await trade.box(Order.self).get(id))
        try await DataService(provider: trade.provider).loadProperty(Order.owner, into: read)
        #expect(read.owner.target == nil)
        #expect(read.owner.state == .failed(.invalidRequest))
    }

    @Test func `assigning a relation that cannot be read changes nothing`() async throws {
        let (trade, other) = (try await Trade(), try await Trade())
        try await trade.box(Order.self).put(Order(1, owner: Customer("Ada")))
        try await other.box(Order.self).put(Order(1, owner: Customer("Grace")))
        let (order, unreadable) = (try await trade.box(Order.self).all[0], try await other.box(Order.self).all[0])
        await other.provider.close()
        order.owner = unreadable.owner
        #expect(!order.owner.hasPendingChange)
        #expect(order.owner.target?.name == "Ada")
    }

    @Test func `an unresolvable foreign key is cleared with its target`() async throws {
        let trade = try await Trade()
        let visit = Visit()
        visit.customerID = 99
        try await trade.box(Visit.self).put(visit)
        #expect(visit.customer.state == .unresolvable("Customers(99)"))
        visit.customer.target = nil
        #expect(visit.customerID == nil)
        #expect(!visit.customer.hasValue)
        try await trade.box(Visit.self).put(visit)
        #expect(try await trade.box(Visit.self).all[0].customerID == nil)
    }

    @Test(arguments: [false, true])
    func `a saved target is cleared by setting nil`(byID: Bool) async throws {
        let trade = try await Trade()
        let customer = Customer("Ada")
        try await trade.box(Customer.self).put(customer)
        #expect(customer.ownedOrders.isEmpty)
        let order = Order(1)
        if byID { order.owner.targetID = customer.entityID } else { order.owner.target = customer }
        try await trade.box(Order.self).put(order)
        #expect(order.owner.target?.name == "Ada")
        order.owner.target = nil
        #expect(order.owner.target == nil)
        #expect(order.owner.targetID == nil)
        #expect(order.owner.state == .none)
        try await trade.box(Order.self).put(order)
        #expect(order.owner.target == nil)
        #expect(!order.owner.hasValue)
        #expect(customer.ownedOrders.isEmpty)
    }

    @Test func `loading a relation without a target clears the former target`() async throws {
        let trade = try await Trade()
        let customer = Customer("Ada")
        try await trade.box(Customer.self).put(customer)
        #expect(customer.ownedOrders.isEmpty)
        let order = Order(1, owner: customer)
        let id = try await trade.box(Order.self).put(order)
        let other = try #require(try await trade.box(Order.self).get(id))
        other.owner.target = nil
        try await trade.box(Order.self).put(other)
        try await trade.store.loadProperty(Order.owner, into: order)
        #expect(order.owner.target == nil)
    }

    @Test func `online, the foreign key follows the target that was set`() async throws {
        let trade = try await Trade()
        let (ada, _) = try await twoCustomers(trade)
        let new = Visit()
        new.customer.target = ada
        try await trade.box(Visit.self).put(new)
        try await trade.synchronize()
        func all(_ set: String) async throws -> [EntityValue] {
            try await trade.server.executeQuery(DataQuery().from(try trade.server.entitySet(withName: set)))
                .entityList()
        }
        let visit = try #require(try await all("Visits").first as? Visit)
        let customers = try await all("Customers").compactMap { $0 as? Customer }
        let other = try #require(customers.first { $0.name == "Grace" })
        visit.customer.target = other
        try await trade.server.updateEntity(visit)
        #expect(visit.customerID == other[Customer.id])
        #expect(visit.customer.target === other)
        #expect(!visit.customer.hasPendingChange)
        visit.customer.target = nil
        try await trade.server.updateEntity(visit)
        #expect(visit.customerID == nil)
    }
}
