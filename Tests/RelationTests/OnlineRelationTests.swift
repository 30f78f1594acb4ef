import EDM
import TestSupport
import Testing
import Tidelog

/// Relations of entities that were read from the service itself.
@Suite struct OnlineRelationTests {
    private func trade() async throws -> Trade {
        let trade = try await Trade()
        try await trade.box(Order.self).put([Order(1, owner: Customer("Ada")), Order(2)])
        try await trade.synchronize()
        return trade
    }

    @Test(arguments: [false, true])
    func `the first access with await reads the target, offline and online`(_ isOnline: Bool) async throws {
        let trade = try await trade()
        let service = isOnline ? trade.server : trade.store
        let order = try await service.entities(Order.self, in: "Orders")[0]
        #expect(try await order.owner.loaded()?.name == "Ada")
        trade.transport.forgetRequests()
        #expect(try await order.owner.loaded()?.name == "Ada")
        #expect(order.owner.target?.name == "Ada")
        #expect(trade.transport.requests.isEmpty)
    }

    @Test(arguments: [false, true])
    func `an order without a target is read once`(_ isOnline: Bool) async throws {
        let trade = try await trade()
        let service = isOnline ? trade.server : trade.store
        let order = try await service.entities(Order.self, in: "Orders")[1]
        #expect(try await order.owner.loaded() == nil)
        trade.transport.forgetRequests()
        #expect(try await order.owner.loaded() == nil)
        #expect(trade.transport.requests.isEmpty)
    }

    @Test(arguments: [false, true])
    func `the first access with await reads a collection, offline and online`(_ isOnline: Bool) async throws {
        let trade = try await trade()
        let service = isOnline ? trade.server : trade.store
        let customer = try await service.entities(Customer.self, in: "Customers")[0]
        #expect(try await customer.ownedOrders.loaded().count == 1)
        #expect(customer.ownedOrders.map(\.total) == [DecimalValue(1)])
    }

    @Test(arguments: [false, true])
    func `unsaved changes are kept when the relation is read`(_ isOnline: Bool) async throws {
        let trade = try await trade()
        let service = isOnline ? trade.server : trade.store
        let order = try await service.entities(Order.self, in: "Orders")[0]
        let grace = Customer("Grace")
        order.owner.target = grace
        #expect(try await order.owner.loaded() === grace)
    }

    @Test(arguments: [false, true])
    func `backlinks are read through the partner`(_ isOnline: Bool) async throws {
        let trade = try await trade()
        let service = isOnline ? trade.server : trade.store
        let customer = try await service.entities(Customer.self, in: "Customers")[0]
        #expect(try await customer.backlinks(Order.owner).loaded().count == 1)
    }

    @Test(arguments: [false, true])
    func `backlinks without a partner are the entities with a condition`(_ isOnline: Bool) async throws {
        let trade = try await Trade()
        let order = Order(3)
        order.recipient.target = Customer("Ada")
        try await trade.box(Order.self).put([order, Order(4)])
        try await trade.synchronize()
        let service = isOnline ? trade.server : trade.store
        let customer = try await service.entities(Customer.self, in: "Customers")[0]
        #expect(try await customer.received.loaded().map(\.total) == [DecimalValue(3)])
    }

    @Test(arguments: [false, true])
    func `backlinks of a collection without a partner are the entities with a condition on its members`(
        _ isOnline: Bool
    ) async throws {
        let trade = try await Trade()
        let (ada, grace) = (Student("Ada"), Student("Grace"))
        ada.friends.append(grace)
        try await trade.box(Student.self).put([ada])
        try await trade.synchronize()
        let service = isOnline ? trade.server : trade.store
        let students = try await service.entities(Student.self, in: "Students")
        let found = try #require(students.first { $0.name == "Grace" })
        #expect(try await found.backlinks(Student.friends).loaded().map(\.name) == ["Ada"])
    }

    @Test func `online, access without await finds nothing and names the call`() async throws {
        let trade = try await trade()
        let customer = try await trade.server.entities(Customer.self, in: "Customers")[0]
        #expect(customer.ownedOrders.isEmpty)
        #expect(customer.ownedOrders.failure?.code == .unsupported)
        #expect(customer.ownedOrders.failure?.recovery?.contains("loaded()") == true)
        #expect(customer.ownedOrders.failure?.message.contains("11.2.7") == true)
    }
}
