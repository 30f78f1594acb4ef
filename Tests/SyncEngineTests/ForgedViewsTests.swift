import EDM
import OperationLog
import Operations
import SyncCore
import TestSupport
import Testing
import Views

@testable import OfflineStore
@testable import SyncEngine

/// Views that another program has changed: an upload sends only values of the log.
struct ForgedViewsTests {
    /// Closes the store, executes SQL on its views and opens it again with the same service.
    private func reopen(
        _ shop: Shop, executing statements: [String]
    ) async throws -> (store: LocalStore, engine: SyncEngine) {
        await shop.store.close()
        let views = try Connection(path: shop.store.files.views)
        for statement in statements { try views.execute(statement) }
        views.close()
        let store = try await LocalStore(shop.store.files, creating: false)
        let session = ServiceSession(root: "http://shop.test/v4/", transport: shop.transport)
        return (store, SyncEngine(store: store, session: session))
    }

    /// Returns statements that replace a name in all columns of the views that contain it.
    private func forgery(of name: String, by forged: String) -> [String] {
        func change(_ column: String) -> String {
            "\(column) = CAST(replace(CAST(\(column) AS TEXT), '\(name)', '\(forged)') AS BLOB)"
        }
        return [
            "UPDATE pending SET \(change("operation"))",
            "UPDATE set_Customers SET Name = '\(forged)', \(change("property_values")) WHERE Name = '\(name)'",
        ]
    }

    private func name(_ link: String, in store: LocalStore) async throws -> Value? {
        try await store.load(.link(link)).values["Name"]
    }

    @Test(arguments: [false, true])
    func `an upload sends the values of the log if the views contain different values`(compacted: Bool) async throws {
        let shop = try await Shop(.v4)
        let link = try await shop.create("Customers", ["Name": .string("honest")])
        if compacted { _ = try await shop.store.compact(keeping: .bytes(0)) }
        let (store, engine) = try await reopen(shop, executing: forgery(of: "honest", by: "FORGED"))
        #expect(try await name(link, in: store) == .string("FORGED"))
        let plan = try await store.uploads.plan()
        #expect(!"\(plan)".contains("FORGED") && "\(plan)".contains("honest"))
        #expect(await store.viewsNotes.first?.contains("differs from the log") == true)
        #expect(try await name(link, in: store) == .string("honest"))
        #expect(try await engine.upload().confirmed.count == 1)
        #expect(try await shop.serviceState(["Customers"]).contains { $0.contains("honest") })
    }

    @Test func `an operation that later records changed is compared with its current version in the log`() async throws
    {
        let shop = try await Shop(.v4)
        let draft = try await shop.draft(0, "Customers", ["Name": .string("draft")])
        _ = try await shop.store.perform(
            [(.create(draft, in: nil), IntentOptions(delivery: .draft))], asChangeSet: false)
        let sequence = try #require(try await shop.store.queue.pendingOperations().first).sequence
        try await shop.store.record([.deliveryChanged([sequence], to: .queued)])
        _ = try await shop.store.uploads.plan()
        #expect(await shop.store.viewsNotes == [])
        #expect(try await shop.push().confirmed.count == 1)
    }

    @Test func `views with an operation that cannot be decoded are rebuilt when the store is opened`() async throws {
        let shop = try await Shop(.v4)
        let link = try await shop.create("Customers", ["Name": .string("honest")])
        let (store, _) = try await reopen(shop, executing: ["UPDATE pending SET operation = x'FF'"])
        #expect(store.recovery.contains { $0.contains("were rebuilt") })
        #expect(try await store.queue.pendingOperations().count == 1)
        #expect(try await name(link, in: store) == .string("honest"))
    }

    @Test func `views of another version are rebuilt from the log`() async throws {
        let shop = try await Shop(.v4)
        let link = try await shop.create("Customers", ["Name": .string("honest")])
        let digest = try await shop.store.digest()
        let (store, _) = try await reopen(
            shop, executing: forgery(of: "honest", by: "FORGED") + ["PRAGMA user_version = 1"])
        #expect(store.recovery.count == 1)
        #expect(store.recovery.first?.contains("another version") == true)
        #expect(try await name(link, in: store) == .string("honest"))
        #expect(try await store.digest() == digest)
    }

    @Test func `a changed byte in the file of the views is repaired and reported when the store is opened`()
        async throws
    {
        let shop = try await Shop(.v4)
        let link = try await shop.create("Customers", ["Name": .string("honest")])
        await shop.store.close()
        let path = shop.store.files.views
        var bytes = try #require(TemporaryDirectory.read(path))
        var count = 0
        while let range = bytes.firstRange(of: Array("honest".utf8)) {
            bytes.replaceSubrange(range, with: Array("FORGED".utf8))
            count += 1
        }
        #expect(count > 0)
        TemporaryDirectory.write(bytes, to: path)
        let store = try await LocalStore(shop.store.files, creating: false)
        #expect(store.recovery.contains { $0.contains("were rebuilt") })
        #expect(try await store.load(.link(link)).values["Name"] == .string("honest"))
        await store.close()
        #expect(try await LocalStore(shop.store.files, creating: false).recovery == [])
    }
}
