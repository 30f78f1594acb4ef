import Testing
import Tidelog

/// API samples that create entities together with their relationships.
@Suite struct CreateSampleTests {
    @Test(arguments: Client.all)
    func `the sample of createRelatedEntity creates an entity through a collection`(_ client: Client) async throws {
        let shop = try await Shop(client)
        let customerID = try shop.property("Customers/CustomerID")
        let customer = try await shop.first("Customers", matching: DataQuery().top(1).filter(customerID.equal(2)))
        let newOrder = shop.copyWithoutKey(try await shop.first("Orders", matching: DataQuery().top(1)))
        newOrder.unsetDataValue(for: try shop.property("Orders/CustomerID"))
        try await shop.service.createRelatedEntity(
            newOrder, in: customer, property: try shop.property("Customers/Orders"))
        #expect(try await shop.areLinked(customer, "Orders", newOrder, "Customer"))
        try await shop.synchronize()
        #expect(shop.serverLinks("Customers").contains("Customers(2)\n  Orders: Orders(3), Orders(5)\n"))
        try await shop.service.loadEntity(newOrder)
        #expect(newOrder["Note"] == .string("engine parts"))
    }

    @Test(arguments: Client.all)
    func `the sample of createRelatedEntity creates an entity through a single-valued property`(_ client: Client)
        async throws
    {
        let shop = try await Shop(client)
        let order = try await shop.one("Orders", 4)
        let customer = try shop.new("Customers", ["Name": .string("New")])
        try await shop.service.createRelatedEntity(
            customer, in: order, property: try shop.property("Orders/Customer"))
        #expect(try await shop.areLinked(customer, "Orders", order, "Customer"))
        try await shop.synchronize()
        #expect(shop.serverLinks("Customers").hasSuffix("Customers(4)\n  Orders: Orders(4)\n"))
    }

    @Test(arguments: Client.all)
    func `the sample of bindEntity binds a new customer to an existing order`(_ client: Client) async throws {
        let shop = try await Shop(client)
        let newCustomer = try shop.new("Customers", ["Name": .string("customernew")])
        let order = try await shop.first("Orders", matching: DataQuery().top(1))
        newCustomer.bindEntity(order, to: try shop.property("Customers/Orders"))
        try await shop.service.createEntity(newCustomer)
        #expect(try await shop.areLinked(newCustomer, "Orders", order, "Customer"))
        try await shop.synchronize()
        #expect(shop.serverLinks("Customers").hasSuffix("Customers(4)\n  Orders: Orders(1)\n"))
    }

    @Test(arguments: Client.all)
    func `the sample of bindEntity binds a new order to an existing customer`(_ client: Client) async throws {
        let shop = try await Shop(client)
        let order = try shop.new("Orders", ["Note": .string("bound")])
        let customer = try await shop.one("Customers", 3)
        order.bindEntity(customer, to: try shop.property("Orders/Customer"))
        try await shop.service.createEntity(order)
        #expect(try await shop.areLinked(customer, "Orders", order, "Customer"))
        try await shop.synchronize()
        #expect(shop.serverLinks("Customers").hasSuffix("Customers(3)\n  Orders: Orders(5)\n"))
    }

    @Test(arguments: Client.all)
    func `the sample of setIntValue and createEntity links by a referential constraint at once`(_ client: Client)
        async throws
    {
        let shop = try await Shop(client)
        let customerID = try shop.property("Orders/CustomerID")
        let customer = try await shop.first("Customers", matching: DataQuery().skip(1).top(1))
        let newOrder = shop.copyWithoutKey(try await shop.first("Orders", matching: DataQuery().top(1)))
        customerID.setIntValue(in: newOrder, to: try customerID.intValue(from: customer))
        try await shop.service.createEntity(newOrder)
        #expect(try await shop.areLinked(customer, "Orders", newOrder, "Customer"))
        try await shop.synchronize()
        #expect(shop.serverLinks("Customers").contains("Customers(2)\n  Orders: Orders(3), Orders(5)\n"))
    }

    @Test(arguments: Client.all)
    func `new entities in a collection may contain new entities in their own collections`(_ client: Client) async throws
    {
        let shop = try await Shop(client)
        let top = try shop.new("Suppliers", ["Name": .string("top")])
        let middle = try shop.new("Products", ["Name": .string("middle")])
        let bottom = try shop.new("Suppliers", ["Name": .string("bottom")])
        try shop.property("Products/Suppliers").setEntityList(in: middle, to: [bottom])
        try shop.property("Suppliers/Products").setEntityList(in: top, to: [middle])
        try await shop.service.createEntity(top)
        try await shop.synchronize()
        #expect(try await shop.areLinked(top, "Products", middle, "Suppliers"))
        #expect(try await shop.areLinked(bottom, "Products", middle, "Suppliers"))
    }

    @Test(arguments: Client.offline)
    func `a referential constraint links two new entities at once, and after the service has assigned another key`(
        _ client: Client
    ) async throws {
        let shop = try await Shop(client)
        let customer = try shop.new("Customers", ["CustomerID": .integer(77), "Name": .string("New")])
        let order = try shop.new("Orders", ["Note": .string("of 77"), "CustomerID": .integer(77)])
        try await shop.service.createEntity(customer)
        try await shop.service.createEntity(order)
        #expect(try await shop.areLinked(customer, "Orders", order, "Customer"))
        try await shop.synchronize()
        #expect(try await shop.areLinked(customer, "Orders", order, "Customer"))
    }

    @Test(arguments: Client.offline)
    func `a referential constraint links two new entities of one change set`(_ client: Client) async throws {
        let shop = try await Shop(client)
        let customer = try shop.new("Customers", ["CustomerID": .integer(77), "Name": .string("New")])
        let order = try shop.new("Orders", ["Note": .string("of 77"), "CustomerID": .integer(77)])
        let changes = ChangeSet()
        changes.createEntity(customer)
        changes.createEntity(order)
        try await shop.service.applyChanges(changes)
        #expect(try await shop.areLinked(customer, "Orders", order, "Customer"))
        try await shop.synchronize()
        #expect(shop.serverLinks("Customers").hasSuffix("Customers(4)\n  Orders: Orders(5)\n"))
    }

    @Test(arguments: Client.offline)
    func `an order linked to a new customer by its provisional key follows the assigned key`(
        _ client: Client
    ) async throws {
        let shop = try await Shop(client)
        let customer = try shop.new("Customers", ["CustomerID": .integer(77), "Name": .string("New")])
        try await shop.service.createEntity(customer)
        let order = try await shop.one("Orders", 1)
        order["CustomerID"] = .integer(77)
        try await shop.service.updateEntity(order)
        #expect(try await shop.areLinked(customer, "Orders", order, "Customer"))
        try await shop.synchronize()
        #expect(shop.serverLinks("Customers").hasSuffix("Customers(4)\n  Orders: Orders(1)\n"))
    }

    @Test(arguments: Client.all)
    func `the sample of createLink in a change set links two new entities`(_ client: Client) async throws {
        let shop = try await Shop(client)
        let newCustomer = shop.copyWithoutKey(try await shop.first("Customers", matching: DataQuery().top(1)))
        let newOrder = shop.copyWithoutKey(try await shop.one("Orders", 4))
        let batch = RequestBatch()
        let changes = ChangeSet()
        changes.createEntity(newCustomer)
        changes.createEntity(newOrder)
        changes.createLink(from: newCustomer, property: try shop.property("Customers/Orders"), to: newOrder)
        batch.addChanges(changes)
        try await shop.service.processBatch(batch)

        #expect(changes.isApplied)
        #expect(try await shop.areLinked(newCustomer, "Orders", newOrder, "Customer"))
        try await shop.synchronize()
        #expect(shop.serverLinks("Customers").hasSuffix("Customers(4)\n  Orders: Orders(5)\n"))
    }

    @Test(arguments: Client.all)
    func `the sample of updateLink in a change set links two new entities`(_ client: Client) async throws {
        let shop = try await Shop(client)
        let customers = try await shop.fetch("Customers", matching: DataQuery().top(2))
        let newCustomer = shop.copyWithoutKey(customers[0])
        newCustomer["Name"] = .string("NewCustomer")
        let newOrder = shop.copyWithoutKey(try await shop.one("Orders", 4))
        let batch = RequestBatch()
        let changes = ChangeSet()
        changes.createEntity(newCustomer)
        changes.createEntity(newOrder)
        changes.updateLink(from: newOrder, property: try shop.property("Orders/Customer"), to: newCustomer)
        batch.addChanges(changes)
        try await shop.service.processBatch(batch)
        #expect(try await shop.areLinked(newCustomer, "Orders", newOrder, "Customer"))
        try await shop.synchronize()
        #expect(shop.serverLinks("Customers").hasSuffix("Customers(4)\n  Orders: Orders(5)\n"))
    }

    @Test(arguments: Client.all)
    func `the sample of createRelatedEntity in a change set creates a parent with two children`(_ client: Client)
        async throws
    {
        let shop = try await Shop(client)
        let newCustomer = shop.copyWithoutKey(try await shop.first("Customers"))
        let orders = try await shop.fetch("Orders", matching: DataQuery().top(2))
        let copies = try orders.map { order in
            let copy = shop.copyWithoutKey(order)
            copy.unsetDataValue(for: try shop.property("Orders/CustomerID"))
            return copy
        }
        let changes = ChangeSet()
        changes.createEntity(newCustomer)
        for copy in copies {
            changes.createRelatedEntity(copy, in: newCustomer, property: try shop.property("Customers/Orders"))
        }
        try await shop.service.applyChanges(changes)
        for copy in copies { #expect(try await shop.areLinked(newCustomer, "Orders", copy, "Customer")) }
        try await shop.synchronize()
        #expect(shop.serverLinks("Customers").hasSuffix("Customers(4)\n  Orders: Orders(5), Orders(6)\n"))
    }

    @Test(arguments: Client.all)
    func `the sample without a create of the parent is refused`(_ client: Client) async throws {
        let shop = try await Shop(client)
        let newCustomer = shop.copyWithoutKey(try await shop.first("Customers"))
        let newOrder = shop.copyWithoutKey(try await shop.first("Orders"))
        try await shop.expectRefusal(.refused(.entityNotFound)) {
            let batch = RequestBatch()
            let changes = ChangeSet()
            changes.createRelatedEntity(newOrder, in: newCustomer, property: try shop.property("Customers/Orders"))
            batch.addChanges(changes)
            try await shop.service.processBatch(batch)
        }
    }

    @Test(arguments: Client.all)
    func `the sample of a deep insert uses setEntityValue and createEntity`(_ client: Client) async throws {
        let shop = try await Shop(client)
        let newCustomer = shop.copyWithoutKey(try await shop.first("Customers"))
        let newOrder = shop.copyWithoutKey(try await shop.one("Orders", 4))
        let orderToCustomer = try shop.set("Orders").entityType.property(withName: "Customer")
        orderToCustomer.setEntityValue(in: newOrder, to: newCustomer)
        try await shop.service.createEntity(newOrder)

        #expect(newOrder.readLink != nil)
        let linked = try await shop.related(newOrder, "Customer")
        #expect(linked.map { $0["Name"] } == [.string("Ada Lovelace")])
        #expect(try await shop.areLinked(try #require(linked.first), "Orders", newOrder, "Customer"))
        try await shop.synchronize()
        #expect(shop.serverLinks("Customers").hasSuffix("Customers(4)\n  Orders: Orders(5)\n"))
    }

    @Test(arguments: Client.all)
    func `a deep insert of a collection creates the children with their parent`(_ client: Client) async throws {
        let shop = try await Shop(client)
        let customer = try shop.new("Customers", ["Name": .string("Deep")])
        let notes = ["one", "two"]
        let orders = try notes.map { try shop.new("Orders", ["Note": .string($0)]) }
        try shop.property("Customers/Orders").setEntityList(in: customer, to: orders)
        try await shop.service.createEntity(customer)
        #expect(try await shop.related(customer, "Orders").map { $0["Note"] } == notes.map { .string($0) })
        try await shop.synchronize()
        #expect(shop.serverLinks("Customers").hasSuffix("Customers(4)\n  Orders: Orders(5), Orders(6)\n"))
        #expect(orders.allSatisfy { $0.readLink != nil })
    }

    @Test(arguments: Client.all)
    func `the sample of a swap exchanges the customers of two orders in one batch`(_ client: Client) async throws {
        let shop = try await Shop(client)
        let customers = try await shop.fetch("Customers", matching: DataQuery().top(2))
        let orders = [try await shop.one("Orders", 1), try await shop.one("Orders", 3)]
        let batch = RequestBatch()
        let changes = ChangeSet()
        let customer = try shop.property("Orders/Customer")
        changes.updateLink(from: orders[0], property: customer, to: customers[1])
        changes.updateLink(from: orders[1], property: customer, to: customers[0])
        batch.addChanges(changes)
        try await shop.service.processBatch(batch)
        #expect(try await shop.areLinked(customers[1], "Orders", orders[0], "Customer"))
        #expect(try await shop.areLinked(customers[0], "Orders", orders[1], "Customer"))
        try await shop.synchronize()
        #expect(
            shop.serverLinks("Customers") == """
                Customers(1)
                  Orders: Orders(2), Orders(3)
                Customers(2)
                  Orders: Orders(1)
                Customers(3)

                """)
    }

    @Test(arguments: Client.all)
    func `the sample of deleteLink in a change set deletes two links`(_ client: Client) async throws {
        let shop = try await Shop(client)
        let customers = try await shop.fetch("Customers", matching: DataQuery().top(2))
        let orders = [try await shop.one("Orders", 1), try await shop.one("Orders", 3)]
        let batch = RequestBatch()
        let changes = ChangeSet()
        let customer = try shop.property("Orders/Customer")
        changes.deleteLink(from: orders[0], property: customer, to: customers[0])
        changes.deleteLink(from: orders[1], property: customer, to: customers[1])
        batch.addChanges(changes)
        try await shop.service.processBatch(batch)
        #expect(try await shop.related(customers[1], "Orders").isEmpty)
        try await shop.synchronize()
        #expect(
            shop.serverLinks("Customers") == """
                Customers(1)
                  Orders: Orders(2)
                Customers(2)
                Customers(3)

                """)
    }

    @Test(arguments: Client.all)
    func `queries of a batch see the changes of the change sets before them`(_ client: Client) async throws {
        let shop = try await Shop(client)
        let batch = RequestBatch()
        let names = try shop.property("Customers/Name")
        let query = DataQuery().from(try shop.set("Customers")).filter(names.startsWith("Batch"))
        let before = batch.addQuery(query)
        let changes = ChangeSet()
        changes.createEntity(try shop.new("Customers", ["Name": .string("Batch 1")]))
        batch.addChanges(changes)
        let after = batch.addQuery(query)
        try await shop.service.processBatch(batch)
        #expect(try batch.queryResult(before).entityList().isEmpty)
        #expect(try batch.queryResult(after).entityList().map { $0["Name"] } == [.string("Batch 1")])
    }
}
