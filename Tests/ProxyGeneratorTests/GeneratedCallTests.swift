import ODataSandbox
import TestSupport
import Testing
import Tidelog

/// AX-12: initializers with the target of a relation. SV-03: headers of generated functions.
@Suite struct GeneratedCallTests {
    @Test func `AX-12: an initializer sets the target of a relation and leaves the key to the service`() {
        let customer = Customer(withDefaults: false)
        let order = Order(customer: customer)
        #expect(order.customer.target === customer)
        #expect(order.key == nil)
        #expect(Order(customer: customer, withDefaults: true).key != nil)
    }

    @Test func `SV-03: a generated function sends its headers`() async throws {
        var sandbox = try Sandbox(
            v4Metadata: Array(CustomersAndOrders.v4.utf8), v2Metadata: Array(CustomersAndOrders.v2.utf8),
            configuration: SandboxConfiguration(generatedKeys: ["Customers", "Orders"]))
        sandbox.origin = "http://orders.test"
        let transport = SandboxTransport(sandbox)
        let service = SQLDataService(
            provider: OnlineODataProvider(serviceRoot: "http://orders.test/v2/", transport: transport))
        _ = try await service.fetchCustomers(headers: ["X-Trace": "list"])
        _ = try? await service.fetchCustomer(headers: ["X-Trace": "first"])
        _ = try? await service.fetchCustomer(customerID: 1, headers: ["X-Trace": "one"])
        let traces = transport.requests.compactMap { $0.headers["X-Trace"] }
        #expect(traces == ["list", "first", "one"])
    }
}
