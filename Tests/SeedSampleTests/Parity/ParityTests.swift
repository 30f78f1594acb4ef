import NorthwindService
import OperationLog
import Operations
import Testing
import Tidelog

/// Generated classes and the dynamic API have the same effect: each pair of samples appends the same operations to the
/// log, byte for byte.
@Suite struct ParityTests {
    private typealias Sample = (Trade) async throws -> Void

    /// Runs both samples, each with a separate store, and compares the bytes of their operations except for the times.
    private func expectParity(
        _ location: SourceLocation = #_sourceLocation, operations: Int, generated: Sample, dynamic: Sample
    ) async throws {
        let ofClasses = try await Self.operations(of: generated)
        let ofProperties = try await Self.operations(of: dynamic)
        #expect(ofClasses.count == operations, sourceLocation: location)
        #expect(ofClasses == ofProperties, sourceLocation: location)
    }

    private static func operations(of sample: Sample) async throws -> [[UInt8]] {
        let trade = try await Trade()
        try await sample(trade)
        await trade.sample.provider.close()
        var operations: [[UInt8]] = []
        let cursor = try LogReader(directory: trade.sample.storePath + "/log").records()
        while let stored = try cursor.next() {
            var record = try RecordCodec.decode(kind: stored.kind, payload: stored.payload)
            guard case .operation = record.body else { continue }
            record.time = 0
            let (kind, payload) = RecordCodec.encode(record)
            operations.append([UInt8(kind)] + payload)
        }
        return operations
    }

    @Test func `a query appends no operations`() async throws {
        try await expectParity(operations: 0) { trade in
            let query = DataQuery().select(Customer.customerID, Customer.companyName).orderBy(Customer.companyName)
            _ = try await trade.service.customers(query: query)
        } dynamic: { trade in
            let s_customers = try trade.service.entitySet(withName: "Customers")
            let p_customerID = try s_customers.entityType.property(withName: "CustomerID")
            let p_companyName = try s_customers.entityType.property(withName: "CompanyName")
            let query = DataQuery().select(p_customerID, p_companyName).from(s_customers).orderBy(p_companyName)
            _ = try await trade.service.executeQuery(query).entityList()
        }
    }

    @Test func `creating an entity appends the same operation with both APIs`() async throws {
        try await expectParity(operations: 1) { trade in
            let customer = Customer()
            customer.customerID = "01234567-89ab-cdef-0123-456789abcdef"
            customer.companyName = "Enterprise Inc."
            customer.contactName = "Jean-Luc Picard"
            try await trade.service.createEntity(customer)
        } dynamic: { trade in
            let s_customers = try trade.service.entitySet(withName: "Customers")
            let t_customer = s_customers.entityType
            let customer = EntityValue.ofType(t_customer)
            try t_customer.property(withName: "CustomerID").setStringValue(
                in: customer, to: "01234567-89ab-cdef-0123-456789abcdef")
            try t_customer.property(withName: "CompanyName").setStringValue(in: customer, to: "Enterprise Inc.")
            try t_customer.property(withName: "ContactName").setStringValue(in: customer, to: "Jean-Luc Picard")
            try await trade.service.createEntity(customer)
        }
    }

    @Test func `updating an entity appends the same operation with both APIs`() async throws {
        try await expectParity(operations: 1) { trade in
            let query = DataQuery().top(1).filter(Customer.companyName.equal("Bon app'"))
            let customer = try #require(try await trade.service.customers(query: query).first)
            customer.contactName = "Beverly Crusher"
            try await trade.service.updateEntity(customer)
        } dynamic: { trade in
            let s_customers = try trade.service.entitySet(withName: "Customers")
            let p_companyName = try s_customers.entityType.property(withName: "CompanyName")
            let p_contactName = try s_customers.entityType.property(withName: "ContactName")
            let query = DataQuery().top(1).from(s_customers).filter(p_companyName.equal("Bon app'"))
            let customer = try await trade.service.executeQuery(query).requiredEntity()
            p_contactName.setStringValue(in: customer, to: "Beverly Crusher")
            try await trade.service.updateEntity(customer)
        }
    }

    @Test func `deleting an entity appends the same operation with both APIs`() async throws {
        try await expectParity(operations: 1) { trade in
            let query = DataQuery().top(1).selectKey().filter(Customer.companyName.equal("Bon app'"))
            let customer = try #require(try await trade.service.customers(query: query).first)
            try await trade.service.deleteEntity(customer)
        } dynamic: { trade in
            let s_customers = try trade.service.entitySet(withName: "Customers")
            let p_companyName = try s_customers.entityType.property(withName: "CompanyName")
            let query = DataQuery().top(1).selectKey().from(s_customers).filter(p_companyName.equal("Bon app'"))
            try await trade.service.deleteEntity(try await trade.service.executeQuery(query).requiredEntity())
        }
    }

    @Test func `a deep insert and a link to an existing entity append the same operations with both APIs`() async throws
    {
        try await expectParity(operations: 2) { trade in
            let supplier = try await trade.service.fetchSupplier()
            let product = Product(withDefaults: false)
            product.name = "Chang"
            product.supplier.target = supplier
            try await trade.service.createEntity(product)
            let other = Product(withDefaults: false)
            other.name = "Aniseed Syrup"
            other.supplier.target = Supplier(withDefaults: false)
            other.supplier.target?.name = "New Orleans Cajun Delights"
            try await trade.service.createEntity(other)
        } dynamic: { trade in
            let s_products = try trade.service.entitySet(withName: "Products")
            let s_suppliers = try trade.service.entitySet(withName: "Suppliers")
            let p_name = try s_products.entityType.property(withName: "Name")
            let p_supplier = try s_products.entityType.property(withName: "Supplier")
            let supplier = try await trade.service.executeQuery(DataQuery().from(s_suppliers)).requiredEntity()
            let product = EntityValue.ofType(s_products.entityType)
            p_name.setStringValue(in: product, to: "Chang")
            p_supplier.setEntityValue(in: product, to: supplier)
            try await trade.service.createEntity(product)
            let other = EntityValue.ofType(s_products.entityType)
            p_name.setStringValue(in: other, to: "Aniseed Syrup")
            let new = EntityValue.ofType(s_suppliers.entityType)
            try s_suppliers.entityType.property(withName: "Name").setStringValue(
                in: new, to: "New Orleans Cajun Delights")
            p_supplier.setEntityValue(in: other, to: new)
            try await trade.service.createEntity(other)
        }
    }
}
