import ODataSandbox
import ODataWire
import TestSupport
import Testing
import Tidelog

/// DQ-34: a V2 service that speaks nothing but Atom and XML, end to end.
@Suite struct `A service with Atom only` {
    private static let v2 = [Client(dialect: .v2, isOnline: false), Client(dialect: .v2, isOnline: true)]

    private func shop(_ client: Client) async throws -> Shop {
        var capabilities = Capabilities()
        capabilities.v2Format = .atom
        return try await Shop(client, capabilities: capabilities, options: ServiceOptions(payloadFormat: .atom))
    }

    /// Returns the sets as a client reads them that uses JSON.
    private func inJSON(_ shop: Shop) async throws -> [String] {
        shop.transport.change { $0.options.capabilities.v2Format = .json }
        defer { shop.transport.change { $0.options.capabilities.v2Format = .atom } }
        let json = DataService(
            provider: OnlineODataProvider(serviceRoot: "http://shop.test/v2/", transport: shop.transport))
        try await json.loadMetadata()
        return try await texts(json)
    }

    private func texts(_ service: DataService) async throws -> [String] {
        var texts: [String] = []
        for set in Shop.sets { texts.append(try await ShopText.text(of: set, by: service, etags: true)) }
        return texts
    }

    @Test(arguments: v2)
    func `all entities are read as they are in JSON`(_ client: Client) async throws {
        let shop = try await shop(client)
        #expect(try await texts(shop.service) == inJSON(shop))
        let accepted = shop.transport.requests.filter { !$0.url.hasSuffix("$metadata") }.map { $0.headers["Accept"] }
        #expect(accepted.contains("application/atom+xml,application/xml"))
    }

    @Test(arguments: v2)
    func `creates, deep inserts, updates, links and deletions are carried out`(_ client: Client) async throws {
        let shop = try await shop(client)
        let customer = try shop.new(
            "Customers", ["Name": .string("<Ä> & \"B\""), "Rating": DecimalValue("1.50").map(Value.decimal) ?? .null])
        let order = try shop.new("Orders", ["Note": .string("  spaces\n"), "Total": .integer(9_007_199_254_740_993)])
        try await shop.service.createEntity(customer)
        try await shop.service.createRelatedEntity(
            order, in: customer, property: try shop.property("Customers/Orders"))
        let city = try await shop.one("Cities", 3)
        let mayor = try shop.new("Mayors", ["Name": .string("New")])
        let home = try shop.property("Mayors/City")
        mayor.bindEntity(city, to: home)
        try await shop.service.createEntity(mayor)
        let first = try await shop.one("Orders", 1)
        first["Note"] = .null
        try await shop.service.updateEntity(first)
        try await shop.service.deleteEntity(try await shop.one("Orders", 4))
        let anvil = try await shop.one("Products", 1)
        let suppliers = try shop.property("Products/Suppliers")
        try await shop.service.deleteLink(
            from: anvil, property: suppliers, to: try await shop.one("Suppliers", 2))
        try await shop.service.createLink(
            from: try await shop.one("Products", 3), property: suppliers, to: try await shop.one("Suppliers", 1))
        try await shop.synchronize()
        #expect(try await texts(shop.service) == inJSON(shop))
        let orders = try await shop.fetch("Orders")
        #expect(
            orders.contains { $0["Note"] == .string("  spaces\n") && $0["Total"] == .integer(9_007_199_254_740_993) })
        #expect(try await shop.one("Orders", 1)["Note"] == .null)
    }

    @Test func `a rejected change set has the error of the service`() async throws {
        let shop = try await shop(Client(dialect: .v2, isOnline: false))
        let store = try #require(shop.store)
        let order = try await shop.one("Orders", 1)
        shop.transport.direct("PATCH", "/v4/Orders(1)", #"{"Note":"theirs"}"#, headers: ["If-Match": "*"])
        order["Note"] = .string("mine")
        try await shop.service.updateEntity(order)
        let report = try await store.upload()
        let conflicts = report.rejected.count + report.conflicts.count
        #expect(conflicts == 1, "\(report)")
    }

    @Test func `a second download follows the delta links, and tombstones remove entities`() async throws {
        var capabilities = Capabilities()
        capabilities.v2Format = .atom
        let transport = SandboxTransport(try Sandbox.shop())
        transport.change {
            $0.origin = "http://shop.test"
            $0.options.capabilities = capabilities
            $0.options.deltas = Deltas()
            $0.options.pageSize = 2
        }
        let directory = try TemporaryDirectory()
        let parameters = OfflineODataParameters(
            storePath: directory.path, transport: transport, serviceOptions: ServiceOptions(payloadFormat: .atom))
        let store = OfflineODataProvider(serviceRoot: "http://shop.test/v2/", parameters: parameters)
        try await store.add(definingQuery: OfflineODataDefiningQuery(name: "Customers", query: "/Customers"))
        try await store.add(definingQuery: OfflineODataDefiningQuery(name: "Orders", query: "/Orders"))
        try await store.open()
        try await store.download()
        let service = DataService(provider: store)
        let orders = try service.entitySet(withName: "Orders")
        let order = try #require(
            try await service.executeQuery(DataQuery().from(orders)).entityList().first)
        order["Note"] = .string("pushed")
        try await service.updateEntity(order)
        #expect(try await store.upload().confirmed.count == 1)
        transport.direct("DELETE", "/v4/Orders(4)", headers: ["If-Match": "*"])
        transport.direct("POST", "/v4/Customers", #"{"Name":"Edsger","Tags":[]}"#)
        transport.forgetRequests()
        let report = try await store.download()
        #expect(transport.requests.allSatisfy { $0.url.contains("deltatoken=") })
        #expect(report.queries.first { $0.name == "Orders" }?.tally.removed == 1)
        #expect(report.queries.first { $0.name == "Customers" }?.tally.inserted == 1)
        #expect(try await service.executeQuery(DataQuery().from(orders)).entityList().count == 3)
        let names = try await service.executeQuery(DataQuery().from(service.entitySet(withName: "Customers")))
            .entityList().map { $0["Name"] }
        #expect(names.contains(.string("Edsger")))
    }

    @Test(arguments: v2)
    func `media are created, read and replaced`(_ client: Client) async throws {
        let shop = try await shop(client)
        let photo = try shop.new("Photos", ["Caption": .string("Berlin")])
        try await shop.service.createMedia(photo, content: MediaContent([1, 2, 3], mediaType: "image/png"))
        try await shop.synchronize()
        #expect(try await shop.fetch("Photos").contains { $0["Caption"] == .string("Berlin") })
    }

    @Test(arguments: v2)
    func `a service without batches receives single requests`(_ client: Client) async throws {
        var capabilities = Capabilities()
        capabilities.v2Format = .atom
        capabilities.batch = false
        let shop = try await Shop(
            client, capabilities: capabilities,
            options: ServiceOptions(supportsBatch: false, payloadFormat: .atom))
        let customer = try await shop.one("Customers", 1)
        customer["Name"] = .string("Augusta")
        try await shop.service.updateEntity(customer)
        try await shop.service.createEntity(try shop.new("Customers", ["Name": .string("New")]))
        try await shop.synchronize()
        #expect(try await texts(shop.service) == inJSON(shop))
    }

    @Test func `a service that answers in Atom although JSON was requested is read`() async throws {
        let shop = try await Shop(Client(dialect: .v2, isOnline: false))
        let before = try await texts(shop.service)
        shop.transport.change {
            $0.options.capabilities.v2Format = .atom
            $0.options.capabilities.acceptsOtherFormats = true
        }
        try await shop.store?.download()
        #expect(try await texts(shop.service) == before)
        let order = try await shop.one("Orders", 1)
        #expect(order["Note"] == .string("engine parts"))
    }

    @Test func `a request for JSON is rejected by the service`() async throws {
        await #expect(throws: TidelogError.self) {
            var capabilities = Capabilities()
            capabilities.v2Format = .atom
            _ = try await Shop(Client(dialect: .v2, isOnline: false), capabilities: capabilities)
        }
    }
}
