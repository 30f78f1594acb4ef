import Testing
import Tidelog

/// Objects of one class that are saved and queried.
@Suite struct BoxTests {
    @Test func `an update of a loaded object sends only its changes, and nothing without changes`() async throws {
        let trade = try await Trade()
        try await trade.box(Order.self).put(Order(1))
        try await trade.synchronize()
        let order = try await trade.box(Order.self).all[0]
        let id = try await trade.box(Order.self).put(order)
        #expect(try await trade.pending == 0)
        order.total = 2
        #expect(try await trade.box(Order.self).put(order) == id)
        #expect(try await trade.pending == 1)
        #expect(try await trade.box(Order.self).get(id)?.total == 2)
    }

    @Test func `an entity is found by its ID and its key, but not as an object of another class`() async throws {
        let trade = try await Trade()
        let id = try await trade.box(Student.self).put(Student("Ada"))
        let teacher = try await trade.box(Teacher.self).put(Teacher("Ms Byron"))
        #expect(try await trade.box(Student.self).get(id)?.name == "Ada")
        #expect(try await trade.box(Student.self).get(KeyPredicate([("Name", .string("Ada"))]))?.entityID == id)
        #expect(try await trade.box(Student.self).get(teacher) == nil)
        #expect(try await trade.box(Student.self).get(EntityID(rawValue: 4711)) == nil)
        #expect(
            try await trade.box(Student.self).get([id, EntityID(rawValue: 4711)]).map { $0?.name } == ["Ada", nil])
    }

    @Test func `removing one or all objects deletes them in one change set`() async throws {
        let trade = try await Trade()
        let orders = (1...3).map { Order($0) }
        try await trade.box(Order.self).put(orders)
        try await trade.synchronize()
        let read = try await trade.box(Order.self).all
        try await trade.box(Order.self).remove(read[0])
        #expect(try await trade.box(Order.self).count == 2)
        #expect(try await trade.box(Order.self).remove(EntityID(rawValue: 4711)) == false)
        #expect(try await trade.box(Order.self).removeAll() == 2)
        #expect(try await trade.box(Order.self).isEmpty)
        try await trade.synchronize()
        #expect(try await trade.server.entities(Order.self, in: "Orders").isEmpty)
    }

    @Test func `a box of a derived class contains its own entities, and the box of the base class all`() async throws {
        let trade = try await Trade()
        try await trade.box(Person.self).put([Person("Ada"), Employee(employee: "Grace")])
        #expect(try await trade.box(Person.self).count == 2)
        #expect(try await trade.box(Employee.self).count == 1)
        #expect(try await trade.box(Employee.self).all[0].key == KeyPredicate([("Name", .string("Grace"))]))
        #expect(try await trade.box(Employee.self).query { Person.name.equal("Ada") }.find().isEmpty)
        #expect(try await trade.box(Person.self).all.contains { $0 is Employee })
    }

    @Test func `a condition may refer to the target of a relation`() async throws {
        let trade = try await Trade()
        let ada = Customer("Ada")
        let grace = Customer("Grace")
        try await trade.box(Order.self).put([
            Order(5, owner: ada), Order(20, owner: ada), Order(30, owner: grace), Order(40),
        ])
        let found = try await trade.box(Order.self).query { Order.total.greaterThan(DecimalValue(10)) }
            .link(Order.owner) { Customer.name.equal("Ada") }.find()
        #expect(found.compactMap(\.total) == [20])
        let customers = try await trade.box(Customer.self).query()
            .link(Customer.ownedOrders) { Order.total.greaterThan(DecimalValue(25)) }.find()
        #expect(customers.compactMap(\.name) == ["Grace"])
        #expect(try await trade.box(Order.self).query().link(Order.owner) { Customer.name.equal("Ada") }.count() == 2)
    }

    @Test func `a query can be ordered and limited`() async throws {
        let trade = try await Trade()
        try await trade.box(Order.self).put((1...5).map { Order($0) })
        let query = try trade.box(Order.self).query().orderBy(Order.total, .descending).skip(1).top(2)
        #expect(try await query.find().compactMap(\.total) == [4, 3])
        #expect(try await query.first()?.total == 4)
        #expect(try await query.count() == 5)
    }

    @Test func `a put with one refused object has no effect`() async throws {
        let trade = try await Trade()
        try await trade.box(Student.self).put(Student("Ada"))
        let before = try await trade.pending
        await #expect {
            try await trade.box(Student.self).put([Student("Grace"), Student("Ada")])
        } throws: {
            guard case .refused? = ($0 as? TidelogError)?.code else { return false }
            return true
        }
        #expect(try await trade.pending == before)
        #expect(try await trade.box(Student.self).count == 1)
    }

    @Test func `a class without an entity type and an online service have no boxes`() async throws {
        final class Stranger: EntityValue {}
        let trade = try await Trade()
        #expect {
            try trade.store.box(for: Stranger.self)
        } throws: {
            ($0 as? TidelogError)?.code == .invalidRequest
        }
        #expect {
            try trade.server.box(for: Order.self)
        } throws: {
            ($0 as? TidelogError)?.code == .unsupported
        }
    }

    @Test func `new objects that a new object refers to are saved with it`() async throws {
        let trade = try await Trade()
        let teacher = Teacher("Ms Byron")
        let ada = Student("Ada")
        teacher.students.append(ada)
        ada.friends.append(Student("Grace"))
        ada.friends[0].teachers.append(teacher)
        try await trade.box(Teacher.self).put(teacher)
        #expect(try await trade.box(Student.self).count == 2)
        #expect(try await trade.box(Teacher.self).count == 1)
        #expect(teacher.students.uncachedNames == ["Ada", "Grace"])
        try await trade.synchronize()
        #expect(teacher.students.uncachedNames == ["Ada", "Grace"])
    }

    // MARK: All objects

    @Test func `a box returns all objects for any page size of the store`() async throws {
        let trade = try await Trade(pageSize: 2)
        try await trade.box(Order.self).put((1...5).map { Order($0) })
        #expect(try await trade.box(Order.self).all.count == 5)
        #expect(try await trade.box(Order.self).query { Order.total > 1 }.find().count == 4)
        #expect(try await trade.box(Order.self).query().top(3).find().count == 3)
        #expect(try await trade.store.entities(Order.self, in: "Orders").count == 5)
        #expect(try await trade.box(Order.self).removeAll() == 5)
        #expect(try await trade.box(Order.self).isEmpty)
    }

    // MARK: By link

    @Test func `an object with only the links of an entity represents that entity`() async throws {
        let trade = try await Trade()
        let ada = Customer("Ada")
        try await trade.box(Customer.self).put(ada)
        func handle() -> Customer {
            let handle = Customer.ofType(ada.entityType) as? Customer ?? Customer(ada.entityType)
            (handle.readLink, handle.editLink) = (ada.readLink, ada.editLink)
            return handle
        }
        let order = Order(1)
        order.owner.target = handle()
        try await trade.box(Order.self).put(order)
        let renamed = handle()
        renamed.name = "Ada Lovelace"
        #expect(try await trade.box(Customer.self).put(renamed) == ada.entityID)
        #expect(try await trade.box(Customer.self).put(handle()) == ada.entityID)
        let customers = try await trade.box(Customer.self).all
        #expect(customers.map(\.name) == ["Ada Lovelace"])
        #expect(customers[0].ownedOrders.count == 1)
    }
}

extension ToMany<Student> {
    fileprivate var uncachedNames: [String] { ((try? uncached()) ?? []).compactMap(\.name).sorted() }
}
