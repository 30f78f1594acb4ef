import EDM
import OperationLog
import Operations
import TestSupport
import Testing

@testable import OfflineStore
@testable import SyncEngine

/// Opening a store whose views are a former version of its files.
struct OldViewsTests {
    @Test func `views that are older than the log's first record are rebuilt from the snapshot`() async throws {
        let shop = try await Shop(.v4, options: .small())
        let files = shop.store.files
        try await shop.edit()
        await shop.store.close()
        let older = try #require(TemporaryDirectory.read(files.views))
        let store = try await LocalStore(files, options: .small())
        for note in 0..<9 {
            let change = update("Orders(1)", ["Note": .string("\(note)")])
            _ = try await store.perform([(change, IntentOptions())], asChangeSet: false)
        }
        let snapshot = try await store.compact(keeping: .bytes(0)).snapshot
        let digest = try await store.digest()
        await store.close()
        files.removeViews()
        TemporaryDirectory.write(older, to: files.views)
        let again = try await LocalStore(files, options: .small())
        #expect(try await again.digest() == digest)
        #expect(again.opened.snapshot == snapshot.sequence)
        #expect(again.recovery.count == 1)
        #expect(again.recovery.first?.contains("older than the first operation") == true)
    }
}
