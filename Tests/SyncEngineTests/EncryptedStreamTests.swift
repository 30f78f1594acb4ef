import EDM
import Foundation
import ODataWire
import OperationLog
import Operations
import SeededRandom
import SyncCore
import TestSupport
import Testing
import Transport
@testable import OfflineStore
@testable import SyncEngine

/// Media streams of an encrypted store: encrypted in chunks, of which each can be read separately.
struct EncryptedStreamTests {
    private static let key = LogKey(Array(0..<32))!
    private static let other = LogKey(Array(1...32))!
    private static let chunk = StreamSeal.chunkSize

    private static func options(_ keys: [LogKey] = [key]) -> LocalStoreOptions {
        LocalStoreOptions(log: OperationLog.Options(keys: keys))
    }

    /// Returns bytes in which each range is unique.
    private func content(_ count: Int, _ salt: UInt64 = 0) -> [UInt8] {
        var state: UInt64 = 88_172_645_463_325_252 &+ salt
        return (0..<count).map { _ in
            state ^= state << 13
            state ^= state >> 7
            state ^= state << 17
            return UInt8(truncatingIfNeeded: state)
        }
    }

    private func keep(_ store: LocalStore, _ bytes: [UInt8], step: Int = 10_000) async throws -> StreamContent {
        try await store.media.keepStream(mediaType: "image/png") { take in
            for start in stride(from: 0, to: bytes.count, by: step) {
                try take(Array(bytes[start..<min(start + step, bytes.count)]))
            }
        }
    }

    /// Returns a stream in a new store, with the path of its file.
    private func kept(_ bytes: [UInt8]) async throws -> (shop: Shop, stream: LocalStream) {
        let shop = try await Shop(.v4, options: Self.options())
        let content = try await keep(shop.store, bytes)
        return (shop, try shop.store.media.localStream(content, isPending: true))
    }

    private func bytes(_ path: String) throws -> [UInt8] { try #require(TemporaryDirectory.read(path)) }

    private func create(_ shop: Shop, _ bytes: [UInt8]) async throws -> String {
        var options = IntentOptions()
        options.stream = StreamWrite(content: try await keep(shop.store, bytes))
        let intent = Intent.create(try await shop.draft(0, "Photos"), in: nil)
        return try await shop.store.perform([(intent, options)], asChangeSet: false)[0].entities[0]?.readLink ?? ""
    }

    private func files(_ shop: Shop) -> [String] { TemporaryDirectory.files(shop.directory.path + "/streams").sorted() }

    // MARK: Content

    @Test(arguments: [0, 1, 65_535, 65_536, 65_537, 131_072, 300_000])
    func `an encrypted stream is read back, and its file contains no plain text`(count: Int) async throws {
        let bytes = content(count)
        let (shop, stream) = try await kept(bytes)
        #expect(stream.isEncrypted && stream.byteCount == count)
        #expect(try stream.bytes() == bytes)
        var read: [UInt8] = []
        try stream.read { read += $0 }
        #expect(read == bytes)
        let stored = try self.bytes(stream.path)
        #expect(stored.count == count + 112 + 16 * max(1, (count + 65_535) / 65_536))
        for start in stride(from: 0, to: count - 8, by: 30_000) {
            #expect(stored.firstRange(of: bytes[start..<start + 8]) == nil)
        }
        // The file name is not the digest of the content.
        #expect(files(shop).allSatisfy { !$0.contains(stream.path.suffix(64)) || $0 == stream.path })
        var hash = StreamHash()
        hash.add(bytes)
        #expect(!stream.path.hasSuffix(hash.finish().description))
    }

    @Test func `any range of an encrypted stream can be read`() async throws {
        let bytes = content(200_000)
        let (shop, stream) = try await kept(bytes)
        var ranges = [
            0..<0, 0..<1, 199_999..<200_000, 65_535..<65_537, 65_536..<131_072, 0..<200_000, 200_000..<200_000,
        ]
        var generator = SeededRandom(seed: .testSeed())
        for _ in 0..<50 {
            let start = Int.random(in: 0..<200_000, using: &generator)
            ranges.append(start..<Int.random(in: start..<200_000, using: &generator))
        }
        defer { withExtendedLifetime(shop) {} }
        for range in ranges { #expect(try stream.bytes(in: range) == Array(bytes[range]), "\(range)") }
        #expect(try stream.bytes(in: 199_990..<300_000) == Array(bytes.suffix(10)))
    }

    @Test func `reading a range decrypts only the chunks that it overlaps`() async throws {
        let bytes = content(200_000)
        let (shop, stream) = try await kept(bytes)
        defer { withExtendedLifetime(shop) {} }
        var stored = try self.bytes(stream.path)
        stored[112 + StreamSeal.storedChunkSize + 5] ^= 1
        TemporaryDirectory.write(stored, to: stream.path)
        #expect(try stream.bytes(in: 0..<65_536) == Array(bytes[..<65_536]))
        #expect(try stream.bytes(in: 140_000..<150_000) == Array(bytes[140_000..<150_000]))
        #expect(throws: TidelogError.self) { try stream.bytes(in: 65_535..<65_537) }
    }

    // MARK: Tampering

    @Test func `a changed byte of an encrypted stream is detected`() async throws {
        let (shop, stream) = try await kept(content(150_000))
        let whole = try bytes(stream.path)
        var generator = SeededRandom(seed: .testSeed())
        let places = Array(0..<112) + (0..<40).map { _ in Int.random(in: 112..<whole.count, using: &generator) }
        for place in places {
            var changed = whole
            changed[place] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
            TemporaryDirectory.write(changed, to: stream.path)
            let error = #expect(throws: TidelogError.self, "byte \(place)") { try stream.bytes() }
            #expect(error?.code == .damaged)
        }
        TemporaryDirectory.write(whole, to: stream.path)
        #expect(try stream.bytes().count == 150_000)
        await shop.store.close()
    }

    @Test func `exchanged, missing and foreign chunks are refused`() async throws {
        let (shop, stream) = try await kept(content(200_000))
        let another = try shop.store.media.localStream(
            try await keep(shop.store, content(200_000, 1)), isPending: true)
        let (whole, foreign) = (try bytes(stream.path), try bytes(another.path))
        func range(_ number: Int) -> Range<Int> {
            let start = 112 + number * StreamSeal.storedChunkSize
            return start..<min(start + StreamSeal.storedChunkSize, whole.count)
        }
        var swapped = whole
        swapped.replaceSubrange(range(0), with: whole[range(1)])
        swapped.replaceSubrange(range(1), with: whole[range(0)])
        var mixed = whole
        mixed.replaceSubrange(range(1), with: foreign[range(1)])
        let cut = Array(whole[..<range(2).upperBound])
        for changed in [swapped, mixed, cut, whole + [0], Array(whole.dropLast()), foreign] {
            TemporaryDirectory.write(changed, to: stream.path)
            #expect(throws: TidelogError.self) { try stream.bytes() }
        }
        // A shorter content cannot end at a chunk that was not encrypted as the last one.
        let shorter = StreamReader(
            stream.path,
            StreamContent(digest: try #require(StreamDigest(content(32))), byteCount: 196_608, mediaType: "a/b"),
            StreamKey(Self.key, in: await shop.store.log.storeIdentifier))
        #expect(shorter == nil)
    }

    @Test func `a chunk decrypts only at its position, and as the last chunk only if it is the last one`() throws {
        let key = StreamKey(Self.key, in: try #require(StoreIdentifier(bytes: Array(0..<16))))
        let seal = StreamSeal(key)
        let sealed = try #require(seal.seal([1, 2, 3], number: 1, isLast: true))
        #expect(seal.open(sealed[...], number: 1, isLast: true) == [1, 2, 3])
        #expect(seal.open(sealed[...], number: 1, isLast: false) == nil)
        #expect(seal.open(sealed[...], number: 0, isLast: true) == nil)
        #expect(StreamSeal(key).open(sealed[...], number: 1, isLast: true) == nil)
    }

    // MARK: Streams of a store

    @Test(arguments: [Dialect.v2, .v4])
    func `an encrypted media entity is uploaded and downloaded like any other`(dialect: Dialect) async throws {
        let shop = try await Shop(dialect, options: Self.options())
        try await shop.store.definingQueries.add(
            DefiningQuery(name: "Photos", query: "Photos", automaticallyRetrievesStreams: true))
        try await shop.pull()
        let first = try #require(try await shop.store.media.localStream(.link("Photos(1)")))
        #expect(first.isEncrypted)
        #expect(try first.bytes() == shop.transport.direct("GET", "/\(dialect.rawValue)/Photos(1)/$value").body)
        let picture = content(100_000)
        let link = try await create(shop, picture)
        shop.transport.forgetRequests()
        #expect(try await shop.push().confirmed.count == 1)
        #expect(shop.transport.requests.first { $0.method == "POST" }?.body == picture)
        #expect(try await shop.store.media.localStream(.link(link))?.bytes() == picture)
        #expect(try await shop.store.media.damagedStreams() == [])
    }

    @Test func `the body of a request returns the content in pieces of any size, and again after a rewind`()
        async throws
    {
        let bytes = content(150_000)
        let (shop, stream) = try await kept(bytes)
        defer { withExtendedLifetime(shop) {} }
        let body = stream.requestContent
        #expect(body.count == bytes.count)
        #expect(try body.bytes() == bytes)
        let reading = try #require(body.open())
        for size in [1, 1_000, 16_384, 100_000] {
            var read: [UInt8] = []
            var piece = [UInt8](repeating: 0, count: size)
            while read.count < 140_000 || size > 1 {
                let count = try #require(piece.withUnsafeMutableBytes { reading.read(into: $0) })
                if count == 0 { break }
                read += piece[..<count]
            }
            #expect(read == Array(bytes[..<read.count]) && (size == 1 || read.count == bytes.count), "\(size)")
            reading.rewind()
        }
        var stored = try self.bytes(stream.path)
        stored[stored.count - 1] ^= 1
        TemporaryDirectory.write(stored, to: stream.path)
        #expect(throws: TransportError.self) { try body.bytes() }
    }

    @Test func `a pending stream that is damaged is not sent, and damagedStreams contains it`() async throws {
        let shop = try await Shop(.v4, options: Self.options())
        let link = try await create(shop, content(70_000))
        let path = try #require(try await shop.store.media.localStream(.link(link))).path
        var stored = try bytes(path)
        stored[stored.count - 1] ^= 1
        TemporaryDirectory.write(stored, to: path)
        #expect(try await shop.store.media.damagedStreams().count == 1)
        #expect(try await shop.push().rejected.count == 1)
    }

    @Test func `opening a store with a new key encrypts its streams with that key`()
        async throws
    {
        let shop = try await Shop(.v4, options: Self.options([]))
        let picture = content(80_000)
        let link = try await create(shop, picture)
        await shop.store.close()
        let plain = files(shop)
        #expect(try bytes(plain[0]) == picture)
        var before = plain
        for keys in [[Self.key], [Self.other, Self.key]] {
            let store = try await LocalStore(shop.store.files, creating: false, options: Self.options(keys))
            let stream = try #require(try await store.media.localStream(.link(link)))
            #expect(stream.isEncrypted)
            #expect(try stream.bytes() == picture)
            #expect(files(shop) == [stream.path] && files(shop) != before)
            before = files(shop)
            await store.close()
        }
    }

    @Test func `a plain stream with another content than the written one is not encrypted into the store`() async throws
    {
        let shop = try await Shop(.v4, options: Self.options([]))
        let link = try await create(shop, content(80_000))
        await shop.store.close()
        TemporaryDirectory.write(content(80_000, 5), to: files(shop)[0])
        let store = try await LocalStore(shop.store.files, creating: false, options: Self.options())
        await #expect(throws: TidelogError.self) { try await store.media.localStream(.link(link)) }
        #expect(try await store.media.damagedStreams().count == 1)
        await store.close()
    }

    @Test func `opening a store removes unfinished and unreferenced streams`() async throws {
        let shop = try await Shop(.v4, options: Self.options())
        let link = try await create(shop, content(10))
        _ = try await keep(shop.store, content(11))
        TemporaryDirectory.write([1], to: shop.directory.path + "/streams/new-1")
        #expect(files(shop).count == 3)
        await shop.store.close()
        let store = try await LocalStore(shop.store.files, creating: false, options: Self.options())
        #expect(files(shop).count == 1)
        #expect(try await store.media.localStream(.link(link))?.bytes() == content(10))
        await store.close()
    }
}
