import ODataSandbox
import TestSupport
import Testing
import Tidelog

/// Stream properties (V4), and media entities in a collection: through a store and through the service.
@Suite struct StreamPropertyTests {
    @Test(arguments: [false, true])
    func `a stream property is written, read, replaced and deleted`(_ isOnline: Bool) async throws {
        let gallery = try await Gallery(isOnline: isOnline)
        let (service, cover) = (gallery.service, try gallery.cover())
        let album = try await gallery.album()
        for bytes in [[UInt8](1...3), [9]] {
            try await service.uploadStream(
                entity: album, property: cover, content: MediaContent(bytes, mediaType: "image/png"))
            try await gallery.store?.upload()
            let content = try #require(try await service.downloadStream(entity: album, property: cover))
            #expect(try content.bytes() == bytes)
            #expect(content.mediaType == "image/png")
        }
        try await service.deleteStream(entity: album, property: cover)
        try await gallery.store?.upload()
        #expect(try await service.downloadStream(entity: album, property: cover) == nil)
    }

    @Test func `an online write of a stream property is a PUT with its ETag`() async throws {
        let gallery = try await Gallery(isOnline: true)
        let (service, cover) = (gallery.service, try gallery.cover())
        let album = try await gallery.album()
        let content = MediaContent([1], mediaType: "image/png")
        try await service.uploadStream(entity: album, property: cover, content: content)
        gallery.transport.forgetRequests()
        try await service.uploadStream(entity: album, property: cover, content: content)
        let request = try #require(gallery.transport.requests.first)
        #expect(request.method == "PUT")
        #expect(request.url.hasSuffix("/Albums(1)/Cover"))
        #expect(request.headers["If-Match"]?.hasPrefix("\"m") == true)
        gallery.transport.direct("PUT", "/v4/Albums(1)/Cover", "other")
        let error = await #expect(throws: TidelogError.self) {
            try await service.uploadStream(entity: album, property: cover, content: content)
        }
        #expect(error?.code == .service(status: 412))
    }

    @Test(arguments: [false, true])
    func `a media entity is created in the collection of another entity`(_ isOnline: Bool) async throws {
        let gallery = try await Gallery(isOnline: isOnline)
        let album = try await gallery.album()
        let pictures = try album.entityType.property(withName: "Pictures")
        let picture = EntityValue(try gallery.set("Pictures").entityType)
        picture["Caption"] = .string("beach")
        try await gallery.service.createRelatedMedia(
            picture, content: MediaContent([1, 2], mediaType: "image/png"), in: album, property: pictures)
        try await gallery.store?.upload()
        let text = gallery.transport.sandbox.stateText()
        #expect(text.contains("beach"))
        #expect(text.contains("Pictures: Pictures(1)"))
        #expect(try await gallery.service.downloadMedia(entity: picture)?.bytes() == [1, 2])
    }
}
