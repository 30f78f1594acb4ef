import EDM
import Foundation
import HTTPTypes
import ODataSandbox
import ODataWire
import OperationLog
import Operations
import SyncCore
import TestSupport
import Testing
import Transport

@testable import OfflineStore
@testable import SyncEngine

/// Media entities in a store and in the sandbox's set Photos.
///
/// Features: HX-16, ST-10.
struct MediaTests {
    private let picture = Array("a picture".utf8)

    private func keep(_ store: LocalStore, _ bytes: [UInt8], name: String? = nil) async throws -> StreamWrite {
        StreamWrite(
            content: try await store.media.keepStream(mediaType: "image/png", name: name) { take in
                for chunk in stride(from: 0, to: bytes.count, by: 4) {
                    try take(Array(bytes[chunk..<min(chunk + 4, bytes.count)]))
                }
            })
    }

    /// Creates a photo, followed by an update if `values` is not empty, and returns the photo's readLink.
    @discardableResult
    private func create(
        _ shop: Shop, _ bytes: [UInt8], name: String? = nil, values: PropertyValues = [:]
    ) async throws -> String {
        var options = IntentOptions()
        options.stream = try await keep(shop.store, bytes, name: name)
        var intents = [(intent: Intent.create(try await shop.draft(0, "Photos"), in: nil), options: options)]
        if !values.isEmpty {
            intents.append((.update(.draft(0), changes: values, bindings: [], inline: []), IntentOptions()))
        }
        return try await shop.store.perform(intents, asChangeSet: false)[0].entities[0]?.readLink ?? ""
    }

    private func write(_ shop: Shop, _ link: String, _ bytes: [UInt8]) async throws {
        var options = IntentOptions()
        options.stream = try await keep(shop.store, bytes)
        _ = try await shop.store.perform(
            [(.update(.link(link), changes: [:], bindings: [], inline: []), options)], asChangeSet: false)
    }

    private func bytes(_ stream: LocalStream?) throws -> [UInt8] {
        [UInt8](try Data(contentsOf: URL(fileURLWithPath: try #require(stream).path)))
    }

    private func withPhotos(_ dialect: Dialect) async throws -> Shop {
        let shop = try await Shop(dialect)
        try await shop.store.definingQueries.add(DefiningQuery(name: "Photos", query: "Photos"))
        try await shop.pull()
        return shop
    }

    private func files(_ shop: Shop) -> [String] { TemporaryDirectory.files(shop.directory.path + "/streams").sorted() }

    @Test(arguments: Dialect.allCases)
    func `a new media entity is sent with its content first and its properties afterwards`(dialect: Dialect)
        async throws
    {
        let shop = try await Shop(dialect)
        let link = try await create(shop, picture, name: "Größe.png", values: ["Caption": .string("Berlin")])
        #expect(try bytes(try await shop.store.media.localStream(.link(link))) == picture)
        #expect(try await shop.store.media.localStream(.link(link))?.isPending == true)
        #expect(try await shop.value(link, "Caption") == .string("Berlin"))
        shop.transport.forgetRequests()

        let report = try await shop.push()
        #expect(report.confirmed.count == 2)
        let requests = shop.transport.requests.filter { $0.method != "GET" }
        let posted = try #require(requests.first)
        #expect(posted.method == "POST")
        #expect(posted.url == "/\(dialect.rawValue)/Photos")
        #expect(posted.body == picture)
        #expect(posted.headers["Content-Type"] == "image/png")
        #expect(posted.headers["Slug"] == "Gr%C3%B6%C3%9Fe.png")
        let number = try await shop.value(link, "PhotoID")
        guard case .integer(let key)? = number else { Issue.record("no key"); return }
        #expect(shop.transport.direct("GET", "/\(dialect.rawValue)/Photos(\(key))/$value").body == picture)
        #expect(try await shop.serviceState(["Photos"]).contains { $0.contains("Berlin") })
        #expect(try await shop.store.media.localStream(.link(link))?.isPending == false)
        #expect(try await shop.store.queue.pendingOperations().isEmpty)
    }

    @Test(arguments: Dialect.allCases)
    func `a downloaded stream is replaced with its ETag, which the response renews`(
        dialect: Dialect
    ) async throws {
        let shop = try await withPhotos(dialect)
        let downloaded = try await shop.engine.downloadStream(.link("Photos(1)"))
        let before = shop.transport.direct("GET", "/\(dialect.rawValue)/Photos(1)/$value")
        #expect(try bytes(downloaded) == before.body)
        #expect(downloaded?.mediaType == "image/gif")
        shop.transport.forgetRequests()
        for content in ["second", "third"] {
            try await write(shop, "Photos(1)", Array(content.utf8))
            #expect(try bytes(try await shop.store.media.localStream(.link("Photos(1)"))) == Array(content.utf8))
            #expect(try await shop.push().confirmed.count == 1)
            #expect(shop.transport.direct("GET", "/\(dialect.rawValue)/Photos(1)/$value").body == Array(content.utf8))
        }
        let puts = shop.transport.requests.filter { $0.method == "PUT" }
        #expect(puts.map(\.headers).map { $0["If-Match"] != nil } == [true, true])
        #expect(puts[0].headers["If-Match"] == before.headers["ETag"])
        #expect(puts[1].headers["If-Match"] != before.headers["ETag"])
    }

    @Test func `a newer stream of another client is not overwritten`() async throws {
        let shop = try await withPhotos(.v4)
        _ = try await shop.engine.downloadStream(.link("Photos(1)"))
        shop.transport.change {
            _ = $0.handle(
                WireRequest(
                    method: "PUT", url: "/v4/Photos(1)/$value", headers: ["Content-Type": "image/gif"], body: [1, 2, 3])
            )
        }
        try await write(shop, "Photos(1)", picture)
        let report = try await shop.push()
        #expect(report.rejected.first?.refusal.status == 412)
        #expect(shop.transport.direct("GET", "/v4/Photos(1)/$value").body == [1, 2, 3])
        // The local content is kept, and its operation is rejected.
        #expect(try bytes(try await shop.store.media.localStream(.link("Photos(1)"))) == picture)
    }

    @Test func `a stream that the store already has is not downloaded again`() async throws {
        let shop = try await withPhotos(.v4)
        let first = try await shop.engine.downloadStream(.link("Photos(1)"))
        let records = await shop.store.nextSequence
        shop.transport.forgetRequests()
        #expect(try await shop.engine.downloadStream(.link("Photos(1)")) == first)
        #expect(shop.transport.requests.first?.headers["If-None-Match"] != nil)
        #expect(await shop.store.nextSequence == records)
        // A removed file is downloaded again.
        unlink(try #require(first).path)
        await #expect(throws: TidelogError.self) { try await shop.store.media.localStream(.link("Photos(1)")) }
        #expect(try await shop.store.media.damagedStreams().count == 1)
        #expect(try await shop.engine.downloadStream(.link("Photos(1)")) == first)
        #expect(try await shop.store.media.damagedStreams() == [])
    }

    @Test func `an undo restores the previous stream, and unreferenced files are removed`() async throws {
        let shop = try await withPhotos(.v4)
        let downloaded = try await shop.engine.downloadStream(.link("Photos(1)"))
        try await write(shop, "Photos(1)", picture)
        let written = try #require(try await shop.store.queue.pendingOperations().last).sequence
        _ = try await shop.store.queue.undo(.operations([written]))
        #expect(try await shop.store.media.localStream(.link("Photos(1)")) == downloaded)
        _ = try await shop.store.media.keepStream(mediaType: "image/png") { take in try take([9]) }
        #expect(files(shop).count == 3)
        await shop.store.close()
        let again = try await LocalStore(StoreFiles(directory: shop.directory.path), creating: false)
        // The store keeps the streams of undone operations, and removes streams without any reference.
        #expect(files(shop).count == 2)
        #expect(try await again.media.localStream(.link("Photos(1)"))?.byteCount == downloaded?.byteCount)
        await again.close()
    }

    @Test func `rebuilt views contain the same streams`() async throws {
        let shop = try await withPhotos(.v4)
        _ = try await shop.engine.downloadStream(.link("Photos(1)"))
        let link = try await create(shop, picture)
        let digest = try await shop.store.digest()
        await shop.store.close()
        for file in StoreFiles(directory: shop.directory.path).viewFiles { unlink(file) }
        let again = try await LocalStore(StoreFiles(directory: shop.directory.path), creating: false)
        #expect(try await again.digest() == digest)
        #expect(try bytes(try await again.media.localStream(.link(link))) == picture)
        try await again.writeSnapshot()
        await again.close()
        for file in StoreFiles(directory: shop.directory.path).viewFiles { unlink(file) }
        let restored = try await LocalStore(StoreFiles(directory: shop.directory.path), creating: false)
        #expect(try await restored.digest() == digest)
        #expect(try bytes(try await restored.media.localStream(.link(link))) == picture)
        await restored.close()
    }

    @Test func `a replaced stream in doubt is resolved by reading, and a new media entity stays in doubt`()
        async throws
    {
        let shop = try await withPhotos(.v4)
        _ = try await shop.engine.downloadStream(.link("Photos(1)"))
        try await write(shop, "Photos(1)", picture)
        shop.transport.add(Fault(.dropAnswer, method: "PUT", urlPart: "/v4/Photos(1)/$value"))
        _ = try? await shop.push()
        #expect(try await shop.push().confirmed.count == 1)
        #expect(shop.transport.direct("GET", "/v4/Photos(1)/$value").body == picture)
        let link = try await create(shop, picture)
        shop.transport.add(Fault(.dropAnswer, method: "POST", urlPart: "/v4/Photos"))
        _ = try? await shop.push()
        let report = try await shop.push()
        #expect(report.inDoubt.count == 1)
        #expect(shop.transport.requests.filter { $0.method == "PUT" }.count == 1)
        #expect(shop.transport.requests.filter { $0.method == "POST" && $0.url == "/v4/Photos" }.count == 1)
        #expect(try bytes(try await shop.store.media.localStream(.link(link))) == picture)
    }

    @Test func `streams are sent as separate requests, in order with batches`() async throws {
        let shop = try await withPhotos(.v4)
        try await shop.perform(update("Customers(1)", ["Name": .string("before")]))
        try await create(shop, picture)
        try await shop.perform(update("Customers(2)", ["Name": .string("behind")]))
        shop.transport.forgetRequests()
        #expect(try await shop.push().confirmed.count == 3)
        let sent = shop.transport.requests.filter { $0.method == "POST" }.map(\.url)
        #expect(sent == ["/v4/$batch", "/v4/Photos", "/v4/$batch"])
    }

    @Test func `a stream in a change set, with properties, or of an entity without streams is refused`() async throws {
        let shop = try await withPhotos(.v4)
        var options = IntentOptions()
        options.stream = try await keep(shop.store, picture)
        let photo = Intent.update(.link("Photos(1)"), changes: [:], bindings: [], inline: [])
        let customer = Intent.update(.link("Customers(1)"), changes: [:], bindings: [], inline: [])
        let both = Intent.update(.link("Photos(1)"), changes: ["Caption": .string("x")], bindings: [], inline: [])
        for (intent, asChangeSet) in [(photo, true), (customer, false), (both, false)] {
            await #expect(throws: TidelogError.self) {
                try await shop.store.perform([(intent, options)], asChangeSet: asChangeSet)
            }
        }
        #expect(try await shop.store.queue.pendingOperations().isEmpty)
    }

    @Test(arguments: Dialect.allCases)
    func `the stream's ETag in the response to a create is used without a download`(
        dialect: Dialect
    ) async throws {
        let shop = try await withPhotos(dialect)
        let link = try await create(shop, picture)
        try await shop.push()
        let id = try await shop.store.media.entityID(.link(link))
        #expect(try await shop.store.media.isStreamCurrent(id))
        #expect(try bytes(try await shop.store.media.localStream(.link(link))) == picture)
        // The next content is sent with the ETag of the first one.
        try await write(shop, link, Array("second".utf8))
        shop.transport.forgetRequests()
        #expect(try await shop.push().confirmed.count == 1)
        #expect(shop.transport.requests.first { $0.method == "PUT" }?.headers["If-Match"] != nil)
    }

    @Test(arguments: [Dialect.v2, .v4], [false, true])
    func `a store that removes sent streams has none after the upload, and can download them again`(
        dialect: Dialect, isNew: Bool
    ) async throws {
        var options = LocalStoreOptions()
        options.removal.streams = true
        let shop = try await Shop(dialect, options: options)
        try await shop.store.definingQueries.add(DefiningQuery(name: "Photos", query: "Photos"))
        try await shop.pull()
        let link = isNew ? try await create(shop, picture) : "Photos(1)"
        if !isNew { try await write(shop, link, picture) }
        #expect(try bytes(try await shop.store.media.localStream(.link(link))) == picture)
        #expect(try await shop.push().confirmed.count == 1)
        #expect(try await shop.store.media.localStream(.link(link)) == nil)
        #expect(try bytes(try await shop.engine.downloadStream(.link(link))) == picture)
        try await write(shop, link, [1, 2, 3])
        #expect(try await shop.push().confirmed.count == 1)
        await shop.store.close()
        let again = try await LocalStore(StoreFiles(directory: shop.directory.path), creating: false)
        #expect(files(shop) == [])
        await again.close()
    }

    /// Returns a store that removes streams after their upload, with everything downloaded.
    private func withoutSentStreams(_ dialect: Dialect) async throws -> Shop {
        var options = LocalStoreOptions()
        options.removal.streams = true
        let shop = try await Shop(dialect, options: options)
        try await shop.store.definingQueries.add(DefiningQuery(name: "Photos", query: "Photos"))
        try await shop.pull()
        return shop
    }

    @Test(arguments: [Dialect.v2, .v4], [false, true])
    func `a removed stream is replaced with the ETag of its upload`(
        dialect: Dialect, isNew: Bool
    ) async throws {
        let shop = try await withoutSentStreams(dialect)
        let link = isNew ? try await create(shop, picture) : "Photos(1)"
        if !isNew { try await write(shop, link, picture) }
        try await shop.push()
        try await write(shop, link, [1, 2, 3])
        shop.transport.forgetRequests()
        #expect(try await shop.push().confirmed.count == 1)
        #expect(shop.transport.requests.first { $0.method == "PUT" }?.headers["If-Match"] != nil)
    }

    @Test func `no copy is kept of a stream whose upload is confirmed later`() async throws {
        let shop = try await withoutSentStreams(.v4)
        try await write(shop, "Photos(1)", picture)
        shop.transport.add(Fault(.dropAnswer, method: "PUT", urlPart: "/v4/Photos(1)/$value"))
        _ = try? await shop.push()
        #expect(try await shop.store.queue.pendingOperations(.inDoubt).count == 1)
        #expect(try await shop.push().confirmed.count == 1)
        #expect(try await shop.store.media.localStream(.link("Photos(1)")) == nil)
    }

    @Test func `removing an entity removes its stream`() async throws {
        let shop = try await withPhotos(.v4)
        _ = try await shop.engine.downloadStream(.link("Photos(1)"))
        shop.transport.direct("DELETE", "/v4/Photos(1)")
        try await shop.pull()
        await shop.store.close()
        let again = try await LocalStore(StoreFiles(directory: shop.directory.path), creating: false)
        #expect(files(shop) == [])
        await again.close()
    }

    @Test(arguments: [Dialect.v2, .v4], ["Photos", "Photos(1)"])
    func `a query with automatic streams downloads them, and afterwards only the changed ones`(
        dialect: Dialect, query: String
    ) async throws {
        let shop = try await Shop(dialect)
        try await shop.store.definingQueries.add(
            DefiningQuery(name: "Photos", query: query, automaticallyRetrievesStreams: true))
        try await shop.pull()
        let first = try #require(try await shop.store.media.localStream(.link("Photos(1)")))
        shop.transport.forgetRequests()
        try await shop.pull()
        // The photo's properties state that its stream has not changed.
        #expect(!shop.transport.requests.contains { $0.url.hasSuffix("/$value") })
        #expect(try await shop.store.media.localStream(.link("Photos(1)")) == first)
        shop.transport.change {
            _ = $0.handle(
                WireRequest(
                    method: "PUT", url: "/v4/Photos(1)/$value", headers: ["Content-Type": "image/gif"],
                    body: [1, 2, 3]))
        }
        try await shop.pull()
        let second = try #require(try await shop.store.media.localStream(.link("Photos(1)")))
        #expect(second != first)
        #expect(try bytes(second) == [1, 2, 3])
    }

    @Test func `a query without automatic streams downloads none`() async throws {
        let shop = try await withPhotos(.v4)
        #expect(try await shop.store.media.localStream(.link("Photos(1)")) == nil)
        #expect(files(shop) == [])
    }

    @Test func `a written stream without its file is rejected and holds back no other operation`() async throws {
        let shop = try await withPhotos(.v4)
        try await write(shop, "Photos(1)", picture)
        unlink(try #require(try await shop.store.media.localStream(.link("Photos(1)"))).path)
        try await shop.perform(update("Customers(1)", ["Name": .string("behind")]))
        let report = try await shop.push()
        #expect(report.confirmed.count == 1)
        #expect(report.rejected.count == 1)
        #expect(report.rejected.first?.refusal.message.contains("The file of a stream is missing") == true)
    }

    @Test func `a written stream whose file has another content is not sent and holds back no other operation`()
        async throws
    {
        let shop = try await withPhotos(.v4)
        try await write(shop, "Photos(1)", picture)
        let path = try #require(try await shop.store.media.localStream(.link("Photos(1)"))).path
        try Data(picture.reversed()).write(to: URL(fileURLWithPath: path))
        let before = shop.transport.direct("GET", "/v4/Photos(1)/$value").body
        try await shop.perform(update("Customers(1)", ["Name": .string("behind")]))
        let report = try await shop.push()
        #expect(report.confirmed.count == 1)
        #expect(report.rejected.first?.refusal.message.contains("was changed after it was written") == true)
        #expect(shop.transport.direct("GET", "/v4/Photos(1)/$value").body == before)
    }

    @Test func `a stream that was read before its upload does not replace the uploaded one`() async throws {
        let shop = try await withPhotos(.v4)
        _ = try await shop.engine.downloadStream(.link("Photos(1)"))
        shop.transport.change {
            _ = $0.handle(
                WireRequest(
                    method: "PUT", url: "/v4/Photos(1)/$value", headers: ["Content-Type": "image/gif"], body: [1, 2, 3])
            )
        }
        let inner = shop.transport
        let transport = HookedTransport(inner) { request, _ in
            guard let answer = try? await inner.send(request, body: []) else { return nil }
            inner.change {
                _ = $0.handle(
                    WireRequest(
                        method: "PUT", url: "/v4/Photos(1)/$value", headers: ["Content-Type": "image/gif"], body: [4]))
            }
            _ = try? await shop.engine.downloadStream(.link("Photos(1)"))
            return answer
        }
        let slow = SyncEngine(
            store: shop.store, session: ServiceSession(root: "http://shop.test/v4/", transport: transport))
        #expect(try bytes(try await slow.downloadStream(.link("Photos(1)"))) == [4])
        #expect(try bytes(try await shop.store.media.localStream(.link("Photos(1)"))) == [4])
    }
}
