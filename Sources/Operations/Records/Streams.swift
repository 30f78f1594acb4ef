/// The content of a stream as stored in records: its size, its media type, and the digest that is the name of its
/// file next to the log.
public struct StreamContent: Sendable, Hashable {
    public var digest: StreamDigest
    public var byteCount: UInt64
    /// The media type, as in the Content-Type header: `image/jpeg`.
    public var mediaType: String
    /// A name from which the service can derive a URL, sent as `Slug` (RFC 5023, section 9.7) when a media entity is
    /// created.
    public var name: String?

    public init(digest: StreamDigest, byteCount: UInt64, mediaType: String, name: String? = nil) {
        self.digest = digest
        self.byteCount = byteCount
        self.mediaType = mediaType
        self.name = name
    }
}

/// The SHA-256 of a stream's bytes.
public struct StreamDigest: Sendable, Hashable, CustomStringConvertible {
    public static let length = 32

    public let bytes: [UInt8]

    /// Creates a digest, or returns `nil` if there are not exactly ``length`` bytes.
    public init?(_ bytes: [UInt8]) {
        guard bytes.count == Self.length else { return nil }
        self.bytes = bytes
    }

    /// 64 hexadecimal digits in lower case: the name of the file.
    public var description: String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}

/// The content that an operation writes into a stream of the entity that it creates or updates, instead of into its
/// properties.
public struct StreamWrite: Sendable, Hashable {
    /// The stream property; `nil` for the stream of a media entity.
    public var property: String?
    /// The content; `nil` to delete it, which is possible for stream properties only (OData 4.01 Part 1, 11.4.8.2).
    public var content: StreamContent?

    public init(property: String? = nil, content: StreamContent?) {
        self.property = property
        self.content = content
    }
}

/// A stream of an entity in the store: the content as downloaded, or as confirmed by the service after an upload.
public struct StreamImage: Sendable, Hashable {
    public var entity: EntityID
    /// The stream property; `nil` for the stream of a media entity.
    public var property: String?
    /// The content; `nil` if the store has no copy any more.
    public var content: StreamContent?
    /// The stream's own ETag, which differs from the entity's; `nil` if the service has returned none.
    public var etag: String?
    /// The service's metadata of the stream when it last returned the entity. An image without it keeps the previous
    /// metadata.
    public var told: Told?

    public init(
        entity: EntityID, property: String? = nil, content: StreamContent?, etag: String? = nil, told: Told? = nil
    ) {
        self.entity = entity
        self.property = property
        self.content = content
        self.etag = etag
        self.told = told
    }

    /// The metadata of a stream in a representation of its entity (OData JSON 4.01, 4.6.14; `__metadata` in V2).
    public struct Told: Sendable, Hashable {
        /// The URL for reading, or `nil` if it follows from the entity's URL. Relative to the service root if it is
        /// below it. The same applies to `editLink`.
        public var readLink: String?
        public var editLink: String?
        /// The ETag of the content that the service had then.
        public var etag: String?

        public init(readLink: String? = nil, editLink: String? = nil, etag: String? = nil) {
            self.readLink = readLink
            self.editLink = editLink
            self.etag = etag
        }

        /// Whether it contains no metadata.
        public var isEmpty: Bool { self == Told() }
    }
}
