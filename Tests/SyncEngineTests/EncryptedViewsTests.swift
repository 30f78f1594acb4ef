import EDM
import Foundation
import OperationLog
import Operations
import SeededRandom
import SyncCore
import TestSupport
import Testing
import Views
@testable import OfflineStore

/// Views in an encrypted file: opening a store folds only the records that the file does not contain yet.
///
/// Features: SE-01.
struct EncryptedViewsTests {
    private static let key = LogKey(Array(0..<32))!
    private static let other = LogKey(Array(1...32))!

    private static func options(_ keys: [LogKey] = [key]) -> LocalStoreOptions {
        LocalStoreOptions(log: OperationLog.Options(keys: keys))
    }

    private func open(_ shop: Shop, _ keys: [LogKey] = [key]) async throws -> LocalStore {
        try await LocalStore(StoreFiles(directory: shop.directory.path), creating: false, options: Self.options(keys))
    }

    /// Returns a closed store that contains entities, and its state digest.
    private func closed(_ keys: [LogKey] = [key]) async throws -> (shop: Shop, digest: String) {
        let shop = try await Shop(.v4, options: Self.options(keys))
        for number in 0..<40 { _ = try await shop.create("Customers", ["Name": .string("Customer \(number)")]) }
        let digest = try await shop.store.digest()
        await shop.store.close()
        return (shop, digest)
    }

    @Test func `reopening an encrypted store folds no records`() async throws {
        let (shop, digest) = try await closed()
        let store = try await open(shop)
        #expect(store.opened == ViewsReport() && store.recovery == [])
        #expect(try await store.digest() == digest)
        await store.close()
    }

    @Test func `a new key rebuilds the encrypted views once`() async throws {
        let (shop, digest) = try await closed()
        let keys = [Self.other, Self.key]
        let store = try await open(shop, keys)
        #expect(store.opened.foldedRecords > 40)
        #expect(store.recovery.contains { $0.contains("newest key") })
        #expect(try await store.digest() == digest)
        await store.close()
        let again = try await open(shop, keys)
        #expect(again.opened.foldedRecords == 0 && again.recovery == [])
        await again.close()
        // A key that the store does not use cannot open it.
        await #expect(throws: TidelogError.self) { try await open(shop, [LogKey.random()]) }
    }

    @Test func `a changed byte in the encrypted views leads to views with the state of the log`() async throws {
        let (shop, digest) = try await closed()
        let path = shop.store.files.views
        let whole = try #require(TemporaryDirectory.read(path))
        var generator = SeededRandom(seed: .testSeed())
        let places =
            [0, 20, 40, 70, 3_000] + (0..<25).map { _ in Int.random(in: 4_096..<whole.count, using: &generator) }
        for place in places {
            var changed = whole
            changed[place] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
            TemporaryDirectory.write(changed, to: path)
            let store = try await open(shop)
            #expect(store.recovery.contains { $0.contains("were rebuilt") }, "byte \(place)")
            #expect(try await store.digest() == digest, "byte \(place)")
            await store.close()
        }
        #expect(try await open(shop).recovery == [])
    }

    @Test
    func
        `a store opens with the same state after a crash, also if the write-ahead log of its views is damaged`()
        async throws
    {
        let shop = try await Shop(.v4, options: Self.options())
        for number in 0..<40 { _ = try await shop.create("Customers", ["Name": .string("Customer \(number)")]) }
        let digest = try await shop.store.digest()
        let stopped = TemporaryDirectory()
        try copy(shop.directory.path, to: stopped.path)
        await shop.store.close()
        let (trial, wal) = (TemporaryDirectory(), "/views.sqlite-wal")
        let log = try #require(TemporaryDirectory.read(stopped.path + wal))
        let count = (log.count - 32) / (24 + 4_096)
        #expect(count > 10)
        var generator = SeededRandom(seed: .testSeed())
        let frames = (0..<20).map { _ in Int.random(in: 0..<count, using: &generator) }
        let places = [nil, 3, 17] + frames.map { 32 + $0 * 4_120 + Int.random(in: 0..<4_120, using: &generator) }
        for place in places {
            try copy(stopped.path, to: trial.path)
            var changed = log
            if let place { changed[place] ^= 1 << UInt8.random(in: 0..<8, using: &generator) }
            TemporaryDirectory.write(changed, to: trial.path + wal)
            let store = try await LocalStore(
                StoreFiles(directory: trial.path), creating: false, options: Self.options())
            if place == nil { #expect(store.opened.foldedRecords == 0) }
            #expect(try await store.digest() == digest, "byte \(place ?? -1)")
            await store.close()
        }
    }

    private func copy(_ directory: String, to target: String) throws {
        try FileManager.default.removeItem(atPath: target)
        try FileManager.default.copyItem(atPath: directory, toPath: target)
    }

    @Test func `a compaction verifies its snapshot with encrypted views and removes them afterwards`()
        async throws
    {
        let (shop, digest) = try await closed()
        let store = try await open(shop)
        _ = try await store.compact(keeping: .bytes(0))
        #expect(!TemporaryDirectory.files(shop.directory.path).contains { $0.contains("proof") })
        await store.close()
        let again = try await open(shop)
        #expect(again.opened.foldedRecords == 0)
        #expect(try await again.digest() == digest)
        await again.close()
    }

    @Test func `views that are newer than the log are not used`() async throws {
        let (shop, _) = try await closed()
        let early = TemporaryDirectory()
        let log = shop.store.files.log
        try copy(log, to: early.path)
        let store = try await open(shop)
        try await store.definingQueries.add(DefiningQuery(name: "Later", query: "Customers"))
        await store.close()
        try copy(early.path, to: log)
        await #expect(throws: TidelogError.self) { try await open(shop) }
    }

    @Test func `an older copy of the views catches up from the log`() async throws {
        let (shop, _) = try await closed()
        let old = try #require(TemporaryDirectory.read(shop.store.files.views))
        let store = try await open(shop)
        try await store.definingQueries.add(DefiningQuery(name: "Later", query: "Customers"))
        let digest = try await store.digest()
        await store.close()
        TemporaryDirectory.write(old, to: shop.store.files.views)
        let again = try await open(shop)
        #expect(again.opened.foldedRecords == 1)
        #expect(try await again.digest() == digest)
        await again.close()
    }
}
