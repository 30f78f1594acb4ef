import TestSupport
import Testing
import Tidelog

/// Links when the objects at both ends are saved: one link if both objects contain it, and none if it exists already.
@Suite struct SavedLinkTests {
    @Test func `putting a customer with existing orders links each of them once`() async throws {
        let trade = try await Trade()
        let (customer, order) = (Customer("Ada"), Order(7))
        try await trade.box(Customer.self).put(customer)
        try await trade.box(Order.self).put(order)
        customer.ownedOrders.append(order)
        try await trade.box(Customer.self).put(customer)
        #expect(!customer.ownedOrders.hasPendingChanges)
        #expect(!customer.ownedOrders.isStale)
        let pending = try await trade.pending
        try await trade.box(Customer.self).put(customer)
        #expect(try await trade.pending == pending, "nothing has changed since")
    }

    @Test func `an object that is appended twice is saved once`() async throws {
        let trade = try await Trade()
        let customer = Customer("Ada")
        let order = Order(7)
        customer.ownedOrders += [order, order]
        try await trade.box(Customer.self).put(customer)
        #expect(customer.ownedOrders.count == 1)
        #expect(try await trade.box(Order.self).count == 1)
    }

    @Test func `an order that moves to another customer leaves the loaded collection`() async throws {
        let trade = try await Trade()
        let (ada, grace) = (Customer("Ada"), Customer("Grace"))
        let order = Order(7, owner: ada)
        try await trade.box(Order.self).put(order)
        try await trade.box(Customer.self).put(grace)
        #expect(ada.ownedOrders.count == 1)
        order.owner.target = grace
        try await trade.box(Order.self).put(order)
        #expect(ada.ownedOrders.isEmpty)
        #expect(grace.ownedOrders.count == 1)
        order.owner.target = nil
        try await trade.box(Order.self).put(order)
        #expect(grace.ownedOrders.isEmpty)
    }

    @Test func `two new objects that refer to each other are linked once`() async throws {
        let trade = try await Trade()
        let (student, teacher) = (Student("Ada"), Teacher("Ms Byron"))
        student.teachers.append(teacher)
        teacher.students.append(student)
        try await trade.box(Student.self).put(student)
        #expect(try await trade.box(Teacher.self).all[0].students.count == 1)
        #expect(try await trade.box(Student.self).all[0].teachers.count == 1)
        try await trade.synchronize()
        #expect(try await trade.box(Student.self).all[0].teachers.count == 1)
    }

    @Test(arguments: [false, true])
    func `a new customer and a new order that refer to each other are linked once, regardless of the one that is saved`(
        orderFirst: Bool
    )
        async throws
    {
        let trade = try await Trade()
        let (customer, order) = (Customer("Ada"), Order(7))
        order.owner.target = customer
        customer.ownedOrders += [order, Order(8)]
        if orderFirst {
            try await trade.box(Order.self).put(order)
        } else {
            try await trade.box(Customer.self).put(customer)
        }
        #expect(try await trade.changeSets == [3])
        try await trade.synchronize()
        #expect(try await trade.box(Customer.self).all[0].ownedOrders.count == 2)
        #expect(try await trade.box(Order.self).all.allSatisfy { $0.owner.target?.name == "Ada" })
    }

    @Test func `a link that one end has saved is not saved again by the other end`() async throws {
        let trade = try await Trade()
        let (customer, order) = (Customer("Ada"), Order(7))
        try await trade.box(Customer.self).put(customer)
        try await trade.box(Order.self).put(order)
        customer.ownedOrders.append(order)
        order.owner.target = customer
        try await trade.box(Customer.self).put(customer)
        let pending = try await trade.pending
        try await trade.box(Order.self).put(order)
        #expect(try await trade.pending == pending)
        #expect(!order.owner.hasPendingChange)
    }

    @Test func `an update that only adds new children saves them`() async throws {
        let trade = try await Trade()
        let teacher = Teacher("Ms Byron")
        try await trade.store.createEntity(teacher)
        teacher.students.append(Student("Ada"))
        try await trade.store.updateEntity(teacher)
        #expect(!teacher.students.hasPendingChanges)
        let pending = try await trade.pending
        try await trade.store.updateEntity(teacher)
        #expect(try await trade.pending == pending)
        #expect(try await trade.box(Student.self).count == 1)
    }

    @Test func `an update does not delete a link that no longer exists`() async throws {
        let trade = try await Trade()
        let student = Student("Ada")
        student.teachers.append(Teacher("Ms Byron"))
        try await trade.box(Student.self).put(student)
        let other = try await trade.box(Student.self).all[0]
        student.teachers.removeAll()
        other.teachers.removeAll()
        try await trade.store.updateEntity(other)
        try await trade.store.updateEntity(student)
        #expect(!student.teachers.hasPendingChanges)
    }

    @Test func `an entity of another store is refused, even with a known ID`() async throws {
        let (trade, other) = (try await Trade(), try await Trade())
        try await trade.box(Customer.self).put(Customer("Ada"))
        let stranger = Customer("Grace")
        try await other.box(Customer.self).put(stranger)
        let order = Order(7)
        order.owner.target = stranger
        await #expect(throws: TidelogError.self) { try await trade.box(Order.self).put(order) }
        #expect(try await trade.box(Order.self).isEmpty)
        try await other.synchronize()
    }

    @Test func `a long chain of new objects is saved`() async throws {
        let trade = try await Trade()
        let students = (0..<5_000).map { Student("\($0)") }
        for (student, friend) in zip(students, students.dropFirst()) { student.friends.append(friend) }
        try await trade.box(Student.self).put(students[0])
        #expect(try await trade.box(Student.self).count == 5_000)
        // Breaks the references between the students, because objects that refer to each other are deallocated
        // recursively.
        for student in students { student.friends.reset() }
    }

    @Test(arguments: [false, true])
    func `an order moves from one customer to another in both orders of saving`(backwards: Bool) async throws {
        let trade = try await Trade()
        let (ada, grace) = (Customer("Ada"), Customer("Grace"))
        ada.ownedOrders.append(Order(7))
        try await trade.box(Customer.self).put([ada, grace])
        try await trade.synchronize()
        let order = ada.ownedOrders[0]
        ada.ownedOrders.remove(order)
        grace.ownedOrders.append(order)
        try await trade.box(Customer.self).put(backwards ? [grace, ada] : [ada, grace])
        #expect(ada.ownedOrders.isEmpty)
        #expect(try await trade.box(Order.self).all[0].owner.target?.name == "Grace")
        try await trade.synchronize()
        #expect(try await trade.box(Order.self).all[0].owner.target?.name == "Grace")
    }

    @Test func `a link that both ends contain is created and deleted once`() async throws {
        let trade = try await Trade()
        let (student, teacher) = (Student("Ada"), Teacher("Ms Byron"))
        try await trade.box(Student.self).put(student)
        try await trade.box(Teacher.self).put(teacher)
        try await trade.synchronize()
        student.teachers.append(teacher)
        teacher.students.append(student)
        try await trade.box(Student.self).put(student)
        try await trade.box(Teacher.self).put(teacher)
        #expect(try await trade.pending == 1)
        try await trade.synchronize()
        student.teachers.remove(teacher)
        teacher.students.remove(student)
        let changes = ChangeSet()
        changes.updateEntity(student)
        changes.updateEntity(teacher)
        try await trade.store.applyChanges(changes)
        #expect(try await trade.pending == 1)
        try await trade.synchronize()
        #expect(try await trade.box(Student.self).all[0].teachers.isEmpty)
    }

    @Test func `a link that another object has deleted is not deleted again`() async throws {
        let trade = try await Trade()
        let (student, teacher) = (Student("Ada"), Teacher("Ms Byron"))
        student.teachers.append(teacher)
        try await trade.box(Student.self).put(student)
        teacher.students.remove(student)
        let other = try await trade.box(Student.self).all[0]
        other.teachers.removeAll()
        try await other.teachers.applyChanges()
        let pending = try await trade.pending
        try await trade.box(Teacher.self).put(teacher)
        #expect(try await trade.pending == pending)
        #expect(!teacher.students.hasPendingChanges)
    }

    @Test func `removing a deleted order is no change`() async throws {
        let trade = try await Trade()
        let customer = Customer("Ada")
        let order = Order(1, owner: customer)
        try await trade.box(Order.self).put(order)
        #expect(customer.ownedOrders.count == 1)
        try await trade.box(Order.self).remove(order)
        customer.ownedOrders.removeAll()
        try await customer.ownedOrders.applyChanges()
        #expect(!customer.ownedOrders.hasPendingChanges)
        try await trade.box(Customer.self).put(customer)
        #expect(customer.ownedOrders.isEmpty)
    }

    @Test func `appending an existing object is no change`() async throws {
        let trade = try await Trade()
        let order = Order(1, owner: Customer("Ada"))
        try await trade.box(Order.self).put(order)
        let customer = try await trade.box(Customer.self).all[0]
        customer.ownedOrders.append(order)
        let pending = try await trade.pending
        try await trade.box(Customer.self).put(customer)
        #expect(try await trade.pending == pending)
        #expect(customer.ownedOrders.count == 1)
    }

    @Test func `online, changes that an update has saved are not sent again`() async throws {
        let trade = try await Trade()
        let students = [Student("Ada"), Student("Grace")]
        let teacher = Teacher("Ms Byron")
        teacher.students += students
        try await trade.box(Teacher.self).put(teacher)
        try await trade.box(Student.self).put(Student("Hedy"))
        try await trade.synchronize()
        let query = DataQuery().from(try trade.server.entitySet(withName: "Teachers")).expand(Teacher.students)
        let read = try #require(try await trade.server.executeQuery(query).entityList().first as? Teacher)
        let hedy = try #require(
            try await trade.server.executeQuery(
                DataQuery().from(try trade.server.entitySet(withName: "Students"))
            ).entityList().first { ($0 as? Student)?.name == "Hedy" } as? Student)
        read.students.removeAll { $0.name == "Ada" }
        read.students.append(hedy)
        read[Teacher.name] = "Lady Byron"
        try await trade.server.updateEntity(read)
        #expect(!read.students.hasPendingChanges)
        let sent = trade.transport.requests.count
        try await trade.server.updateEntity(read)
        #expect(trade.transport.requests.count == sent)
    }

    // MARK: Existing links

    @Test func `applying the changes of a collection does not repeat an existing link`() async throws {
        let trade = try await Trade()
        let ada = Customer("Ada")
        let order = Order(1, owner: ada)
        order.recipient.target = ada
        try await trade.box(Order.self).put(order)
        let pending = try await trade.pending
        let read = try await trade.box(Customer.self).all[0]
        read.ownedOrders.append(order)
        try await read.ownedOrders.applyChanges()
        var received = read.received
        received.append(order)
        try await received.applyChanges()
        read.ownedOrders.append(try await trade.box(Order.self).all[0])
        try await trade.store.updateEntity(read)
        #expect(try await trade.pending == pending)
        #expect(try await trade.box(Customer.self).all[0].ownedOrders.count == 1)
    }

    @Test(arguments: [false, true])
    func `a new link that both ends contain is created once`(_ managerFirst: Bool) async throws {
        let trade = try await Trade()
        let (boss, worker) = (Person("Ada"), Person("Bo"))
        try await trade.box(Person.self).put([boss, worker])
        let pending = try await trade.pending
        boss.reports.append(worker)
        worker.manager.target = boss
        try await trade.box(Person.self).put(managerFirst ? [boss, worker] : [worker, boss])
        #expect(try await trade.pending == pending + 1)
        #expect(!worker.manager.hasPendingChange)
        let read = try await trade.box(Person.self).all
        #expect(read[0].reports.map(\.key) == [read[1].key])
        #expect(read[1].manager.target?.key == read[0].key)
    }

    @Test func `a property that is its own partner creates a separate link from each end`() async throws {
        let trade = try await Trade()
        let (ada, bo) = (Person("Ada"), Person("Bo"))
        ada.spouse.target = bo
        bo.spouse.target = ada
        try await trade.box(Person.self).put(ada)
        let read = try await trade.box(Person.self).all
        #expect(read.compactMap { $0.spouse.target?.key }.count == 2)
        #expect(!ada.spouse.isStale && !bo.spouse.isStale)
    }

    // MARK: Single creates

    @Test(arguments: [false, true])
    func `an object that occurs twice in a change set is created once`(_ collectionFirst: Bool) async throws {
        let trade = try await Trade()
        let ada = Customer("Ada")
        try await trade.box(Customer.self).put(ada)
        let order = Order(1)
        ada.ownedOrders.append(order)
        let changes = ChangeSet()
        if collectionFirst { changes.updateEntity(ada) }
        changes.createEntity(order)
        if !collectionFirst { changes.updateEntity(ada) }
        changes.createEntity(order)
        try await trade.store.applyChanges(changes)
        #expect(try await trade.box(Order.self).count == 1)
        #expect(try await trade.box(Customer.self).all[0].ownedOrders.count == 1)
        #expect(order.state == .pending)
    }

    @Test func `a deep insert contains an object that occurs twice in one collection once`() async throws {
        let trade = try await Trade()
        let (ada, order) = (Customer("Ada"), Order(1))
        ada.ownedOrders += [order, order]
        try await trade.store.createEntity(ada)
        #expect(try await trade.box(Order.self).count == 1)
    }

    @Test func `a deep insert with two paths to one new object is refused with an alternative`()
        async throws
    {
        let trade = try await Trade()
        let teacher = Teacher("Ms Byron")
        let (ada, bo) = (Student("Ada"), Student("Bo"))
        teacher.students += [ada, bo]
        ada[Student.friends].append(bo)
        let error = await #expect(throws: TidelogError.self) { try await trade.store.createEntity(teacher) }
        #expect(error?.code == .refused(.notAllowed))
        #expect(error?.recovery?.contains("Box") == true)
        try await trade.box(Teacher.self).put(teacher)
        #expect(try await trade.box(Student.self).count == 2)
    }
}
