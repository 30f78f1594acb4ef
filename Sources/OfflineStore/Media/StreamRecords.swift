import Operations
import SyncCore
import Views

/// Records of streams other than the operations that write them.
package struct StreamRecords {
    let core: StoreCore

    /// Logs stream metadata of the service, after the record with their entities.
    ///
    /// - Parameter sent: Media entities whose content was part of the answered request. The ETag belongs to that
    ///   content.
    func add(_ streams: [StreamImage], sent: Set<EntityID> = []) throws {
        let streams = try streams.map { image in
            // The previous record may have added or removed the content.
            var image = image
            let known = try core.state.stream(image.property, of: image.entity)
            (image.content, image.etag) = (known?.content, known?.etag)
            if image.property == nil, image.content != nil, sent.contains(image.entity) {
                image.etag = image.reported?.etag
            }
            return image
        }
        // Keeps each record far below its limit, whatever the length of the URLs.
        for start in stride(from: 0, to: streams.count, by: 1_000) {
            try core.add(.streamsStored(Array(streams[start..<min(start + 1_000, streams.count)])))
        }
    }

    /// Returns the copies that are removed after the upload of operations, and the streams that it replaces. It has to be
    /// called before the record that ends the operations.
    func sentCopies(of operations: [SequenceNumber]) throws -> UploadedCopies {
        // A stream is sent in a request of its own.
        UploadedCopies(
            streams: core.options.removal.streams || operations.count == 1 ? try sentStreams(of: operations) : [],
            entities: try core.options.removal.entities(of: operations, core.state))
    }

    private func sentStreams(of operations: [SequenceNumber]) throws -> [SentStream] {
        try operations.compactMap { sequence in
            guard let operation = try core.state.pendingOperation(sequence)?.operation, let stream = operation.stream
            else { return nil }
            return SentStream(
                entity: operation.subject, property: stream.property,
                replacedETag: try core.state.stream(stream.property, of: operation.subject)?.reported?.etag,
                isRemoved: core.options.removal.streams && stream.content != nil)
        }
    }

    /// Logs the removal of the copies. The ETags of streams are kept, because the next change has to send them, but not
    /// those that the service returned with the entity before the upload: they belong to the replaced content.
    func remove(_ copies: UploadedCopies) throws {
        let images = try copies.streams.compactMap { stream -> StreamImage? in
            let known = try core.state.stream(stream.property, of: stream.entity)
            let isReplaced = stream.replacedETag != nil && known?.reported?.etag == stream.replacedETag
            guard stream.isRemoved || isReplaced else { return nil }
            var image = StreamImage(
                entity: stream.entity, property: stream.property, content: stream.isRemoved ? nil : known?.content,
                etag: known?.etag)
            if isReplaced {
                image.reported = known?.reported
                image.reported?.etag = nil
            }
            return image
        }
        if !images.isEmpty { try core.add(.streamsStored(images)) }
        guard !copies.entities.isEmpty else { return }
        // The rows and links of entities are complete only when the pending operations are reapplied.
        try core.finishRebase()
        for page in try core.options.removal.pages(copies.entities, core.state) { try core.add(.downloadPage(page)) }
    }
}

/// A stream that was uploaded.
struct SentStream {
    let entity: EntityID
    /// The stream property, or nil for the stream of a media entity.
    let property: String?
    /// The ETag that the service returned with the entity before the upload.
    let replacedETag: String?
    /// Whether the store removes its copy.
    let isRemoved: Bool
}
