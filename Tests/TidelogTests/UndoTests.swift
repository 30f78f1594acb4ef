import EDM
import Testing
import Tidelog

/// Undo through the public API, with entity objects.
///
/// Features: UQ-07, UQ-20.
struct UndoTests {
    private func store(_ shop: Shop) throws -> OfflineODataProvider { try #require(shop.store) }

    @Test(arguments: Client.offline)
    func `an undo restores a changed entity and a deleted one, and removes a new one`(_ client: Client) async throws {
        let shop = try await Shop(client)
        let store = try store(shop)
        let changed = try await shop.one("Customers", 1)
        let name = changed["Name"]
        changed["Name"] = .string("changed")
        try await shop.service.updateEntity(changed)
        let new = try shop.new("Customers", ["Name": .string("new")])
        try await shop.service.createEntity(new)
        let deleted = try await shop.one("Orders", 1)
        try await shop.service.deleteEntity(deleted)

        let byLink = EntityValue(deleted.entityType)
        byLink.editLink = deleted.editLink
        let report = try await store.undoPendingChanges(for: [changed, new, byLink])
        #expect(report.undone.count == 3)
        #expect(changed["Name"] == name)
        #expect(changed.state == .clean)
        #expect(new.state == .unsaved)
        #expect(byLink["OrderID"] == .integer(1), "read again, as it is back")
        #expect(try await !store.hasPendingUpload)
        #expect(try await store.upload().batches == 0)

        // The same objects can be used again.
        try await shop.service.createEntity(new)
        #expect(new.state == .pending)
        #expect(try await store.redoLastUndo() == report.undone)
        try await shop.service.loadEntity(changed)
        #expect(changed["Name"] == .string("changed"))
    }

    @Test func `one operation of several is undone with its dependents, and redone`() async throws {
        let shop = try await Shop(Client(dialect: .v4, isOnline: false))
        let store = try store(shop)
        let customer = try shop.new("Customers", ["Name": .string("new")])
        try await shop.service.createEntity(customer)
        let order = try shop.new("Orders")
        order.bindEntity(customer, to: try shop.property("Orders/Customer"))
        try await shop.service.createEntity(order)
        let other = try await shop.one("Customers", 1)
        other["Name"] = .string("other")
        try await shop.service.updateEntity(other)
        let operation = try #require(customer.lastOperation)
        #expect(try await store.rehearseUndo(.operations([operation])).dependants.map(\.operation) == [operation + 1])
        await #expect(throws: TidelogError.self) { try await store.undo(operation: operation, withDependants: false) }
        let report = try await store.undo(operation: operation)
        #expect(report.undone == [operation, operation + 1])
        #expect(try await store.operationStatus().map(\.sequence) == [operation + 2])
        let undone = try await store.undoneOperations()
        #expect(undone.map(\.state) == [.undone, .undone])
        #expect(undone.map(\.action) == [.create, .create])
        // The order depends on the customer.
        await #expect(throws: TidelogError.self) { try await store.redo([operation + 1]) }
        #expect(try await store.redo(report.undone) == report.undone)
        #expect(try await shop.related(customer, "Orders").count == 1)
    }

    @Test(arguments: Client.offline)
    func `operations with the same transactionID are carried out together or not at all`(_ client: Client) async throws
    {
        let shop = try await Shop(client)
        let store = try store(shop)
        let together = RequestOptions(transactionID: "T")
        let customer = try await shop.one("Customers", 1)
        customer["Name"] = .string("first")
        try await shop.service.updateEntity(customer, options: together)
        let other = try await shop.one("Customers", 2)
        other["Name"] = .string("alone")
        try await shop.service.updateEntity(other)
        // The customer does not exist at the service.
        let order = try shop.new("Orders", ["CustomerID": .integer(400)])
        try await shop.service.createEntity(order, options: together)

        let report = try await store.upload()
        #expect(report.confirmed == [try #require(other.lastOperation)])
        let status = try await store.operationStatus()
        #expect(status.map(\.transactionID) == ["T", "T"])
        #expect(report.remaining == 2)
        #expect(status.contains { $0.state == .rejected })
        #expect(
            try await shop.server.executeQuery(
                DataQuery().from(try shop.set("Customers")).filter(try shop.property("Customers/CustomerID").equal(1))
            ).requiredEntity()["Name"] == .string("Ada Lovelace"))

        // Without the order, the other operations are sent.
        try await store.undoPendingChanges(for: order)
        #expect(try await store.upload().remaining == 0)
    }

    @Test func `an option undoes the create of an entity that is deleted locally`() async throws {
        let shop = try await Shop(Client(dialect: .v4, isOnline: false))
        await shop.store?.close()
        var parameters = try store(shop).parameters
        parameters.undoesLocalCreation = true
        let store = OfflineODataProvider(parameters: parameters)
        try await store.open()
        let service = DataService(provider: store)
        let customer = EntityValue(try service.entitySet(withName: "Customers").entityType)
        try await service.createEntity(customer)
        try await service.deleteEntity(customer)
        #expect(try await !store.hasPendingUpload)
        #expect(try await store.undoneOperations().count == 1)
        await store.close()
    }
}
