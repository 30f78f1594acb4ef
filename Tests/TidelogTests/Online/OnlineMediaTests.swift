import Foundation
import HTTPTypes
import ODataSandbox
import TestSupport
import Testing
import Tidelog

/// Media entities through the service itself.
@Suite struct OnlineMediaTests {
    @Test(arguments: Client.online)
    func `a media entity is created with content and properties, read and replaced`(_ client: Client) async throws {
        let shop = try await Shop(client)
        let photo = try shop.new("Photos", ["Caption": .string("Berlin")])
        try await shop.service.createMedia(
            photo, content: MediaContent([1, 2, 3], mediaType: "image/png", name: "berlin.png"))
        #expect(photo.readLink == "Photos(2)")
        #expect(photo["Caption"] == .string("Berlin"))
        #expect(photo["ContentType"] == .string("image/png"))
        #expect(try await shop.service.downloadMedia(entity: photo)?.bytes() == [1, 2, 3])

        let chunks = AsyncStream<[UInt8]> { continuation in
            for number in UInt8(4)..<8 { continuation.yield([number]) }
            continuation.finish()
        }
        try await shop.service.uploadMedia(entity: photo, content: MediaContent(chunks, mediaType: "image/gif"))
        let content = try #require(try await shop.service.downloadMedia(entity: photo))
        #expect(try content.bytes() == [4, 5, 6, 7])
        #expect(content.mediaType == "image/gif")
        #expect(!content.isPending)
    }

    @Test(arguments: Client.online)
    func `the bytes are the body of one request, and the properties follow in another`(_ client: Client) async throws {
        let shop = try await Shop(client)
        let photo = try shop.new("Photos", ["Caption": .string("Berlin")])
        shop.transport.forgetRequests()
        try await shop.service.createMedia(photo, content: MediaContent([1], mediaType: "image/png", name: "a b"))
        let sent = shop.transport.requests.filter { $0.method != "GET" }
        #expect(sent.map(\.method) == ["POST", client.dialect == .v2 ? "MERGE" : "PATCH"])
        #expect(sent[0].body == [1])
        #expect(sent[0].headers["Content-Type"] == "image/png")
        #expect(sent[0].headers["Slug"] == "a%20b")
        #expect(sent[1].url.hasSuffix("/Photos(2)"))
    }

    @Test(arguments: Client.online)
    func `a media entity without further properties is one request`(_ client: Client) async throws {
        let shop = try await Shop(client)
        shop.transport.forgetRequests()
        try await shop.service.createMedia(try shop.new("Photos"), content: MediaContent([1], mediaType: "image/png"))
        #expect(shop.transport.requests.filter { $0.method != "GET" }.count == 1)
    }

    @Test(arguments: Client.online)
    func `if the properties are refused, the entity exists and the object has its link and the unsaved values`(
        _ client: Client
    ) async throws {
        let shop = try await Shop(client)
        let photo = try shop.new("Photos", ["Caption": .string("Berlin")])
        let method = client.dialect == .v2 ? "MERGE" : "PATCH"
        let hooked = DataService(
            provider: OnlineODataProvider(
                serviceRoot: "http://shop.test/\(client.dialect.rawValue)/",
                transport: HookedTransport(shop.transport) { request, _ in
                    request.method.rawValue == method ? (.init(status: 422), []) : nil
                }))
        let error = await #expect(throws: TidelogError.self) {
            try await hooked.createMedia(photo, content: MediaContent([1], mediaType: "image/png"))
        }
        #expect(error?.code == .service(status: 422))
        #expect(photo.readLink == "Photos(2)")
        #expect(photo["Caption"] == .string("Berlin"))
        try await shop.service.updateEntity(photo)
        #expect(shop.transport.sandbox.stateText(of: ["Photos"]).contains("Berlin"))
    }

    @Test(arguments: Client.online)
    func `content that another client replaced is not overwritten`(_ client: Client) async throws {
        let shop = try await Shop(client)
        let photo = try await shop.first("Photos")
        shop.transport.direct("PUT", "/v4/Photos(1)/$value", "other")
        let error = await #expect(throws: TidelogError.self) {
            try await shop.service.uploadMedia(entity: photo, content: MediaContent([9], mediaType: "image/png"))
        }
        #expect(error?.code == .service(status: 412))
        try await shop.service.loadEntity(photo)
        try await shop.service.uploadMedia(entity: photo, content: MediaContent([9], mediaType: "image/png"))
        try await shop.service.uploadMedia(entity: photo, content: MediaContent([8], mediaType: "image/png"))
        #expect(try await shop.service.downloadMedia(entity: photo)?.bytes() == [8])
    }

    @Test(arguments: Client.online)
    func `a media entity is deleted with its content`(_ client: Client) async throws {
        let shop = try await Shop(client)
        try await shop.service.deleteMedia(entity: try await shop.first("Photos"))
        #expect(try await shop.fetch("Photos").isEmpty)
    }

    @Test(arguments: Client.online)
    func `without a store no content is local`(_ client: Client) async throws {
        let shop = try await Shop(client)
        let photo = try await shop.first("Photos")
        try await shop.service.downloadMedia(entity: photo)
        #expect(try await shop.service.isMediaLocal(entity: photo) == false)
        #expect(try await shop.service.localMedia(entity: photo) == nil)
    }

    @Test func `the file of downloaded content is removed with the last copy of the value`() async throws {
        let shop = try await Shop(Client(dialect: .v4, isOnline: true))
        var content = try await shop.service.downloadMedia(entity: try await shop.first("Photos"))
        let path = try #require(content?.path)
        #expect(FileManager.default.fileExists(atPath: path))
        content = nil
        #expect(!FileManager.default.fileExists(atPath: path))
    }

    @Test(arguments: Client.online)
    func `a type without streams is refused before anything is sent`(_ client: Client) async throws {
        let shop = try await Shop(client)
        let customer = try await shop.one("Customers", 1)
        let content = MediaContent([1], mediaType: "image/png")
        shop.transport.forgetRequests()
        try await shop.expectRefusal(.invalidRequest) {
            try await shop.service.createMedia(try shop.new("Customers"), content: content)
        }
        try await shop.expectRefusal(.invalidRequest) {
            try await shop.service.uploadMedia(entity: customer, content: content)
        }
        #expect(shop.transport.requests.isEmpty)
    }

    @Test(arguments: Client.online)
    func `headers of a call are sent with its requests`(_ client: Client) async throws {
        let shop = try await Shop(client)
        let photo = try await shop.first("Photos")
        shop.transport.forgetRequests()
        try await shop.service.downloadMedia(entity: photo, headers: ["X-Trace": "7"])
        #expect(shop.transport.requests.map { $0.headers["X-Trace"] } == ["7"])
    }
}
