import Foundation
import Testing
import Tidelog

/// ST-06: several media entities in one call. ST-11: downloads into a file of the app.
@Suite struct MediaListTests {
    @Test(arguments: Client.offline)
    func `several media entities are created with their contents`(_ client: Client) async throws {
        let shop = try await Shop(client)
        let photos = [try shop.new("Photos", ["Caption": .string("one")]), try shop.new("Photos")]
        try await shop.service.createMedia([
            (entity: photos[0], content: MediaContent([1], mediaType: "image/png")),
            (entity: photos[1], content: MediaContent([2, 3], mediaType: "image/gif")),
        ])
        #expect(try await shop.service.localMedia(entity: photos[0])?.bytes() == [1])
        #expect(try await shop.service.localMedia(entity: photos[1])?.bytes() == [2, 3])
        let report = try await #require(shop.store).upload()
        #expect(report.rejected.isEmpty)
        #expect(report.remaining == 0)
    }

    @Test(arguments: Client.offline)
    func `content is downloaded to a file, which an existing file does not survive`(_ client: Client) async throws {
        let shop = try await Shop(client)
        let photo = try shop.new("Photos")
        let content = (0..<200_000).map { UInt8(truncatingIfNeeded: $0 / 3) }
        try await shop.service.createMedia(photo, content: MediaContent(content, mediaType: "image/png"))
        try await #require(shop.store).upload()
        try await shop.service.loadEntity(photo)
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID()).png")
        defer { try? FileManager.default.removeItem(at: file) }
        try Data([9]).write(to: file)
        #expect(try await shop.service.downloadMedia(entity: photo, to: file))
        #expect([UInt8](try Data(contentsOf: file)) == content)
        #expect(!FileManager.default.fileExists(atPath: file.path + ".partial"))
        let error = await #expect(throws: TidelogError.self) {
            try await shop.service.downloadMedia(entity: photo, to: file.appendingPathComponent("none"))
        }
        #expect(error?.code == .storage)
    }
}
