import EDM
import Foundation
import ODataSandbox
import TestSupport
import Testing
import Tidelog

/// The generated classes, with the sandbox as their service.
@Suite struct GeneratedClassesTests {
    private static let root = "http://orders.test/v2/"

    private static func transport() throws -> SandboxTransport {
        var sandbox = try Sandbox(
            v4Metadata: Array(CustomersAndOrders.v4.utf8), v2Metadata: Array(CustomersAndOrders.v2.utf8),
            configuration: SandboxConfiguration(generatedKeys: ["Customers", "Orders"]))
        sandbox.origin = "http://orders.test"
        return SandboxTransport(sandbox)
    }

    private static func online() throws -> SQLDataService {
        SQLDataService(provider: OnlineODataProvider(serviceRoot: root, transport: try transport()))
    }

    /// Creates the customer Ada with two orders, and the customer Grace.
    private static func fill(_ service: SQLDataService) async throws {
        for name in ["Ada", "Grace"] {
            let customer = Customer(withDefaults: false)
            customer.name = name
            try await service.createEntity(customer)
            guard name == "Ada" else { continue }
            for amount in [12, 30] as [DecimalValue] {
                let order = Order(withDefaults: false)
                order.amount = amount
                try await service.createRelatedEntity(order, in: customer, property: Customer.orders)
            }
        }
    }

    // MARK: Entities

    @Test func `an entity is made without asking any service`() {
        #expect(Customer(withDefaults: false).entityType.name == "SQLData.Customers")
    }

    @Test func `without defaults every property is unset`() {
        #expect(Customer(withDefaults: false).properties.isEmpty)
    }

    @Test func `with defaults the properties that must not be null have a value`() {
        #expect(Customer().customerID == 0)
    }

    @Test func `a nil that was assigned is null, not unset`() {
        let customer = Customer(withDefaults: false)
        customer.name = nil
        #expect(customer.dataValue(for: Customer.name) == .null)
    }

    @Test func `typed properties write the values of their Edm types`() throws {
        let order = Order(withDefaults: false)
        order.orderID = 7
        order.amount = 12
        order.reference = GuidValue(high: 1, low: 2)
        order.placedAt = LocalDateTime("2026-11-21T08:00:00")
        order.weight = 0.5
        order.isPaid = true
        order.seal = [1, 2]
        order.default = "d"
        order.state_ = "open"
        order.self_ = "me"
        let placedAt = try #require(LocalDateTime("2026-11-21T08:00:00"))
        #expect(
            order.properties.map(\.value) == [
                .integer(7), .decimal(12), .guid(GuidValue(high: 1, low: 2)), .dateTime(placedAt), .double(0.5),
                .boolean(true), .binary([1, 2]), .string("d"), .string("open"), .string("me"),
            ])
    }

    @Test func `typed properties read the values that the dynamic API wrote`() {
        let order = Order(withDefaults: false)
        order["Amount"] = .decimal(12)
        order["Seal"] = .binary([9])
        #expect(order.amount == 12)
        #expect(order.seal == [9])
    }

    @Test func `a value of another kind reads as nil`() {
        let order = Order(withDefaults: false)
        order["Amount"] = .string("twelve")
        #expect(order.amount == nil)
    }

    @Test func `a copy is of the same class and has the same values`() {
        let customer = Customer(withDefaults: false)
        customer.name = "Ada"
        let copy: Customer = customer.copy()
        copy.name? += " II"
        #expect(customer.name == "Ada")
        #expect(copy.name == "Ada II")
    }

    // MARK: Service

    @Test func `a query returns objects of the set's class`() async throws {
        let service = try Self.online()
        try await Self.fill(service)
        let customers: [Customer] = try await service.customers(query: DataQuery().orderBy(Customer.name, .descending))
        #expect(customers.map(\.name) == ["Grace", "Ada"])
    }

    @Test func `fetching one entity returns the first match`() async throws {
        let service = try Self.online()
        try await Self.fill(service)
        let order = try await service.fetchOrder(matching: DataQuery().filter(Order.amount.greaterThan(20)))
        #expect(order.amount == 30)
    }

    @Test func `fetching one entity throws notFound if none matches`() async throws {
        let service = try Self.online()
        await #expect {
            _ = try await service.fetchCustomer()
        } throws: {
            ($0 as? TidelogError)?.code == .notFound
        }
    }

    @Test func `expanded entities are of their class too`() async throws {
        let service = try Self.online()
        try await Self.fill(service)
        let ada = try await service.fetchCustomer(
            matching: DataQuery().filter(Customer.name.equal("Ada")).expand(Customer.orders))
        let orders = ada.relatedEntities(Customer.orders).compactMap { $0 as? Order }
        #expect(orders.map(\.amount) == [12, 30])
    }

    @Test func `loaded entities are of their class too`() async throws {
        let service = try Self.online()
        try await Self.fill(service)
        let order = try await service.fetchOrder()
        try await service.loadProperty(Order.customer, into: order)
        #expect((order.relatedEntity(Order.customer) as? Customer)?.name == "Ada")
    }

    @Test func `a query that leads to another class is refused`() async throws {
        let service = try Self.online()
        try await Self.fill(service)
        await #expect {
            _ = try await service.customers(query: DataQuery().withURL("Orders"))
        } throws: {
            ($0 as? TidelogError)?.code == .invalidRequest
        }
    }

    @Test func `a store answers with the same classes`() async throws {
        let directory = FileManager.default.temporaryDirectory.appending(path: "proxies-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: directory) }
        let transport = try Self.transport()
        try await Self.fill(
            SQLDataService(provider: OnlineODataProvider(serviceRoot: Self.root, transport: transport)))
        var parameters = OfflineODataParameters(storePath: directory.path)
        parameters.transport = transport
        let provider = OfflineODataProvider(serviceRoot: Self.root, parameters: parameters)
        try await provider.add(
            definingQuery: OfflineODataDefiningQuery(name: "all", query: "Customers?$expand=Orders"))
        try await provider.open()
        try await provider.download()
        let service = SQLDataService(provider: provider)
        let grace = try await service.fetchCustomer(matching: DataQuery().filter(Customer.name.equal("Grace")))
        grace.name = "Grace Hopper"
        try await service.updateEntity(grace)
        let customers = try await service.fetchCustomers(matching: DataQuery().orderBy(Customer.name))
        #expect(customers.map(\.name) == ["Ada", "Grace Hopper"])
        await provider.close()
    }
}
