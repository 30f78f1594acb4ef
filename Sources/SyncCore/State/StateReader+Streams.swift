package import Operations

extension StateReader {
    /// Returns the service's content of the stream, if the store contains it.
    package func stream(_ property: String?, of id: EntityID) throws(StateError) -> StreamImage? {
        try bookkeeping.streams(of: id).first { $0.property == property }
    }

    /// Returns the current content of the stream: from the last pending operation on it, or else from the service. Nil
    /// if the store does not contain it, or it was deleted.
    package func localStream(
        _ property: String?, of id: EntityID
    ) throws(StateError) -> (content: StreamContent, isPending: Bool)? {
        for sequence in try pendingOperations(naming: id).reversed() {
            guard let operation = try pendingOperation(sequence)?.operation, operation.subject == id,
                let stream = operation.stream, stream.property == property
            else { continue }
            return stream.content.map { ($0, true) }
        }
        return try stream(property, of: id)?.content.map { ($0, false) }
    }
}

extension WorkingSet {
    /// Replaces the stored image of the stream. Metadata that the service sent before is kept unless the image contains
    /// new metadata. Images of unregistered entities are ignored.
    func putStream(_ image: StreamImage) throws(StateError) {
        guard try set(of: image.entity) != nil else { return }
        var image = image
        var streams = try bookkeeping.streams(of: image.entity)
        if let place = streams.firstIndex(where: { $0.property == image.property }) {
            let known = streams.remove(at: place)
            image.reported = image.reported ?? known.reported
        }
        if image.reported?.isEmpty == true { image.reported = nil }
        if image.content != nil || image.etag != nil || image.reported != nil { streams.append(image) }
        streams.sort { ($0.property ?? "").utf8.lexicographicallyPrecedes(($1.property ?? "").utf8) }
        try bookkeeping.putStreams(streams, of: image.entity)
    }
}
