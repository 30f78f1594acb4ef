import TestSupport
import Testing
import Tidelog

/// Relations of an object stay correct when the object is changed, copied, saved and read again.
@Suite struct KnownRelationTests {
    // MARK: Set as a whole

    @Test func `removing some objects of a relation removes no other object`() async throws {
        let trade = try await Trade()
        let ada = Customer("Ada")
        try await trade.box(Order.self).put([Order(1, owner: ada), Order(2, owner: ada)])
        let read = try await trade.box(Customer.self).all[0]
        #expect(read.ownedOrders.count == 2)
        try await trade.box(Order.self).put(Order(3, owner: ada))
        read.ownedOrders.removeAll { $0.total == 1 }
        #expect(read.ownedOrders.pendingChanges.removed.compactMap(\.total) == [1])
        try await trade.box(Customer.self).put(read)
        let again = try await trade.box(Customer.self).all[0]
        #expect(again.ownedOrders.compactMap(\.total) == [2, 3])
    }

    @Test(arguments: [0, 1, 2])
    func `objects of an online expansion are removed by each method`(_ way: Int) async throws {
        let trade = try await Trade()
        let teacher = Teacher("Ms Byron")
        teacher.students += [Student("Ada"), Student("Grace")]
        try await trade.box(Teacher.self).put(teacher)
        try await trade.synchronize()
        let query = DataQuery().from(try trade.server.metadata.findEntitySet("Teachers")!).expand(Teacher.students)
        let read = try #require(try await trade.server.executeQuery(query).entityList().first as? Teacher)
        switch way {
        case 0: read.students.removeAll { $0.name == "Ada" }
        case 1: read.students = read.students.filter { $0.name != "Ada" }
        default: read.students = [read.students[1]]
        }
        #expect(read.students.pendingChanges.removed.map(\.name) == ["Ada"])
        try await trade.server.updateEntity(read)
        #expect(read.students.map(\.name) == ["Grace"])
        let again = try #require(try await trade.server.executeQuery(query).entityList().first as? Teacher)
        #expect(again.students.map(\.name) == ["Grace"])
    }

    @Test(arguments: [0, 1, 2])
    func `removing objects of a relation that cannot be read is refused on saving`(_ way: Int) async throws {
        let trade = try await Trade()
        let teacher = Teacher("Ms Byron")
        teacher.students.append(Student("Ada"))
        try await trade.box(Teacher.self).put(teacher)
        try await trade.synchronize()
        let query = DataQuery().from(try trade.server.metadata.findEntitySet("Teachers")!)
        let read = try #require(try await trade.server.executeQuery(query).entityList().first as? Teacher)
        switch way {
        case 0: read.students = []
        case 1: read.students.removeAll { $0.name == "Ada" }
        default: read.students.removeAll()
        }
        await #expect(throws: TidelogError.self) { try await trade.server.updateEntity(read) }
        await #expect(throws: TidelogError.self) { try await read.students.applyChanges() }
        read.students.reset()
        try await read.students.load()
        read.students.removeAll()
        try await trade.server.updateEntity(read)
        #expect(try await trade.server.executeQuery(query).entityList().count == 1)
        try await read.students.load()
        #expect(read.students.isEmpty)
    }

    // MARK: Changes of objects

    @Test func `a changed object is kept although a copy of its collection exists`() async throws {
        let trade = try await Trade()
        let ada = Customer("Ada")
        try await trade.box(Order.self).put(Order(1, owner: ada))
        ada.ownedOrders[0].total = 9
        try await trade.box(Order.self).put(Order(2, owner: ada))
        let held = ada.ownedOrders
        ada.ownedOrders.append(Order(3))
        #expect(ada.ownedOrders.compactMap(\.total) == [9, 2, 3])
        #expect(held.compactMap(\.total) == [9, 2])
    }

    @Test func `an added and changed object is kept if another object has linked it in the meantime`() async throws {
        let trade = try await Trade()
        let (ada, order) = (Customer("Ada"), Order(1))
        try await trade.box(Customer.self).put(ada)
        try await trade.box(Order.self).put(order)
        ada.ownedOrders.append(order)
        order.total = 5
        let other = try await trade.box(Order.self).all[0]
        other.owner.targetID = ada.entityID
        try await trade.box(Order.self).put(other)
        try ada.ownedOrders.refresh()
        #expect(ada.ownedOrders.map(\.total) == [5])
        #expect(ada.ownedOrders[0] === order)
    }

    @Test func `changes of a target that was set by its ID are kept when the link is saved`() async throws {
        let trade = try await Trade()
        let (ada, order) = (Customer("Ada"), Order(1))
        try await trade.box(Customer.self).put(ada)
        try await trade.box(Order.self).put(order)
        order.owner.targetID = ada.entityID
        order.owner.target?.name = "Ada Lovelace"
        try await trade.box(Order.self).put(order)
        #expect(order.owner.target?.name == "Ada Lovelace")
    }

    // MARK: Foreign keys

    @Test(arguments: [0, 1, 2, 3])
    func `setting no target clears the foreign key of a new object`(_ way: Int) async throws {
        let trade = try await Trade()
        try await trade.box(Customer.self).put(Customer("Ada"))
        try await trade.synchronize()
        let ada = try await trade.box(Customer.self).all[0]
        let visit = Visit()
        visit.customerID = ada["ID"]?.integerValue.map { Int($0) }
        switch way {
        case 0: visit.customer.target = nil
        case 1: visit.customer.targetID = nil
        case 2: visit.customer = nil
        default: visit.customer = ToOne(target: nil)
        }
        try await trade.box(Visit.self).put(visit)
        #expect(visit.customer.target == nil)
        #expect(visit.customerID == nil)
        #expect(!visit.customer.isStale)
    }

    @Test func `a foreign key that is set after clearing the target determines the target`() async throws {
        let trade = try await Trade()
        let (ada, grace) = (Customer("Ada"), Customer("Grace"))
        try await trade.box(Customer.self).put([ada, grace])
        try await trade.synchronize()
        let customers = try await trade.box(Customer.self).all
        let visit = Visit()
        visit.customer.target = customers[1]
        try await trade.box(Visit.self).put(visit)
        visit.customer.target = nil
        visit.customerID = customers[0]["ID"]?.integerValue.map { Int($0) }
        try await trade.box(Visit.self).put(visit)
        #expect(visit.customer.target?.name == customers[0].name)
        #expect(!visit.customer.isStale)
    }

    @Test func `a target that is not in the store is copied by its foreign key`() async throws {
        let trade = try await Trade()
        let ada = Customer("Ada")
        try await trade.box(Customer.self).put(ada)
        let (elsewhere, visit) = (Visit(), Visit())
        elsewhere.customerID = 99
        try await trade.box(Visit.self).put(elsewhere)
        visit.customer.target = ada
        try await trade.box(Visit.self).put(visit)
        visit.customer = elsewhere.customer
        #expect(visit.customerID == 99)
        try await trade.box(Visit.self).put(visit)
        #expect(visit.customer.state == .unresolvable("Customers(99)"))
    }

    // MARK: Historical stores

    @Test func `relations in a historical store are those of that time`() async throws {
        let trade = try await Trade()
        let (ada, grace) = (Customer("Ada"), Customer("Grace"))
        let order = Order(1, owner: ada)
        try await trade.box(Order.self).put(order)
        try await trade.box(Customer.self).put(grace)
        let sequence = try #require(order.lastOperation)
        order.owner.target = grace
        try await trade.box(Order.self).put(order)
        let past = TradeService(provider: try await trade.provider.state(at: .sequence(sequence)))
        try await past.loadMetadata()
        let id = try #require(order.entityID)
        let old = try #require(try await past.box(for: Order.self).get(id))
        #expect(old.owner.target?.name == "Ada")
        #expect(old.owner.target?.ownedOrders.map(\.total) == [1])
        #expect(!old.owner.isStale)
    }
}
