import ODataSandbox
import ODataQuery
import ODataWire
import TestSupport
import Testing
import Tidelog

/// Headers, versions and pages of single requests online.
@Suite struct OnlineRequestTests {
    @Test(arguments: Client.online)
    func `each call sends its own headers`(_ client: Client) async throws {
        let shop = try await Shop(client)
        let order = try await shop.one("Orders", 1)
        let customer = try await shop.one("Customers", 2)
        let property = try shop.property("Orders/Customer")
        shop.transport.forgetRequests()
        let headers: HTTPHeaders = ["X-Trace": "7"]
        order["Note"] = .string("changed")
        try await shop.service.updateEntity(order, headers: headers)
        try await shop.service.createLink(from: order, property: property, to: customer, headers: headers)
        try await shop.service.deleteLink(from: order, property: property, headers: headers)
        try await shop.service.loadEntity(order, headers: headers)
        try await shop.service.loadProperty(property, into: order, headers: headers)
        _ = try await shop.service.executeQuery(DataQuery().withURL("Orders"), headers: headers)
        try await shop.service.deleteEntity(order, headers: headers)
        let sent = shop.transport.requests.filter { $0.headers["X-CSRF-Token"] != "Fetch" }
        #expect(sent.count == 7)
        #expect(sent.allSatisfy { $0.headers["X-Trace"] == "7" })
    }

    @Test(arguments: Client.online)
    func `an update of a complex value contains null for the members that the new value lacks`(
        _ client: Client
    ) async throws {
        let shop = try await Shop(client)
        let customer = try await shop.one("Customers", 1)
        customer["Address"] = .complex(ComplexValue(properties: ["Street": .string("Broadway")]))
        shop.transport.forgetRequests()
        try await shop.service.updateEntity(customer)
        let body = String(decoding: try #require(shop.transport.requests.last).body, as: UTF8.self)
        #expect(body.contains(#""City":null"#), "\(body)")
        try await shop.service.loadEntity(customer)
        guard case .complex(let address)? = customer["Address"] else { return #expect(Bool(false), "\(customer)") }
        #expect(address.properties["Street"] == .string("Broadway"))
        #expect((address.properties["City"] ?? .null) == .null)
    }

    @Test(arguments: Client.online)
    func `a query carries its headers wherever it is executed`(_ client: Client) async throws {
        let shop = try await Shop(client)
        let query = DataQuery().withHeaders(["X-Trace": "7"])
        shop.transport.forgetRequests()
        _ = try await shop.service.entities(EntityValue.self, in: "Customers", query)
        _ = try await shop.service.entity(
            EntityValue.self, in: "Customers", key: KeyPredicate([("CustomerID", .integer(1))]), query)
        #expect(shop.transport.requests.map { $0.headers["X-Trace"] } == ["7", "7"])
    }

    @Test(arguments: Client.online)
    func `the parts of a batch have their own headers`(_ client: Client) async throws {
        let shop = try await Shop(client)
        let batch = RequestBatch()
        batch.addQuery(DataQuery().from(try shop.set("Customers")), headers: ["X-Trace": "a"])
        batch.addQuery(DataQuery().from(try shop.set("Orders")).withHeaders(["X-Trace": "b"]))
        shop.transport.forgetRequests()
        try await shop.service.processBatch(batch)
        let body = String(decoding: try #require(shop.transport.requests.last).body, as: UTF8.self)
        #expect(body.contains("X-Trace: a"))
        #expect(body.contains("X-Trace: b"))
    }

    @Test(arguments: Client.online.filter { $0.dialect == .v4 })
    func `a query of a batch has a page size of its own`(_ client: Client) async throws {
        let shop = try await Shop(client)
        let batch = RequestBatch()
        let orders = DataQuery().from(try shop.set("Orders"))
        let first = batch.addQuery(orders.pageSize(3))
        batch.addQuery(DataQuery().from(try shop.set("Customers")))
        try await shop.service.processBatch(batch)
        let page = try batch.queryResult(first)
        #expect(page.entityList().count == 3)
        let rest = try await shop.service.executeQuery(try #require(page.nextQuery))
        #expect(rest.entityList().count == 1)
    }

    @Test(arguments: Client.online)
    func `a header template contains the key in the link`(_ client: Client) async throws {
        let shop = try await Shop(client)
        let order = try await shop.one("Orders", 1)
        order["Note"] = .string("changed")
        shop.transport.forgetRequests()
        try await shop.service.updateEntity(
            order, options: RequestOptions(customHeaderTemplates: ["X-Order: no. {Orders(1)/OrderID}"]))
        let sent = shop.transport.requests.filter { $0.headers["X-CSRF-Token"] != "Fetch" }
        #expect(sent.map { $0.headers["X-Order"] } == ["no. 1"])
    }

    @Test(arguments: Client.online)
    func `a header template with a property that the link does not contain is refused`(_ client: Client) async throws {
        let shop = try await Shop(client)
        let order = try await shop.one("Orders", 1)
        order["Note"] = .string("changed")
        try await shop.expectRefusal(.invalidRequest) {
            try await shop.service.updateEntity(
                order, options: RequestOptions(customHeaderTemplates: ["X-Order: {Orders(1)/Note}"]))
        }
    }

    @Test(arguments: Client.online)
    func `a change of an entity that another client changed is refused`(_ client: Client) async throws {
        let shop = try await Shop(client)
        let order = try await shop.one("Orders", 1)
        shop.transport.direct("PATCH", "/v4/Orders(1)", #"{"Note":"other"}"#, headers: ["If-Match": "*"])
        order["Note"] = .string("mine")
        let error = await #expect(throws: TidelogError.self) { try await shop.service.updateEntity(order) }
        #expect(error?.code == .service(status: 412))
        try await shop.service.updateEntity(order, headers: ["If-Match": "*"])
        #expect(shop.transport.sandbox.stateText(of: ["Orders"]).contains("mine"))
    }

    @Test(arguments: Client.online)
    func `a result may span several pages of the service`(_ client: Client) async throws {
        let shop = try await Shop(client)
        shop.setPageSize(2)
        #expect(try await shop.fetch("Orders").count == 4)
        let links = client.dialect == .v2 ? "Customers(1)/$links/Orders" : "Customers(1)/Orders/$ref"
        #expect(try await shop.service.executeQuery(DataQuery().withURL(links)).entityList().count == 2)
    }

    @Test(arguments: Client.online)
    func `minimal responses leave the object with its values and its new link`(_ client: Client) async throws {
        let shop = try await Shop(client)
        let order = try shop.new("Orders", ["Note": .string("minimal")])
        try await shop.service.createEntity(order, options: RequestOptions(preferNoContent: true))
        #expect(order["Note"] == .string("minimal"))
        try await shop.service.loadEntity(order)
        #expect(order["OrderID"] == .integer(5))
    }
}
