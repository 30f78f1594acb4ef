import EDM
import Foundation
import OfflineStore
import TestSupport
import Testing

/// Logs that lost complete commits or their last segment. Only the views show that such a log was longer.
struct MissingEndTests {
    private func store() async throws -> Shop {
        let shop = try await Shop(.v4)
        try await shop.create("Customers", ["Name": .string("Ada")])
        let engine = shop.store
        try await shop.create("Customers", ["Name": .string("Bea")])
        await engine.close()
        return shop
    }

    private func lastSegment(_ shop: Shop) throws -> URL {
        let log = URL(fileURLWithPath: shop.directory.path).appendingPathComponent("log")
        let names = try FileManager.default.contentsOfDirectory(atPath: log.path).filter { $0.hasSuffix(".segment") }
        return log.appendingPathComponent(try #require(names.sorted().last))
    }

    @Test func `a log that ends before its views is reported as damaged, and a repair accepts the loss`() async throws {
        let shop = try await store()
        let path = try lastSegment(shop)
        let whole = try Data(contentsOf: path)
        // The last block begins at the last magic number of a block.
        let magic = try #require(Self.blockMagic(in: whole))
        let start = try #require(whole.range(of: magic, options: .backwards)?.lowerBound)
        try whole.prefix(upTo: start).write(to: path)
        // Only the views contain the end of the log: they were flushed when the store was closed.
        try FileManager.default.removeItem(at: path.deletingLastPathComponent().appendingPathComponent("END"))
        let files = StoreFiles(directory: shop.directory.path)
        let error = await #expect(throws: TidelogError.self) { _ = try await LocalStore(files) }
        #expect(error?.code == .damaged)
        #expect(error?.message.contains("The end of the log is missing") == true)
        #expect(try Data(contentsOf: path) == whole.prefix(upTo: start))

        _ = try StoreRepair(files).inPlace()
        let again = try await LocalStore(files)
        #expect(try await again.queue.pendingOperations().count == 1)
        await again.close()
    }

    /// Returns the first four bytes of the first block, which follows the segment's header of 64 bytes.
    private static func blockMagic(in bytes: Data) -> Data? {
        bytes.count > 68 ? bytes.subdata(in: 64..<68) : nil
    }
}
