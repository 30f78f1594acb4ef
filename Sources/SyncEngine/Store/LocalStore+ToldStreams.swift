import Operations
import SyncCore
import Views

/// What a transaction says of streams besides the operations that write them.
extension LocalStore {
    /// Logs what the service said of streams, behind the record that brings their entities.
    ///
    /// - Parameter sent: media entities whose content went with the request that was answered: the ETag is that of it.
    func keepTold(_ streams: [StreamImage], sent: Set<EntityID> = []) throws {
        let streams = try streams.map { image in
            // The record in front may have brought, or taken away, the content.
            var image = image
            let known = try state.stream(image.property, of: image.entity)
            (image.content, image.etag) = (known?.content, known?.etag)
            if image.property == nil, image.content != nil, sent.contains(image.entity) {
                image.etag = image.told?.etag
            }
            return image
        }
        // So that a record stays far below its limit, however long the addresses.
        for start in stride(from: 0, to: streams.count, by: 1_000) {
            try add(.streamsStored(Array(streams[start..<min(start + 1_000, streams.count)])))
        }
    }

    /// The streams that operations write, where the store is to keep no copy of what the service has. To be asked before the
    /// record that ends the operations.
    func sentStreams(of operations: [SequenceNumber]) throws -> [SentStream] {
        guard removesStreamsAfterUpload else { return [] }
        return try operations.compactMap { sequence in
            guard let operation = try state.pendingOperation(sequence)?.operation, let stream = operation.stream,
                stream.content != nil
            else { return nil }
            return SentStream(entity: operation.subject, property: stream.property)
        }
    }

    /// Logs that the store has no copies of them any more. Their ETags stay: the next change carries them.
    func removeCopies(of streams: [SentStream]) throws {
        let images = try streams.map { stream in
            StreamImage(
                entity: stream.entity, property: stream.property, content: nil,
                etag: try state.stream(stream.property, of: stream.entity)?.etag)
        }
        if !images.isEmpty { try add(.streamsStored(images)) }
    }
}

/// A stream that the service has from an upload.
struct SentStream {
    let entity: EntityID
    /// Nil for the stream of a media entity.
    let property: String?
}
