package import ODataWire
package import SyncCore

/// The addresses of a stream, as a service returned them with the entity.
package struct StreamLinks: Sendable, Hashable {
    /// The stream property, or nil for the stream of a media entity.
    package var property: String?
    /// The URL for reading; nil if it follows from the entity's URL. The same applies to ``editLink``.
    package var readLink: String?
    package var editLink: String?
    /// The ETag of the content, which differs from the entity's.
    package var etag: String?

    package init(property: String? = nil, readLink: String? = nil, editLink: String? = nil, etag: String? = nil) {
        self.property = property
        self.readLink = readLink
        self.editLink = editLink
        self.etag = etag
    }

    /// Returns the addresses relative to the service root. Links to which no request can be sent, and edit links of
    /// other origins, are omitted.
    package func resolved(by links: EntityLinks) -> StreamLinks {
        var resolved = self
        resolved.readLink = readLink.flatMap { link in
            let url = links.relative(links.absolute(link))
            let scheme = url.prefix(8).lowercased()
            let isRequestable =
                EntityLinks.isAddress(url) || scheme.hasPrefix("http://") || scheme.hasPrefix("https://")
            return isRequestable && !url.isEmpty ? url : nil
        }
        resolved.editLink = editLink.flatMap { link in
            let url = links.relative(links.absolute(link))
            return links.isOfOrigin(url) && !url.isEmpty ? url : nil
        }
        return resolved
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
package struct StreamAddress: Sendable, Hashable {
    package var entity: EntityAddress
    /// The stream property, or nil for the stream of a media entity.
    package var property: String?
    /// The addresses that the service returned with the entity, if any. A store ignores them and uses its own.
    package var links: StreamLinks?

    package init(_ entity: EntityAddress, property: String? = nil, links: StreamLinks? = nil) {
        self.entity = entity
        self.property = property
        self.links = links
    }
}
