import ODataSandbox
import ODataWire
import TestSupport
import Testing
import Tidelog

/// Online changes at services that lack a capability: sent in an equivalent request, or refused before anything is
/// sent.
@Suite struct LackingOnlineTests {
    private func shop(
        _ client: Client, _ options: ServiceOptions, _ change: (inout Capabilities) -> Void
    ) async throws -> Shop {
        var capabilities = Capabilities()
        change(&capabilities)
        return try await Shop(client, capabilities: capabilities, options: options)
    }

    @Test(arguments: Client.online)
    func `no PATCH: an online update reads the entity and replaces it`(_ client: Client) async throws {
        let shop = try await shop(client, ServiceOptions(supportsPatch: false)) { $0.patch = false }
        let order = try await shop.one("Orders", 1)
        order["Note"] = .string("put")
        order.bindEntity(try await shop.one("Customers", 2), to: try shop.property("Orders/Customer"))
        try await shop.service.updateEntity(order)
        let text = shop.transport.sandbox.stateText(of: ["Orders"])
        #expect(text.contains("Note: 'put', Amount: 1200.5000"))
        #expect(shop.serverLinks("Orders").hasPrefix("Orders(1)\n  Customer: Customers(2)\n"))
    }

    @Test(arguments: Client.online)
    func `no PATCH: the replacement contains the ETag of the entity that was read`(_ client: Client) async throws {
        let shop = try await shop(client, ServiceOptions(supportsPatch: false)) { $0.patch = false }
        let order = EntityValue(try shop.set("Orders").entityType)
        order.readLink = try await shop.one("Orders", 1).readLink
        order["Note"] = .string("put")
        shop.transport.forgetRequests()
        try await shop.service.updateEntity(order)
        let put = try #require(shop.transport.requests.first { $0.method == "PUT" })
        #expect(put.headers["If-Match"]?.contains("\"") == true)
    }

    @Test(arguments: Client.online)
    func `no PATCH: two updates of the same entity in a change set are both kept`(_ client: Client) async throws {
        let shop = try await shop(client, ServiceOptions(supportsPatch: false)) { $0.patch = false }
        let changes = ChangeSet()
        for (property, value) in [("Note", Value.string("both")), ("Quantity", .integer(77))] {
            let order = EntityValue(try shop.set("Orders").entityType)
            order.readLink = try await shop.one("Orders", 1).readLink
            order[property] = value
            changes.updateEntity(order)
        }
        try await shop.service.applyChanges(changes)
        let text = shop.transport.sandbox.stateText(of: ["Orders"])
        #expect(text.contains("Note: 'both'"))
        #expect(text.contains("Quantity: 77"))
    }

    @Test(arguments: Client.online)
    func `no bind: links are sent as dependent properties, and other links are refused`(_ client: Client) async throws {
        let shop = try await shop(client, ServiceOptions(supportsBind: false)) { $0.bind = false }
        let order = try shop.new("Orders", ["Note": .string("n")])
        order.bindEntity(try await shop.one("Customers", 2), to: try shop.property("Orders/Customer"))
        try await shop.service.createEntity(order)
        #expect(shop.serverLinks("Orders").hasSuffix("Orders(5)\n  Customer: Customers(2)\n"))
        let product = try shop.new("Products", ["Name": .string("n")])
        product.bindEntity(try await shop.one("Suppliers", 1), to: try shop.property("Products/Suppliers"))
        shop.transport.forgetRequests()
        try await shop.expectRefusal(.unsupported) { try await shop.service.createEntity(product) }
        #expect(shop.transport.requests.allSatisfy { $0.method == "GET" })
    }

    @Test(arguments: Client.online)
    func `no batch: single calls and deep inserts are sent, and a change set is refused`(_ client: Client) async throws
    {
        let shop = try await shop(client, ServiceOptions(supportsBatch: false, deepInsertToMany: .inOrder)) {
            $0.batch = false
        }
        let customer = try shop.new("Customers", ["Name": .string("deep")])
        try shop.property("Customers/Orders").setEntityList(
            in: customer, to: try ["a", "b"].map { try shop.new("Orders", ["Note": .string($0)]) })
        try await shop.service.createEntity(customer)
        #expect(shop.serverLinks("Customers").hasSuffix("Customers(4)\n  Orders: Orders(5), Orders(6)\n"))
        let one = ChangeSet()
        one.deleteEntity(try await shop.one("Orders", 5))
        try await shop.service.applyChanges(one)
        let two = ChangeSet()
        two.deleteEntity(try await shop.one("Orders", 6))
        two.deleteEntity(try await shop.one("Orders", 4))
        try await shop.expectRefusal(.unsupported) { try await shop.service.applyChanges(two) }
        #expect(try await shop.fetch("Orders").count == 5)
    }

    @Test(arguments: Client.online)
    func `no references in bodies: a change that requires one is refused`(_ client: Client) async throws {
        let shop = try await shop(client, ServiceOptions(contentIDReferences: .urlsOnly)) {
            $0.contentIDReferences = .urlsOnly
        }
        let customer = try shop.new("Customers", ["Name": .string("n")])
        let below = ChangeSet()
        below.createEntity(customer)
        below.createRelatedEntity(
            try shop.new("Orders", ["Note": .string("o")]), in: customer,
            property: try shop.property("Customers/Orders"))
        try await shop.service.applyChanges(below)
        #expect(shop.serverLinks("Customers").hasSuffix("Customers(4)\n  Orders: Orders(5)\n"))
        let bound = ChangeSet()
        let suppliers = try ["a", "b"].map { try shop.new("Suppliers", ["Name": .string($0)]) }
        let product = try shop.new("Products", ["Name": .string("p")])
        for supplier in suppliers {
            bound.createEntity(supplier)
            product.bindEntity(supplier, to: try shop.property("Products/Suppliers"))
        }
        bound.createEntity(product)
        try await shop.expectRefusal(.unsupported) { try await shop.service.applyChanges(bound) }
    }
}
