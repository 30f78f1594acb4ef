import EDM
import OperationLog
import Operations
import TestSupport
import Testing
@testable import OfflineStore

/// A compaction removes one file after another. After a crash between two removals, the log begins at a later record,
/// and snapshots older than that record remain.
struct InterruptedCompactionTests {
    /// Returns a store that was compacted once and has changed since, so that the next compaction removes segments and
    /// a snapshot. All of its operations are pending.
    private func compactedShop() async throws -> Shop {
        let shop = try await Shop(.v4, options: .small(segmentSize: 512))
        try await shop.edit()
        _ = try await shop.store.compact(keeping: .bytes(0))
        for round in 0..<8 { try await shop.perform(update("Orders(2)", ["Note": .string("round \(round)")])) }
        return shop
    }

    /// Returns the contents of the files of the log by path.
    private func logFiles(_ files: StoreFiles) -> [String: [UInt8]] {
        var contents: [String: [UInt8]] = [:]
        for path in TemporaryDirectory.files(files.log) { contents[path] = TemporaryDirectory.read(path) }
        return contents
    }

    @Test(arguments: [false, true])
    func `after a compaction that was interrupted anywhere, the store opens, plans and compacts as before`(
        withoutViews: Bool
    ) async throws {
        let shop = try await compactedShop()
        let files = shop.store.files
        let digest = try await shop.store.digest()
        let plan = try await shop.store.uploads.plan()
        // The snapshot with which a compaction begins, so that the compaction itself only removes files.
        try await shop.store.writeSnapshot()
        let before = logFiles(files)
        _ = try await shop.store.compact(keeping: .bytes(0))
        await shop.store.close()
        let after = logFiles(files)
        let removed = before.filter { after[$0.key] == nil }
        // The order in which a compaction removes files.
        let segments = removed.keys.filter { !$0.hasSuffix(".snapshot") }.sorted()
        let snapshots = removed.keys.filter { $0.hasSuffix(".snapshot") }.sorted()
        #expect(segments.count > 1)
        #expect(snapshots.count == 1)
        let order = segments + snapshots
        for interruption in 0...order.count {
            for path in TemporaryDirectory.files(files.log) { TemporaryDirectory.remove(file: path) }
            for (path, bytes) in after { TemporaryDirectory.write(bytes, to: path) }
            for path in order[interruption...] { TemporaryDirectory.write(before[path] ?? [], to: path) }
            if withoutViews { files.removeViews() }
            let store = try await LocalStore(files, options: .small(segmentSize: 512))
            #expect(try await store.digest() == digest, "after \(interruption) of \(order.count) removals")
            #expect(try await store.uploads.plan() == plan, "after \(interruption) of \(order.count) removals")
            #expect(await store.viewsNotes == [], "after \(interruption) of \(order.count) removals")
            #expect(try await store.compact(keeping: .bytes(0)).snapshot.digest == digest)
            #expect(TemporaryDirectory.files(files.log).filter { $0.hasSuffix(".snapshot") }.count == 1)
            await store.close()
        }
    }
}
