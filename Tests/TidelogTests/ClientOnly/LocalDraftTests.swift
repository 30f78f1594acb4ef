import ODataSandbox
import TestSupport
import Testing
import Tidelog

/// MD-19, CS-06: drafts of entities in a client-only set.
@Suite struct LocalDraftTests {
    private static func orders(_ shop: Shop) throws -> [any PropertyReference] {
        [try shop.property("Customers/Orders")]
    }

    @Test(arguments: Client.offline)
    func `a draft copy changes neither its entity nor the lists of entities, and is never sent`(
        _ client: Client
    ) async throws {
        let shop = try await ClientOnlyShop.shop(client)
        let store = try #require(shop.store)
        let customer = try await shop.one("Customers", 1)
        let count = try await shop.fetch("Customers").count
        let orders = try await shop.related(customer, "Orders").count
        #expect(orders > 0)
        let draft = try await customer.makeDraftCopy(in: shop.service, children: try Self.orders(shop))
        #expect(draft.isDraft && !customer.isDraft)
        #expect(draft["CustomerID"] == .integer(1))
        draft["Name"] = .string("draft")
        try await shop.service.updateEntity(draft)
        #expect(try await shop.fetch("Customers").count == count)
        #expect(try await shop.one("Customers", 1)["Name"] != .string("draft"))
        #expect(try await shop.related(customer, "Orders").count == orders)
        #expect(try await shop.related(draft, "Orders").count == orders)
        #expect(try await shop.fetch("CustomerDrafts").map { $0["Name"] } == [.string("draft")])
        #expect(try await store.plannedBatches().isEmpty)
        #expect(try await store.upload().batches == 0)
        try await shop.synchronizeWithDrafts()
        #expect(try await shop.fetch("OrderDrafts").count == orders)
    }

    @Test(arguments: Client.offline)
    func `an activated draft updates its entity with the values that it changed, and an undo restores the draft`(
        _ client: Client
    ) async throws {
        let shop = try await ClientOnlyShop.shop(client)
        let store = try #require(shop.store)
        let customer = try await shop.one("Customers", 1)
        let draft = try await customer.makeDraftCopy(in: shop.service)
        draft["Name"] = .string("from the draft")
        try await shop.service.updateEntity(draft)
        // Another client changes another property in the meantime.
        let other = try await shop.server.executeQuery(DataQuery().withURL("Customers(1)")).requiredEntity()
        other["Rating"] = .decimal(4)
        try await shop.server.updateEntity(other)
        try await store.download()
        let active = try await draft.activateDraft(in: shop.service)
        #expect(active["Name"] == .string("from the draft"))
        #expect(try await shop.fetch("CustomerDrafts").isEmpty)
        _ = try await store.undo(.operations([try #require(active.lastOperation)]))
        #expect(try await shop.fetch("CustomerDrafts").map { $0["Name"] } == [.string("from the draft")])
        try await shop.first("CustomerDrafts").activateDraft(in: shop.service)
        let report = try await store.upload()
        #expect(report.rejected.isEmpty && report.confirmed.count == 1)
        let result = try await shop.server.executeQuery(DataQuery().withURL("Customers(1)")).requiredEntity()
        #expect(result["Name"] == .string("from the draft") && result["Rating"] == .decimal(4))
    }

    @Test(arguments: Client.offline)
    func `MD-19 a draft of a child is not among the children of the active parent`(_ client: Client) async throws {
        let shop = try await ClientOnlyShop.shop(client)
        let customer = try await shop.one("Customers", 1)
        let orders = try await shop.related(customer, "Orders").count
        let order = try #require(try await shop.related(customer, "Orders").first)
        _ = try await order.makeDraftCopy(in: shop.service)
        #expect(try await shop.fetch("OrderDrafts").count == 1)
        #expect(try await shop.related(customer, "Orders").count == orders)
        let expanded = try await shop.service.executeQuery(
            DataQuery().withURL("Customers(1)?$expand=Orders")
        ).requiredEntity()
        #expect(expanded.relatedEntities(try shop.property("Customers/Orders")).count == orders)
        let counted = DataQuery().withURL("Customers?$filter=CustomerID eq 1 and Orders/$count eq \(orders)")
        #expect(try await shop.service.executeQuery(counted).entityList().count == 1)
    }

    @Test(arguments: Client.offline)
    func `MD-19 a draft of an entity that was deleted cannot be activated, and remains`(_ client: Client) async throws {
        let shop = try await ClientOnlyShop.shop(client)
        let draft = try await shop.one("Orders", 1).makeDraftCopy(in: shop.service)
        draft["Note"] = .string("too late")
        try await shop.service.updateEntity(draft)
        try await shop.service.deleteEntity(try await shop.one("Orders", 1))
        let error = await #expect(throws: TidelogError.self) { _ = try await draft.activateDraft(in: shop.service) }
        #expect(error?.code == .notFound)
        #expect(try await shop.fetch("OrderDrafts").map { $0["Note"] } == [.string("too late")])
    }

    @Test(arguments: Client.offline.flatMap { client in [true, false].map { (client, $0) } })
    func `a draft sends the null that its user assigned, not the null that the deletion of its principal caused`(
        _ client: Client, _ isByUser: Bool
    ) async throws {
        let additions = ClientOnlyShop.additions.replacingTarget("CustomerDrafts", by: "Customers")
        let shop = try await ClientOnlyShop.shop(client, additions)
        let relation = try shop.property("Orders/Customer")
        let order = try await shop.one("Orders", 1)
        let former = try #require(try await shop.related(order, "Customer").first)
        let draft = try await order.makeDraftCopy(in: shop.service)
        draft["Note"] = .string("from the draft")
        if isByUser { draft["CustomerID"] = .null }
        try await shop.service.updateEntity(draft)
        try await shop.service.deleteEntity(former)
        #expect(try await shop.first("OrderDrafts")["CustomerID"] == .null)
        let customer = try await shop.one("Customers", 2)
        try await shop.service.updateLink(from: try await shop.one("Orders", 1), property: relation, to: customer)
        let active = try await shop.first("OrderDrafts").activateDraft(in: shop.service)
        #expect(try await shop.one("Orders", 1)["Note"] == .string("from the draft"))
        let found = try await shop.related(active, "Customer").map { $0["CustomerID"] }
        #expect(found == (isByUser ? [] : [.integer(2)]))
    }

    @Test(arguments: Client.offline)
    func `a new draft with children becomes one change set of creations`(_ client: Client) async throws {
        let shop = try await ClientOnlyShop.shop(client)
        let store = try #require(shop.store)
        let draft = try shop.new("CustomerDrafts", ["Name": .string("Grace")])
        draft.entitySet = try shop.set("CustomerDrafts")
        try await shop.service.createEntity(draft)
        let child = try shop.new("OrderDrafts", ["Note": .string("first")])
        child.entitySet = try shop.set("OrderDrafts")
        try await shop.service.createRelatedEntity(child, in: draft, property: try shop.property("Customers/Orders"))
        #expect(try await store.plannedBatches().isEmpty)
        try await draft.activateDraft(in: shop.service)
        #expect(try await store.plannedBatches().flatMap(\.changeSets) == [2])
        let report = try await store.upload()
        #expect(report.rejected.isEmpty && report.confirmed.count == 2)
        let found = try await shop.server.executeQuery(
            DataQuery().withURL("Customers?$filter=Name eq 'Grace'&$expand=Orders")
        ).requiredEntity()
        #expect(
            found.relatedEntities(try shop.property("Customers/Orders")).map { $0["Note"] } == [.string("first")])
        #expect(try await shop.fetch("OrderDrafts").isEmpty)
    }

    @Test(arguments: Client.offline)
    func `children of a draft update and create, and the app can add further changes to the change set`(
        _ client: Client
    ) async throws {
        let shop = try await ClientOnlyShop.shop(client)
        let store = try #require(shop.store)
        let customer = try await shop.one("Customers", 1)
        let orders = try await shop.related(customer, "Orders")
        let draft = try await customer.makeDraftCopy(in: shop.service, children: try Self.orders(shop))
        let drafts = try await shop.related(draft, "Orders")
        drafts[0]["Note"] = .string("changed in the draft")
        try await shop.service.updateEntity(drafts[0])
        let added = try shop.new("OrderDrafts", ["Note": .string("added to the draft")])
        added.entitySet = try shop.set("OrderDrafts")
        try await shop.service.createRelatedEntity(added, in: draft, property: try shop.property("Customers/Orders"))
        let changes = ChangeSet()
        try await draft.activateDraft(in: shop.service, adding: changes)
        changes.deleteEntity(try #require(orders.last))
        try await shop.service.applyChanges(changes)
        let notes = try await shop.related(customer, "Orders").compactMap { $0["Note"]?.stringValue }
        #expect(notes.contains("added to the draft"))
        #expect(try await shop.related(customer, "Orders").count == orders.count)
        #expect(try await store.upload().rejected.isEmpty)
        #expect(try await shop.fetch("CustomerDrafts").isEmpty)
        #expect(try await shop.fetch("OrderDrafts").isEmpty)
    }

    @Test(arguments: Client.offline)
    func `an entity without a set of drafts, and an entity that is no draft, are refused`(
        _ client: Client
    ) async throws {
        let shop = try await ClientOnlyShop.shop(client)
        let city = try await shop.first("Cities")
        let error = await #expect(throws: TidelogError.self) { _ = try await city.makeDraftCopy(in: shop.service) }
        #expect(error?.code == .refused(.unknownEntitySet))
        let other = await #expect(throws: TidelogError.self) { _ = try await city.activateDraft(in: shop.service) }
        #expect(other?.code == .invalidRequest)
    }
}

extension Shop {
    /// Uploads and downloads a store with drafts.
    fileprivate func synchronizeWithDrafts() async throws {
        _ = try await store?.upload()
        _ = try await store?.download()
    }
}

extension String {
    /// Returns the metadata with another target of a binding.
    fileprivate func replacingTarget(_ former: String, by target: String) -> String {
        let parts = split(separator: "Target=\"\(former)\"", omittingEmptySubsequences: false)
        return parts.joined(separator: "Target=\"\(target)\"")
    }
}
