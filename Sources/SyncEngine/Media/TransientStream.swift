package import ODataWire
import Operations

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#else
    import Musl
#endif

/// A stream in a temporary file, for a service without a store: content that is about to be sent, or that was
/// downloaded.
///
/// The file is removed with the last ``LocalStream`` that refers to it.
package final class TransientStream: Sendable {
    private let files: StreamFiles

    /// - Parameter directory: An existing directory for temporary files.
    private init(in directory: String) {
        let number = String(UInt64.random(in: .min ... .max), radix: 16)
        files = StreamFiles(directory: directory + "/tidelog-" + number)
    }

    deinit {
        files.removeAll(but: [StreamDigest]())
        rmdir(files.directory)
    }

    /// Writes the bytes of a stream that the app is about to send.
    ///
    /// - Parameter feed: A function that passes the bytes in chunks. An error that it throws becomes the cause of the
    ///   error thrown here.
    package static func written(
        in directory: String, mediaType: String, name: String?,
        _ feed: (_ take: ([UInt8]) throws -> Void) async throws -> Void
    ) async throws(TidelogError) -> LocalStream {
        let stream = TransientStream(in: directory)
        let writer = try StreamFileWriter(stream.files, number: 0)
        do {
            try await feed { try writer.append($0) }
        } catch {
            throw .unreadableContent(error)
        }
        return stream.local(try writer.finish(mediaType: mediaType, name: name), isPending: true)
    }

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
        try ServiceSession.check(streamed.response, "GET", url)
        let stream = TransientStream(in: directory)
        let content = try await StreamFileWriter(stream.files, number: 0).finish(streamed, url)
        return stream.local(content, isPending: false)
    }

    private func local(_ content: StreamContent, isPending: Bool) -> LocalStream {
        LocalStream(content, at: files.place(of: content), isPending: isPending, owner: self)
    }
}

extension ServiceSession {
    /// Sends a request that may modify data, whose body is the content of a stream.
    package func modify(_ request: WireRequest, stream: LocalStream) async throws(TidelogError) -> WireResponse {
        try await modify(request, content: stream.requestContent)
    }
}
