import EDM
import Operations
import SyncCore
import SyncEngine
import TestSupport
import Testing
@testable import OfflineStore

struct StuckBatchTests {
    @Test func `a batch whose response could not be logged does not block its operations permanently`() async throws {
        let shop = try await Shop(.v4)
        try await shop.perform(
            .update(.link("Customers(1)"), changes: ["Name": .string("Ada")], bindings: [], inline: []))
        _ = try await shop.store.prepare(try await shop.store.uploads.plan())
        _ = try await shop.engine.upload()
        #expect(try await shop.store.queue.pendingOperations().isEmpty)
    }
}
