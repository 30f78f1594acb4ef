import EDM
import ODataSandbox
import ODataWire
import Operations
import SyncCore
import TestSupport
import Testing

@testable import OfflineStore
@testable import SyncEngine

/// ETags of streams that a store writes without having read them.
struct StreamETagTests {
    private func shop(_ dialect: Dialect, writing text: String) async throws -> Shop {
        let shop = try await Shop(dialect)
        try await shop.store.definingQueries.add(DefiningQuery(name: "Photos", query: "Photos"))
        try await shop.pull()
        try await write(text, shop)
        return shop
    }

    private func write(_ text: String, _ shop: Shop) async throws {
        var options = IntentOptions()
        options.stream = StreamWrite(
            content: try await shop.store.media.keepStream(mediaType: "image/png", name: nil) {
                try $0(Array(text.utf8))
            })
        _ = try await shop.store.perform(
            [(.update(.link("Photos(1)"), changes: [:], bindings: [], inline: []), options)], asChangeSet: false)
    }

    private func content(_ shop: Shop, _ dialect: Dialect) -> [UInt8] {
        shop.transport.direct("GET", "/\(dialect.rawValue)/Photos(1)/$value").body
    }

    /// Returns the ETag of the stream that the service last returned with the entity.
    private func reported(_ shop: Shop) async throws -> String? {
        let id = try await shop.store.media.entityID(.link("Photos(1)"))
        return try await shop.store.media.streamSource(id, property: nil).known?.reported?.etag
    }

    @Test(arguments: Dialect.allCases)
    func `a stream that was never read is written with the ETag that the service returned with its entity`(
        _ dialect: Dialect
    ) async throws {
        let shop = try await shop(dialect, writing: "first")
        let etag = shop.transport.direct("GET", "/\(dialect.rawValue)/Photos(1)/$value").headers["ETag"]
        #expect(try await reported(shop) == etag)
        shop.transport.forgetRequests()
        #expect(try await shop.push().confirmed.count == 1)
        // It is the ETag of the replaced content.
        #expect(try await reported(shop) == nil)
        try await write("second", shop)
        #expect(try await shop.push().confirmed.count == 1)
        let conditions = shop.transport.requests.filter { $0.method == "PUT" }.map { $0.headers["If-Match"] }
        #expect(conditions.first == etag)
        #expect(conditions.count == 2)
        #expect(content(shop, dialect) == Array("second".utf8))
    }

    @Test(arguments: Dialect.allCases)
    func `a stream that another client has replaced since the download is not overwritten`(
        _ dialect: Dialect
    ) async throws {
        let shop = try await shop(dialect, writing: "mine")
        #expect(shop.transport.direct("PUT", "/v4/Photos(1)/$value", "theirs").isSuccess)
        #expect(try await shop.push().rejected.first?.refusal.status == 412)
        #expect(content(shop, dialect) == Array("theirs".utf8))
    }
}
