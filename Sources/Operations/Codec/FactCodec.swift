package import EDM

extension ByteWriter {
    mutating func image(_ image: EntityImage) {
        entity(image.entity)
        string(image.set)
        string(image.type)
        properties(image.values)
        list(image.links) {
            $0.string($1.navigation)
            $0.list($1.targets) { $0.entity($1) }
            $0.bool($1.isComplete)
        }
        field(ImageField.etag, image.etag)
        field(ImageField.editLink, image.editLink)
        end()
    }

    mutating func sequences(_ operations: [SequenceNumber]) { list(operations) { $0.unsigned($1) } }

    mutating func queueChange(_ change: QueueChange, _ operations: [SequenceNumber]) {
        byte(change.rawValue)
        sequences(operations)
    }

    package mutating func refusal(_ refusal: Refusal) {
        signed(Int64(refusal.status))
        string(refusal.code)
        string(refusal.message)
        string(refusal.method)
        string(refusal.url)
        field(RefusalField.innerError, refusal.innerError)
        field(RefusalField.requestBody, refusal.requestBody)
        end()
    }

    package mutating func postponed(_ postponed: UploadPostponed) {
        signed(postponed.notBefore)
        count(postponed.attempt)
        string(postponed.reason)
    }
}

extension ByteReader {
    mutating func image() throws(CodecError) -> EntityImage {
        if let plain = plainImage() { return plain }
        var image = EntityImage(
            entity: try entity(), set: try name(), type: try name(), values: try properties(),
            links: try list { r throws(CodecError) in
                EntityImage.ImageLinks(
                    navigation: try r.name(), targets: try r.list { r throws(CodecError) in try r.entity() },
                    isComplete: try r.bool())
            })
        try fields { r, tag throws(CodecError) in
            switch ImageField(rawValue: tag) {
            case .etag: image.etag = try r.string()
            case .editLink: image.editLink = try r.string()
            case nil: return false
            }
            return true
        }
        return image
    }

    /// Reads an image in its usual form. Returns `nil` without reading anything if it has to be read element by
    /// element.
    private mutating func plainImage() -> EntityImage? {
        guard let names else { return nil }
        var reader = PlainReader(bytes, at: offset, names: names)
        guard let image = reader.image() else { return nil }
        pass(to: reader.offset)
        return image
    }

    mutating func images() throws(CodecError) -> [EntityImage] {
        try list { r throws(CodecError) in try r.image() }
    }

    mutating func sequences() throws(CodecError) -> [SequenceNumber] {
        try list { r throws(CodecError) in try r.unsigned() }
    }

    mutating func queueChange() throws(CodecError) -> Record.Body {
        guard let change = QueueChange(rawValue: try byte()) else { throw fail(.invalid("change of the queue")) }
        let operations = try sequences()
        return switch change {
        case .released: .operationsReleased(operations)
        case .undone: .operationsUndone(operations)
        case .redone: .operationsRedone(operations)
        case .elided: .operationsElided(operations)
        case .kept: .clientChangesKept(operations)
        }
    }

    package mutating func refusal() throws(CodecError) -> Refusal {
        var refusal = Refusal(
            status: try integer(), code: try string(), message: try string(), method: try string(), url: try string())
        try fields { r, tag throws(CodecError) in
            switch RefusalField(rawValue: tag) {
            case .innerError: refusal.innerError = try r.string()
            case .requestBody: refusal.requestBody = try r.string()
            case nil: return false
            }
            return true
        }
        return refusal
    }

    package mutating func postponed() throws(CodecError) -> UploadPostponed {
        UploadPostponed(notBefore: try signed(), attempt: try attempts(), reason: try string())
    }

    /// Reads a number that is not a length.
    package mutating func attempts() throws(CodecError) -> Int {
        guard let value = Int(exactly: try unsigned()) else { throw fail(.overflow) }
        return value
    }
}

/// The changes of queued operations that are one record kind. Numbers are part of the format and never reused.
enum QueueChange: UInt8 {
    case released = 1
    case undone = 2
    case redone = 3
    case elided = 4
    case kept = 5
}
