#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

import OfflineStore

/// The bytes that an app writes into a stream. They are copied into the store in chunks.
public struct MediaContent: Sendable {
    /// The media type, as in the Content-Type header: `image/jpeg`.
    public let mediaType: String
    /// A name from which the service can derive a URL or title when it creates a media entity (`Slug`).
    public let name: String?
    let feed: @Sendable (_ take: ([UInt8]) throws -> Void) async throws -> Void

    /// Creates content from bytes in memory.
    public init(_ bytes: [UInt8], mediaType: String, name: String? = nil) {
        self.init(mediaType: mediaType, name: name) { take in try take(bytes) }
    }

    /// Creates content from a file.
    ///
    /// - Parameter file: the file, which is read when the content is written and can be deleted after that.
    public init(file: URL, mediaType: String, name: String? = nil) {
        self.init(mediaType: mediaType, name: name ?? file.lastPathComponent) { take in
            try StoreMedia.copyFile(file.path, to: take)
        }
    }

    /// Creates content from a sequence of chunks.
    ///
    /// - Parameter chunks: chunks of any size. The sequence is read once.
    public init<Chunks: AsyncSequence & Sendable>(
        _ chunks: Chunks, mediaType: String, name: String? = nil
    ) where Chunks.Element == [UInt8] {
        self.init(mediaType: mediaType, name: name) { take in
            for try await chunk in chunks { try take(chunk) }
        }
    }

    private init(
        mediaType: String, name: String?,
        feed: @escaping @Sendable (_ take: ([UInt8]) throws -> Void) async throws -> Void
    ) {
        self.mediaType = mediaType
        self.name = name
        self.feed = feed
    }
}
