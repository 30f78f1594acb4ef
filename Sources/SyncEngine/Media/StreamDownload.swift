import ODataWire
import Operations

/// Reads a stream from the service into the store.
struct StreamDownload {
    let store: LocalStore
    let session: ServiceSession

    /// Straight into a file; nothing is read where the service says that the store has it already. Nil where the service holds
    /// no content for the stream.
    func run(_ id: EntityID, property: String?) async throws(TidelogError) -> LocalStream? {
        let source = try await store.streamSource(id, property: property)
        let files = try await store.streamFiles()
        var headers: HTTPHeaders = ["Accept": "*/*"]
        // Only where the file is there: otherwise it is read again.
        if let known = source.known, let content = known.content, files.holds(content) {
            headers["If-None-Match"] = known.etag
        }
        let streamed = try await session.stream(source.url, headers: headers, isMedia: true)
        let response = streamed.response
        if response.status == 304, let content = source.known?.content {
            return try await store.localStream(content, isPending: false)
        }
        if response.status == 204 {
            let image = StreamImage(entity: source.entity, property: property, content: nil)
            return try await store.keep(image, inPlaceOf: source.known)
        }
        try ServiceSession.check(response, "GET", source.url)
        let writer = try StreamFileWriter(files, number: store.environment.random())
        try await copy(streamed.body, to: writer)
        try StreamDownload.checkLength(of: response, writer.count, source.url)
        let content = try writer.finish(mediaType: response.headers["Content-Type"] ?? "application/octet-stream")
        let image = StreamImage(
            entity: source.entity, property: property, content: content,
            // What was told before the content came is not newer than it.
            etag: response.headers["ETag"] ?? source.known?.told?.etag)
        return try await store.keep(image, inPlaceOf: source.known)
    }

    @inline(never) @_optimize(none)
    private func copy(_ body: StreamedBody, to writer: StreamFileWriter) async throws(TidelogError) {
        while true {
            guard let chunk = try await body.next() else { return }
            try writer.append(chunk)
        }
    }

    /// A transport that an app brings may not notice that a body breaks off.
    private static func checkLength(
        of response: WireResponse, _ count: UInt64, _ url: String
    ) throws(TidelogError) {
        // Of an encoded body it is the length of the encoded form.
        guard response.headers["Content-Encoding"] == nil, let text = response.headers["Content-Length"],
            let length = UInt64(text), length != count
        else { return }
        throw TidelogError(
            .unreachable, "The stream ended after \(count) of \(length) bytes.", place: "GET \(url)",
            recovery: "Download it again.")
    }
}

extension SyncEngine {
    /// Reads a stream of an entity into the store, and returns it; nil where the service holds none.
    ///
    /// - Parameter property: the stream property; nil for the stream of a media entity.
    public func downloadStream(
        _ address: EntityAddress, property: String? = nil
    ) async throws(TidelogError) -> LocalStream? {
        let id = try await store.entityID(address)
        return try await StreamDownload(store: store, session: session).run(id, property: property)
    }
}
