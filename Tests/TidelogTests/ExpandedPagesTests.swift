import Foundation
import HTTPTypes
import ODataSandbox
import TestSupport
import Testing
import Tidelog
import Transport

/// A service that returns expanded collections in pages, at any depth.
@Suite struct ExpandedPagesTests {
    /// Responses by the part of the URL after the service root.
    private static let answers = [
        "Customers?$expand=Orders($expand=Customer($expand=Orders))": """
        {"value":[{"CustomerID":1,"Name":"Ada",
          "Orders":[{"OrderID":1,"CustomerID":1,"Customer":{"CustomerID":1,"Name":"Ada",
            "Orders":[],"Orders@odata.nextLink":"http://shop.test/v4/Customers(1)/Orders?$skiptoken=all"}}],
          "Orders@odata.nextLink":"Customers(1)/Orders?$skiptoken=2"}],
         "@odata.nextLink":"?$skiptoken=b"}
        """,
        "Customers?$skiptoken=b": #"{"value":[{"CustomerID":2,"Name":"Bo","Orders":[]}]}"#,
        "Customers(1)/Orders?$skiptoken=2": """
        {"value":[{"OrderID":2,"CustomerID":1,"Customer":{"CustomerID":1,"Name":"Ada",
            "Orders":[{"OrderID":1,"CustomerID":1}],
            "Orders@odata.nextLink":"/v4/Customers(1)/Orders?$skiptoken=others"}}],
         "@odata.nextLink":"?$skiptoken=3"}
        """,
        "Customers(1)/Orders?$skiptoken=3": #"{"value":[{"OrderID":3,"CustomerID":1}]}"#,
        "Customers(1)/Orders?$skiptoken=all": """
        {"value":[{"OrderID":1,"CustomerID":1},{"OrderID":2,"CustomerID":1},{"OrderID":3,"CustomerID":1}]}
        """,
        "Customers(1)/Orders?$skiptoken=others":
            #"{"value":[{"OrderID":2,"CustomerID":1},{"OrderID":3,"CustomerID":1}]}"#,
    ]

    private let transport: HookedTransport

    init() throws {
        var sandbox = try Sandbox.shop()
        sandbox.origin = "http://shop.test"
        transport = HookedTransport(SandboxTransport(sandbox)) { request, _ in
            let path = (request.path ?? "").removingPercentEncoding
            guard let answer = path.flatMap({ Self.answers[String($0.dropFirst("/v4/".count))] }) else { return nil }
            return (HTTPResponse(status: .ok, headerFields: [.contentType: "application/json"]), Array(answer.utf8))
        }
    }

    private static let query = DataQuery().withURL("Customers?$expand=Orders($expand=Customer($expand=Orders))")

    private func orders(_ entity: EntityValue) throws -> [EntityValue] {
        entity.relatedEntities(try #require(entity.entityType.findProperty("Orders")))
    }

    private func check(_ customers: [EntityValue]) throws {
        #expect(customers.map { $0["Name"] } == [.string("Ada"), .string("Bo")])
        let ordered = try orders(customers[0])
        #expect(ordered.map { $0["OrderID"] } == [.integer(1), .integer(2), .integer(3)])
        for order in ordered.prefix(2) {
            let property = try #require(order.entityType.findProperty("Customer"))
            let customer = try #require(order.relatedEntity(property))
            #expect(try orders(customer).map { $0["OrderID"] } == [.integer(1), .integer(2), .integer(3)])
        }
    }

    @Test func `an online query reads all pages of an expansion`() async throws {
        let service = DataService(
            provider: OnlineODataProvider(serviceRoot: "http://shop.test/v4/", transport: transport))
        try await service.loadMetadata()
        try check(try await service.executeQuery(Self.query).entityList())
    }

    @Test func `a download reads all pages of an expansion`() async throws {
        let directory = try TemporaryDirectory()
        let provider = OfflineODataProvider(
            serviceRoot: "http://shop.test/v4/",
            parameters: OfflineODataParameters(storePath: directory.path, transport: transport, durability: .none))
        try await provider.add(
            definingQuery: OfflineODataDefiningQuery(
                name: "Customers", query: "/Customers?$expand=Orders($expand=Customer($expand=Orders))"))
        try await provider.open()
        try await provider.download()
        try check(try await DataService(provider: provider).executeQuery(Self.query).entityList())
        await provider.close()
    }
}
