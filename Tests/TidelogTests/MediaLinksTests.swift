import EDM
import Foundation
import HTTPTypes
import Synchronization
import TestSupport
import Testing
import Tidelog
import Transport

/// Media streams whose URLs and ETags the service returns with the entities.
///
/// Features: ST-07.
struct MediaLinksTests {
    /// A service with one photo and its thumbnail, which stores its streams at other URLs than those of the standard.
    private final class Gallery: HTTPTransport {
        struct Stream {
            var bytes: [UInt8]
            var version = 1
            var etag: String { "\"\(bytes.count).\(version)\"" }
        }

        struct State {
            var photo = Stream(bytes: [1, 2, 3])
            var thumbnail: Stream? = Stream(bytes: [4])
            var created: [[UInt8]] = []
            /// Whether the photo's representation contains an ETag of its stream.
            var tellsETag = true
            var requests: [String] = []
        }

        let state = Mutex(State())

        static let metadata = """
            <edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx"><edmx:DataServices>
            <Schema Namespace="G" xmlns="http://docs.oasis-open.org/odata/ns/edm">
            <EntityType Name="Album"><Key><PropertyRef Name="ID"/></Key>
            <Property Name="ID" Type="Edm.Int32" Nullable="false"/>
            <NavigationProperty Name="Photos" Type="Collection(G.Photo)" Partner="Album"/></EntityType>
            <EntityType Name="Photo" HasStream="true"><Key><PropertyRef Name="ID"/></Key>
            <Property Name="ID" Type="Edm.Int32" Nullable="false"/>
            <Property Name="Thumbnail" Type="Edm.Stream"/>
            <NavigationProperty Name="Album" Type="G.Album" Partner="Photos"/></EntityType>
            <EntityContainer Name="C">
            <EntitySet Name="Albums" EntityType="G.Album"><NavigationPropertyBinding Path="Photos" Target="Photos"/></EntitySet>
            <EntitySet Name="Photos" EntityType="G.Photo"><NavigationPropertyBinding Path="Album" Target="Albums"/></EntitySet>
            </EntityContainer></Schema></edmx:DataServices></edmx:Edmx>
            """

        func send(
            _ request: HTTPRequest, body: [UInt8]
        ) async throws(TransportError) -> (response: HTTPResponse, body: [UInt8]) {
            state.withLock { state in
                let address = "\(request.authority ?? "")\(request.path ?? "")"
                state.requests.append("\(request.method.rawValue) \(address)")
                return Self.answer(request, address, body, &state)
            }
        }

        private static func answer(
            _ request: HTTPRequest, _ address: String, _ body: [UInt8], _ state: inout State
        ) -> (HTTPResponse, [UInt8]) {
            func answer(_ status: Int, _ text: String = "", etag: String? = nil) -> (HTTPResponse, [UInt8]) {
                var response = HTTPResponse(status: .init(code: status))
                response.headerFields[.eTag] = etag
                return (response, Array(text.utf8))
            }
            func stream(_ stream: Stream?) -> (HTTPResponse, [UInt8]) {
                guard let stream else { return answer(204) }
                let isKnown = request.headerFields[.ifNoneMatch] == stream.etag
                let (response, _) = answer(isKnown ? 304 : 200, etag: stream.etag)
                return (response, isKnown ? [] : stream.bytes)
            }
            func replace(_ stream: inout Stream?) -> (HTTPResponse, [UInt8]) {
                if let wanted = request.headerFields[.ifMatch], wanted != stream?.etag { return answer(412) }
                stream = Stream(bytes: body, version: (stream?.version ?? 0) + 1)
                return answer(204, etag: stream?.etag)
            }
            switch (request.method, address) {
            case (.get, "gallery.test/v4/$metadata"): return answer(200, metadata)
            case (.get, "gallery.test/v4/Albums"):
                return answer(200, #"{"@odata.context":"$metadata#Albums","value":[{"ID":1}]}"#)
            case (.get, "gallery.test/v4/Photos"): return answer(200, photos(state))
            case (.get, "gallery.test/v4/media/1"): return stream(state.photo)
            case (.get, "cdn.test/thumbnails/1"): return stream(state.thumbnail)
            case (.put, "gallery.test/edit/1"):
                var photo: Stream? = state.photo
                defer { state.photo = photo ?? state.photo }
                return replace(&photo)
            case (.put, "gallery.test/v4/edit/1/thumbnail"): return replace(&state.thumbnail)
            case (.delete, "gallery.test/v4/edit/1/thumbnail"):
                state.thumbnail = nil
                return answer(204)
            case (.post, "gallery.test/v4/Albums(1)/Photos"):
                state.created.append(body)
                return answer(201, #"{"@odata.context":"$metadata#Photos/$entity","ID":2}"#)
            default: return answer(404)
            }
        }

        private static func photos(_ state: State) -> String {
            let etag = state.tellsETag ? ",\"@odata.mediaEtag\":\(JSONText(state.photo.etag))" : ""
            let created = state.created.isEmpty ? "" : ",{\"ID\":2}"
            return """
                {"@odata.context":"$metadata#Photos","value":[{"ID":1,
                "@odata.mediaReadLink":"http://gallery.test/v4/media/1","@odata.mediaEditLink":"/edit/1"\(etag),
                "Thumbnail@odata.mediaReadLink":"http://cdn.test/thumbnails/1",
                "Thumbnail@mediaEditLink":"edit/1/thumbnail","Thumbnail@odata.mediaContentType":"image/gif"}\(created)]}
                """
        }

        private static func JSONText(_ text: String) -> String { "\"" + text.replacing("\"", with: "\\\"") + "\"" }

        /// Returns the requests since the last call.
        func takeRequests() -> [String] {
            state.withLock { state in
                defer { state.requests = [] }
                return state.requests
            }
        }
    }

    private let gallery = Gallery()
    private let directory: TemporaryDirectory
    private let store: OfflineODataProvider
    private let service: DataService

    init() async throws {
        directory = try TemporaryDirectory()
        store = OfflineODataProvider(
            serviceRoot: "http://gallery.test/v4/",
            parameters: OfflineODataParameters(storePath: directory.path, transport: gallery))
        try await store.add(definingQuery: OfflineODataDefiningQuery(name: "Albums", query: "/Albums"))
        try await store.add(
            definingQuery: OfflineODataDefiningQuery(
                name: "Photos", query: "/Photos", automaticallyRetrievesStreams: true))
        try await store.open()
        try await store.download()
        service = DataService(provider: store)
    }

    private func one(_ set: String) async throws -> EntityValue {
        try #require(
            try await service.executeQuery(DataQuery().from(try service.entitySet(withName: set))).entityList().first)
    }

    private func bytes(_ stream: LocalStream?) throws -> [UInt8] {
        [UInt8](try Data(contentsOf: URL(fileURLWithPath: try #require(stream).path)))
    }

    @Test func `streams are read and written at the URLs that the service returns`() async throws {
        let photo = try await one("Photos")
        let thumbnail = try service.property(photo, "Thumbnail")
        #expect(try bytes(try await service.localMedia(entity: photo)) == [1, 2, 3])
        #expect(try bytes(try await service.downloadStream(entity: photo, property: thumbnail)) == [4])
        let requests = gallery.takeRequests()
        #expect(requests.contains("GET gallery.test/v4/media/1"))
        #expect(requests.contains("GET cdn.test/thumbnails/1"))

        try await service.uploadMedia(entity: photo, content: MediaContent([5, 6], mediaType: "image/png"))
        try await service.uploadStream(
            entity: photo, property: thumbnail, content: MediaContent([7], mediaType: "image/png"))
        #expect(try await store.upload().confirmed.count == 2)
        #expect(gallery.takeRequests() == ["PUT gallery.test/edit/1", "PUT gallery.test/v4/edit/1/thumbnail"])
        #expect(gallery.state.withLock { $0.photo.bytes } == [5, 6])
        #expect(gallery.state.withLock { $0.thumbnail?.bytes } == [7])
        // The responses to these uploads contain no URLs.
        try await service.uploadMedia(entity: photo, content: MediaContent([8], mediaType: "image/png"))
        #expect(try await store.upload().confirmed.count == 1)
        #expect(gallery.takeRequests() == ["PUT gallery.test/edit/1"])
    }

    @Test func `the content of a stream property can be deleted`() async throws {
        let photo = try await one("Photos")
        let thumbnail = try service.property(photo, "Thumbnail")
        try await service.downloadStream(entity: photo, property: thumbnail)
        try await service.deleteStream(entity: photo, property: thumbnail)
        #expect(try await service.localStream(entity: photo, property: thumbnail) == nil)
        _ = gallery.takeRequests()
        #expect(try await store.upload().confirmed.count == 1)
        #expect(gallery.takeRequests() == ["DELETE gallery.test/v4/edit/1/thumbnail"])
        #expect(gallery.state.withLock { $0.thumbnail } == nil)
        #expect(try await service.downloadStream(entity: photo, property: thumbnail) == nil)
    }

    @Test func `a media entity is created in a collection of another entity`() async throws {
        let album = try await one("Albums")
        let photo = EntityValue(try service.entitySet(withName: "Photos").entityType)
        try await service.createRelatedMedia(
            photo, content: MediaContent([9, 9], mediaType: "image/png"), in: album,
            property: try service.property(album, "Photos"))
        #expect(try bytes(try await service.localMedia(entity: photo)) == [9, 9])
        _ = gallery.takeRequests()
        #expect(try await store.upload().confirmed.count == 1)
        #expect(gallery.takeRequests() == ["POST gallery.test/v4/Albums(1)/Photos"])
        #expect(gallery.state.withLock { $0.created } == [[9, 9]])
        try await service.loadEntity(photo)
        #expect(photo["ID"] == .integer(2))
    }

    @Test func `only streams whose ETag in the service's response has changed are read again`() async throws {
        _ = gallery.takeRequests()
        try await store.download()
        #expect(gallery.takeRequests() == ["GET gallery.test/v4/Albums", "GET gallery.test/v4/Photos"])
        gallery.state.withLock { $0.photo = Gallery.Stream(bytes: [1, 2, 4], version: 2) }
        try await store.download()
        #expect(gallery.takeRequests().last == "GET gallery.test/v4/media/1")
        let photo = try await one("Photos")
        #expect(try bytes(try await service.localMedia(entity: photo)) == [1, 2, 4])
        // If the service no longer returns the ETag, the stream is requested again.
        gallery.state.withLock { $0.tellsETag = false }
        try await store.download()
        #expect(gallery.takeRequests().last == "GET gallery.test/v4/media/1")
        try await store.download()
        #expect(gallery.takeRequests().last == "GET gallery.test/v4/media/1")
    }

    @Test func `the URLs and ETags of streams are in the log, and are restored with the views`() async throws {
        let photo = try await one("Photos")
        await store.close()
        try FileManager.default.removeItem(atPath: directory.path + "/views.sqlite")
        try await store.open()
        _ = gallery.takeRequests()
        try await store.download()
        #expect(!gallery.takeRequests().contains("GET gallery.test/v4/media/1"))
        try await service.uploadMedia(entity: photo, content: MediaContent([5, 6], mediaType: "image/png"))
        #expect(try await store.upload().confirmed.count == 1)
        #expect(gallery.takeRequests() == ["PUT gallery.test/edit/1"])
    }
}

extension DataService {
    fileprivate func property(_ entity: EntityValue, _ name: String) throws -> Property {
        try #require(entity.entityType.findProperty(name))
    }
}
