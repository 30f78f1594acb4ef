import EDM
import Operations
import SyncCore
import TestSupport
import Testing
@testable import OfflineStore

/// The log is the truth: after any damage to the views, an open store contains the state of the log.
struct StoreTests {
    /// Returns a shop with pending operations of several kinds, after a download.
    private func busyShop() async throws -> Shop {
        let shop = try await Shop(.v4)
        let customer = try await shop.create(
            "Customers", ["Name": .string("New"), "Rating": .decimal(DecimalValue("1.50")!)])
        try await shop.create("Orders", ["Note": .null], bind: [bind("Customer", customer)])
        try await shop.perform(
            update("Orders(1)", ["PlacedAt": .dateTimeOffset(GlobalDateTime("2024-03-10T08:00:00+02:00")!)]),
            .delete(.link("Orders(2)")),
            .updateLink(from: .link("Mayors(1)"), navigation: "City", to: .link("Cities(3)")))
        return shop
    }

    private func reopen(_ shop: Shop) async throws -> LocalStore { try await LocalStore(shop.store.files) }

    @Test(arguments: [false, true])
    func `the results of a call show its new entities as its last operation left them`(asChangeSet: Bool) async throws {
        let shop = try await Shop(.v4)
        let customer = try await shop.create("Customers", ["CustomerID": .integer(77)])
        let (first, second) = (try await shop.draft(1, "Orders"), try await shop.draft(2, "Orders"))
        let results = try await shop.perform(
            .create(first, in: nil), .create(second, in: nil),
            .update(.draft(1), changes: ["Note": .string("n")], bindings: [], inline: []),
            .updateLink(from: .draft(1), navigation: "Customer", to: .link(customer)), asChangeSet: asChangeSet)
        let entities = results.map(\.entities)
        #expect(entities[0][1]?.values == ["Note": .string("n"), "CustomerID": .integer(77)])
        #expect(entities[1][2]?.values == [:])
        for subject in entities[2...] { #expect(subject[IntentResult.subject] == entities[0][1]) }
        #expect(results.compactMap(\.sequence).count == 4)
    }

    @Test func `a store has the same state after it is closed and opened again`() async throws {
        let shop = try await busyShop()
        let digest = try await shop.store.digest()
        let sequence = await shop.store.nextSequence
        await shop.store.close()
        let again = try await reopen(shop)
        #expect(try await again.digest() == digest)
        #expect(await again.nextSequence == sequence)
        #expect(again.recovery == [])
    }

    @Test func `deleted views are rebuilt from the log`() async throws {
        let shop = try await busyShop()
        let digest = try await shop.store.digest()
        await shop.store.close()
        for file in shop.store.files.viewFiles { TemporaryDirectory.remove(file: file) }
        let again = try await reopen(shop)
        #expect(try await again.digest() == digest)
    }

    @Test(arguments: ["garbage", "truncated", "overwritten", "empty tables"])
    func `damaged views are rebuilt, and the store reports it`(_ damage: String) async throws {
        let shop = try await busyShop()
        let digest = try await shop.store.digest()
        let files = shop.store.files
        await shop.store.close()
        // SQLite removes the write-ahead log when the last connection closes; here the store is still referenced.
        for file in files.viewFiles.dropFirst() { TemporaryDirectory.remove(file: file) }
        var bytes = try #require(TemporaryDirectory.read(files.views))
        switch damage {
        case "garbage": bytes = Array("this is no database".utf8)
        case "truncated": bytes = Array(bytes.prefix(bytes.count / 2))
        case "overwritten": for index in 4_096..<min(bytes.count, 20_480) { bytes[index] = 0xA5 }
        default: bytes = Array(bytes.prefix(4_096))
        }
        TemporaryDirectory.write(bytes, to: files.views)
        let again = try await reopen(shop)
        #expect(try await again.digest() == digest)
    }

    @Test func `opening a store that is open already fails because it is locked`() async throws {
        let shop = try await Shop(.v4)
        await #expect {
            _ = try await LocalStore(shop.store.files)
        } throws: { error in
            (error as? TidelogError)?.code == .locked
        }
        await shop.store.close()
        _ = try await reopen(shop)
    }

    @Test func `views that are older than the log after a crash are updated`() async throws {
        let shop = try await Shop(.v4)
        let files = shop.store.files
        await shop.store.close()
        // SQLite's write-ahead log belongs to its database file.
        let old = files.viewFiles.map { TemporaryDirectory.read($0) }
        let store = try await reopen(shop)
        for note in 0..<5 {
            _ = try await store.perform(
                [(update("Orders(1)", ["Note": .string("\(note)")]), IntentOptions())], asChangeSet: false)
        }
        let digest = try await store.digest()
        await store.close()
        for (file, bytes) in zip(files.viewFiles, old) {
            TemporaryDirectory.remove(file: file)
            if let bytes { TemporaryDirectory.write(bytes, to: file) }
        }
        let again = try await reopen(shop)
        #expect(try await again.digest() == digest)
        #expect(try await again.load(.link("Orders(1)")).values["Note"] == .string("4"))
    }

    @Test func `views of another store are not used`() async throws {
        let shop = try await busyShop()
        let other = try await Shop(.v4)
        let digest = try await shop.store.digest()
        await shop.store.close()
        await other.store.close()
        for (mine, theirs) in zip(shop.store.files.viewFiles, other.store.files.viewFiles) {
            TemporaryDirectory.remove(file: mine)
            if let bytes = TemporaryDirectory.read(theirs) { TemporaryDirectory.write(bytes, to: mine) }
        }
        let again = try await reopen(shop)
        #expect(try await again.digest() == digest)
        #expect(again.recovery.count == 1)
    }

    @Test func `a refused operation leaves no trace in the log or the views`() async throws {
        let shop = try await Shop(.v4)
        let digest = try await shop.store.digest()
        let sequence = await shop.store.nextSequence
        await #expect(throws: TidelogError.self) {
            try await shop.perform(update("Orders(1)", ["Note": .string("x")]), .delete(.link("Cities(1)")))
        }
        #expect(try await shop.store.digest() == digest)
        #expect(await shop.store.nextSequence == sequence)
        try await shop.perform(update("Orders(1)", ["Note": .string("x")]))
        #expect(await shop.store.nextSequence == sequence + 1)
    }

    @Test func `unset and null, and the forms of decimals and offsets, are distinguished after a reopen`() async throws
    {
        let shop = try await Shop(.v4)
        let placed = Value.dateTimeOffset(GlobalDateTime("2024-03-10T08:00:00.1234567+02:00")!)
        let order = try await shop.create(
            "Orders", ["Note": .null, "Amount": .decimal(DecimalValue("1.5000")!), "PlacedAt": placed])
        await shop.store.close()
        let again = try await reopen(shop)
        let values = try await again.load(.link(order)).values
        #expect(values["Note"] == .null)
        #expect(values["Quantity"] == nil)
        #expect(values["Amount"].map { "\($0)" } == "\(Value.decimal(DecimalValue("1.5000")!))")
        #expect(values["PlacedAt"].map { "\($0)" } == "\(placed)")
    }

    @Test func `an update with an equal decimal in another form keeps the written form`() async throws {
        let shop = try await Shop(.v4)
        try await shop.perform(update("Products(1)", ["Price": .decimal(DecimalValue("49.9")!)]))
        guard case .decimal(let price)? = try await shop.value("Products(1)", "Price") else {
            Issue.record("there is no price")
            return
        }
        #expect(price.text == "49.9")
    }

    @Test func `a batch that was in flight when the process ended is in doubt after the next open`() async throws {
        let shop = try await Shop(.v4)
        try await shop.perform(update("Orders(1)", ["Note": .string("x")]))
        _ = try await shop.store.prepare(shop.store.uploads.plan())
        await shop.store.close()
        let again = try await reopen(shop)
        let statuses = try await again.queue.pendingOperations().map(\.status)
        guard case .inDoubt? = statuses.first else {
            Issue.record("the operation is \(statuses)")
            return
        }
    }
}
