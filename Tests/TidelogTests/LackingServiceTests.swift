import ODataSandbox
import ODataWire
import TestSupport
import Testing
import Tidelog

/// Services that lack a capability: the same changes are sent in other requests, and lead to the same state after an
/// upload and a download.
@Suite struct LackingServiceTests {
    /// Missing capabilities of a service, and the options of the store for it.
    struct MissingCapability: Sendable, CustomTestStringConvertible {
        let client: Client
        let name: String
        let capabilities: Capabilities
        let options: ServiceOptions

        var testDescription: String { "\(client.dialect.rawValue.uppercased()) \(name)" }

        init(_ client: Client, _ name: String, _ options: ServiceOptions, _ change: (inout Capabilities) -> Void) {
            self.client = client
            self.name = name
            self.options = options
            var capabilities = Capabilities()
            change(&capabilities)
            self.capabilities = capabilities
        }

        static let all = Client.offline.flatMap { client in
            [
                MissingCapability(client, "no batch", ServiceOptions(supportsBatch: false)) { $0.batch = false },
                MissingCapability(client, "no bind", ServiceOptions(supportsBind: false)) { $0.bind = false },
                MissingCapability(client, "no PATCH", ServiceOptions(supportsPatch: false)) { $0.patch = false },
                MissingCapability(client, "references in URLs", ServiceOptions(contentIDReferences: .urlsOnly)) {
                    $0.contentIDReferences = .urlsOnly
                },
                MissingCapability(client, "no references", ServiceOptions(contentIDReferences: .none)) {
                    $0.contentIDReferences = .none
                },
                MissingCapability(client, "a tunnel", ServiceOptions(tunnelsMethods: true)) { $0.methods = false },
                MissingCapability(
                    client, "nothing but single POST and PUT",
                    ServiceOptions(
                        supportsBatch: false, supportsBind: false, supportsPatch: false, contentIDReferences: .none)
                ) {
                    $0.batch = false
                    $0.bind = false
                    $0.patch = false
                },
                MissingCapability(
                    client, "no bind and no references",
                    ServiceOptions(supportsBind: false, contentIDReferences: .none)
                ) {
                    $0.bind = false
                    $0.contentIDReferences = .none
                },
            ]
        }
    }

    private func shop(_ lack: MissingCapability) async throws -> Shop {
        try await Shop(lack.client, capabilities: lack.capabilities, options: lack.options)
    }

    // MARK: All changes reach the service

    @Test(arguments: MissingCapability.all)
    func `a new customer with bound orders that are edited and moved reaches the service`(_ lack: MissingCapability)
        async throws
    {
        let shop = try await shop(lack)
        let customer = try shop.new("Customers", ["Name": .string("new")])
        try await shop.service.createEntity(customer)
        for note in ["a", "b"] {
            let order = try shop.new("Orders", ["Note": .string(note)])
            order.bindEntity(customer, to: try shop.property("Orders/Customer"))
            try await shop.service.createEntity(order)
            order["Amount"] = .decimal(try #require(DecimalValue("1.5")))
            try await shop.service.updateEntity(order)
        }
        customer["Name"] = .string("renamed")
        try await shop.service.updateEntity(customer)
        let old = try await shop.one("Orders", 4)
        old["Note"] = .string("changed")
        old.bindEntity(customer, to: try shop.property("Orders/Customer"))
        try await shop.service.updateEntity(old)
        try await shop.synchronize()
        #expect(shop.serverLinks("Customers").hasSuffix("Customers(4)\n  Orders: Orders(4), Orders(5), Orders(6)\n"))
        #expect(shop.transport.sandbox.stateText(of: ["Customers"]).contains("renamed"))
    }

    @Test(arguments: MissingCapability.all)
    func `links of all kinds reach the service`(_ lack: MissingCapability) async throws {
        let shop = try await shop(lack)
        let service = shop.service
        let supplier = try shop.new("Suppliers", ["Name": .string("new")])
        try await service.createEntity(supplier)
        let product = try shop.new("Products", ["Name": .string("new")])
        product.bindEntity(supplier, to: try shop.property("Products/Suppliers"))
        try await service.createEntity(product)
        try await service.createLink(
            from: try await shop.one("Products", 3), property: try shop.property("Products/Suppliers"), to: supplier)
        try await service.deleteLink(
            from: try await shop.one("Suppliers", 2), property: try shop.property("Suppliers/Products"),
            to: try await shop.one("Products", 1))
        let child = try await shop.one("Children", 1)
        let father = try shop.new("Fathers", ["Name": .string("step")])
        try await service.createEntity(father)
        try await service.updateLink(from: child, property: try shop.property("Children/Father"), to: father)
        try await service.createRelatedEntity(
            try shop.new("Children", ["Name": .string("second")]), in: father,
            property: try shop.property("Fathers/Children"))
        let card = try await shop.one("IDCards", 2)
        let person = try shop.new("Persons", ["Name": .string("holder")])
        try await service.createEntity(person)
        try await service.createLink(from: person, property: try shop.property("Persons/IDCard"), to: card)
        try await shop.synchronize()
        #expect(shop.serverLinks("Suppliers").hasSuffix("Suppliers(3)\n  Products: Products(3), Products(4)\n"))
        #expect(shop.serverLinks("Fathers").hasSuffix("Fathers(4)\n  Children: Children(1), Children(4)\n"))
        #expect(shop.serverLinks("Persons").hasSuffix("Persons(3)\n  IDCard: IDCards(2)\n"))
    }

    @Test(arguments: MissingCapability.all)
    func `a 1–1 pair of a change set reaches the service, if necessary as one deep insert`(_ lack: MissingCapability)
        async throws
    {
        let shop = try await shop(lack)
        let owner = try shop.new("Owners", ["Name": .string("pair")])
        let car = try shop.new("Cars", ["Model": .string("pair")])
        let changes = ChangeSet()
        changes.createEntity(owner)
        changes.createEntity(car)
        changes.createLink(from: owner, property: try shop.property("Owners/Car"), to: car)
        try await shop.service.applyChanges(changes)
        shop.transport.forgetRequests()
        try await shop.synchronize()
        #expect(shop.serverLinks("Owners").hasSuffix("Owners(3)\n  Car: Cars(3)\n"))
        #expect(try await shop.areLinked(car, "Owner", owner, "Car"))
    }

    @Test(arguments: MissingCapability.all)
    func `an entity that is edited several times before an upload reaches the service in its last version`(
        _ lack: MissingCapability
    )
        async throws
    {
        let shop = try await shop(lack)
        let order = try await shop.one("Orders", 1)
        for (property, value) in [
            ("Note", Value.string("one")), ("Quantity", .integer(7)), ("Note", .string("two")), ("Total", .null),
        ] {
            order[property] = value
            try await shop.service.updateEntity(order)
        }
        let customer = try await shop.one("Customers", 3)
        try await shop.service.updateLink(from: order, property: try shop.property("Orders/Customer"), to: customer)
        order["Note"] = .string("three")
        try await shop.service.updateEntity(order)
        try await shop.synchronize()
        #expect(shop.serverLinks("Orders").hasPrefix("Orders(1)\n  Customer: Customers(3)\n"))
        #expect(shop.transport.sandbox.stateText(of: ["Orders"]).contains("three"))
    }
}
