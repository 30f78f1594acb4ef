import EDM
import ODataSandbox
import ODataWire
import Operations
import SyncCore
import TestSupport
import Testing
@testable import OfflineStore

/// KE-27: created entities are removed from the store after their upload, because the service replaces them.
@Suite struct RemovalAfterUploadTests {
    private func shop(_ dialect: Dialect) async throws -> Shop {
        var options = LocalStoreOptions()
        options.removal.sets = ["Customers"]
        return try await Shop(dialect, options: options)
    }

    private func customers(_ shop: Shop) async throws -> [String] { try await shop.localState(["Customers"]) }

    @Test(arguments: Dialect.allCases)
    func `a created entity is removed after its upload, and the next download delivers it`(
        _ dialect: Dialect
    ) async throws {
        let shop = try await shop(dialect)
        let before = try await customers(shop)
        try await shop.create("Customers", ["Name": .string("New")])
        #expect(try await customers(shop).count == before.count + 1)
        #expect(try await shop.push().remaining == 0)
        #expect(try await customers(shop) == before)
        #expect(try await shop.serviceState(["Customers"]).count == before.count + 1)
        try await shop.pull()
        #expect(try await Set(customers(shop)) == Set(shop.serviceState(["Customers"])))
    }

    @Test(arguments: [0, 256])
    func `the length of the queue has no influence`(_ longQueue: Int) async throws {
        var options = LocalStoreOptions()
        options.removal.sets = ["Customers"]
        options.longQueue = longQueue
        let shop = try await Shop(.v4, options: options)
        let before = try await customers(shop)
        try await shop.create("Customers", ["Name": .string("New")])
        try await shop.perform(update("Customers(1)", ["Name": .string("changed")]))
        #expect(try await shop.push().remaining == 0)
        #expect(try await customers(shop).count == before.count)
    }

    @Test func `an entity of another set, or one that was downloaded, stays`() async throws {
        let shop = try await shop(.v4)
        try await shop.create("Suppliers", ["Name": .string("New")])
        try await shop.perform(update("Customers(1)", ["Name": .string("changed")]))
        #expect(try await shop.push().remaining == 0)
        #expect(try await Set(shop.localState()) == Set(shop.serviceState()))
    }

    @Test func `an entity with a pending change stays until that is uploaded`() async throws {
        let shop = try await shop(.v4)
        let before = try await customers(shop)
        let new = try await shop.create("Customers", ["Name": .string("New")])
        let draft = try await shop.store.perform(
            [(update(new, ["Name": .string("later")]), IntentOptions(delivery: .draft))], asChangeSet: false)
        #expect(try await shop.push().heldBack == 1)
        #expect(try await customers(shop).count == before.count + 1)
        _ = try await shop.store.queue.setDelivery(.queued, of: draft.compactMap(\.sequence))
        #expect(try await shop.push().remaining == 0)
        #expect(try await customers(shop) == before)
    }

    @Test(arguments: Dialect.allCases)
    func `reading an entity whose new link was rejected does not add the removed entity again`(
        _ dialect: Dialect
    ) async throws {
        let shop = try await shop(dialect)
        let customer = try await shop.create("Customers", ["Name": .string("New")])
        let order = try await shop.create("Orders", ["Note": .string("New")], bind: [bind("Customer", customer)])
        #expect(try await shop.push().remaining == 0)
        #expect(try await !customers(shop).contains { $0.contains("New") })
        try await shop.perform(
            .updateLink(from: .link(order), navigation: "Customer", to: .link("Customers(3)")))
        #expect(shop.transport.direct("DELETE", "/v4/Customers(3)", headers: ["If-Match": "*"]).isSuccess)
        let report = try await shop.push()
        #expect(report.rejected.map(\.refusal.status) == [404])
        #expect(report.conflicts.isEmpty)
        #expect(try await !customers(shop).contains { $0.contains("New") })
        try await shop.pull()
        #expect(try await customers(shop).contains { $0.contains("New") })
    }

    @Test func `the removal is in the log, so that views made from it do not contain the entity`() async throws {
        let shop = try await shop(.v4)
        let before = try await customers(shop)
        try await shop.create("Customers", ["Name": .string("New")])
        #expect(try await shop.push().remaining == 0)
        await shop.store.close()
        let files = StoreFiles(directory: shop.directory.path)
        StoreDirectory.remove([files.views, files.views + "-wal", files.views + "-shm"])
        let store = try await LocalStore(files)
        #expect(try await store.query("Customers").entities.count == before.count)
    }
}
