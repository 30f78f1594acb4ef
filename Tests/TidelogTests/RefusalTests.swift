import Testing
import Tidelog

/// Refusals: a typed error, and nothing in the log.
@Suite struct RefusalTests {
    @Test(arguments: Client.offline)
    func `unknown names are refused by name`(_ client: Client) async throws {
        let shop = try await Shop(client)
        #expect(throws: TidelogError.self) { try shop.service.entitySet(withName: "Nothing") }
        #expect(throws: TidelogError.self) { try shop.property("Customers/Nothing") }
        try await shop.expectRefusal(.refused(.unknownProperty)) {
            try await shop.service.createEntity(try shop.new("Customers", ["Nothing": .string("x")]))
        }
        let customer = try await shop.first("Customers")
        try await shop.expectRefusal(.refused(.unknownProperty)) {
            customer["Nothing"] = .integer(1)
            try await shop.service.updateEntity(customer)
        }
        let other = try await shop.first("Orders")
        try await shop.expectRefusal(.refused(.unknownNavigationProperty)) {
            try await shop.service.createLink(
                from: other, property: try shop.property("Customers/Orders"), to: other)
        }
        try await shop.expectRefusal(.refused(.unknownNavigationProperty)) {
            try await shop.service.deleteLink(from: other, property: try shop.property("Owners/Car"))
        }
    }

    @Test(arguments: Client.offline)
    func `a value of the wrong type is refused`(_ client: Client) async throws {
        let shop = try await Shop(client)
        let order = try await shop.first("Orders")
        let wrong: [(String, Value?)] = [
            ("Note", .integer(1)), ("Quantity", .integer(40_000)), ("Quantity", .string("3")),
            ("Amount", .boolean(true)),
            ("Amount", .decimal(try #require(DecimalValue("0.12345")))), ("PlacedAt", .string("yesterday")),
            ("CustomerID", .integer(1 << 40)), ("Customer", .integer(1)),
        ]
        for (name, value) in wrong {
            try await shop.expectRefusal(.refused(.typeMismatch)) {
                try await shop.service.createEntity(try shop.new("Orders", [name: value ?? .null]))
            }
            let copy = EntityValue(order.entityType)
            copy.readLink = order.readLink
            copy[name] = value
            try await shop.expectRefusal(.refused(.typeMismatch)) { try await shop.service.updateEntity(copy) }
        }
        let customer = try await shop.first("Customers")
        customer.setDataValue(for: try shop.property("Customers/Name"), to: nil)
        try await shop.expectRefusal(.refused(.typeMismatch)) { try await shop.service.updateEntity(customer) }
        customer["Name"] = .string(String(repeating: "x", count: 81))
        try await shop.expectRefusal(.refused(.typeMismatch)) { try await shop.service.updateEntity(customer) }
    }

    @Test(arguments: Client.offline)
    func `links that exceed a multiplicity are refused`(_ client: Client) async throws {
        let shop = try await Shop(client)
        let service = shop.service
        let customer = try await shop.one("Customers", 1)
        let order = try await shop.one("Orders", 4)
        let orders = try shop.property("Customers/Orders")
        try await shop.expectRefusal(.refused(.wrongTargetType)) {
            try await service.createLink(from: customer, property: orders, to: customer)
        }
        try await shop.expectRefusal(.refused(.wrongNavigationKind)) {
            try await service.updateLink(from: customer, property: orders, to: order)
        }
        try await shop.expectRefusal(.refused(.linkNotFound)) {
            try await service.deleteLink(from: customer, property: orders, to: order)
        }
        try await shop.expectRefusal(.refused(.wrongNavigationKind)) {
            try await service.deleteLink(from: customer, property: orders)
        }
        try await shop.expectRefusal(.refused(.linkNotFound)) {
            try await service.deleteLink(from: order, property: try shop.property("Orders/Customer"))
        }
        try await shop.expectRefusal(.refused(.mandatoryEnd)) {
            let child = try await shop.one("Children", 1)
            try await service.deleteLink(from: child, property: try shop.property("Children/Father"))
        }
        try await shop.expectRefusal(.refused(.mandatoryEnd)) {
            try await service.deleteEntity(try await shop.one("Fathers", 1))
        }
        try await shop.expectRefusal(.refused(.mandatoryEnd)) {
            try await service.createEntity(try shop.new("Mayors", ["Name": .string("of nowhere")]))
        }
    }

    @Test(arguments: Client.offline)
    func `changed keys and duplicate keys are refused`(_ client: Client) async throws {
        let shop = try await Shop(client)
        let customer = try await shop.one("Customers", 1)
        customer["CustomerID"] = .integer(50)
        try await shop.expectRefusal(.refused(.keyIsFixed)) { try await shop.service.updateEntity(customer) }
        try await shop.expectRefusal(.refused(.duplicateKey)) {
            try await shop.service.createEntity(
                try shop.new("Customers", ["CustomerID": .integer(1), "Name": .string("again")]))
        }
    }

    @Test(arguments: Client.offline)
    func `changes of entities that are not in the store are refused`(_ client: Client) async throws {
        let shop = try await Shop(client)
        let notThere = EntityValue(try shop.set("Customers").entityType)
        notThere.editLink = "Customers(99)"
        notThere["Name"] = .string("x")
        try await shop.expectRefusal(.refused(.entityNotFound)) { try await shop.service.updateEntity(notThere) }
        try await shop.expectRefusal(.refused(.entityNotFound)) { try await shop.service.deleteEntity(notThere) }
        try await shop.expectRefusal(.refused(.entityNotFound)) {
            try await shop.service.updateEntity(try shop.new("Customers", ["Name": .string("x")]))
        }
        let deleted = try await shop.one("Orders", 1)
        try await shop.service.deleteEntity(deleted)
        deleted["Note"] = .string("too late")
        try await shop.expectRefusal(.refused(.entityNotFound)) { try await shop.service.updateEntity(deleted) }
    }

    @Test(arguments: Client.offline)
    func `a change set with one refused operation has no effect`(_ client: Client) async throws {
        let shop = try await Shop(client)
        let changes = ChangeSet()
        changes.createEntity(try shop.new("Customers", ["Name": .string("fine")]))
        changes.updateEntity(try shop.new("Customers", ["CustomerID": .integer(99)]))
        try await shop.expectRefusal(.refused(.entityNotFound)) { try await shop.service.applyChanges(changes) }
        #expect(!changes.isApplied)
        #expect(try await shop.fetch("Customers").count == 3)
        let wrong = ChangeSet()
        wrong.createEntity(try shop.new("Customers", ["Name": .string("fine")]))
        wrong.createEntity(try shop.new("Orders", ["Quantity": .string("many")]))
        try await shop.expectRefusal(.refused(.typeMismatch)) { try await shop.service.applyChanges(wrong) }
        #expect(try await shop.fetch("Customers").count == 3)
    }

    @Test(arguments: Client.all)
    func `invalid queries are errors`(_ client: Client) async throws {
        let shop = try await Shop(client)
        for url in ["Nothing", "Customers?$filter=Nothing eq 1", "Customers?$filter=Name eq", "Customers(", "%"] {
            do {
                _ = try await shop.service.executeQuery(DataQuery().withURL(url))
                Issue.record("\(url) was not refused.")
            } catch let error {
                #expect(error.code == .invalidRequest || error.code == .service(status: 400), "\(url): \(error)")
            }
        }
        do {
            _ = try await shop.service.executeQuery(DataQuery())
            Issue.record("A query of nothing was answered.")
        } catch {
            #expect(error.code == .invalidRequest)
        }
    }
}
