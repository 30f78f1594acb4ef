import ShopService
import Testing
import Tidelog

/// The samples under *Create relationship*. They differ from the guide only in its mistakes: sets instead of
/// types, keys that a copy must not keep, and missing `await`.
///
/// Features: SV-08.
@Suite struct CreateSamples {
    @Test(arguments: Dialect.allCases)
    func `sample createLinkExample: two existing entities`(_ dialect: Dialect) async throws {
        let shop = try await Shop(dialect)
        let service = shop.service
        let customer = try await service.fetchCustomer(matching: DataQuery().skip(1).top(1))
        let order = try await service.fetchOrder(matching: DataQuery().top(1))
        try await service.createLink(from: customer, property: Customer.orders, to: order)
        try await shop.expectNowAndLater(order, belongsTo: customer)
    }

    @Test(arguments: Dialect.allCases)
    func `sample updateLinkExample: two existing entities`(_ dialect: Dialect) async throws {
        let shop = try await Shop(dialect)
        let service = shop.service
        let customer = try await service.fetchCustomer()
        let order = try await service.fetchOrder(matching: DataQuery().skip(2).top(1))
        try await service.updateLink(from: order, property: Order.customer, to: customer)
        try await shop.expectNowAndLater(order, belongsTo: customer)
    }

    @Test(arguments: Dialect.allCases)
    func `sample bindEntityExample: an existing customer is updated with an existing order`(
        _ dialect: Dialect
    ) async throws {
        let shop = try await Shop(dialect)
        let service = shop.service
        let customerQuery = DataQuery().skip(1).top(1).expand(Customer.orders)
        let customer = try await service.fetchCustomer(matching: customerQuery)
        let orderQuery = DataQuery().top(1)
        let order = try await service.fetchOrder(matching: orderQuery)
        customer.bindEntity(order, to: Customer.orders)
        try await service.updateEntity(customer)
        try await shop.expectNowAndLater(order, belongsTo: customer)
    }

    @Test(arguments: Dialect.allCases)
    func `sample bindEntityExample: an existing order is updated with an existing customer`(
        _ dialect: Dialect
    ) async throws {
        let shop = try await Shop(dialect)
        let service = shop.service
        let customer = try await service.fetchCustomer(matching: DataQuery().skip(1).top(1))
        let order = try await service.fetchOrder(matching: DataQuery().top(1))
        order.bindEntity(customer, to: Order.customer)
        try await service.updateEntity(order)
        try await shop.expectNowAndLater(order, belongsTo: customer)
    }

    @Test(arguments: Dialect.allCases)
    func `sample update with referential constraint: two existing entities`(_ dialect: Dialect) async throws {
        let shop = try await Shop(dialect)
        let service = shop.service
        let ordersESet = try service.entitySet(withName: "Orders")
        let ordersEType = ordersESet.entityType
        let customerIDProp = try ordersEType.property(withName: "CustomerID")

        let customer = try await service.fetchCustomer(matching: DataQuery().skip(1).top(1))
        let order = try await service.fetchOrder(matching: DataQuery().top(1))

        customerIDProp.setIntValue(in: order, to: try customerIDProp.intValue(from: customer))
        try await service.updateEntity(order)
        try await shop.expectNowAndLater(order, belongsTo: customer)
    }

    @Test(arguments: Dialect.allCases)
    func `sample createRelatedEntityExample: an entity related to a parent`(_ dialect: Dialect) async throws {
        let shop = try await Shop(dialect)
        let service = shop.service
        let customer = try await service.fetchCustomer(
            matching: DataQuery().top(1).filter(Customer.customerID.equal(3)))
        let orders = try await service.fetchOrders(matching: DataQuery().top(1))
        let newOrder = try #require(orders.first).copyWithoutCustomer()
        try await service.createRelatedEntity(newOrder, in: customer, property: Customer.orders)
        try await shop.expectNowAndLater(newOrder, belongsTo: customer)
    }

    @Test(arguments: Dialect.allCases)
    func `sample createRelatedEntity through a single-valued property`(_ dialect: Dialect) async throws {
        let shop = try await Shop(dialect)
        let service = shop.service
        let order = try await service.fetchOrder(matching: DataQuery().top(1))
        let newCustomer = Customer(withDefaults: false)
        newCustomer.name = "customernew"
        try await service.createRelatedEntity(newCustomer, in: order, property: Order.customer)
        try await shop.expectNowAndLater(order, belongsTo: newCustomer)
    }

    @Test(arguments: Dialect.allCases)
    func `sample bindEntityExample: bind and then create new customer entity`(_ dialect: Dialect) async throws {
        let shop = try await Shop(dialect)
        let service = shop.service
        let newCustomer = Customer(withDefaults: false)
        newCustomer.name = "customernew"
        let orderQuery = DataQuery().top(1)
        let order = try await service.fetchOrder(matching: orderQuery)
        newCustomer.bindEntity(order, to: Customer.orders)
        try await service.createEntity(newCustomer)
        try await shop.expectNowAndLater(order, belongsTo: newCustomer)
    }

    @Test(arguments: Dialect.allCases)
    func `sample update with referential constraint when creating a new entity`(_ dialect: Dialect) async throws {
        let shop = try await Shop(dialect)
        let service = shop.service
        let ordersESet = try service.entitySet(withName: "Orders")
        let ordersEType = ordersESet.entityType
        let customerIDProp = try ordersEType.property(withName: "CustomerID")

        let customer = try await service.fetchCustomer(matching: DataQuery().skip(1).top(1))
        let orders = try await service.fetchOrders(matching: DataQuery().top(1))
        let newOrder = try #require(orders.first).copyWithoutCustomer()

        customerIDProp.setIntValue(in: newOrder, to: try customerIDProp.intValue(from: customer))
        try await service.createEntity(newOrder)
        try await shop.expectNowAndLater(newOrder, belongsTo: customer)
    }

    @Test(arguments: Dialect.allCases)
    func `sample ChangeSet createLink: two new entities`(_ dialect: Dialect) async throws {
        let shop = try await Shop(dialect)
        let service = shop.service
        let customers = try await service.fetchCustomers(matching: DataQuery().top(1))
        let newCustomer = try #require(customers.first).copyWithoutKey()
        let orders = try await service.fetchOrders(matching: DataQuery().top(1))
        let newOrder = try #require(orders.first).copyWithoutCustomer()

        let batch = RequestBatch()
        let changes = ChangeSet()

        changes.createEntity(newCustomer)
        changes.createEntity(newOrder)
        changes.createLink(from: newCustomer, property: Customer.orders, to: newOrder)

        batch.addChanges(changes)
        try await service.processBatch(batch)
        try await shop.expectNowAndLater(newOrder, belongsTo: newCustomer)
    }

    @Test(arguments: Dialect.allCases)
    func `sample ChangeSet updateLink: two new entities`(_ dialect: Dialect) async throws {
        let shop = try await Shop(dialect)
        let service = shop.service
        let customers = try await service.fetchCustomers(matching: DataQuery().top(2))
        let newCustomer = try #require(customers.first).copyWithoutKey()
        let orders = try await service.fetchOrders(matching: DataQuery().top(2))
        let newOrder = try #require(orders.first).copyWithoutCustomer()

        let batch = RequestBatch()
        let changes = ChangeSet()

        changes.createEntity(newCustomer)
        changes.createEntity(newOrder)
        changes.updateLink(from: newOrder, property: Order.customer, to: newCustomer)

        batch.addChanges(changes)
        try await service.processBatch(batch)
        try await shop.expectNowAndLater(newOrder, belongsTo: newCustomer)
    }

    @Test(arguments: Dialect.allCases)
    func `sample ChangeSet createRelatedEntity: a new parent with two children`(_ dialect: Dialect) async throws {
        let shop = try await Shop(dialect)
        let service = shop.service
        let customers = try await service.fetchCustomers(matching: DataQuery().top(1))
        let newCustomer = try #require(customers.first).copyWithoutKey()
        let orders = try await service.fetchOrders(matching: DataQuery().top(2))
        let firstOrder = try #require(orders.first).copyWithoutCustomer()
        let secondOrder = try #require(orders.last).copyWithoutCustomer()

        let batch = RequestBatch()
        let changes = ChangeSet()
        // This line is in the Java sample of the guide but missing in the Swift sample.
        changes.createEntity(newCustomer)
        changes.createRelatedEntity(firstOrder, in: newCustomer, property: Customer.orders)
        changes.createRelatedEntity(secondOrder, in: newCustomer, property: Customer.orders)

        batch.addChanges(changes)
        try await service.processBatch(batch)
        try await shop.expect(secondOrder, belongsTo: newCustomer)
        try await shop.expectNowAndLater(firstOrder, belongsTo: newCustomer)
    }

    @Test(arguments: Dialect.allCases)
    func `sample ChangeSet createRelatedEntity without changes, without its parent, is refused`(
        _ dialect: Dialect
    ) async throws {
        let shop = try await Shop(dialect)
        let service = shop.service
        let customers = try await service.fetchCustomers(matching: DataQuery().top(1))
        let newCustomer = try #require(customers.first).copy()
        let orders = try await service.fetchOrders(matching: DataQuery().top(1))
        let newOrder = try #require(orders.first).copy()

        let batch = RequestBatch()
        let changes = ChangeSet()
        changes.createRelatedEntity(newOrder, in: newCustomer, property: Customer.orders)

        batch.addChanges(changes)
        let error = await #expect(throws: TidelogError.self) { try await service.processBatch(batch) }
        #expect(error?.code == .refused(.entityNotFound))
        #expect(try await !shop.provider.hasPendingUpload)
    }

    @Test(arguments: Dialect.allCases)
    func `sample setEntityValue: deep insert`(_ dialect: Dialect) async throws {
        let shop = try await Shop(dialect)
        let service = shop.service
        let customers = try await service.fetchCustomers(matching: DataQuery().top(1))
        let newCustomer = try #require(customers.first).copyWithoutKey()
        let orders = try await service.fetchOrders(matching: DataQuery().top(1))
        let newOrder = try #require(orders.first).copyWithoutCustomer()

        let ordersESet = try service.entitySet(withName: "Orders")
        let orderToCustomer = try ordersESet.entityType.property(withName: "Customer")
        orderToCustomer.setEntityValue(in: newOrder, to: newCustomer)

        try await service.createEntity(newOrder)
        try await shop.expectNowAndLater(newOrder, belongsTo: newCustomer)
    }
}
