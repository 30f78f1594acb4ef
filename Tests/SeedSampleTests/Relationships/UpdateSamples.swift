import ShopService
import Testing
import Tidelog

/// The samples under *Update relationship*. The guide counts entities from 1.
@Suite struct UpdateSamples {
    @Test(arguments: Dialect.allCases)
    func `sample updateLinkExample: an order gets another customer`(_ dialect: Dialect) async throws {
        let shop = try await Shop(dialect)
        let service = shop.service
        let customer = try await service.fetchCustomer(matching: DataQuery().skip(1).top(1))
        let order = try await service.fetchOrder(matching: DataQuery().top(1))
        try await service.updateLink(from: order, property: Order.customer, to: customer)
        try await shop.expectNowAndLater(order, belongsTo: customer)
    }

    @Test(arguments: Dialect.allCases)
    func `sample ChangeSet updateLink: two orders exchange their customers`(_ dialect: Dialect) async throws {
        let shop = try await Shop(dialect)
        let service = shop.service
        let customers = try await service.fetchCustomers(matching: DataQuery().top(2))
        let orders = try await service.fetchOrders(matching: DataQuery().top(2))

        let batch = RequestBatch()
        let changes = ChangeSet()

        changes.updateLink(from: orders[0], property: Order.customer, to: customers[1])
        changes.updateLink(from: orders[1], property: Order.customer, to: customers[0])

        batch.addChanges(changes)
        try await service.processBatch(batch)
        try await shop.expect(orders[1], belongsTo: customers[0])
        try await shop.expectNowAndLater(orders[0], belongsTo: customers[1])
    }

    @Test(arguments: Dialect.allCases)
    func `sample setEntityValue: an order gets another customer`(_ dialect: Dialect) async throws {
        let shop = try await Shop(dialect)
        let service = shop.service
        let customer = try await service.fetchCustomer(matching: DataQuery().top(1))
        let orders = try await service.fetchOrders(matching: DataQuery().top(3))

        let ordersESet = try service.entitySet(withName: "Orders")
        let orderToCustomer = try ordersESet.entityType.property(withName: "Customer")
        orderToCustomer.setEntityValue(in: orders[2], to: customer)
        // This line is in the Java sample of the guide but missing in the Swift sample.
        try await service.updateEntity(orders[2])
        try await shop.expectNowAndLater(orders[2], belongsTo: customer)
    }

    @Test(arguments: Dialect.allCases)
    func `sample update a relationship with referential constraint`(_ dialect: Dialect) async throws {
        let shop = try await Shop(dialect)
        let service = shop.service
        let ordersESet = try service.entitySet(withName: "Orders")
        let ordersEType = ordersESet.entityType
        let customerIDProp = try ordersEType.property(withName: "CustomerID")

        let customer = try await service.fetchCustomer(matching: DataQuery().skip(1).top(1))
        let orders = try await service.fetchOrders(matching: DataQuery().top(2))

        customerIDProp.setIntValue(in: orders[1], to: try customerIDProp.intValue(from: customer))
        try await service.updateEntity(orders[1])
        try await shop.expectNowAndLater(orders[1], belongsTo: customer)
    }

    @Test(arguments: Dialect.allCases)
    func `sample oneToOneExample: two cars exchange their owners`(_ dialect: Dialect) async throws {
        let shop = try await Shop(dialect)
        let service = shop.service
        let cars = try await service.fetchCars(matching: DataQuery().top(2))
        let owners = try await service.fetchOwners(matching: DataQuery().top(2))

        let batch = RequestBatch()
        let changes = ChangeSet()

        changes.updateLink(from: cars[0], property: Car.owner, to: owners[1])
        changes.updateLink(from: cars[1], property: Car.owner, to: owners[0])

        batch.addChanges(changes)
        try await service.processBatch(batch)
        for _ in ["at once", "after an upload and a download"] {
            try await shop.expect(cars[0], belongsTo: owners[1])
            try await shop.expect(cars[1], belongsTo: owners[0])
            try await shop.synchronize()
        }
        #expect(shop.serverLinks == "Cars(1)\n  Owner: Owners(2)\nCars(2)\n  Owner: Owners(1)\n")
    }
}
