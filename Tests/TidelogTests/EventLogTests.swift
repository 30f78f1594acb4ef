import Testing
import Tidelog

/// The entity set of the last downloads and uploads.
///
/// Features: OP-09.
struct EventLogTests {
    private func events(_ shop: Shop, _ options: String = "") async throws -> [EntityValue] {
        try await shop.service.executeQuery(DataQuery().withURL("EventLog\(options)")).entityList()
    }

    @Test(arguments: Client.offline)
    func `downloads and uploads are events, ordered by time`(_ client: Client) async throws {
        let shop = try await Shop(client)
        let store = try #require(shop.store)
        try await store.download(withSubset: ["Orders", "Customers"])
        try await shop.service.createEntity(try shop.new("Customers", ["Name": .string("new")]))
        try await store.upload()
        let events = try await events(shop)
        #expect(events.map { $0["Type"] } == ["Download", "Download", "Upload"].map { .string($0) })
        #expect(events.map { $0["Details"] } == [.null, .string("Customers,Orders"), .null])
        let latest = try await self.events(shop, "?$filter=Type eq 'Upload'&$orderby=ID desc&$top=1&$select=Time")
        #expect(latest.map { $0["Time"] } == [events[2]["Time"]])
        #expect(latest.first?["ID"] == events[2]["ID"])
        // The events are part of the state, so a fold of the log restores them.
        let again = OfflineODataProvider(parameters: store.parameters)
        await store.close()
        try await again.open()
        let set = try DataService(provider: again).entitySet(withName: "EventLog")
        #expect(try await DataService(provider: again).executeQuery(DataQuery().from(set)).entityList().count == 3)
        await again.close()
    }

    @Test func `an event cannot be created, changed or deleted, and has no links`() async throws {
        let shop = try await Shop(Client(dialect: .v4, isOnline: false))
        let event = try #require(try await events(shop).first)
        await #expect(throws: TidelogError.self) { try await shop.service.deleteEntity(event) }
        event["Details"] = .string("other")
        await #expect(throws: TidelogError.self) { try await shop.service.updateEntity(event) }
        let new = EntityValue(event.entityType)
        new.entitySet = event.entitySet
        await #expect(throws: TidelogError.self) { try await shop.service.createEntity(new) }
        await #expect(throws: TidelogError.self) { _ = try await events(shop, "(1)/AffectedEntity") }
        #expect(try await #require(shop.store).hasPendingUpload == false)
    }
}
