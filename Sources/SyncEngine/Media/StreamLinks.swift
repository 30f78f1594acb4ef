package import ODataWire

/// The addresses of a stream, as a service returned them with the entity.
public struct StreamLinks: Sendable, Hashable {
    /// The stream property, or nil for the stream of a media entity.
    public var property: String?
    /// The URL for reading; nil if it follows from the entity's URL. The same applies to ``editLink``.
    public var readLink: String?
    public var editLink: String?
    /// The ETag of the content, which differs from the entity's.
    public var etag: String?

    public init(property: String? = nil, readLink: String? = nil, editLink: String? = nil, etag: String? = nil) {
        self.property = property
        self.readLink = readLink
        self.editLink = editLink
        self.etag = etag
    }

    /// Returns the addresses of all streams that the payload of an entity contains.
    package static func all(in payload: EntityPayload) -> [StreamLinks] {
        let media = StreamLinks(
            readLink: payload.mediaReadLink, editLink: payload.mediaEditLink, etag: payload.mediaETag)
        let named = payload.namedStreams.map {
            StreamLinks(property: $0.property, readLink: $0.readLink, editLink: $0.editLink, etag: $0.etag)
        }
        return (media == StreamLinks() ? [] : [media]) + named
    }
}

/// A stream of an entity: its media stream, or a stream property.
public struct StreamAddress: Sendable, Hashable {
    public var entity: EntityAddress
    /// The stream property, or nil for the stream of a media entity.
    public var property: String?
    /// The addresses that the service returned with the entity, if any. A store ignores them and uses its own.
    public var links: StreamLinks?

    public init(_ entity: EntityAddress, property: String? = nil, links: StreamLinks? = nil) {
        self.entity = entity
        self.property = property
        self.links = links
    }
}
