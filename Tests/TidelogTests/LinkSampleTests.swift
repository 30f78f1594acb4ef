import Testing
import Tidelog

/// API samples of links between existing entities, with typing errors corrected.
@Suite struct LinkSampleTests {
    @Test(arguments: Client.all)
    func `the sample of createLink links two existing entities`(_ client: Client) async throws {
        let shop = try await Shop(client)
        let service = shop.service
        let customer = try await shop.first("Customers", matching: DataQuery().skip(1).top(1))
        let order = try await shop.first("Orders", matching: DataQuery().top(1))
        try await service.createLink(from: customer, property: try shop.property("Customers/Orders"), to: order)

        #expect(try await shop.areLinked(customer, "Orders", order, "Customer"))
        #expect(try await shop.one("Orders", 1)["CustomerID"] == .integer(2))
        try await shop.synchronize()
        #expect(
            shop.serverLinks("Customers") == """
                Customers(1)
                  Orders: Orders(2)
                Customers(2)
                  Orders: Orders(1), Orders(3)
                Customers(3)

                """)
    }

    @Test(arguments: Client.all)
    func `the sample of createLink links from the single-valued end`(_ client: Client) async throws {
        let shop = try await Shop(client)
        let customer = try await shop.one("Customers", 3)
        let order = try await shop.one("Orders", 4)
        try await shop.service.createLink(from: order, property: try shop.property("Orders/Customer"), to: customer)
        #expect(try await shop.areLinked(customer, "Orders", order, "Customer"))
        try await shop.synchronize()
        #expect(shop.serverLinks("Customers").hasSuffix("Customers(3)\n  Orders: Orders(4)\n"))
    }

    @Test(arguments: Client.all)
    func `the sample of updateLink replaces a single-valued link of each kind of relationship`(_ client: Client)
        async throws
    {
        let shop = try await Shop(client)
        let customer = try await shop.first("Customers")
        let order = try await shop.one("Orders", 3)
        let before = try await shop.one("Customers", 2)
        try await shop.service.updateLink(from: order, property: try shop.property("Orders/Customer"), to: customer)
        #expect(try await shop.areLinked(customer, "Orders", order, "Customer"))
        #expect(try await !shop.areLinked(before, "Orders", order, "Customer"))
        try await shop.synchronize()
        #expect(
            shop.serverLinks("Customers") == """
                Customers(1)
                  Orders: Orders(1), Orders(2), Orders(3)
                Customers(2)
                Customers(3)

                """)
    }

    @Test(arguments: Client.all)
    func `the sample of bindEntity binds an existing customer to an existing order`(_ client: Client) async throws {
        let shop = try await Shop(client)
        let orders = try shop.property("Customers/Orders")
        let customer = try await shop.first("Customers", matching: DataQuery().top(1).expand(orders))
        let order = try await shop.one("Orders", 4)
        customer.bindEntity(order, to: orders)
        try await shop.service.updateEntity(customer)
        #expect(try await shop.areLinked(customer, "Orders", order, "Customer"))
        try await shop.synchronize()
        #expect(shop.serverLinks("Customers").hasPrefix("Customers(1)\n  Orders: Orders(1), Orders(2), Orders(4)\n"))
    }

    @Test(arguments: Client.all)
    func `the sample of bindEntity binds an existing order to an existing customer`(_ client: Client) async throws {
        let shop = try await Shop(client)
        let customer = try await shop.first("Customers", matching: DataQuery().skip(1).top(1))
        let order = try await shop.first("Orders", matching: DataQuery().top(1))
        order.bindEntity(customer, to: try shop.property("Orders/Customer"))
        try await shop.service.updateEntity(order)
        #expect(try await shop.areLinked(customer, "Orders", order, "Customer"))
        try await shop.synchronize()
        #expect(shop.serverLinks("Orders").hasPrefix("Orders(1)\n  Customer: Customers(2)\n"))
    }

    @Test(arguments: Client.all)
    func `the sample of setIntValue links by a referential constraint at once`(_ client: Client) async throws {
        let shop = try await Shop(client)
        let service = shop.service
        let ordersSet = try service.entitySet(withName: "Orders")
        let customerID = try ordersSet.entityType.property(withName: "CustomerID")
        let customer = try await shop.first("Customers", matching: DataQuery().skip(1).top(1))
        let order = try await shop.first("Orders", matching: DataQuery().top(1))
        customerID.setIntValue(in: order, to: try customerID.intValue(from: customer))
        try await service.updateEntity(order)

        #expect(try await shop.areLinked(customer, "Orders", order, "Customer"))
        #expect(try await !shop.areLinked(try await shop.one("Customers", 1), "Orders", order, "Customer"))
        try await shop.synchronize()
        #expect(shop.serverLinks("Orders").hasPrefix("Orders(1)\n  Customer: Customers(2)\n"))
    }

    @Test(arguments: Client.all)
    func `the sample of setDataValue with nil unlinks by a referential constraint at once`(_ client: Client)
        async throws
    {
        let shop = try await Shop(client)
        let customerID = try shop.property("Orders/CustomerID")
        let customer = try await shop.first("Customers")
        let order = try await shop.first("Orders", matching: DataQuery().top(1))
        order.setDataValue(for: customerID, to: nil)
        try await shop.service.updateEntity(order)
        #expect(try await !shop.areLinked(customer, "Orders", order, "Customer"))
        #expect(try await shop.related(order, "Customer").isEmpty)
        try await shop.synchronize()
        #expect(shop.serverLinks("Orders").hasPrefix("Orders(1)\nOrders(2)\n"))
    }

    @Test(arguments: Client.all)
    func `the sample of setEntityValue and updateEntity changes the customer of an order`(_ client: Client) async throws
    {
        let shop = try await Shop(client)
        let customer = try await shop.first("Customers", matching: DataQuery().top(1))
        let order = try await shop.one("Orders", 3)
        let orderToCustomer = try shop.set("Orders").entityType.property(withName: "Customer")
        orderToCustomer.setEntityValue(in: order, to: customer)
        try await shop.service.updateEntity(order)
        #expect(try await shop.areLinked(customer, "Orders", order, "Customer"))
        try await shop.synchronize()
        #expect(shop.serverLinks("Customers").hasPrefix("Customers(1)\n  Orders: Orders(1), Orders(2), Orders(3)\n"))
    }

    @Test(arguments: Client.all)
    func `the sample of deleteLink deletes a link from the many end`(_ client: Client) async throws {
        let shop = try await Shop(client)
        let customer = try await shop.first("Customers")
        let order = try await shop.first("Orders", matching: DataQuery().top(1))
        try await shop.service.deleteLink(from: customer, property: try shop.property("Customers/Orders"), to: order)
        #expect(try await !shop.areLinked(customer, "Orders", order, "Customer"))
        let again = try await shop.one("Orders", 1)
        #expect((again["CustomerID"] ?? .null) == .null)
        try await shop.synchronize()
        #expect(shop.serverLinks("Customers").hasPrefix("Customers(1)\n  Orders: Orders(2)\n"))
    }

    @Test(arguments: Client.all)
    func `the sample of deleteLink deletes a link from the single-valued end without a target`(_ client: Client)
        async throws
    {
        let shop = try await Shop(client)
        let customer = try await shop.first("Customers")
        let order = try await shop.first("Orders")
        try await shop.service.deleteLink(from: order, property: try shop.property("Orders/Customer"))
        #expect(try await !shop.areLinked(customer, "Orders", order, "Customer"))
        try await shop.synchronize()
        #expect(shop.serverLinks("Customers").hasPrefix("Customers(1)\n  Orders: Orders(2)\n"))
    }

    @Test(arguments: Client.all)
    func `the sample of deleteEntity deletes the links of the entity`(_ client: Client) async throws {
        let shop = try await Shop(client)
        let customer = try await shop.first("Customers", matching: DataQuery().skip(1).top(1))
        let order = try await shop.one("Orders", 3)
        try await shop.service.deleteEntity(customer)
        #expect(try await shop.fetch("Customers").count == 2)
        #expect(try await shop.related(order, "Customer").isEmpty)
        try await shop.synchronize()
        #expect(shop.serverLinks("Customers", "Orders").contains("Orders(3)\nOrders(4)\n"))
        #expect(!shop.serverLinks("Customers").contains("Customers(2)"))
    }

    @Test(arguments: Client.all)
    func `links of a many-to-many relationship are created and deleted from both ends`(_ client: Client) async throws {
        let shop = try await Shop(client)
        let globex = try await shop.one("Suppliers", 2)
        let acme = try await shop.one("Suppliers", 1)
        let anvil = try await shop.one("Products", 1)
        let rocket = try await shop.one("Products", 2)
        let nothing = try await shop.one("Products", 3)
        let products = try shop.property("Suppliers/Products")
        let suppliers = try shop.property("Products/Suppliers")
        try await shop.service.createLink(from: globex, property: products, to: rocket)
        try await shop.service.createLink(from: nothing, property: suppliers, to: acme)
        try await shop.service.deleteLink(from: anvil, property: suppliers, to: globex)
        #expect(try await shop.areLinked(globex, "Products", rocket, "Suppliers"))
        #expect(try await shop.areLinked(acme, "Products", nothing, "Suppliers"))
        #expect(try await !shop.areLinked(globex, "Products", anvil, "Suppliers"))
        try await shop.synchronize()
        #expect(
            shop.serverLinks("Suppliers") == """
                Suppliers(1)
                  Products: Products(1), Products(2), Products(3)
                Suppliers(2)
                  Products: Products(2)

                """)
    }
}
