import Testing
import Tidelog

/// API samples of keys, readLinks and editLinks.
@Suite struct KeySampleTests {
    @Test(arguments: Client.all)
    func `the sample creates any number of entities without a key`(_ client: Client) async throws {
        let shop = try await Shop(client)
        for _ in 1...3 {
            let event = EntityValue(try shop.set("Products").entityType, withDefaults: false)
            event["Name"] = .string("SAP Summit")
            try await shop.service.createEntity(event)
        }
        let name = try shop.property("Products/Name")
        #expect(try await shop.fetch("Products", matching: DataQuery().filter(name.equal("SAP Summit"))).count == 3)
        try await shop.synchronize()
        #expect(shop.serverLinks("Products").hasSuffix("Products(4)\nProducts(5)\nProducts(6)\n"))
    }

    @Test(arguments: Client.offline)
    func `the sample with defaults creates a duplicate of key 0 unless the key is unset`(
        _ client: Client
    ) async throws {
        let shop = try await Shop(client)
        let type = try shop.set("Products").entityType
        let productID = try shop.property("Products/ProductID")
        let first = EntityValue(type, withDefaults: true)
        #expect(first["ProductID"] == .integer(0))
        try await shop.service.createEntity(first)
        try await shop.expectRefusal(.refused(.duplicateKey)) {
            try await shop.service.createEntity(EntityValue(type, withDefaults: true))
        }
        let third = EntityValue(type, withDefaults: true)
        third.unsetDataValue(for: productID)
        #expect(!third.hasDataValue(for: productID))
        try await shop.service.createEntity(third)
        try await shop.synchronize()
        #expect(try await shop.fetch("Products").count == 5)
    }

    @Test(arguments: Client.all)
    func `the sample of copy creates a duplicate because it copies the key`(_ client: Client) async throws {
        let shop = try await Shop(client)
        let visit = try await shop.first("Visits")
        if client.isOnline {
            await #expect(throws: TidelogError.self) { try await shop.service.createEntity(visit.copy()) }
        } else {
            try await shop.expectRefusal(.refused(.duplicateKey)) {
                try await shop.service.createEntity(visit.copy())
            }
        }
    }

    @Test(arguments: Client.all)
    func `the sample of readLink loads the new entity before and after its key is known`(
        _ client: Client
    ) async throws {
        let shop = try await Shop(client)
        let track = EntityValue(try shop.set("Customers").entityType, withDefaults: false)
        track["Name"] = .string("Keynote")
        try await shop.service.createEntity(track)
        let readLink = try #require(track.readLink)
        for phase in ["created", "synchronized"] {
            let readBack = EntityValue(try shop.set("Customers").entityType, withDefaults: false)
            readBack.readLink = readLink
            try await shop.service.loadEntity(readBack)
            #expect(readBack["Name"] == .string("Keynote"), "\(phase)")
            let query = DataQuery().withURL(readLink)
            let found = try await shop.service.executeQuery(query).requiredEntity()
            #expect(found["Name"] == .string("Keynote"), "\(phase)")
            let expanded = EntityValue(try shop.set("Customers").entityType)
            expanded.readLink = readLink
            let orders = try shop.property("Customers/Orders")
            try await shop.service.loadEntity(
                expanded, DataQuery().select(try shop.property("Customers/Name")).expand(orders))
            #expect(expanded.isLoaded(orders), "\(phase)")
            try await shop.synchronize()
        }
        let loaded = EntityValue(try shop.set("Customers").entityType)
        loaded.readLink = readLink
        try await shop.service.loadEntity(loaded)
        #expect(loaded["CustomerID"] == .integer(4))
        #expect(loaded.readLink?.hasSuffix("Customers(4)") == true)
    }

    @Test(arguments: Client.all)
    func `the sample of editLink deletes an entity that is known only by its editLink`(_ client: Client) async throws {
        let shop = try await Shop(client)
        let track = try shop.new("Customers", ["Name": .string("Short-lived")])
        try await shop.service.createEntity(track)
        let trackToDelete = EntityValue(try shop.set("Customers").entityType, withDefaults: false)
        trackToDelete.editLink = track.editLink
        try await shop.synchronize()
        try await shop.service.deleteEntity(trackToDelete)
        #expect(try await shop.fetch("Customers").count == 3)
        try await shop.synchronize()
        #expect(!shop.serverLinks("Customers").contains("Customers(4)"))
    }

    @Test(arguments: Client.offline)
    func `an entity that was created and deleted locally leaves nothing`(_ client: Client) async throws {
        let shop = try await Shop(client)
        let before = shop.serverState()
        let customer = try shop.new("Customers", ["Name": .string("Never mind")])
        try await shop.service.createEntity(customer)
        try await shop.service.deleteEntity(customer)
        try await shop.synchronize()
        #expect(shop.serverState() == before)
    }

    @Test(arguments: Client.all)
    func `a GUID key of the client is kept`(_ client: Client) async throws {
        let shop = try await Shop(client)
        let visitID = try shop.property("Visits/VisitID")
        let guid = GuidValue.random()
        let visit = try shop.new("Visits", ["Subject": .string("own key")])
        visitID.setGuidValue(in: visit, to: guid)
        try await shop.service.createEntity(visit)
        try await shop.synchronize()
        let found = try await shop.first("Visits", matching: DataQuery().filter(visitID.equal(guid)))
        #expect(found["Subject"] == .string("own key"))
    }

    @Test(arguments: Client.all)
    func `an update sends only the changes and the ETag`(_ client: Client) async throws {
        let shop = try await Shop(client)
        let order = try await shop.one("Orders", 2)
        let note = try shop.property("Orders/Note")
        for text in ["first change", "second change"] {
            note.setStringValue(in: order, to: text)
            try await shop.service.updateEntity(order)
            if client.isOnline { try await shop.service.loadEntity(order) }
        }
        try await shop.synchronize()
        #expect(try await shop.one("Orders", 2)["Note"] == .string("second change"))
        #expect(try await shop.one("Orders", 2)["Quantity"] == .integer(10000))
    }

    @Test(arguments: Client.offline)
    func `a link changes the ETag, and a later upload succeeds without a download`(
        _ client: Client
    ) async throws {
        let shop = try await Shop(client)
        let store = try #require(shop.store)
        let order = try await shop.one("Orders", 2)
        try await shop.service.updateLink(
            from: order, property: try shop.property("Orders/Customer"), to: try await shop.one("Customers", 3))
        try await store.upload()
        order["Note"] = .string("after the link")
        try await shop.service.updateEntity(order)
        try await shop.synchronize()
    }

    @Test(arguments: Client.offline)
    func `the key map contains every key that the service assigned`(_ client: Client) async throws {
        let shop = try await Shop(client)
        let store = try #require(shop.store)
        let customer = try shop.new("Customers", ["Name": .string("New")])
        try await shop.service.createEntity(customer)
        try await store.upload()
        let assigned = try await store.keyMap().first { $0.entity == customer.entityID }
        #expect(assigned?.set == "Customers")
        #expect(assigned?.key.contains("4") == true)
    }
}
