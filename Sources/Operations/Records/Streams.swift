/// The content of a stream as stored in records: its size, its media type, and the digest that is the name of its
/// file next to the log.
package struct StreamContent: Sendable, Hashable {
    package var digest: StreamDigest
    package var byteCount: UInt64
    /// The media type, as in the Content-Type header: `image/jpeg`.
    package var mediaType: String
    /// A name from which the service can derive a URL, sent as `Slug` (RFC 5023, section 9.7) when a media entity is
    /// created.
    package var name: String?

    package init(digest: StreamDigest, byteCount: UInt64, mediaType: String, name: String? = nil) {
        self.digest = digest
        self.byteCount = byteCount
        self.mediaType = mediaType
        self.name = name
    }
}

/// The SHA-256 of a stream's bytes.
package struct StreamDigest: Sendable, Hashable, CustomStringConvertible {
    package static let length = 32

    package let bytes: [UInt8]

    /// Creates a digest, or returns `nil` if there are not exactly ``length`` bytes.
    package init?(_ bytes: [UInt8]) {
        guard bytes.count == Self.length else { return nil }
        self.bytes = bytes
    }

    /// 64 hexadecimal digits in lower case: the name of the file.
    package var description: String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}

/// The content that an operation writes into a stream of the entity that it creates or updates, instead of into its
/// properties.
package struct StreamWrite: Sendable, Hashable {
    /// The stream property; `nil` for the stream of a media entity.
    package var property: String?
    /// The content; `nil` to delete it, which is possible for stream properties only (OData 4.01 Part 1, 11.4.8.2).
    package var content: StreamContent?

    package init(property: String? = nil, content: StreamContent?) {
        self.property = property
        self.content = content
    }
}

/// A stream of an entity in the store: the content as downloaded, or as confirmed by the service after an upload.
package struct StreamImage: Sendable, Hashable {
    package var entity: EntityID
    /// The stream property; `nil` for the stream of a media entity.
    package var property: String?
    /// The content; `nil` if the store has no copy any more.
    package var content: StreamContent?
    /// The stream's own ETag, which differs from the entity's; `nil` if the service has returned none.
    package var etag: String?
    /// The service's metadata of the stream when it last returned the entity. An image without it keeps the previous
    /// metadata.
    package var reported: ReportedMetadata?

    package init(
        entity: EntityID, property: String? = nil, content: StreamContent?, etag: String? = nil,
        reported: ReportedMetadata? = nil
    ) {
        self.entity = entity
        self.property = property
        self.content = content
        self.etag = etag
        self.reported = reported
    }

    /// The metadata of a stream in a representation of its entity (OData JSON 4.01, 4.6.14; `__metadata` in V2).
    package struct ReportedMetadata: Sendable, Hashable {
        /// The URL for reading, or `nil` if it follows from the entity's URL. Relative to the service root if it is
        /// below it. The same applies to `editLink`.
        package var readLink: String?
        package var editLink: String?
        /// The ETag of the content that the service had then.
        package var etag: String?

        package init(readLink: String? = nil, editLink: String? = nil, etag: String? = nil) {
            self.readLink = readLink
            self.editLink = editLink
            self.etag = etag
        }

        /// Whether it contains no metadata.
        package var isEmpty: Bool { self == ReportedMetadata() }
    }
}
