import EDM
import OperationLog
import Operations
import SyncCore
import TestSupport
import Testing
import Views

@testable import SyncEngine

/// The views are derived: whatever somebody writes into them, what is sent is what the log says.
struct ForgedViewsTests {
    /// Replaces a name in all places of the views that have it, as another program could.
    private func forge(_ shop: Shop, _ name: String, _ forged: String) throws {
        let views = try Connection(path: shop.store.files.views)
        defer { views.close() }
        let change = { (column: String) in
            "\(column) = CAST(replace(CAST(\(column) AS TEXT), '\(name)', '\(forged)') AS BLOB)"
        }
        try views.execute("UPDATE pending SET \(change("operation"))")
        try views.execute(
            "UPDATE set_Customers SET Name = '\(forged)', \(change("property_values")) WHERE Name = '\(name)'")
    }

    @Test(arguments: [false, true])
    func `what is planned and sent is the log's, though the views say something else`(compacted: Bool) async throws {
        let shop = try await Shop(.v4)
        let link = try await shop.create("Customers", ["Name": .string("honest")])
        if compacted { _ = try await shop.store.compact(keeping: .bytes(0)) }
        try forge(shop, "honest", "FORGED")
        #expect(try await shop.value(link, "Name") == .string("FORGED"))
        let plan = try await shop.store.plan()
        #expect(!"\(plan)".contains("FORGED") && "\(plan)".contains("honest"))
        #expect(await shop.store.viewsNotes.first?.contains("as the log does") == true)
        #expect(try await shop.value(link, "Name") == .string("honest"))
        #expect(try await shop.push().confirmed.count == 1)
        #expect(try await shop.serviceState(["Customers"]).contains { $0.contains("honest") })
    }

    @Test func `operations that later records changed are taken as the log has them now`() async throws {
        let shop = try await Shop(.v4)
        let draft = try await shop.draft(0, "Customers", ["Name": .string("draft")])
        _ = try await shop.store.perform(
            [(.create(draft, in: nil), IntentOptions(delivery: .draft))], asChangeSet: false)
        let sequence = try #require(try await shop.store.pendingOperations().first).sequence
        try await shop.store.record([.deliveryChanged([sequence], to: .queued)])
        _ = try await shop.store.plan()
        #expect(await shop.store.viewsNotes == [])
        #expect(try await shop.push().confirmed.count == 1)
    }

    @Test func `views that no longer decode are made again while the store is open`() async throws {
        let shop = try await Shop(.v4)
        let link = try await shop.create("Customers", ["Name": .string("honest")])
        let views = try Connection(path: shop.store.files.views)
        try views.execute("UPDATE pending SET operation = x'FF'")
        views.close()
        #expect(try await shop.store.pendingOperations().count == 1)
        #expect(await shop.store.viewsNotes.count == 1)
        #expect(try await shop.value(link, "Name") == .string("honest"))
        _ = try await shop.create("Customers", ["Name": .string("later")])
        #expect(try await shop.store.pendingOperations().count == 2)
    }

    @Test func `a change of a byte in the views' file is mended at the next open, which is said`() async throws {
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
        #expect(store.recovery.contains { $0.contains("made again") })
        #expect(try await store.load(.link(link)).values["Name"] == .string("honest"))
        await store.close()
        #expect(try await LocalStore(shop.store.files, creating: false).recovery == [])
    }
}
