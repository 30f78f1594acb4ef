import ODataSandbox
import ODataWire
import TestSupport
import Testing
import Tidelog

/// Online change sets whose entities refer to each other, at services that support fewer references than the standard.
@Suite struct NewReferenceTests {
    typealias References = ServiceOptions.ContentIDReferences

    struct Service: Sendable, CustomTestStringConvertible {
        let client: Client
        let references: References

        var testDescription: String { "\(client), references \(references)" }

        static let all = Client.online.flatMap { client in
            [References.urlsAndBodies, .urlsOnly, .none].map { Service(client: client, references: $0) }
        }
    }

    private func shop(_ service: Service) async throws -> Shop {
        var capabilities = Capabilities()
        capabilities.contentIDReferences = service.references
        let options = ServiceOptions(contentIDReferences: service.references)
        return try await Shop(service.client, capabilities: capabilities, options: options)
    }

    private let linked = "Customers(4)\n  Orders: Orders(5)\n"

    @Test(arguments: Service.all)
    func `a new entity is created in a collection of another new one`(_ service: Service) async throws {
        let shop = try await shop(service)
        let customer = try shop.new("Customers", ["Name": .string("n")])
        let order = try shop.new("Orders", ["Note": .string("o")])
        let changes = ChangeSet()
        changes.createEntity(customer)
        changes.createRelatedEntity(order, in: customer, property: try shop.property("Customers/Orders"))
        try await shop.service.applyChanges(changes)
        #expect(shop.serverLinks("Customers").hasSuffix(linked))
        #expect([customer.readLink, order.readLink] == ["Customers(4)", "Orders(5)"])
    }

    @Test(arguments: Service.all)
    func `a new entity is bound to another new one`(_ service: Service) async throws {
        let shop = try await shop(service)
        let customer = try shop.new("Customers", ["Name": .string("n")])
        let order = try shop.new("Orders", ["Note": .string("o")])
        order.bindEntity(customer, to: try shop.property("Orders/Customer"))
        let changes = ChangeSet()
        changes.createEntity(customer)
        changes.createEntity(order)
        try await shop.service.applyChanges(changes)
        #expect(shop.serverLinks("Customers").hasSuffix(linked))
        #expect([customer.readLink, order.readLink] == ["Customers(4)", "Orders(5)"])
    }

    @Test(arguments: Service.all)
    func `two new entities are linked`(_ service: Service) async throws {
        let shop = try await shop(service)
        let customer = try shop.new("Customers", ["Name": .string("n")])
        let order = try shop.new("Orders", ["Note": .string("o")])
        let changes = ChangeSet()
        changes.createEntity(customer)
        changes.createEntity(order)
        changes.createLink(from: order, property: try shop.property("Orders/Customer"), to: customer)
        try await shop.service.applyChanges(changes)
        #expect(shop.serverLinks("Customers").hasSuffix(linked))
        #expect([customer.readLink, order.readLink] == ["Customers(4)", "Orders(5)"])
    }

    @Test(arguments: Service.all)
    func `an existing entity is linked to a new one`(_ service: Service) async throws {
        let shop = try await shop(service)
        let customer = try shop.new("Customers", ["Name": .string("n")])
        let order = try await shop.one("Orders", 4)
        let changes = ChangeSet()
        changes.createEntity(customer)
        changes.updateLink(from: order, property: try shop.property("Orders/Customer"), to: customer)
        try await shop.service.applyChanges(changes)
        #expect(shop.serverLinks("Customers").hasSuffix("Customers(4)\n  Orders: Orders(4)\n"))
    }

    @Test(arguments: Service.all)
    func `a new target of a single-valued relation is created through its owner`(_ service: Service) async throws {
        let shop = try await shop(service)
        let customer = try shop.new("Customers", ["Name": .string("n")])
        let order = try await shop.one("Orders", 4)
        try await shop.service.createRelatedEntity(customer, in: order, property: try shop.property("Orders/Customer"))
        #expect(shop.serverLinks("Customers").hasSuffix("Customers(4)\n  Orders: Orders(4)\n"))
        #expect(customer.readLink == "Customers(4)")
    }

    @Test(arguments: Service.all)
    func `a changed relation of an existing entity may lead to a new one`(_ service: Service) async throws {
        let shop = try await shop(service)
        let customer = try shop.new("Customers", ["Name": .string("n")])
        let order = try await shop.one("Orders", 4)
        order["Note"] = .string("both")
        try shop.property("Orders/Customer").setEntityValue(in: order, to: customer)
        try await shop.service.updateEntity(order)
        #expect(shop.serverLinks("Customers").hasSuffix("Customers(4)\n  Orders: Orders(4)\n"))
        #expect(shop.transport.sandbox.stateText(of: ["Orders"]).contains("both"))
    }

    @Test(arguments: Client.online)
    func `a new entity with two new targets needs a reference in a body, and is refused otherwise`(
        _ client: Client
    ) async throws {
        let shop = try await shop(Service(client: client, references: .urlsOnly))
        let suppliers = try ["a", "b"].map { try shop.new("Suppliers", ["Name": .string($0)]) }
        let product = try shop.new("Products", ["Name": .string("p")])
        for supplier in suppliers { product.bindEntity(supplier, to: try shop.property("Products/Suppliers")) }
        let changes = ChangeSet()
        for supplier in suppliers { changes.createEntity(supplier) }
        changes.createEntity(product)
        let before = shop.serverState()
        shop.transport.forgetRequests()
        try await shop.expectRefusal(.unsupported) { try await shop.service.applyChanges(changes) }
        #expect(shop.transport.requests.allSatisfy { $0.method == "GET" })
        #expect(shop.serverState() == before)
    }

    @Test(arguments: Client.online)
    func `without any references a later change of a new entity is refused, because separate requests are not atomic`(
        _ client: Client
    ) async throws {
        let shop = try await shop(Service(client: client, references: .none))
        let customer = try shop.new("Customers", ["Name": .string("n")])
        let changes = ChangeSet()
        changes.createEntity(customer)
        changes.deleteEntity(customer)
        let error = await #expect(throws: TidelogError.self) { try await shop.service.applyChanges(changes) }
        #expect(error?.code == .unsupported)
        #expect(error?.message.contains("11.7.4") == true)
    }
}
