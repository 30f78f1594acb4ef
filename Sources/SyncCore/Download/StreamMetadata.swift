import EDM
import ODataQuery
import ODataWire
import Operations

/// Converts the stream metadata of a payload.
struct StreamMetadata {
    let links: EntityLinks

    /// Returns the changed stream metadata of the payload. Metadata that the payload omits are removed, so that an old
    /// ETag is not mistaken for the current one.
    ///
    /// - Parameter known: The stored metadata of the entity.
    func changes(
        of payload: EntityPayload, _ id: EntityID, _ type: EntityType, _ set: EntitySet, known: [StreamImage]
    ) -> [StreamImage] {
        var streams: [StreamImage] = []
        func add(_ property: String?, _ reported: StreamImage.ReportedMetadata) {
            let known = known.first { $0.property == property }
            guard reported != known?.reported ?? StreamImage.ReportedMetadata() else { return }
            streams.append(
                StreamImage(
                    entity: id, property: property, content: known?.content, etag: known?.etag, reported: reported))
        }
        let key = KeyPredicate(of: type, in: payload.values)
        if type.hasStream {
            add(
                nil,
                StreamImage.ReportedMetadata(
                    readLink: readAddress(payload.mediaReadLink, "$value", set, key),
                    editLink: editAddress(payload.mediaEditLink, "$value", set, key), etag: payload.mediaETag))
        }
        for stream in payload.namedStreams where type.findProperty(stream.property)?.type.primitive == .stream {
            add(
                stream.property,
                StreamImage.ReportedMetadata(
                    readLink: readAddress(stream.readLink, stream.property, set, key),
                    editLink: editAddress(stream.editLink, stream.property, set, key), etag: stream.etag))
        }
        return streams
    }

    /// Returns the read URL of a stream. It may point to another origin, which receives no credentials.
    private func readAddress(_ link: String?, _ end: String, _ set: EntitySet, _ key: KeyPredicate?) -> String? {
        guard let link = unconventional(link, end, set, key) else { return nil }
        let scheme = link.prefix(8).lowercased()
        let isRequestable = EntityLinks.isAddress(link) || scheme.hasPrefix("http://") || scheme.hasPrefix("https://")
        return isRequestable ? link : nil
    }

    /// Returns the edit URL of a stream. The app's content is sent to the service's origin only.
    private func editAddress(_ link: String?, _ end: String, _ set: EntitySet, _ key: KeyPredicate?) -> String? {
        guard let link = unconventional(link, end, set, key), links.isOfOrigin(link) else { return nil }
        return link
    }

    private func unconventional(_ link: String?, _ end: String, _ set: EntitySet, _ key: KeyPredicate?) -> String? {
        guard let link, !link.isEmpty else { return nil }
        if let key, link.hasSuffix("/\(end)"), links.isConventional(String(link.dropLast(end.utf8.count + 1)), set, key)
        {
            return nil
        }
        return links.relative(links.absolute(link))
    }
}
