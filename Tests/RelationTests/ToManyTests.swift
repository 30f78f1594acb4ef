import Testing
import Tidelog

/// Relations to any number of entities.
///
/// Features: OB-25.
@Suite struct ToManyTests {
    @Test func `the orders of a customer are a collection`() async throws {
        let trade = try await Trade()
        let customer = Customer("Ada")
        try await trade.box(Order.self).put([Order(1, owner: customer), Order(2, owner: customer)])
        let read = try await trade.box(Customer.self).all[0]
        #expect(read.ownedOrders.count == 2)
        #expect(Array(read.ownedOrders).compactMap(\.total) == [1, 2])
        #expect(read.ownedOrders[1].total == 2)
        #expect(read.ownedOrders.reversed().first?.total == 2)
    }

    @Test
    func `each object of a collection has its own pending and error state`()
        async throws
    {
        let trade = try await Trade()
        let customer = Customer("Ada")
        try await trade.box(Order.self).put((1...3).map { Order($0, owner: customer) })
        try await trade.synchronize()
        func states() async throws -> [EntityValue.SyncState] {
            try await trade.box(Customer.self).all[0].ownedOrders.map(\.state)
        }
        #expect(try await states() == [.clean, .clean, .clean])
        let first = try await trade.box(Customer.self).all[0].ownedOrders[0]
        first.total = 10
        try await trade.box(Order.self).put(first)
        #expect(try await states() == [.pending, .clean, .clean])
        trade.refuseNext("PATCH")
        #expect(try await trade.provider.upload().rejected.count == 1)
        let last = try await trade.box(Customer.self).all[0].ownedOrders[2]
        last.total = 30
        try await trade.box(Order.self).put(last)
        #expect(try await states() == [.error, .clean, .pending])
    }

    @Test func `a collection is loaded when it is read, not when an object is appended`() async throws {
        let trade = try await Trade()
        try await trade.box(Order.self).put(Order(1, owner: Customer("Ada")))
        let customer = try await trade.box(Customer.self).all[0]
        #expect(!customer.ownedOrders.isLoaded)
        customer.ownedOrders.append(Order(2))
        #expect(!customer.ownedOrders.isLoaded)
        #expect(customer.ownedOrders.count == 2)
        #expect(customer.ownedOrders.isLoaded)
    }

    @Test func `an appended object is created and linked with its customer`() async throws {
        let trade = try await Trade()
        let customer = Customer("Ada")
        customer.ownedOrders.append(Order(1))
        customer.ownedOrders += [Order(2), Order(3)]
        try await trade.box(Customer.self).put(customer)
        #expect(!customer.ownedOrders.hasPendingChanges)
        let orders = try await trade.box(Order.self).all
        #expect(orders.count == 3)
        #expect(orders.allSatisfy { $0.owner.target?.name == "Ada" })
        #expect(try await trade.changeSets == [4])
        try await trade.synchronize()
        #expect(try await trade.box(Customer.self).all[0].ownedOrders.count == 3)
    }

    @Test func `changes of a collection are applied in one change set`() async throws {
        let trade = try await Trade()
        let customer = Customer("Ada")
        try await trade.box(Order.self).put([Order(1, owner: customer), Order(2, owner: customer), Order(3)])
        try await trade.synchronize()
        let read = try await trade.box(Customer.self).all[0]
        let free = try #require(try await trade.box(Order.self).all.first { !$0.owner.hasValue })
        read.ownedOrders.removeAll { $0.total == 1 }
        read.ownedOrders.append(free)
        read.ownedOrders.append(Order(4))
        let (added, removed) = read.ownedOrders.pendingChanges
        #expect(added.compactMap(\.total) == [3, 4])
        #expect(removed.compactMap(\.total) == [1])
        #expect(try await trade.pending == 0, "nothing is applied yet")
        try await read.ownedOrders.applyChanges()
        #expect(!read.ownedOrders.hasPendingChanges)
        #expect(try await trade.changeSets == [3])
        try await trade.synchronize()
        let again = try await trade.box(Customer.self).all[0]
        #expect(again.ownedOrders.compactMap(\.total).sorted { "\($0)" < "\($1)" } == [2, 3, 4])
    }

    @Test func `applying the changes of one relation leaves other unsaved changes`() async throws {
        let trade = try await Trade()
        let student = Student("Ada")
        try await trade.box(Student.self).put(student)
        let customer = Customer("Ada")
        try await trade.box(Customer.self).put(customer)
        student.friends.append(Student("Grace"))
        student.teachers.append(Teacher("Ms Byron"))
        try await student.teachers.applyChanges()
        #expect(!student.teachers.hasPendingChanges)
        #expect(student.friends.pendingChanges.added.compactMap(\.name) == ["Grace"])
        let order = Order(1)
        try await trade.box(Order.self).put(order)
        customer.name = "Ada Lovelace"
        customer.ownedOrders.append(order)
        try await customer.ownedOrders.applyChanges()
        #expect(customer.name == "Ada Lovelace")
        #expect(try await trade.box(Customer.self).all[0].name == "Ada", "the name is not saved")
        try await trade.box(Customer.self).put(customer)
        #expect(try await trade.box(Customer.self).all[0].name == "Ada Lovelace")
    }

    @Test func `updating a customer through the service saves appended objects`() async throws {
        let trade = try await Trade()
        let customer = Customer("Ada")
        try await trade.store.createEntity(customer)
        let id = customer.entityID
        let order = Order(7)
        customer.ownedOrders.append(order)
        try await trade.store.updateEntity(customer)
        #expect(customer.name == "Ada")
        #expect(customer.entityID == id)
        #expect(order.entityID != nil)
        #expect(order.total == 7)
        #expect(try await trade.box(Customer.self).all[0].ownedOrders.count == 1)
        try await trade.synchronize()
        #expect(try await trade.box(Customer.self).all[0].ownedOrders.count == 1)
    }

    @Test func `loaded objects of a collection are kept with their changes`() async throws {
        let trade = try await Trade()
        let ada = Customer("Ada")
        try await trade.box(Order.self).put(Order(1, owner: ada))
        ada.ownedOrders[0].total = 9
        try await trade.box(Order.self).put(Order(2, owner: ada))
        #expect(ada.ownedOrders.compactMap(\.total) == [9, 2])
        #expect(!ada.ownedOrders.isStale)
        let other = try await trade.box(Customer.self).all[0]
        try await trade.box(Order.self).put(Order(3, owner: other))
        ada.name = "Ada Lovelace"
        try await trade.box(Customer.self).put(ada)
        #expect(ada.ownedOrders.compactMap(\.total) == [9, 2])
        #expect(ada.ownedOrders.isStale)
        try ada.ownedOrders.refresh()
        #expect(ada.ownedOrders.compactMap(\.total) == [9, 2, 3])
    }

    @Test func `a copy of a collection keeps its objects when they leave the original`() async throws {
        let trade = try await Trade()
        let (ada, grace) = (Customer("Ada"), Customer("Grace"))
        try await trade.box(Order.self).put((1...3).map { Order($0, owner: ada) })
        let held = ada.ownedOrders
        #expect(held.count == 3)
        for place in held.indices {
            held[place].owner.target = grace
            try await trade.box(Order.self).put(held[place])
        }
        #expect(held.count == 3)
        #expect(ada.ownedOrders.isStale)
        #expect(grace.ownedOrders.count == 3)
    }

    @Test func `an object of another class from the dynamic API is saved and reported as a failure`() async throws {
        let trade = try await Trade()
        let customer = Customer("Ada")
        let plain = EntityValue(TradeMetadata.embedded.entityType("Trade.Order"))
        plain["Total"] = .decimal(DecimalValue(7 as Int64))
        let held = customer.ownedOrders
        Customer.ownedOrders.setEntityList(in: customer, to: [plain])
        #expect(held.isEmpty && customer.ownedOrders.isEmpty)
        #expect(customer.ownedOrders.failure?.code == .invalidRequest)
        customer.ownedOrders.append(Order(8))
        #expect(customer.ownedOrders.compactMap(\.total) == [8])
        try await trade.box(Customer.self).put(customer)
        #expect(
            try await trade.box(Order.self).all.compactMap(\.total).sorted { $0.description < $1.description } == [
                7, 8,
            ])
        Customer.ownedOrders.setEntityList(in: customer, to: [Order(9)])
        try await trade.box(Customer.self).put(customer)
        #expect(try await trade.box(Customer.self).all[0].ownedOrders.count == 3)
    }

    @Test func `a refused backlink is applied after it is corrected`() async throws {
        let trade = try await Trade()
        let customer = Customer("Ada")
        try await trade.box(Customer.self).put(customer)
        let order = Order(1)
        order["Total"] = .string("much")
        var received = customer.received
        received.append(order)
        await #expect(throws: TidelogError.self) { try await received.applyChanges() }
        order.total = 2
        try await received.applyChanges()
        #expect(try await trade.box(Order.self).all[0].recipient.target?.name == "Ada")
    }

    @Test func `reloading a property keeps appended objects`() async throws {
        let trade = try await Trade()
        let customer = Customer("Ada")
        try await trade.box(Order.self).put(Order(1, owner: customer))
        customer.ownedOrders.append(Order(2))
        try await trade.store.loadProperty(Customer.ownedOrders, into: customer)
        #expect(customer.ownedOrders.compactMap(\.total) == [1, 2])
    }

    @Test func `adding and removing an object is no change`() async throws {
        let trade = try await Trade()
        let customer = Customer("Ada")
        try await trade.box(Customer.self).put(customer)
        let order = Order(1)
        customer.ownedOrders.append(order)
        customer.ownedOrders.remove(order)
        #expect(!customer.ownedOrders.hasPendingChanges)
    }

    @Test func `an entity that is appended twice is linked once`() async throws {
        let trade = try await Trade()
        let customer = Customer("Ada")
        let order = Order(1)
        customer.ownedOrders.append(order)
        customer.ownedOrders.append(order)
        try await trade.box(Customer.self).put(customer)
        #expect(try await trade.box(Order.self).count == 1)
        #expect(try await trade.box(Customer.self).all[0].ownedOrders.count == 1)
    }

    @Test func `reset discards loaded objects and changes`() async throws {
        let trade = try await Trade()
        try await trade.box(Order.self).put(Order(1, owner: Customer("Ada")))
        let customer = try await trade.box(Customer.self).all[0]
        customer.ownedOrders.removeAll()
        #expect(customer.ownedOrders.isEmpty)
        customer.ownedOrders.reset()
        #expect(customer.ownedOrders.count == 1)
    }

    @Test func `a loaded collection is stale after a change in the store, and can be refreshed`()
        async throws
    {
        let trade = try await Trade()
        try await trade.box(Order.self).put(Order(1, owner: Customer("Ada")))
        let customer = try await trade.box(Customer.self).all[0]
        #expect(customer.ownedOrders.count == 1)
        #expect(!customer.ownedOrders.isStale)
        let order = try await trade.box(Order.self).all[0]
        try await trade.box(Order.self).remove(order)
        #expect(customer.ownedOrders.count == 1, "it stays as it was read")
        #expect(customer.ownedOrders.isStale)
        #expect(try customer.ownedOrders.uncached().isEmpty)
        #expect(try customer.ownedOrders.uncachedIDs().isEmpty)
        try customer.ownedOrders.refresh()
        #expect(customer.ownedOrders.isEmpty)
        #expect(!customer.ownedOrders.isStale)
    }

    @Test func `a refresh keeps unsaved changes`() async throws {
        let trade = try await Trade()
        let ada = Customer("Ada")
        try await trade.box(Order.self).put([Order(1, owner: ada), Order(2, owner: ada)])
        let customer = try await trade.box(Customer.self).all[0]
        customer.ownedOrders.removeAll { $0.total == 1 }
        customer.ownedOrders.append(Order(3))
        try await trade.box(Order.self).put(Order(4, owner: ada))
        try customer.ownedOrders.refresh()
        #expect(customer.ownedOrders.compactMap(\.total) == [2, 4, 3])
        #expect(customer.ownedOrders.pendingChanges.added.compactMap(\.total) == [3])
        #expect(customer.ownedOrders.pendingChanges.removed.compactMap(\.total) == [1])
    }

    @Test func `a copy is an independent value until it is assigned`() async throws {
        let trade = try await Trade()
        try await trade.box(Order.self).put(Order(1, owner: Customer("Ada")))
        let customer = try await trade.box(Customer.self).all[0]
        var orders = customer.ownedOrders
        orders.append(Order(2))
        #expect(customer.ownedOrders.count == 1)
        _ = customer.ownedOrders + [Order(3)]
        #expect(customer.ownedOrders.count == 1)
        customer.ownedOrders = orders
        #expect(customer.ownedOrders.count == 2)
        #expect(customer.ownedOrders.pendingChanges.added.count == 1)
    }

    @Test func `assigning other entities removes the previous ones`() async throws {
        let trade = try await Trade()
        try await trade.box(Order.self).put(Order(1, owner: Customer("Ada")))
        let customer = try await trade.box(Customer.self).all[0]
        customer.ownedOrders = [Order(2)]
        try await trade.box(Customer.self).put(customer)
        let read = try await trade.box(Customer.self).all[0]
        #expect(read.ownedOrders.compactMap(\.total) == [2])
        #expect(try await trade.box(Order.self).count == 2)
    }

    @Test func `several relations to one type are distinguished by partner and by argument`() async throws {
        let trade = try await Trade()
        let ada = Customer("Ada")
        let grace = Customer("Grace")
        let order = Order(1, owner: ada)
        order.recipient.target = grace
        try await trade.box(Order.self).put(order)
        #expect(ada.ownedOrders.count == 1)
        #expect(ada.received.isEmpty)
        #expect(grace.ownedOrders.isEmpty)
        #expect(grace.received.count == 1)
        #expect(ada.backlinks(Order.owner).count == 1)
    }

    @Test func `a relation without a property of its own direction can be changed`() async throws {
        let trade = try await Trade()
        let ada = Customer("Ada")
        let order = Order(1)
        try await trade.box(Customer.self).put(ada)
        try await trade.box(Order.self).put(order)
        var received = ada.received
        received.append(order)
        received.append(Order(2))
        try await received.applyChanges()
        #expect(order.recipient.target?.name == "Ada")
        #expect(ada.received.count == 2)
        try await trade.synchronize()
        var again = try await trade.box(Customer.self).all[0].received
        #expect(again.count == 2)
        again.removeAll()
        try await again.applyChanges()
        #expect(ada.received.isEmpty)
        try await trade.synchronize()
        #expect(try await trade.box(Order.self).all.allSatisfy { !$0.recipient.hasValue })
    }

    @Test func `a many-to-many relation can be changed from both ends`() async throws {
        let trade = try await Trade()
        let teacher = Teacher("Ms Byron")
        teacher.students = [Student("Ada"), Student("Grace")]
        try await trade.box(Teacher.self).put(teacher)
        let ada = try #require(try await trade.box(Student.self).query { Student.name.equal("Ada") }.first())
        #expect(ada.teachers.count == 1)
        ada.teachers.append(Teacher("Mr Babbage"))
        try await trade.box(Student.self).put(ada)
        #expect(try await trade.box(Teacher.self).count == 2)
        ada.teachers.remove(teacher)
        try await trade.box(Student.self).put(ada)
        #expect(teacher.students.isStale)
        try teacher.students.refresh()
        #expect(teacher.students.compactMap(\.name) == ["Grace"])
        try await trade.synchronize()
        let read = try #require(try await trade.box(Student.self).query { Student.name.equal("Ada") }.first())
        #expect(read.teachers.count == 1)
    }

    @Test func `a many-to-many relation of one type has a direction`() async throws {
        let trade = try await Trade()
        let ada = Student("Ada")
        let grace = Student("Grace")
        ada.friends.append(grace)
        try await trade.box(Student.self).put(ada)
        #expect(grace.friends.isEmpty)
        #expect(grace.backlinks(Student.friends).compactMap(\.name) == ["Ada"])
        try await trade.synchronize()
        #expect(ada.friends.uncachedCount == 1)
    }

    @Test func `the links of an unsaved object cannot be applied separately`() async throws {
        let customer = Customer("Ada")
        customer.ownedOrders.append(Order(1))
        await #expect {
            try await customer.ownedOrders.applyChanges()
        } throws: {
            ($0 as? TidelogError)?.code == .refused(.entityNotFound)
        }
    }

    @Test func `setting both ends creates one link`() async throws {
        let trade = try await Trade()
        let customer = Customer("Ada")
        let order = Order(1, owner: customer)
        customer.ownedOrders.append(order)
        try await trade.box(Customer.self).put(customer)
        #expect(customer.ownedOrders.count == 1)
        #expect(try await trade.box(Order.self).count == 1)
        try await trade.synchronize()
        #expect(try await trade.box(Customer.self).all[0].ownedOrders.count == 1)
    }

    @Test func `objects that refer to each other are released`() async throws {
        let trade = try await Trade()
        weak var gone: Customer?
        weak var goneOrder: Order?
        do {
            let customer = Customer("Ada")
            for number in 0..<6_000 {
                let order = Order(number, owner: customer)
                customer.ownedOrders.append(order)
                goneOrder = order
            }
            try await trade.box(Customer.self).put(customer)
            #expect(customer.ownedOrders.count == 6_000)
            gone = customer
        }
        #expect(gone == nil)
        #expect(goneOrder == nil)
    }

    @Test func `a relation contains only objects of its class`() async throws {
        let trade = try await Trade()
        try await trade.box(Order.self).put(Order(1, owner: Customer("Ada")))
        let plain = DataService(provider: trade.provider)
        let customers = try plain.entitySet(withName: "Customers")
        let customer = try await plain.executeQuery(DataQuery().from(customers)).requiredEntity()
        let orders = customer[Customer.ownedOrders]
        #expect(orders.isEmpty)
        #expect(orders.failure?.code == .invalidRequest)
    }
}

extension ToMany {
    fileprivate var uncachedCount: Int { (try? uncachedIDs().count) ?? -1 }
}
