#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

import SyncEngine

/// The bytes that an app writes into a stream: they are copied into the store, chunk by chunk.
public struct MediaContent: Sendable {
    /// As in the Content-Type header: `image/jpeg`.
    public let mediaType: String
    /// A name from which the service may make an address or a caption when a media entity is created (`Slug`).
    public let name: String?
    let feed: @Sendable (_ take: ([UInt8]) throws -> Void) async throws -> Void

    public init(_ bytes: [UInt8], mediaType: String, name: String? = nil) {
        self.init(mediaType: mediaType, name: name) { take in try take(bytes) }
    }

    /// - Parameter file: is read when the content is written, and may go then.
    public init(file: URL, mediaType: String, name: String? = nil) {
        self.init(mediaType: mediaType, name: name ?? file.lastPathComponent) { take in
            try LocalStore.copyFile(file.path, to: take)
        }
    }

    /// - Parameter chunks: of any size, read once.
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
