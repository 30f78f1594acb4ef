package import Operations

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
    package let files: StreamFiles

    /// - Parameter directory: An existing directory for temporary files.
    package init(in directory: String) {
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

    /// Returns the content of a file of the stream. The file is removed with the last one.
    package func local(_ content: StreamContent, isPending: Bool) -> LocalStream {
        LocalStream(content, at: files.place(of: content), isPending: isPending, owner: self)
    }
}
