import NorthwindService
import Testing
import Tidelog

/// The samples of the guide to the data component: first generated classes online, then each example with generated
/// classes and with the dynamic API.
@Suite struct DataServiceSamples {
    @Test func `sample online: categories are loaded, created, updated and removed`() async throws {
        let trade = try await Trade()
        let service = trade.sample.server

        let categories = try await service.categories()
        #expect(categories.map(\.name) == ["Beverages"])

        let newCategory = Category(withDefaults: false)
        newCategory.name = "new"
        try await service.createEntity(newCategory)

        newCategory.name = "updated name"
        try await service.updateEntity(newCategory)
        #expect(try await service.categories().map(\.name) == ["Beverages", "updated name"])

        try await service.deleteEntity(newCategory)
        #expect(try await service.categories().count == 1)
    }

    @Test func `sample expand: the related entities of a product are returned with it`() async throws {
        let service = try await Trade().service
        let query = DataQuery().expand(Product.productDetail, Product.supplier)
        let products = try await service.products(query: query)
        #expect(products.first?.relatedEntity(Product.productDetail)?.dataValue(for: ProductDetail.details) != nil)
        #expect(products.first?.relatedEntity(Product.supplier)?.dataValue(for: Supplier.name) != nil)
    }

    @Test func `sample loadProperty: the orders of a customer whose key has been set`() async throws {
        let service = try await Trade().service
        let customer = Customer(withDefaults: false)
        customer.customerID = "ALFKI"
        try await service.loadProperty(Customer.orders, into: customer)
        #expect(customer.relatedEntities(Customer.orders).count == 1)
    }

    // MARK: Generated classes and the dynamic API

    @Test func `sample entityListExample with generated classes`() async throws {
        let ds = try await Trade().service
        let query = DataQuery().select(Customer.customerID, Customer.companyName, Customer.contactName).orderBy(
            Customer.companyName)
        let customers = try await ds.customers(query: query)
        #expect(customers.map(\.companyName) == ["Bon app'", "Maria's Futterkiste"])
    }

    @Test func `sample entityListExample with the dynamic API`() async throws {
        let ds = try await Trade().service
        let s_customers = try ds.entitySet(withName: "Customers")
        let t_customer = s_customers.entityType
        let p_customerID = try t_customer.property(withName: "CustomerID")
        let p_companyName = try t_customer.property(withName: "CompanyName")
        let p_contactName = try t_customer.property(withName: "ContactName")
        let query = DataQuery().select(p_customerID, p_companyName, p_contactName).from(s_customers).orderBy(
            p_companyName)
        let customers = try await ds.executeQuery(query).entityList()
        #expect(
            try customers.map { try p_companyName.stringValue(from: $0) } == ["Bon app'", "Maria's Futterkiste"])
    }

    @Test func `sample createEntityExample, updateEntityExample and deleteEntityExample with generated classes`()
        async throws
    {
        let trade = try await Trade()
        let ds = trade.service
        let customer = Customer()
        customer.customerID = GuidValue.random().toString()
        customer.companyName = "Enterprise Inc."
        customer.contactName = "Jean-Luc Picard"
        try await ds.createEntity(customer)

        let query = DataQuery().top(1).filter(Customer.contactName.equal("Jean-Luc Picard"))
        if let customer = try await ds.customers(query: query).first {
            customer.contactName = "Beverly Crusher"
            try await ds.updateEntity(customer)
        }
        try await trade.sample.synchronize()
        #expect(try await trade.sample.server.customers().map(\.contactName).contains("Beverly Crusher"))

        let changed = DataQuery().top(1).selectKey().filter(Customer.contactName.equal("Beverly Crusher"))
        let customers = try await ds.customers(query: changed)
        if let customer = customers.first { try await ds.deleteEntity(customer) }
        try await trade.sample.synchronize()
        #expect(try await trade.sample.server.customers().count == 2)
    }

    @Test func `sample createEntityExample, updateEntityExample and deleteEntityExample with the dynamic API`()
        async throws
    {
        let trade = try await Trade()
        let ds = trade.service
        let s_customers = try ds.entitySet(withName: "Customers")
        let t_customer = s_customers.entityType
        let p_customerID = try t_customer.property(withName: "CustomerID")
        let p_companyName = try t_customer.property(withName: "CompanyName")
        let p_contactName = try t_customer.property(withName: "ContactName")
        let customer = EntityValue.ofType(t_customer)
        p_customerID.setStringValue(in: customer, to: GuidValue.random().toString())
        p_companyName.setStringValue(in: customer, to: "Enterprise Inc.")
        p_contactName.setStringValue(in: customer, to: "Jean-Luc Picard")
        try await ds.createEntity(customer)

        let query = DataQuery().top(1).from(s_customers).filter(p_contactName.equal("Jean-Luc Picard"))
        let found = try await ds.executeQuery(query).requiredEntity()
        p_contactName.setStringValue(in: found, to: "Beverly Crusher")
        try await ds.updateEntity(found)
        try await trade.sample.synchronize()
        #expect(try await trade.sample.server.customers().map(\.contactName).contains("Beverly Crusher"))

        let changed = DataQuery().top(1).selectKey().from(s_customers).filter(p_contactName.equal("Beverly Crusher"))
        try await ds.deleteEntity(try await ds.executeQuery(changed).requiredEntity())
        try await trade.sample.synchronize()
        #expect(try await trade.sample.server.customers().count == 2)
    }
}
