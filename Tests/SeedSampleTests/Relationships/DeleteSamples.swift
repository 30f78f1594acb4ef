import ShopService
import Testing
import Tidelog

/// The samples under *Delete relationship*. The guide counts entities from 1.
@Suite struct DeleteSamples {
    @Test(arguments: Dialect.allCases)
    func `sample deleteLinkExample2: the link is removed, both entities stay`(_ dialect: Dialect) async throws {
        let shop = try await Shop(dialect)
        let service = shop.service
        let customer = try await service.fetchCustomer(matching: DataQuery().top(1))
        let order = try await service.fetchOrder(matching: DataQuery().top(1))
        try await service.deleteLink(from: customer, property: Customer.orders, to: order)
        try await shop.expectNowAndLater(order, belongsTo: nil)
        #expect(try await service.fetchCustomers().count == 3)
    }

    @Test(arguments: Dialect.allCases)
    func `sample setDataValue nil: the referential constraint is cleared`(_ dialect: Dialect) async throws {
        let shop = try await Shop(dialect)
        let service = shop.service
        let ordersESet = try service.entitySet(withName: "Orders")
        let ordersEType = ordersESet.entityType
        let customerIDProp = try ordersEType.property(withName: "CustomerID")

        let order = try await service.fetchOrder(matching: DataQuery().top(1))

        order.setDataValue(for: customerIDProp, to: nil)
        try await service.updateEntity(order)
        try await shop.expectNowAndLater(order, belongsTo: nil)
    }

    @Test(arguments: Dialect.allCases)
    func `sample deleteEntity: the other end no longer has a partner`(_ dialect: Dialect) async throws {
        let shop = try await Shop(dialect)
        let service = shop.service
        let order = try await service.fetchOrder(matching: DataQuery().skip(2).top(1))
        let customer = try await service.fetchCustomer(matching: DataQuery().skip(1).top(1))
        try await service.deleteEntity(customer)
        try await shop.expectNowAndLater(order, belongsTo: nil)
        #expect(try await service.fetchCustomers().count == 2)
    }

    @Test(arguments: Dialect.allCases)
    func `sample deleteLinkExample: two links in one change set`(_ dialect: Dialect) async throws {
        let shop = try await Shop(dialect)
        let service = shop.service
        let customers = try await service.fetchCustomers(matching: DataQuery().top(2))
        let orders = try await service.fetchOrders(matching: DataQuery().top(3))

        let batch = RequestBatch()
        let changes = ChangeSet()

        changes.deleteLink(from: orders[0], property: Order.customer, to: customers[0])
        changes.deleteLink(from: orders[2], property: Order.customer, to: customers[1])

        batch.addChanges(changes)
        try await service.processBatch(batch)
        try await shop.expect(orders[2], belongsTo: nil)
        try await shop.expectNowAndLater(orders[0], belongsTo: nil)
    }

    @Test(arguments: Dialect.allCases)
    func `sample oneToOnedeleteLinkExample without changes, unlinking both ends, is refused`(
        _ dialect: Dialect
    ) async throws {
        let shop = try await Shop(dialect)
        let service = shop.service
        let cars = try await service.fetchCars(matching: DataQuery().top(2))
        let owners = try await service.fetchOwners(matching: DataQuery().top(2))

        let batch = RequestBatch()
        let changes = ChangeSet()

        changes.deleteLink(from: cars[0], property: Car.owner, to: owners[0])
        changes.deleteLink(from: cars[1], property: Car.owner, to: owners[1])

        batch.addChanges(changes)
        let error = await #expect(throws: TidelogError.self) { try await service.processBatch(batch) }
        #expect(error?.code == .refused(.mandatoryEnd))
        #expect(try await !shop.provider.hasPendingUpload)
    }

    @Test(arguments: Dialect.allCases)
    func `sample oneToOnedeleteLinkExample, as described: both entities are deleted together`(
        _ dialect: Dialect
    ) async throws {
        let shop = try await Shop(dialect)
        let service = shop.service
        let cars = try await service.fetchCars(matching: DataQuery().top(2))
        let owners = try await service.fetchOwners(matching: DataQuery().top(2))

        let batch = RequestBatch()
        let changes = ChangeSet()

        changes.deleteEntity(cars[0])
        changes.deleteEntity(owners[0])

        batch.addChanges(changes)
        try await service.processBatch(batch)
        for _ in ["at once", "after an upload and a download"] {
            #expect(try await service.fetchCars().map(\.entityID) == [cars[1].entityID])
            #expect(try await service.fetchOwners().map(\.entityID) == [owners[1].entityID])
            try await shop.synchronize()
        }
        #expect(shop.serverLinks == "Cars(2)\n  Owner: Owners(2)\n")
    }
}
