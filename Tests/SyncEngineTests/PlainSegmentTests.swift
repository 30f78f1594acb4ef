import EDM
import OperationLog
import Operations
import TestSupport
import Testing
@testable import OfflineStore

/// An encrypted store accepts no file that can be created without its key.
struct PlainSegmentTests {
    private static let key = LogKey(Array(0..<32))!

    private static func options(_ keys: [LogKey]) -> LocalStoreOptions {
        LocalStoreOptions(log: OperationLog.Options(keys: keys))
    }

    private func encrypted() async throws -> Shop {
        let shop = try await Shop(.v4, options: Self.options([Self.key]))
        try StoreDescription(serviceRoot: "http://shop.test/v4/").write(shop.store.files, keys: [Self.key])
        return shop
    }

    private func open(_ shop: Shop, _ keys: [LogKey] = [key]) async throws -> LocalStore {
        try await LocalStore(shop.store.files, creating: false, options: Self.options(keys))
    }

    private func error(_ body: () async throws -> Void) async -> TidelogError? {
        do {
            try await body()
            return nil
        } catch {
            return error as? TidelogError
        }
    }

    /// Returns an unencrypted segment of the same store that begins with the given record.
    private func plainSegment(_ store: LocalStore, first: UInt64) async throws -> [UInt8] {
        let place = TemporaryDirectory()
        let log = try LogCopy(
            directory: place.path + "/log", store: await store.identifier, firstSequence: first, keys: [])
        try log.finish()
        return try #require(TemporaryDirectory.files(place.path).compactMap { TemporaryDirectory.read($0) }.first)
    }

    private static let first = "/00000000000000000001.segment"

    @Test func `an unencrypted segment in place of an encrypted one is refused by name`() async throws {
        let shop = try await encrypted()
        await shop.store.close()
        let path = shop.store.files.log + Self.first
        TemporaryDirectory.write(try await plainSegment(shop.store, first: 1), to: path)
        let error = await error { _ = try await open(shop) }
        #expect(error?.code == .damaged)
        #expect("\(try #require(error))".contains(Self.first + " is not encrypted"))
        #expect(TemporaryDirectory.read(path)?.count == 64)
    }

    @Test func `an unencrypted segment after encrypted ones is refused, even without a store description`() async throws
    {
        let shop = try await encrypted()
        let next = await shop.store.nextSequence
        await shop.store.close()
        let digits = String(repeating: "0", count: 20 - "\(next)".count) + "\(next)"
        let path = shop.store.files.log + "/\(digits).segment"
        TemporaryDirectory.write(try await plainSegment(shop.store, first: next), to: path)
        for removed in [false, true] {
            if removed { TemporaryDirectory.remove(file: shop.store.files.description) }
            let error = await error { _ = try await open(shop) }
            #expect(error?.code == .damaged, "\(removed)")
        }
    }

    @Test func `an unencrypted snapshot of an encrypted store is not read`() async throws {
        let shop = try await encrypted()
        let plain = try await Shop(.v4)
        let next = await shop.store.nextSequence
        await shop.store.close()
        _ = try await plain.store.compact(keeping: .everything)
        let made = try #require(
            TemporaryDirectory.files(plain.directory.path).first { $0.hasSuffix(".snapshot") })
        let digits = String(repeating: "0", count: 20 - "\(next)".count) + "\(next)"
        TemporaryDirectory.write(
            try #require(TemporaryDirectory.read(made)), to: shop.store.files.log + "/\(digits).snapshot")
        do {
            let store = try await open(shop)
            #expect(store.opened.snapshot == nil)
        } catch let error as TidelogError {
            #expect(error.code == .damaged)
        }
    }

    @Test func `a store that was unencrypted at first keeps its unencrypted segments and accepts no later ones`()
        async throws
    {
        let shop = try await Shop(.v4)
        try StoreDescription(serviceRoot: "http://shop.test/v4/").write(shop.store.files)
        await shop.store.close()
        let store = try await open(shop)
        try await store.definingQueries.add(DefiningQuery(name: "New", query: "Customers?$filter=Name ne 'x'"))
        let next = await store.nextSequence
        await store.close()
        let again = try await open(shop)
        #expect(try await again.query("Customers").entities.count == 3)
        await again.close()
        let digits = String(repeating: "0", count: 20 - "\(next)".count) + "\(next)"
        TemporaryDirectory.write(
            try await plainSegment(store, first: next), to: shop.store.files.log + "/\(digits).segment")
        #expect(await error { _ = try await open(shop) }?.code == .damaged)
    }

    @Test func `a store description without valid authentication is refused`() async throws {
        let shop = try await encrypted()
        await shop.store.close()
        let path = shop.store.files.description
        let written = String(decoding: try #require(TemporaryDirectory.read(path)), as: UTF8.self)
        #expect(written.contains(#""encryptedFrom":1,"authentication":""#))
        #expect(try StoreDescription.read(shop.store.files, keys: [Self.key])?.encryptedFrom == 1)
        let stripped =
            written.prefix(upTo: try #require(written.firstRange(of: #","authentication""#)).lowerBound) + "}"
        for forged in [
            written.replacing("shop.test", with: "evil.test"), String(stripped),
            written.replacing(#""encryptedFrom":1"#, with: #""encryptedFrom":99"#),
            #"{"formatVersion":1,"serviceRoot":"http://shop.test/v4/"}"#,
        ] {
            #expect(forged != written)
            TemporaryDirectory.write(Array(forged.utf8), to: path)
            #expect(throws: TidelogError.self, "\(forged)") {
                try StoreDescription.read(shop.store.files, keys: [Self.key])
            }
            #expect(await error { _ = try await open(shop) }?.code == .damaged, "\(forged)")
        }
        TemporaryDirectory.write(Array(written.utf8), to: path)
        await #expect(throws: Never.self) { try await open(shop, [LogKey.random(), Self.key]).close() }
    }

    @Test func `the store description is authenticated with the current key, so that the previous one can be dropped`()
        async throws
    {
        let shop = try await encrypted()
        await shop.store.close()
        let new = LogKey.random()
        try await open(shop, [new, Self.key]).close()
        #expect(try StoreDescription.read(shop.store.files, keys: [new, Self.key])?.encryptedFrom == 1)
        let text = String(decoding: try #require(TemporaryDirectory.read(shop.store.files.description)), as: UTF8.self)
        #expect(DescriptionSeal.isSealed(Array(text.utf8), with: new))
        #expect(!DescriptionSeal.isSealed(Array(text.utf8), with: Self.key))
    }

    @Test func `a store that becomes encrypted gets an authenticated description and requires its key from then on`()
        async throws
    {
        let shop = try await Shop(.v4)
        try StoreDescription(serviceRoot: "http://shop.test/v4/").write(shop.store.files)
        await shop.store.close()
        try await open(shop).close()
        #expect(try StoreDescription.read(shop.store.files, keys: [Self.key])?.encryptedFrom != nil)
        #expect(await error { _ = try await open(shop, []) }?.code == .keyRequired)
    }
}

extension LocalStore {
    fileprivate var identifier: StoreIdentifier { core.log.storeIdentifier }
}
