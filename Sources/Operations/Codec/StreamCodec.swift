package import EDM

extension ByteWriter {
    mutating func operationWithStream(_ operation: Operation, _ stream: StreamWrite) {
        write(stream)
        operationWithAttributes(operation)
    }

    package mutating func write(_ stream: StreamWrite) {
        optional(stream.property) { $0.string($1) }
        optional(stream.content) { $0.write($1) }
    }

    package mutating func write(_ image: StreamImage) {
        entity(image.entity)
        optional(image.property) { $0.string($1) }
        optional(image.content) { $0.write($1) }
        optional(image.etag) { $0.string($1) }
    }

    /// Writes the image followed by the service's metadata of the stream.
    package mutating func writeWithTold(_ image: StreamImage) {
        write(image)
        optional(image.told) {
            $0.optional($1.readLink) { $0.string($1) }
            $0.optional($1.editLink) { $0.string($1) }
            $0.optional($1.etag) { $0.string($1) }
        }
    }

    private mutating func write(_ content: StreamContent) {
        blob(content.digest.bytes)
        unsigned(content.byteCount)
        string(content.mediaType)
        optional(content.name) { $0.string($1) }
    }
}

extension ByteReader {
    mutating func operationWithStream() throws(CodecError) -> Operation {
        let stream = try streamWrite()
        var operation = try operationWithAttributes()
        operation.stream = stream
        return operation
    }

    package mutating func streamWrite() throws(CodecError) -> StreamWrite {
        StreamWrite(
            property: try optional { r throws(CodecError) in try r.name() },
            content: try optional { r throws(CodecError) in try r.streamContent() })
    }

    package mutating func streamImage() throws(CodecError) -> StreamImage {
        StreamImage(
            entity: try entity(), property: try optional { r throws(CodecError) in try r.name() },
            content: try optional { r throws(CodecError) in try r.streamContent() },
            etag: try optional { r throws(CodecError) in try r.string() })
    }

    package mutating func streamImageWithTold() throws(CodecError) -> StreamImage {
        var image = try streamImage()
        image.told = try optional { r throws(CodecError) in
            StreamImage.Told(
                readLink: try r.optional { r throws(CodecError) in try r.string() },
                editLink: try r.optional { r throws(CodecError) in try r.string() },
                etag: try r.optional { r throws(CodecError) in try r.string() })
        }
        return image
    }

    private mutating func streamContent() throws(CodecError) -> StreamContent {
        guard let digest = StreamDigest(try blob()) else { throw fail(.invalid("digest")) }
        return StreamContent(
            digest: digest, byteCount: try unsigned(), mediaType: try string(),
            name: try optional { r throws(CodecError) in try r.string() })
    }
}
