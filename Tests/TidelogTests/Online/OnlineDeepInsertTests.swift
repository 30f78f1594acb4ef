import ODataSandbox
import ODataWire
import TestSupport
import Testing
import Tidelog

/// New entities in the relations of a new entity, online.
@Suite struct OnlineDeepInsertTests {
    struct Service: Sendable, CustomTestStringConvertible {
        let client: Client
        let option: ServiceOptions.DeepInsertToMany
        let answer: Capabilities.DeepInsertAnswer

        var testDescription: String { "\(client) \(option), answered \(answer)" }

        static let all = Client.online.flatMap { client in
            ServiceOptions.DeepInsertToMany.allCases.flatMap { option in
                Capabilities.DeepInsertAnswer.allCases.map { Service(client: client, option: option, answer: $0) }
            }
        }
    }

    private func shop(
        _ service: Service, _ change: (inout Capabilities, inout ServiceOptions) -> Void = { _, _ in }
    ) async throws -> Shop {
        var capabilities = Capabilities()
        capabilities.deepInsertAnswer = service.answer
        var options = ServiceOptions(deepInsertToMany: service.option)
        change(&capabilities, &options)
        return try await Shop(service.client, capabilities: capabilities, options: options)
    }

    private func customer(_ shop: Shop, _ notes: [String]) throws -> (EntityValue, orders: [EntityValue]) {
        let customer = try shop.new("Customers", ["Name": .string("deep")])
        let orders = try notes.map { try shop.new("Orders", ["Note": .string($0)]) }
        try shop.property("Customers/Orders").setEntityList(in: customer, to: orders)
        return (customer, orders)
    }

    /// Expects that each object has the link of the entity with its note.
    private func expectLinks(_ orders: [EntityValue], _ shop: Shop) async throws {
        for order in orders {
            let again = EntityValue(order.entityType)
            #expect(order.readLink != nil)
            again.readLink = order.readLink
            try await shop.service.loadEntity(again)
            #expect(again["Note"] == order["Note"])
        }
    }

    @Test(arguments: Service.all)
    func `each object of a deep insert into a collection has the link of its entity`(_ service: Service) async throws {
        let shop = try await shop(service)
        let (customer, orders) = try customer(shop, ["a", "b", "c"])
        try await shop.service.createEntity(customer)
        #expect(shop.serverLinks("Customers").contains("Customers(4)\n  Orders: Orders(5), Orders(6), Orders(7)\n"))
        #expect(customer.readLink == "Customers(4)")
        try await expectLinks(orders, shop)
        orders[1]["Quantity"] = .integer(5)
        try await shop.service.updateEntity(orders[1])
        let lines = shop.transport.sandbox.stateText(of: ["Orders"]).split(separator: "\n")
        #expect(lines.first { $0.contains("Note: 'b'") }?.contains("Quantity: 5") == true)
    }

    @Test(arguments: Service.all)
    func `a new target of a single-valued relation is created with its owner`(_ service: Service) async throws {
        let shop = try await shop(service)
        let order = try shop.new("Orders", ["Note": .string("deep")])
        let customer = try shop.new("Customers", ["Name": .string("new")])
        try shop.property("Orders/Customer").setEntityValue(in: order, to: customer)
        try await shop.service.createEntity(order)
        #expect(order.readLink == "Orders(5)")
        #expect(customer.readLink == "Customers(4)")
        #expect(try await shop.areLinked(order, "Customer", customer, "Orders"))
    }

    @Test(arguments: Service.all)
    func `a new target may have a collection of new entities itself`(_ service: Service) async throws {
        let shop = try await shop(service)
        let order = try shop.new("Orders", ["Note": .string("top")])
        let (customer, orders) = try customer(shop, ["a", "b"])
        try shop.property("Orders/Customer").setEntityValue(in: order, to: customer)
        try await shop.service.createEntity(order)
        #expect(shop.serverLinks("Customers").contains("Customers(4)\n  Orders: Orders(5), Orders(6), Orders(7)\n"))
        try await expectLinks(orders + [order], shop)
    }

    @Test(arguments: Client.online)
    func `without batches, a collection is created in one request, whatever its usual form`(
        _ client: Client
    ) async throws {
        let shop = try await shop(Service(client: client, option: .split, answer: .inOrder)) { capabilities, options in
            capabilities.batch = false
            options.supportsBatch = false
        }
        let (customer, orders) = try customer(shop, ["a", "b"])
        shop.transport.forgetRequests()
        try await shop.service.createEntity(customer)
        #expect(shop.transport.requests.filter { $0.method == "POST" }.count == 1)
        try await expectLinks(orders, shop)
    }

    @Test(arguments: Client.online)
    func `new entities in the collection of an existing entity are created there`(_ client: Client) async throws {
        let shop = try await Shop(client)
        let customer = try await shop.one("Customers", 3)
        let order = try shop.new("Orders", ["Note": .string("added")])
        try shop.property("Customers/Orders").setEntityList(in: customer, to: [order])
        try await shop.service.updateEntity(customer)
        #expect(order.readLink == "Orders(5)")
        #expect(shop.serverLinks("Customers").contains("Customers(3)\n  Orders: Orders(5)\n"))
    }
}
