package import EDM

extension ByteWriter {
    mutating func write(_ stream: StreamWrite) {
        field(StreamWriteField.property, stream.property)
        field(StreamWriteField.content, stream.content) { $0.write($1) }
        end()
    }

    package mutating func write(_ image: StreamImage) {
        entity(image.entity)
        field(StreamImageField.property, image.property)
        field(StreamImageField.content, image.content) { $0.write($1) }
        field(StreamImageField.etag, image.etag)
        field(StreamImageField.reported, image.reported) {
            $0.field(ReportedStreamField.readLink, $1.readLink)
            $0.field(ReportedStreamField.editLink, $1.editLink)
            $0.field(ReportedStreamField.etag, $1.etag)
            $0.end()
        }
        end()
    }

    private mutating func write(_ content: StreamContent) {
        blob(content.digest.bytes)
        unsigned(content.byteCount)
        string(content.mediaType)
        field(StreamContentField.name, content.name)
        end()
    }
}

extension ByteReader {
    mutating func streamWrite() throws(CodecError) -> StreamWrite {
        var stream = StreamWrite(content: nil)
        try fields { r, tag throws(CodecError) in
            switch StreamWriteField(rawValue: tag) {
            case .property: stream.property = try r.name()
            case .content: stream.content = try r.content { r throws(CodecError) in try r.streamContent() }
            case nil: return false
            }
            return true
        }
        return stream
    }

    package mutating func streamImage() throws(CodecError) -> StreamImage {
        var image = StreamImage(entity: try entity(), content: nil)
        try fields { r, tag throws(CodecError) in
            switch StreamImageField(rawValue: tag) {
            case .property: image.property = try r.name()
            case .content: image.content = try r.content { r throws(CodecError) in try r.streamContent() }
            case .etag: image.etag = try r.string()
            case .reported: image.reported = try r.content { r throws(CodecError) in try r.reportedStream() }
            case nil: return false
            }
            return true
        }
        return image
    }

    private mutating func reportedStream() throws(CodecError) -> StreamImage.ReportedMetadata {
        var reported = StreamImage.ReportedMetadata()
        try fields { r, tag throws(CodecError) in
            switch ReportedStreamField(rawValue: tag) {
            case .readLink: reported.readLink = try r.string()
            case .editLink: reported.editLink = try r.string()
            case .etag: reported.etag = try r.string()
            case nil: return false
            }
            return true
        }
        return reported
    }

    private mutating func streamContent() throws(CodecError) -> StreamContent {
        guard let digest = StreamDigest(try blob()) else { throw fail(.invalid("digest")) }
        var content = StreamContent(digest: digest, byteCount: try unsigned(), mediaType: try string())
        try fields { r, tag throws(CodecError) in
            guard StreamContentField(rawValue: tag) == .name else { return false }
            content.name = try r.string()
            return true
        }
        return content
    }
}
