import Testing
import Tidelog

/// A store and an online client with mock-sap, an OData V2 server that does not support bindings.
@Suite(.serialized, .enabled(if: InteropServer.mockSAP.isAvailable, "mock-sap cannot be run here"))
struct MockSAPTests {
    private static let queries = ["Customers": "Customers", "Orders": "Orders", "OrderItems": "OrderItems"]

    private func work(_ route: InteropServer.Route, _ body: (Workplace) async throws -> Void) async throws {
        try await InteropServer.mockSAP.run(route) { root in
            let place = try await Workplace(root, queries: Self.queries)
            if route == .gateway { try await place.makeRepeatable() }
            try await body(place)
        }
    }

    @Test(arguments: InteropServer.Route.allCases)
    func `an entity is created with a generated key, updated with its ETag, deleted and downloaded`(
        _ route: InteropServer.Route
    ) async throws {
        try await work(route) { place in
            let birth = try #require(LocalDateTime("1815-12-10T00:00:00"))
            let customer = try place.new("Customers", ["Name": .string("Ada"), "DateOfBirth": .dateTime(birth)])
            try await place.service.createEntity(customer)
            let old = customer.readLink
            try await place.synchronize()
            try await place.service.loadEntity(customer)
            #expect(customer["CustomerID"] != nil)
            #expect(customer["DateOfBirth"] == .dateTime(birth))
            #expect(customer.etag != nil)

            customer["Name"] = .string("Ada Lovelace")
            try await place.service.updateEntity(customer)
            try await place.synchronize()
            let there = try await place.onServer("Customers", "Name", "Ada Lovelace")
            #expect(there["CustomerID"] == customer["CustomerID"])

            let again = try place.new("Customers")
            again.readLink = old
            try await place.service.loadEntity(again)
            #expect(again["Name"] == .string("Ada Lovelace"))
            try await place.service.deleteEntity(again)
            try await place.synchronize()
            #expect(try await place.server.executeQuery(DataQuery().withURL("Customers")).entityList().isEmpty)
        }
    }

    @Test(arguments: InteropServer.Route.allCases)
    func `a change set with Content-IDs creates a customer with its orders`(
        _ route: InteropServer.Route
    ) async throws {
        try await work(route) { place in
            let orders = try place.property("Customers/Orders")
            let customer = try place.new("Customers", ["Name": .string("New")])
            let children = try (1...2).map { try place.new("Orders", ["Total": .decimal(DecimalValue(Int64($0)))]) }
            let changes = ChangeSet()
            changes.createEntity(customer)
            for child in children { changes.createRelatedEntity(child, in: customer, property: orders) }
            try await place.service.applyChanges(changes)
            #expect(try await place.linkedHere(customer, "Orders").count == 2)
            try await place.synchronize()
            #expect(try await place.linkedOnServer(customer, "Orders").count == 2)
        }
    }

    @Test(arguments: InteropServer.Route.allCases)
    func `the customer of an order is changed by a link and by a referential constraint`(
        _ route: InteropServer.Route
    ) async throws {
        try await work(route) { place in
            let service = place.service
            let customers = try ["A", "B"].map { try place.new("Customers", ["Name": .string($0)]) }
            for entity in customers { try await service.createEntity(entity) }
            try await place.synchronize()
            for entity in customers { try await service.loadEntity(entity) }

            let order = try place.new("Orders", ["Total": .decimal(try #require(DecimalValue("12.3400")))])
            order["CustomerID"] = customers[0]["CustomerID"]
            try await service.createEntity(order)
            let second = try place.new("Orders")
            second["CustomerID"] = customers[0]["CustomerID"]
            try await service.createEntity(second)
            #expect(try await place.linkedHere(customers[0], "Orders").count == 2)
            try await place.synchronize()
            #expect(try await place.linkedOnServer(customers[0], "Orders").count == 2)

            try await service.updateLink(
                from: order, property: try place.property("Orders/Customer"), to: customers[1])
            #expect(try await place.linkedHere(customers[1], "Orders").count == 1)
            try await place.synchronize()
            #expect(try await place.linkedOnServer(customers[1], "Orders").count == 1)

            try await service.loadEntity(second)
            second["CustomerID"] = customers[1]["CustomerID"]
            try await service.updateEntity(second)
            try await place.synchronize()
            #expect(try await place.linkedOnServer(customers[1], "Orders").count == 2)

            try await service.createLink(
                from: customers[0], property: try place.property("Customers/Orders"), to: second)
            try await place.synchronize()
            #expect(try await place.linkedOnServer(customers[0], "Orders").count == 1)
        }
    }

    @Test(arguments: InteropServer.Route.allCases)
    func `a referential constraint links new entities whose keys the app assigned`(
        _ route: InteropServer.Route
    ) async throws {
        try await work(route) { place in
            let customer = try place.new("Customers", ["CustomerID": .string("MINE"), "Name": .string("own key")])
            try await place.service.createEntity(customer)
            let order = try place.new("Orders", ["OrderID": .string("O1"), "CustomerID": .string("MINE")])
            try await place.service.createEntity(order)
            #expect(try await place.linkedHere(customer, "Orders").count == 1)
            try await place.synchronize()
            #expect(try await place.linkedOnServer(customer, "Orders").count == 1)
        }
    }

    @Test(arguments: InteropServer.Route.allCases)
    func `an entity with a composite key is created, updated and deleted below a downloaded order`(
        _ route: InteropServer.Route
    ) async throws {
        try await work(route) { place in
            let customer = try place.new("Customers", ["Name": .string("C")])
            try await place.server.createEntity(customer)
            let order = try place.new("Orders")
            order["CustomerID"] = customer["CustomerID"]
            try await place.server.createEntity(order)
            try await place.store.download()
            let item = try place.new("OrderItems", ["ItemNo": .string("10"), "Quantity": .integer(3)])
            item["OrderID"] = order["OrderID"]
            try await place.service.createEntity(item)
            try await place.synchronize()
            #expect(try await place.linkedOnServer(try await here(order, place), "Items").count == 1)
            item["Quantity"] = .integer(4)
            try await place.service.updateEntity(item)
            try await place.synchronize()
            try await place.service.deleteEntity(item)
            try await place.synchronize()
        }
    }

    private func here(_ entity: EntityValue, _ place: Workplace) async throws -> EntityValue {
        let copy = EntityValue(entity.entityType)
        copy.readLink = entity.readLink
        try await place.service.loadEntity(copy)
        return copy
    }

    @Test(arguments: InteropServer.Route.allCases)
    func `an update of an entity that another client changed is a conflict`(
        _ route: InteropServer.Route
    ) async throws {
        try await work(route) { place in
            let customer = try place.new("Customers", ["Name": .string("A")])
            try await place.service.createEntity(customer)
            try await place.synchronize()
            let theirs = try await place.onServer("Customers", "Name", "A")
            theirs["Name"] = .string("theirs")
            try await place.server.updateEntity(theirs)
            customer["Name"] = .string("mine")
            try await place.service.updateEntity(customer)
            let report = try await place.store.upload()
            #expect(report.conflicts.count == 1 && report.rejected.isEmpty)
            #expect(try await place.store.operationStatus().map(\.state) == [.rejected])
            #expect(
                try await place.server.executeQuery(DataQuery().withURL("Customers")).requiredEntity()["Name"]
                    == .string("theirs"))
        }
    }

    @Test(arguments: InteropServer.Route.allCases)
    func `the online provider creates, updates, links, reads and deletes entities`(
        _ route: InteropServer.Route
    ) async throws {
        try await InteropServer.mockSAP.run(route) { root in
            let service = DataService(provider: OnlineODataProvider(serviceRoot: root))
            try await service.loadMetadata()
            let customers = try service.entitySet(withName: "Customers")
            let orders = try service.entitySet(withName: "Orders")
            let customer = EntityValue(customers.entityType)
            customer["Name"] = .string("online")
            try await service.createEntity(customer)
            #expect(customer["CustomerID"] != nil)
            customer["Name"] = .string("changed")
            try await service.updateEntity(customer)
            try await service.loadEntity(customer)
            #expect(customer["Name"] == .string("changed"))
            let theirs = try customers.entityType.property(withName: "Orders")
            let changes = ChangeSet()
            let parent = EntityValue(customers.entityType)
            parent["Name"] = .string("parent")
            let child = EntityValue(orders.entityType)
            changes.createEntity(parent)
            changes.createRelatedEntity(child, in: parent, property: theirs)
            try await service.applyChanges(changes)
            try await service.loadProperty(theirs, into: parent)
            #expect(parent.relatedEntities(theirs).map(\.readLink) == [child.readLink])
            try await service.updateLink(
                from: child, property: try orders.entityType.property(withName: "Customer"), to: customer)
            try await service.loadProperty(theirs, into: customer)
            #expect(customer.relatedEntities(theirs).count == 1)
            try await service.loadEntity(child)
            try await service.deleteEntity(child)
            #expect(try await service.executeQuery(DataQuery().from(orders)).entityList().isEmpty)
        }
    }
}
