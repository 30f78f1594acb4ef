import EDM
import OperationLog
import Operations
import SyncCore
import TestSupport
import Testing
@testable import OfflineStore

/// Encrypted stores: no file contains values of entities in plain text, and the behavior is that of a store without a
/// key.
struct EncryptedStoreTests {
    private static let key = LogKey(Array(0..<32))!

    private static func options(_ keys: [LogKey]) -> LocalStoreOptions {
        // Not compressed, so that plain text would be found.
        LocalStoreOptions(log: OperationLog.Options(compression: .stored, keys: keys))
    }

    /// Values that enter the store in each possible way.
    private static let markers = [
        "downloaded", "created", "updated", "inQuery", "inReason", "inRefusal", "amongBlanks",
    ].map { "Marker-" + $0 + "-7c1f" }

    /// Adds each marker to the store. Afterwards some operations are confirmed, some are rejected and some are pending.
    private func fill(_ shop: Shop) async throws {
        shop.transport.direct("PATCH", "/v4/Customers(2)", #"{"Name":"Marker-downloaded-7c1f"}"#)
        try await shop.store.definingQueries.add(
            DefiningQuery(name: "Marked", query: "Customers?$filter=Name ne 'Marker-inQuery-7c1f'"))
        try await shop.pull()
        let customer = try await shop.create("Customers", ["Name": .string("Marker-created-7c1f")])
        _ = try await shop.push()
        try await shop.perform(update(customer, ["Name": .string("Marker-updated-7c1f")]))
        _ = try await shop.create(
            "Orders", ["Note": .string("   Marker-amongBlanks-7c1f   "), "CustomerID": .integer(4711)])
        _ = try await shop.push()
        try await shop.perform(update("Customers(1)", ["Name": .string("waits")]))
        let batch = try await shop.store.nextBatch
        let waiting = try #require(try await shop.store.queue.pendingOperations().last).sequence
        let refusal = Refusal(
            status: 400, code: "x", message: "Marker-inRefusal-7c1f", method: "PATCH", url: "Customers(1)")
        let request = BatchPrepared.Request(contentID: "1", operation: waiting)
        try await shop.store.record([
            .batchPrepared(BatchPrepared(batch: batch, changeSets: [[request]])),
            .batchInterrupted(BatchInterrupted(batch: batch, reason: "Marker-inReason-7c1f")),
            .batchAnswered(
                BatchAnswered(batch: batch, outcomes: [.init(operation: waiting, result: .rejected(refusal))])),
        ])
        // A sort of more data than fits into a page.
        _ = try await shop.store.query("Orders?$orderby=Note desc&$expand=Customer($orderby=Name)")
    }

    /// Returns the markers that the files of a directory and its subdirectories contain, as UTF-8 or UTF-16.
    private func found(in directory: String) -> Set<String> { found(inFiles: TemporaryDirectory.files(directory)) }

    private func found(inFiles paths: [String]) -> Set<String> {
        var found: Set<String> = []
        for path in paths {
            guard let bytes = TemporaryDirectory.read(path) else { continue }
            for marker in Self.markers {
                let wide = marker.utf16.flatMap { [UInt8(truncatingIfNeeded: $0), UInt8($0 >> 8)] }
                let forms = [Array(marker.utf8), wide, [0] + wide.dropLast()]
                if forms.contains(where: { bytes.firstRange(of: $0) != nil }) { found.insert(marker) }
            }
        }
        return found
    }

    @Test func `no file of an encrypted store contains a value in plain text, open or closed`() async throws {
        let shop = try await Shop(.v4, options: Self.options([Self.key]))
        try await fill(shop)
        #expect(found(in: shop.directory.path).isEmpty)
        // A compaction writes the state to a snapshot, and once more to verify it.
        _ = try await shop.store.compact(keeping: .bytes(0))
        #expect(TemporaryDirectory.files(shop.directory.path).contains { $0.hasSuffix(".snapshot") })
        #expect(found(in: shop.directory.path).isEmpty)
        let names = TemporaryDirectory.files(shop.directory.path)
        #expect(names.contains { $0.hasSuffix("views.sqlite") } && names.contains { $0.hasSuffix("views.sqlite-wal") })
        #expect(!names.contains { $0.hasSuffix("-shm") || $0.hasSuffix("-journal") || $0.contains("proof") })
        await shop.store.close()
        #expect(found(in: shop.directory.path).isEmpty)
    }

    @Test func `the search for plain text finds each value in a store without encryption`() async throws {
        let shop = try await Shop(.v4, options: Self.options([]))
        try await fill(shop)
        #expect(found(in: shop.directory.path) == Set(Self.markers))
        _ = try await shop.store.compact(keeping: .bytes(0))
        let snapshots = TemporaryDirectory.files(shop.directory.path).filter { $0.hasSuffix(".snapshot") }
        #expect(snapshots.count == 1 && !found(inFiles: snapshots).isEmpty)
    }

    @Test(arguments: Dialect.allCases)
    func `an encrypted store behaves like any other store and has the same state after a reopen`(_ dialect: Dialect)
        async throws
    {
        let shop = try await Shop(dialect, options: Self.options([Self.key]))
        let plain = try await Shop(dialect)
        for each in [shop, plain] {
            let customer = try await each.create("Customers", ["Name": .string("Ada")])
            _ = try await each.create("Orders", ["Note": .string("x")], bind: [bind("Customer", customer)])
            _ = try await each.push()
            try await each.perform(update(customer, ["Name": .string("Ada L.")]))
        }
        let state = try await shop.localState()
        #expect(try await plain.localState() == state)
        let digest = try await shop.store.digest()
        await shop.store.close()
        let again = try await LocalStore(StoreFiles(directory: shop.directory.path), options: Self.options([Self.key]))
        #expect(try await again.digest() == digest)
        #expect(try await again.queue.pendingOperations().count == 1)
        await again.close()
    }

    @Test func `an encrypted store opens only with its key, and the error names the missing key`() async throws {
        let shop = try await Shop(.v4, options: Self.options([Self.key]))
        await shop.store.close()
        let files = StoreFiles(directory: shop.directory.path)
        for (keys, code) in [([], .keyRequired), ([LogKey.random()], .wrongKey)] as [([LogKey], TidelogError.Code)] {
            let error = await #expect(throws: TidelogError.self) {
                try await LocalStore(files, options: Self.options(keys))
            }
            #expect(error?.code == code)
            #expect(error?.recovery?.isEmpty == false && error?.place?.hasPrefix(files.log) == true)
        }
        let again = try await LocalStore(files, options: Self.options([LogKey.random(), Self.key]))
        await again.close()
    }

    @Test func `a store that gets a key encrypts its views and all later records`() async throws {
        let shop = try await Shop(.v4, options: Self.options([]))
        await shop.store.close()
        let files = StoreFiles(directory: shop.directory.path)
        #expect(TemporaryDirectory.read(files.views) != nil)
        let store = try await LocalStore(files, options: Self.options([Self.key]))
        try await store.definingQueries.add(
            DefiningQuery(name: "Marked", query: "Customers?$filter=Name ne 'Marker-inQuery-7c1f'"))
        #expect(found(in: files.directory).isEmpty)
        #expect(store.recovery.contains { $0.contains("not encrypted with the newest key of the store") })
        #expect(try await store.query("Customers").entities.count == 3)
        await store.close()
    }
}
