/// The bytes of a stream as records know them: how many, of which type, and the digest by which the file beside the log is
/// named that holds them.
public struct StreamContent: Sendable, Hashable {
    public var digest: StreamDigest
    public var byteCount: UInt64
    /// As in the Content-Type header: `image/jpeg`.
    public var mediaType: String
    /// A name for the service to make an address of, sent as `Slug` (RFC 5023, section 9.7) when a media entity is created.
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

    /// Nil unless there are ``length`` bytes.
    public init?(_ bytes: [UInt8]) {
        guard bytes.count == Self.length else { return nil }
        self.bytes = bytes
    }

    /// 64 hexadecimal digits in lower case: the name of the file.
    public var description: String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}

/// What an operation writes into a stream of the entity that it creates or updates, instead of into its properties.
public struct StreamWrite: Sendable, Hashable {
    /// The stream property; nil for the stream of a media entity.
    public var property: String?
    /// Nil to delete it, which is possible for stream properties only (OData 4.01 Part 1, 11.4.8.2).
    public var content: StreamContent?

    public init(property: String? = nil, content: StreamContent?) {
        self.property = property
        self.content = content
    }
}

/// A stream of an entity as it lies in the store: what the service held when it was downloaded, or when it took it from us.
public struct StreamImage: Sendable, Hashable {
    public var entity: EntityID
    /// The stream property; nil for the stream of a media entity.
    public var property: String?
    /// Nil where there is no copy in the store any more.
    public var content: StreamContent?
    /// The stream's own ETag, which is another one than the entity's; nil where the service has told none.
    public var etag: String?
    /// What the service said of the stream when it last showed the entity. An image without it leaves what was said before.
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

    /// What a representation of an entity says of one of its streams (OData JSON 4.01, 4.6.14; `__metadata` in V2).
    public struct Told: Sendable, Hashable {
        /// Where it is read and written, where that does not follow from the entity's URL. Below the service's root relative
        /// to it.
        public var readLink: String?
        public var editLink: String?
        /// Of the content that the service had then.
        public var etag: String?

        public init(readLink: String? = nil, editLink: String? = nil, etag: String? = nil) {
            self.readLink = readLink
            self.editLink = editLink
            self.etag = etag
        }

        /// Whether it says nothing.
        public var isEmpty: Bool { self == Told() }
    }
}
