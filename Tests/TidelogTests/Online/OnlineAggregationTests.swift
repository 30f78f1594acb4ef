import HTTPTypes
import ODataSandbox
import TestSupport
import Testing
import Tidelog

/// Rows and computed values that a service returns for `$apply` and `$compute`. The sandbox does not evaluate them, so
/// the responses are given.
@Suite struct OnlineAggregationTests {
    private func service(answering json: String) async throws -> DataService {
        var sandbox = try Sandbox.shop()
        sandbox.origin = "http://shop.test"
        let transport = HookedTransport(SandboxTransport(sandbox)) { request, _ in
            guard request.path?.contains("?") == true else { return nil }
            let response = HTTPResponse(status: .ok, headerFields: [.contentType: "application/json"])
            return (response, Array(json.utf8))
        }
        let service = DataService(
            provider: OnlineODataProvider(serviceRoot: "http://shop.test/v4/", transport: transport))
        try await service.loadMetadata()
        return service
    }

    @Test func `an aggregated row has the values that a store would return, and no link`() async throws {
        let service = try await service(
            answering: """
                {"@odata.context":"$metadata#Orders(Customer(Name),Total,Number)","value":[
                  {"@odata.id":null,"Customer":{"Name":"Ada"},"Total":1200.625,"Number":2}]}
                """)
        let orders = try service.entitySet(withName: "Orders")
        let customer = try orders.entityType.property(withName: "Customer")
        let name = try service.entitySet(withName: "Customers").entityType.property(withName: "Name")
        let amount = try orders.entityType.property(withName: "Amount")
        let query = DataQuery().from(orders).groupBy(
            [customer.path(name)], amount.sum(as: "Total"), .count(as: "Number"))
        let row = try await service.executeQuery(query).requiredEntity()
        #expect(row["Total"] == .decimal(try #require(DecimalValue("1200.625"))))
        #expect(row["Number"] == .decimal(DecimalValue(2)))
        guard case .complex(let group)? = row["Customer"] else {
            Issue.record("The group is \(String(describing: row["Customer"])).")
            return
        }
        #expect(group.properties["Name"] == .string("Ada"))
        #expect(row.readLink == nil)
        #expect(row.entitySet == nil)
    }

    @Test func `a computed value is a property of the entity, which keeps its link`() async throws {
        let service = try await service(
            answering: """
                {"@odata.context":"$metadata#Orders","value":[{"OrderID":1,"Quantity":3,"Double":6}]}
                """)
        let orders = try service.entitySet(withName: "Orders")
        let quantity = try orders.entityType.property(withName: "Quantity")
        let query = DataQuery().from(orders).compute(quantity.multiplied(by: 2), as: "Double")
        let order = try await service.executeQuery(query).requiredEntity()
        #expect(order.readLink == "Orders(1)")
        #expect(order["Quantity"] == .integer(3))
        #expect(order["Double"] != nil)
    }

    @Test func `a search is sent to the service`() async throws {
        let service = try await service(answering: #"{"value":[{"OrderID":1,"Note":"engine parts"}]}"#)
        let query = DataQuery().from(try service.entitySet(withName: "Orders")).search("engine")
        #expect(try await service.executeQuery(query).requiredEntity()["Note"] == .string("engine parts"))
    }
}
