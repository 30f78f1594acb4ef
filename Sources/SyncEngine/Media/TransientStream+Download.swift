package import ODataWire
package import OfflineStore
import Operations

extension TransientStream {
    /// Downloads a stream.
    ///
    /// - Returns: The content, or nil if the service has none.
    package static func downloaded(
        in directory: String, from url: String, headers: HTTPHeaders, _ session: ServiceSession
    ) async throws(TidelogError) -> LocalStream? {
        var all: HTTPHeaders = ["Accept": "*/*"]
        all.merge(headers)
        let streamed = try await session.stream(url, headers: all, isMedia: true)
        if streamed.response.status == 204 { return nil }
        try streamed.response.requireSuccess("GET", url)
        let stream = TransientStream(in: directory)
        let content = try await StreamFileWriter(stream.files, number: 0).finish(streamed, url)
        return stream.local(content, isPending: false)
    }
}

extension ServiceSession {
    /// Sends a request that may modify data, whose body is the content of a stream.
    package func modify(_ request: WireRequest, stream: LocalStream) async throws(TidelogError) -> WireResponse {
        try await modify(request, content: stream.requestContent)
    }
}
