import EDM
import ODataWire
import Operations
import SyncCore
import Synchronization
import TestSupport
import Testing

@testable import OfflineStore
@testable import SyncEngine

/// The encoding of the batches of an upload.
struct BatchEncodingTests {
    @Test(arguments: Dialect.allCases)
    func `each batch is encoded once, and not on the executor of the store`(_ dialect: Dialect) async throws {
        let shop = try await Shop(dialect)
        let customer = try await shop.create("Customers", ["Name": .string("a")])
        // The update needs the key of the new customer, so it is in the next batch.
        try await shop.perform(update(customer, ["Name": .string("b")]))
        shop.transport.forgetRequests()
        let executor = shop.store.core.executor
        let encodings = Mutex<[(batch: BatchID, isInStore: Bool)]>([])
        let report = try await BatchEncoder.$observer.withValue({ batch in
            encodings.withLock { $0.append((batch, executor.isCurrent)) }
        }) { try await shop.push() }
        let sent = shop.transport.requests.count { $0.method == "POST" && $0.url.hasSuffix("$batch") }
        let batches = encodings.withLock { $0 }
        #expect(sent > 0)
        #expect(batches.count == sent)
        #expect(Set(batches.map(\.batch)).count == batches.count)
        #expect(!batches.contains { $0.isInStore })
        #expect(report.confirmed.count == 2)
    }
}
