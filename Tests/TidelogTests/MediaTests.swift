import EDM
import Foundation
import Testing
import Tidelog

/// Media streams through the public API, with entity objects.
struct MediaTests {
    private func bytes(_ stream: LocalStream?) throws -> [UInt8] {
        [UInt8](try Data(contentsOf: URL(fileURLWithPath: try #require(stream).path)))
    }

    @Test(arguments: Client.offline)
    func `a media entity is created with content and properties, read and replaced`(_ client: Client) async throws {
        let shop = try await Shop(client)
        let store = try #require(shop.store)
        let photo = try shop.new("Photos", ["Caption": .string("Berlin")])
        try await shop.service.createMedia(photo, content: MediaContent([1, 2, 3], mediaType: "image/png"))
        #expect(photo.readLink != nil)
        #expect(photo["Caption"] == .string("Berlin"))
        #expect(try await shop.service.isMediaLocal(entity: photo))
        #expect(try bytes(try await shop.service.localMedia(entity: photo)) == [1, 2, 3])
        try await store.upload()
        try await shop.service.loadEntity(photo)
        #expect(photo["Caption"] == .string("Berlin"))
        #expect(try await shop.service.localMedia(entity: photo)?.isPending == false)

        let chunks = AsyncStream<[UInt8]> { continuation in
            for number in UInt8(4)..<8 { continuation.yield([number]) }
            continuation.finish()
        }
        try await shop.service.uploadMedia(entity: photo, content: MediaContent(chunks, mediaType: "image/gif"))
        #expect(try bytes(try await shop.service.localMedia(entity: photo)) == [4, 5, 6, 7])
        try await store.upload()
        let downloaded = try await shop.service.downloadMedia(entity: photo)
        #expect(try bytes(downloaded) == [4, 5, 6, 7])
        #expect(downloaded?.mediaType == "image/gif")
    }

    @Test func `the content may be a file, and a missing file is refused`() async throws {
        let shop = try await Shop(Client(dialect: .v4, isOnline: false))
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID()).bin")
        let content = (0..<1_000_000).map { UInt8(truncatingIfNeeded: $0 / 7) }
        try Data(content).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let photo = try shop.new("Photos")
        try await shop.service.createMedia(photo, content: MediaContent(file: file, mediaType: "image/png"))
        #expect(try bytes(try await shop.service.localMedia(entity: photo)) == content)
        let missing = MediaContent(file: file.appendingPathExtension("none"), mediaType: "image/png")
        await #expect(throws: TidelogError.self) {
            try await shop.service.createMedia(try shop.new("Photos"), content: missing)
        }
    }

    @Test func `a stream of an entity without streams is refused, and nothing is logged`() async throws {
        let shop = try await Shop(Client(dialect: .v4, isOnline: false))
        let content = MediaContent([1], mediaType: "image/png")
        let customer = try await shop.one("Customers", 1)
        await #expect(throws: TidelogError.self) {
            try await shop.service.createMedia(try shop.new("Customers"), content: content)
        }
        await #expect(throws: TidelogError.self) {
            try await shop.service.uploadMedia(entity: customer, content: content)
        }
        await #expect(throws: TidelogError.self) { try await shop.service.downloadMedia(entity: customer) }
        #expect(try await shop.service.isMediaLocal(entity: customer) == false)
        #expect(try await #require(shop.store).hasPendingUpload == false)
    }
}
