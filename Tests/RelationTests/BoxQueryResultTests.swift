import Testing
import Tidelog

/// Results of box queries: AX-02 `findUnique`, AX-03 `findIDs`, AX-04 remove by query, AX-05 property aggregates, AX-06
/// `contains`.
@Suite struct BoxQueryResultTests {
    private func trade(_ totals: [Int]) async throws -> Trade {
        let trade = try await Trade()
        try await trade.box(Order.self).put(totals.map { Order($0) })
        return trade
    }

    @Test func `findUnique returns the only match, nil without one, and throws for several`() async throws {
        let box = try await trade([5, 20, 20]).box(Order.self)
        #expect(try await box.query { Order.total == 5 }.findUnique()?.total == 5)
        #expect(try await box.query { Order.total == 6 }.findUnique() == nil)
        let error = await #expect(throws: TidelogError.self) { try await box.query { Order.total == 20 }.findUnique() }
        #expect(error?.code == .invalidRequest)
        #expect(try await box.query { Order.total == 20 }.top(1).findUnique()?.total == 20)
    }

    @Test func `findIDs returns the IDs in the order of the query`() async throws {
        let trade = try await Trade()
        let ids = try await trade.box(Order.self).put([Order(5), Order(30), Order(20)])
        let found = try trade.box(Order.self).query { Order.total > 10 }.orderBy(Order.total, .descending)
        #expect(try await found.findIDs() == [ids[1], ids[2]])
    }

    @Test func `remove deletes all matches in one change set and returns their number`() async throws {
        let trade = try await trade([5, 20, 30])
        try await trade.synchronize()
        let box = try trade.box(Order.self)
        #expect(try await box.query { Order.total > 10 }.remove() == 2)
        #expect(try await box.all.compactMap(\.total) == [5])
        #expect(try await trade.changeSets == [2])
        #expect(try await box.query { Order.total > 10 }.remove() == 0)
        try await trade.synchronize()
        #expect(try await trade.server.entities(Order.self, in: "Orders").count == 1)
    }

    @Test func `remove without a condition deletes every entity`() async throws {
        let trade = try await Trade()
        try await trade.box(Person.self).put(Person("Ada"))
        let query = try trade.box(Person.self).query()
        #expect(try await query.remove() == 1)
        #expect(try await query.count() == 0)
    }

    @Test func `aggregates of a property ignore null and respect the conditions`() async throws {
        let trade = try await trade([5, 20, 20])
        let empty = Order(0)
        empty.total = nil
        try await trade.box(Order.self).put(empty)
        let all = try trade.box(Order.self).query().property(Order.total)
        #expect(try await all.count() == 3)
        #expect(try await all.countDistinct() == 2)
        #expect(try await all.sum() == 45)
        #expect(try await all.average() == 15)
        #expect(try await all.min() == 5)
        #expect(try await all.max() == 20)
        #expect(try await all.find() == [5, 20, 20])
        #expect(try await all.distinct().sorted { $0 < $1 } == [5, 20])
        let large = try trade.box(Order.self).query { Order.total > 10 }.property(Order.total)
        #expect(try await large.sum() == 40)
        #expect(try await large.findUnique() == 20)
        let limited = try trade.box(Order.self).query().orderBy(Order.total).top(2).property(Order.total)
        #expect(try await limited.find() == [5])
        #expect(try await limited.count() == 1)
        #expect(try await limited.sum() == 5)
        await #expect(throws: TidelogError.self) { try await all.findUnique() }
    }

    @Test func `aggregates without values are nil, and counts are 0`() async throws {
        let none = try await trade([5]).box(Order.self).query { Order.total > 10 }.property(Order.total)
        #expect(try await none.sum() == nil)
        #expect(try await none.average() == nil)
        #expect(try await none.min() == nil)
        #expect(try await none.count() == 0)
        #expect(try await none.countDistinct() == 0)
        #expect(try await none.find().isEmpty)
    }

    @Test func `aggregates of a derived class concern its own entities only`() async throws {
        let trade = try await Trade()
        try await trade.box(Person.self).put([Person("Ada"), Employee(employee: "Grace")])
        #expect(try await trade.box(Employee.self).query().property(Person.name).find() == ["Grace"])
        #expect(try await trade.box(Employee.self).query().property(Person.name).max() == "Grace")
    }

    @Test func `contains returns whether the store has an entity of the class`() async throws {
        let trade = try await Trade()
        let id = try await trade.box(Student.self).put(Student("Ada"))
        let teacher = try await trade.box(Teacher.self).put(Teacher("Ms Byron"))
        let box = try trade.box(Student.self)
        #expect(try await box.contains(id))
        #expect(try await box.contains(KeyPredicate([("Name", .string("Ada"))])))
        #expect(try await box.contains(teacher) == false)
        #expect(try await box.contains([id]))
        #expect(try await box.contains([id, teacher]) == false)
        #expect(try await box.contains([EntityID]()))
    }
}
