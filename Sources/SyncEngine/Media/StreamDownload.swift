import ODataWire
package import OfflineStore
import Operations

/// Downloads a stream into the store.
struct StreamDownload {
    let store: LocalStore
    let session: ServiceSession

    /// Downloads directly into a file, unless the service confirms that the stored version is current.
    ///
    /// - Returns: Nil if the service has no content for the stream.
    func run(_ id: EntityID, property: String?) async throws(TidelogError) -> LocalStream? {
        let source = try await store.media.streamSource(id, property: property)
        let files = try store.media.files()
        var headers: HTTPHeaders = ["Accept": "*/*"]
        // Only if the file exists; otherwise it is downloaded again.
        if let known = source.known, let content = known.content, files.holds(content) {
            headers["If-None-Match"] = known.etag
        }
        let streamed = try await session.stream(source.url, headers: headers, isMedia: true)
        let response = streamed.response
        if response.status == 304, let content = source.known?.content {
            return try store.media.localStream(content, isPending: false)
        }
        if response.status == 204 {
            let image = StreamImage(entity: source.entity, property: property, content: nil)
            return try await store.media.logStream(image, inPlaceOf: source.known)
        }
        try response.requireSuccess("GET", source.url)
        let writer = try StreamFileWriter(files, number: store.environment.random())
        let content = try await writer.finish(streamed, source.url)
        let image = StreamImage(
            entity: source.entity, property: property, content: content,
            // An ETag that was reported before the download is not newer than the content.
            etag: response.headers["ETag"] ?? source.known?.reported?.etag)
        return try await store.media.logStream(image, inPlaceOf: source.known)
    }
}

extension StreamFileWriter {
    /// Writes the body of a response, and finishes the file.
    func finish(_ streamed: StreamedResponse, _ url: String) async throws(TidelogError) -> StreamContent {
        try await copy(streamed.body)
        try Self.checkLength(of: streamed.response, count, url)
        return try finish(mediaType: streamed.response.headers["Content-Type"] ?? "application/octet-stream")
    }

    private func copy(_ body: StreamedBody) async throws(TidelogError) {
        while true {
            guard let chunk = try await body.next() else { return }
            try append(chunk)
        }
    }

    /// Checks the length, because a transport supplied by the app may not detect a broken connection.
    private static func checkLength(
        of response: WireResponse, _ count: UInt64, _ url: String
    ) throws(TidelogError) {
        // For an encoded body, Content-Length is the encoded length.
        guard response.headers["Content-Encoding"] == nil, let text = response.headers["Content-Length"],
            let length = UInt64(text), length != count
        else { return }
        throw TidelogError(
            .unreachable, "The stream ended after \(count) of \(length) bytes.", place: "GET \(url)",
            recovery: "Download the stream again.")
    }
}

extension SyncEngine {
    /// Downloads a stream of an entity into the store.
    ///
    /// - Parameter property: The stream property, or nil for the stream of a media entity.
    /// - Returns: The stream, or nil if the service has no content for it.
    package func downloadStream(
        _ address: EntityAddress, property: String? = nil
    ) async throws(TidelogError) -> LocalStream? {
        let id = try await store.media.entityID(address)
        return try await StreamDownload(store: store, session: session).run(id, property: property)
    }
}
