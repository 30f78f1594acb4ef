import Testing
import Tidelog

/// A store and an online client with odatapy, an OData V4 server.
@Suite(.serialized, .enabled(if: InteropServer.odatapy.isAvailable, "odatapy cannot be run here"))
struct ODataPyTests {
    private static let queries = [
        "Customers": "Customers", "Orders": "Orders", "Owners": "Owners", "Cars": "Cars",
        "Suppliers": "Suppliers?$expand=Products", "Products": "Products", "AllTypes": "AllTypes",
        "OrderItems": "OrderItems",
    ]

    private func work(
        _ route: InteropServer.Route, _ settings: [String: String] = [:],
        _ body: (Workplace) async throws -> Void
    ) async throws {
        try await InteropServer.odatapy.run(route, settings) { root in
            try await body(try await Workplace(root, queries: Self.queries))
        }
    }

    @Test(arguments: InteropServer.Route.allCases)
    func `an entity is created with a generated key, updated with its ETag, deleted and downloaded`(
        _ route: InteropServer.Route
    ) async throws {
        try await work(route) { place in
            let customer = try place.new("Customers", ["Name": .string("Ada"), "Tags": .collection([.string("a")])])
            try await place.service.createEntity(customer)
            let old = customer.readLink
            try await place.synchronize()
            try await place.service.loadEntity(customer)
            #expect(customer["CustomerID"] == .integer(1))
            #expect(customer.etag != nil)

            customer["Name"] = .string("Ada Lovelace")
            try await place.service.updateEntity(customer)
            try await place.synchronize()
            #expect(try await place.onServer("Customers", "Name", "Ada Lovelace")["CustomerID"] == .integer(1))

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
    func `a change set with Content-IDs creates and links by every technique`(
        _ route: InteropServer.Route
    ) async throws {
        try await work(route) { place in
            let orders = try place.property("Customers/Orders")
            let toCustomer = try place.property("Orders/Customer")
            let customer = try place.new("Customers", ["Name": .string("New")])
            let notes = try (1...4).map { try place.new("Orders", ["Total": .decimal(DecimalValue(Int64($0)))]) }
            let changes = ChangeSet()
            changes.createEntity(customer)
            changes.createRelatedEntity(notes[0], in: customer, property: orders)
            notes[1].bindEntity(customer, to: toCustomer)
            changes.createEntity(notes[1])
            changes.createEntity(notes[2])
            changes.createLink(from: customer, property: orders, to: notes[2])
            changes.createEntity(notes[3])
            changes.updateLink(from: notes[3], property: toCustomer, to: customer)
            try await place.service.applyChanges(changes)
            #expect(try await place.linkedHere(customer, "Orders").count == 4)
            try await place.synchronize()
            #expect(try await place.linkedOnServer(customer, "Orders").count == 4)
            #expect(try await place.linkedHere(customer, "Orders").count == 4)
        }
    }

    @Test(arguments: InteropServer.Route.allCases)
    func `a deep insert and a referential constraint link new entities`(
        _ route: InteropServer.Route
    ) async throws {
        try await work(route) { place in
            let customer = try place.new("Customers", ["Name": .string("deep")])
            let order = try place.new("Orders", ["Total": .decimal(DecimalValue(1))])
            try place.property("Orders/Customer").setEntityValue(in: order, to: customer)
            try await place.service.createEntity(order)
            let other = try place.new("Customers", ["CustomerID": .integer(900), "Name": .string("own key")])
            try await place.service.createEntity(other)
            let named = try place.new("Orders", ["CustomerID": .integer(900)])
            try await place.service.createEntity(named)
            try await place.synchronize()
            #expect(try await place.linkedOnServer(order, "Customer").count == 1)
            #expect(try await place.linkedOnServer(named, "Customer") == place.linkedHere(named, "Customer"))
        }
    }

    @Test(arguments: InteropServer.Route.allCases)
    func `existing entities are bound, linked, relinked and unlinked`(
        _ route: InteropServer.Route
    ) async throws {
        try await work(route) { place in
            let service = place.service
            let customers = try ["A", "B"].map { try place.new("Customers", ["Name": .string($0)]) }
            let order = try place.new("Orders", ["Total": .decimal(DecimalValue(3))])
            for entity in customers + [order] { try await service.createEntity(entity) }
            try await place.synchronize()

            let orders = try place.property("Customers/Orders")
            let toCustomer = try place.property("Orders/Customer")
            try await service.createLink(from: customers[0], property: orders, to: order)
            try await place.synchronize()
            #expect(try await place.linkedOnServer(order, "Customer") == ["integer(1)"])

            try await service.updateLink(from: order, property: toCustomer, to: customers[1])
            try await place.synchronize()
            #expect(try await place.linkedOnServer(order, "Customer") == ["integer(2)"])

            order.bindEntity(customers[0], to: toCustomer)
            try await service.updateEntity(order)
            try await place.synchronize()
            #expect(try await place.linkedOnServer(order, "Customer") == ["integer(1)"])

            try await service.deleteLink(from: order, property: toCustomer)
            #expect(try await place.linkedHere(customers[0], "Orders").isEmpty)
            try await place.synchronize()
            #expect(try await place.linkedOnServer(customers[0], "Orders").isEmpty)

            try await service.createLink(from: customers[0], property: orders, to: order)
            try await place.synchronize()
            try await service.deleteLink(from: customers[0], property: orders, to: order)
            try await place.synchronize()
            #expect(try await place.linkedOnServer(customers[0], "Orders").isEmpty)
        }
    }

    @Test(arguments: InteropServer.Route.allCases)
    func `many to many and one to one links are changed`(
        _ route: InteropServer.Route
    ) async throws {
        try await work(route) { place in
            let suppliers = try ["S", "T"].map { try place.new("Suppliers", ["Name": .string($0)]) }
            let products = try ["P", "Q"].map { try place.new("Products", ["Name": .string($0)]) }
            for entity in suppliers + products { try await place.service.createEntity(entity) }
            let theirs = try place.property("Suppliers/Products")
            try await place.service.createLink(from: suppliers[0], property: theirs, to: products[0])
            try await place.service.createLink(from: suppliers[1], property: theirs, to: products[0])
            try await place.service.createLink(
                from: products[1], property: try place.property("Products/Suppliers"), to: suppliers[1])
            try await place.synchronize()
            #expect(try await place.linkedOnServer(products[0], "Suppliers").count == 2)
            try await place.service.deleteLink(from: suppliers[0], property: theirs, to: products[0])
            try await place.synchronize()
            let left = try await place.linkedOnServer(products[0], "Suppliers")
            try await place.service.loadEntity(suppliers[1])
            #expect(left == suppliers[1].key.map { $0.values.map { "\($0.value)" } })

            let owner = try place.new("Owners", ["Name": .string("O")])
            let car = try place.new("Cars", ["Model": .string("C")])
            try place.property("Owners/Car").setEntityValue(in: owner, to: car)
            try await place.service.createEntity(owner)
            try await place.synchronize()
            #expect(try await place.linkedOnServer(owner, "Car") == ["integer(1)"])
        }
    }

    @Test(arguments: InteropServer.Route.allCases)
    func `values of every type are equal after an upload and a read`(
        _ route: InteropServer.Route
    ) async throws {
        try await work(route) { place in
            let values: [String: Value] = [
                "ID": .guid(.random()), "Bool": .boolean(true), "Byte": .integer(255), "SByte": .integer(-128),
                "I16": .integer(-32768), "I32": .integer(Int64(Int32.min)), "I64": .integer(.max),
                "Single": .single(1.5), "Double": .double(0.1),
                "Dec": .decimal(try #require(DecimalValue("123456789012345678901234.000001"))),
                "Bin": .binary([0, 255, 62, 63]), "Str": .string("\"ü\" \\ 😀\n"),
                "Date": .date(try #require(LocalDate("2024-02-29"))),
                "TimeOfDay": .timeOfDay(try #require(LocalTime("23:59:59.5"))),
                "DTO": .dateTimeOffset(try #require(GlobalDateTime("2024-02-29T23:59:59.123Z"))),
                "Dur": .duration(try #require(DayTimeDuration("P1DT2H3M4.5S"))), "Flags": .enumeration("A,C"),
                "Addresses": .collection([
                    .complex(ComplexValue(properties: ["Street": .string("s"), "City": .string("c")]))
                ]),
            ]
            let all = try place.new("AllTypes", values)
            try await place.service.createEntity(all)
            try await place.synchronize()
            try await place.service.loadEntity(all)
            for (name, value) in values where name != "Addresses" { #expect(all[name] == value, "\(name)") }
        }
    }

    @Test(arguments: InteropServer.Route.allCases)
    func `all pages are downloaded`(
        _ route: InteropServer.Route
    ) async throws {
        try await work(route, ["PAGE_SIZE": "2"]) { place in
            for number in 1...5 {
                try await place.server.createEntity(try place.new("Customers", ["Name": .string("C\(number)")]))
            }
            let report = try await place.store.download()
            #expect(report.entities == 5)
            #expect(try await place.service.executeQuery(DataQuery().withURL("Customers")).entityList().count == 5)
            try await place.synchronize()
        }
    }

    @Test(arguments: InteropServer.Route.allCases)
    func `a conflict does not stop the other operations, and a failed change set is rejected completely`(
        _ route: InteropServer.Route
    ) async throws {
        try await work(route) { place in
            let customers = try ["A", "B"].map { try place.new("Customers", ["Name": .string($0)]) }
            for entity in customers { try await place.service.createEntity(entity) }
            try await place.synchronize()
            // Another client changes the customer first.
            let theirs = try await place.onServer("Customers", "Name", "A")
            theirs["Name"] = .string("A of theirs")
            try await place.server.updateEntity(theirs)

            customers[0]["Name"] = .string("A of mine")
            customers[1]["Name"] = .string("B of mine")
            for entity in customers { try await place.service.updateEntity(entity) }
            let report = try await place.store.upload()
            #expect(report.conflicts.count == 1 && report.rejected.isEmpty)
            #expect(report.confirmed.count == 1)
            let states = try await place.store.operationStatus()
            #expect(states.map(\.state) == [.rejected])
            #expect(try await place.onServer("Customers", "Name", "B of mine")["CustomerID"] == .integer(2))

            // A change set that fails as a whole: the second order refers to a customer that was deleted.
            try await place.server.deleteEntity(try await place.onServer("Customers", "Name", "B of mine"))
            let changes = ChangeSet()
            let order = try place.new("Orders", ["Total": .decimal(DecimalValue(1))])
            changes.createEntity(order)
            changes.updateLink(from: order, property: try place.property("Orders/Customer"), to: customers[1])
            try await place.service.applyChanges(changes)
            let failed = try await place.store.upload()
            #expect(failed.confirmed.isEmpty)
            #expect(!failed.rejected.isEmpty)
            #expect(try await place.server.executeQuery(DataQuery().withURL("Orders")).entityList().isEmpty)
        }
    }

    @Test(arguments: InteropServer.Route.allCases)
    func `the online provider creates, binds, links, updates, reads and deletes entities`(
        _ route: InteropServer.Route
    ) async throws {
        try await InteropServer.odatapy.run(route) { root in
            let service = DataService(provider: OnlineODataProvider(serviceRoot: root))
            try await service.loadMetadata()
            let customers = try service.entitySet(withName: "Customers")
            let orders = try service.entitySet(withName: "Orders")
            let customer = EntityValue(customers.entityType)
            customer["Name"] = .string("online")
            try await service.createEntity(customer)
            #expect(customer["CustomerID"] == .integer(1))
            customer["Name"] = .string("changed")
            try await service.updateEntity(customer)
            try await service.loadEntity(customer)
            #expect(customer["Name"] == .string("changed"))

            let toCustomer = try orders.entityType.property(withName: "Customer")
            let order = EntityValue(orders.entityType)
            order.bindEntity(customer, to: toCustomer)
            try await service.createEntity(order)
            try await service.loadProperty(toCustomer, into: order)
            #expect(order.relatedEntity(toCustomer)?["CustomerID"] == .integer(1))
            try await service.deleteLink(from: order, property: toCustomer)
            // This server responds with 404 to the request for a single-valued property without a target.
            try await service.loadProperty(toCustomer, into: order)
            #expect(order.relatedEntity(toCustomer) == nil)
            let theirs = try customers.entityType.property(withName: "Orders")
            try await service.createLink(from: customer, property: theirs, to: order)
            try await service.loadProperty(theirs, into: customer)
            #expect(customer.relatedEntities(theirs).count == 1)
            try await service.deleteLink(from: customer, property: theirs, to: order)

            let changes = ChangeSet()
            let child = EntityValue(orders.entityType)
            let parent = EntityValue(customers.entityType)
            parent["Name"] = .string("parent")
            changes.createEntity(parent)
            changes.createRelatedEntity(child, in: parent, property: theirs)
            try await service.applyChanges(changes)
            try await service.loadProperty(theirs, into: parent)
            #expect(parent.relatedEntities(theirs).map(\.readLink) == [child.readLink])
            try await service.loadEntity(order)
            try await service.deleteEntity(order)
            #expect(try await service.executeQuery(DataQuery().from(orders)).entityList().count == 1)
        }
    }
}
