package import EDM

/// Numbers are part of the format and never reused.
enum OutcomeTag: UInt8 {
    case confirmed = 1
    case rejected = 2
    case notProcessed = 3
    case inDoubt = 4
    // In the kind *batchAnsweredInDetail* only.
    case deferred = 5
    case rejectedWithRequest = 6

    var isInDetail: Bool { rawValue >= Self.deferred.rawValue }
}

extension BatchAnswered {
    var isInDetail: Bool { outcomes.contains { $0.result.tag.isInDetail } }
}

extension BatchAnswered.Result {
    fileprivate var tag: OutcomeTag {
        switch self {
        case .confirmed: .confirmed
        case .rejected(let refusal): refusal.requestBody == nil ? .rejected : .rejectedWithRequest
        case .deferred: .deferred
        case .notProcessed: .notProcessed
        case .inDoubt: .inDoubt
        }
    }
}

extension ByteWriter {
    mutating func image(_ image: EntityImage) {
        entity(image.entity)
        string(image.set)
        string(image.type)
        properties(image.values)
        optional(image.etag) { $0.string($1) }
        optional(image.editLink) { $0.string($1) }
        list(image.links) {
            $0.string($1.navigation)
            $0.list($1.targets) { $0.entity($1) }
            $0.bool($1.isComplete)
        }
    }

    mutating func prepared(_ prepared: BatchPrepared) {
        unsigned(prepared.batch)
        list(prepared.changeSets) {
            $0.list($1) {
                $0.string($1.contentID)
                $0.unsigned($1.operation)
            }
        }
    }

    /// Writes the parts that the kind *batchPreparedWithEffects* adds: the effects, the requests as sent, empty if they
    /// are not repeatable, and the fingerprint.
    mutating func effects(_ prepared: BatchPrepared) {
        bool(prepared.coalesces)
        list(prepared.changeSets) {
            $0.list($1) {
                $0.byte($1.effect?.rawValue ?? 0)
                guard $1.effect != nil else { return }
                $0.optional($1.creates) { $0.newEntity($1) }
                $0.optional($1.references.contentIDInURL) { $0.string($1) }
                $0.bool($1.references.hasContentIDInBody)
                $0.bool($1.references.hasOthers)
            }
        }
        sent(prepared.sent)
        optional(prepared.fingerprint) { $0.fingerprint($1) }
    }

    private mutating func newEntity(_ new: NewEntity) {
        entity(new.id)
        list(new.below) {
            $0.string($1.navigation)
            $0.list($1.entities) { $0.newEntity($1) }
        }
    }

    mutating func sent(_ changeSets: [[BatchPrepared.SentRequest]]) {
        list(changeSets) {
            $0.list($1) {
                $0.string($1.contentID)
                $0.string($1.method)
                $0.string($1.url)
                $0.list($1.headers) {
                    $0.string($1.name)
                    $0.string($1.value)
                }
                $0.blob($1.body)
            }
        }
    }

    mutating func fingerprint(_ fingerprint: BatchPrepared.Fingerprint) {
        unsigned(fingerprint.byteCount)
        blob(fingerprint.digest)
        list(fingerprint.options) {
            $0.string($1.name)
            $0.string($1.value)
        }
    }

    mutating func answered(_ answered: BatchAnswered) {
        unsigned(answered.batch)
        list(answered.outcomes) {
            $0.unsigned($1.operation)
            $0.byte($1.result.tag.rawValue)
            switch $1.result {
            case .confirmed(let images): $0.list(images) { $0.image($1) }
            case .rejected(let refusal): refusal.requestBody == nil ? $0.refusal(refusal) : $0.wholeRefusal(refusal)
            case .deferred(let refusal, let attempts):
                $0.wholeRefusal(refusal)
                $0.count(attempts)
            case .notProcessed: break
            case .inDoubt(let reason): $0.string(reason)
            }
        }
    }

    /// Writes all fields except the request's body, which the record kind does not contain.
    package mutating func refusal(_ refusal: Refusal) {
        signed(Int64(refusal.status))
        string(refusal.code)
        string(refusal.message)
        optional(refusal.innerError) { $0.string($1) }
        string(refusal.method)
        string(refusal.url)
    }

    package mutating func wholeRefusal(_ refusal: Refusal) {
        self.refusal(refusal)
        optional(refusal.requestBody) { $0.string($1) }
    }

    package mutating func postponed(_ postponed: UploadPostponed) {
        signed(postponed.notBefore)
        count(postponed.attempt)
        string(postponed.reason)
    }
}

extension ByteReader {
    mutating func fingerprint() throws(CodecError) -> BatchPrepared.Fingerprint {
        BatchPrepared.Fingerprint(
            byteCount: try unsigned(), digest: try blob(),
            options: try list { r throws(CodecError) in
                BatchPrepared.Fingerprint.Option(name: try r.string(), value: try r.string())
            })
    }

    mutating func image() throws(CodecError) -> EntityImage {
        if let plain = plainImage() { return plain }
        return EntityImage(
            entity: try entity(), set: try name(), type: try name(), values: try properties(),
            etag: try optional { r throws(CodecError) in try r.string() },
            editLink: try optional { r throws(CodecError) in try r.string() },
            links: try list { r throws(CodecError) in
                EntityImage.ImageLinks(
                    navigation: try r.name(), targets: try r.list { r throws(CodecError) in try r.entity() },
                    isComplete: try r.bool())
            })
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

    mutating func prepared() throws(CodecError) -> BatchPrepared {
        BatchPrepared(
            batch: try unsigned(),
            changeSets: try list { r throws(CodecError) in
                try r.list { r throws(CodecError) in
                    BatchPrepared.Request(contentID: try r.string(), operation: try r.unsigned())
                }
            })
    }

    /// Reads the parts that follow ``prepared()`` in the kind *batchPreparedWithEffects*.
    mutating func effects(_ prepared: inout BatchPrepared) throws(CodecError) {
        prepared.coalesces = try bool()
        // The Content-IDs and operations were read before.
        let requests = try list { r throws(CodecError) in
            try r.list { r throws(CodecError) in try r.requestWithEffect() }
        }
        guard requests.map(\.count) == prepared.changeSets.map(\.count) else { throw fail(.invalid("effects")) }
        for (place, changeSet) in requests.enumerated() {
            for (index, request) in changeSet.enumerated() {
                let known = prepared.changeSets[place][index]
                prepared.changeSets[place][index] = request
                prepared.changeSets[place][index].contentID = known.contentID
                prepared.changeSets[place][index].operation = known.operation
            }
        }
        prepared.sent = try sent()
        prepared.fingerprint = try optional { r throws(CodecError) in try r.fingerprint() }
    }

    /// Reads the effect of a request, and what follows it unless there is none.
    private mutating func requestWithEffect() throws(CodecError) -> BatchPrepared.Request {
        var request = BatchPrepared.Request(contentID: "", operation: 0)
        request.effect = try effect()
        guard request.effect != nil else { return request }
        request.creates = try optional { r throws(CodecError) in try r.newEntity() }
        request.references.contentIDInURL = try optional { r throws(CodecError) in try r.string() }
        request.references.hasContentIDInBody = try bool()
        request.references.hasOthers = try bool()
        return request
    }

    private mutating func effect() throws(CodecError) -> BatchPrepared.Effect? {
        let tag = try byte()
        if tag == 0 { return nil }
        guard let effect = BatchPrepared.Effect(rawValue: tag) else { throw fail(.invalid("effect")) }
        return effect
    }

    private mutating func newEntity(depth: Int = 0) throws(CodecError) -> NewEntity {
        guard depth < ByteReader.depthLimit else { throw fail(.tooDeep) }
        return NewEntity(
            try entity(),
            below: try list { r throws(CodecError) in
                NewEntity.Level(
                    navigation: try r.string(),
                    entities: try r.list { r throws(CodecError) in try r.newEntity(depth: depth + 1) })
            })
    }

    mutating func sent() throws(CodecError) -> [[BatchPrepared.SentRequest]] {
        try list { r throws(CodecError) in
            try r.list { r throws(CodecError) in
                BatchPrepared.SentRequest(
                    contentID: try r.string(), method: try r.string(), url: try r.string(),
                    headers: try r.list { r throws(CodecError) in
                        Operation.Header(name: try r.string(), value: try r.string())
                    }, body: try r.blob())
            }
        }
    }

    mutating func answered(inDetail: Bool) throws(CodecError) -> BatchAnswered {
        BatchAnswered(
            batch: try unsigned(),
            outcomes: try list { r throws(CodecError) in
                BatchAnswered.Outcome(operation: try r.unsigned(), result: try r.result(inDetail: inDetail))
            })
    }

    package mutating func refusal() throws(CodecError) -> Refusal {
        Refusal(
            status: try integer(), code: try string(), message: try string(),
            innerError: try optional { r throws(CodecError) in try r.string() }, method: try string(),
            url: try string())
    }

    package mutating func wholeRefusal() throws(CodecError) -> Refusal {
        var refusal = try refusal()
        refusal.requestBody = try optional { r throws(CodecError) in try r.string() }
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

    private mutating func result(inDetail: Bool) throws(CodecError) -> BatchAnswered.Result {
        guard let tag = OutcomeTag(rawValue: try byte()), inDetail || !tag.isInDetail else {
            throw fail(.invalid("outcome"))
        }
        switch tag {
        case .confirmed: return .confirmed(images: try images())
        case .rejected: return .rejected(try refusal())
        case .rejectedWithRequest: return .rejected(try wholeRefusal())
        case .deferred: return .deferred(try wholeRefusal(), attempts: try attempts())
        case .notProcessed: return .notProcessed
        case .inDoubt: return .inDoubt(try string())
        }
    }
}
