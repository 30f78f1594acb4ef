package import EDM

/// Numbers are part of the format and never reused.
enum OutcomeTag: UInt8 {
    case confirmed = 1
    case rejected = 2
    case notProcessed = 3
    case inDoubt = 4
    case deferred = 5
}

extension ByteWriter {
    package mutating func prepared(_ prepared: BatchPrepared) {
        unsigned(prepared.batch)
        list(prepared.changeSets) { $0.list($1) { $0.request($1) } }
        field(BatchField.coalesces, prepared.coalesces)
        field(BatchField.sent, list: prepared.sent) { $0.list($1) { $0.sent($1) } }
        field(BatchField.fingerprint, prepared.fingerprint) {
            $0.unsigned($1.byteCount)
            $0.blob($1.digest)
            $0.list($1.options) {
                $0.string($1.name)
                $0.string($1.value)
            }
        }
        end()
    }

    private mutating func request(_ request: BatchPrepared.Request) {
        string(request.contentID)
        unsigned(request.operation)
        field(RequestField.effect, request.effect.map { UInt64($0.rawValue) })
        field(RequestField.creates, request.creates) { $0.newEntity($1) }
        field(RequestField.contentIDInURL, request.references.contentIDInURL)
        field(RequestField.hasContentIDInBody, request.references.hasContentIDInBody)
        field(RequestField.hasOthers, request.references.hasOthers)
        end()
    }

    private mutating func newEntity(_ new: NewEntity) {
        entity(new.id)
        list(new.below) {
            $0.string($1.navigation)
            $0.list($1.entities) { $0.newEntity($1) }
        }
    }

    private mutating func sent(_ request: BatchPrepared.SentRequest) {
        string(request.contentID)
        string(request.method)
        string(request.url)
        list(request.headers) { $0.header($1) }
        blob(request.body)
    }

    mutating func answered(_ answered: BatchAnswered) {
        unsigned(answered.batch)
        list(answered.outcomes) {
            $0.unsigned($1.operation)
            $0.result($1.result)
        }
    }

    private mutating func result(_ result: BatchAnswered.Result) {
        switch result {
        case .confirmed(let images):
            byte(OutcomeTag.confirmed.rawValue)
            list(images) { $0.image($1) }
        case .rejected(let refusal):
            byte(OutcomeTag.rejected.rawValue)
            self.refusal(refusal)
        case .deferred(let refusal, let attempts):
            byte(OutcomeTag.deferred.rawValue)
            self.refusal(refusal)
            count(attempts)
        case .notProcessed: byte(OutcomeTag.notProcessed.rawValue)
        case .inDoubt(let reason):
            byte(OutcomeTag.inDoubt.rawValue)
            string(reason)
        }
    }
}

extension ByteReader {
    package mutating func prepared() throws(CodecError) -> BatchPrepared {
        var prepared = BatchPrepared(
            batch: try unsigned(),
            changeSets: try list { r throws(CodecError) in
                try r.list { r throws(CodecError) in try r.request() }
            })
        try fields { r, tag throws(CodecError) in
            switch BatchField(rawValue: tag) {
            case .coalesces: prepared.coalesces = try r.flag()
            case .sent:
                prepared.sent = try r.items { r throws(CodecError) in
                    try r.list { r throws(CodecError) in try r.sent() }
                }
            case .fingerprint: prepared.fingerprint = try r.content { r throws(CodecError) in try r.fingerprint() }
            case nil: return false
            }
            return true
        }
        return prepared
    }

    private mutating func request() throws(CodecError) -> BatchPrepared.Request {
        var request = BatchPrepared.Request(contentID: try string(), operation: try unsigned())
        try fields { r, tag throws(CodecError) in
            switch RequestField(rawValue: tag) {
            case .effect:
                request.effect = BatchPrepared.Effect(rawValue: try r.byte())
                guard request.effect != nil else { throw r.fail(.invalid("effect")) }
            case .creates: request.creates = try r.content { r throws(CodecError) in try r.newEntity() }
            case .contentIDInURL: request.references.contentIDInURL = try r.string()
            case .hasContentIDInBody: request.references.hasContentIDInBody = try r.flag()
            case .hasOthers: request.references.hasOthers = try r.flag()
            case nil: return false
            }
            return true
        }
        return request
    }

    private mutating func newEntity() throws(CodecError) -> NewEntity {
        try nested { r throws(CodecError) in
            NewEntity(
                try r.entity(),
                below: try r.list { r throws(CodecError) in
                    NewEntity.Level(
                        navigation: try r.string(),
                        entities: try r.list { r throws(CodecError) in try r.newEntity() })
                })
        }
    }

    private mutating func sent() throws(CodecError) -> BatchPrepared.SentRequest {
        BatchPrepared.SentRequest(
            contentID: try string(), method: try string(), url: try string(),
            headers: try list { r throws(CodecError) in try r.header() }, body: try blob())
    }

    private mutating func fingerprint() throws(CodecError) -> BatchPrepared.Fingerprint {
        BatchPrepared.Fingerprint(
            byteCount: try unsigned(), digest: try blob(),
            options: try list { r throws(CodecError) in
                BatchPrepared.Fingerprint.Option(name: try r.string(), value: try r.string())
            })
    }

    mutating func answered() throws(CodecError) -> BatchAnswered {
        BatchAnswered(
            batch: try unsigned(),
            outcomes: try list { r throws(CodecError) in
                BatchAnswered.Outcome(operation: try r.unsigned(), result: try r.result())
            })
    }

    private mutating func result() throws(CodecError) -> BatchAnswered.Result {
        switch OutcomeTag(rawValue: try byte()) {
        case .confirmed: .confirmed(images: try images())
        case .rejected: .rejected(try refusal())
        case .deferred: .deferred(try refusal(), attempts: try attempts())
        case .notProcessed: .notProcessed
        case .inDoubt: .inDoubt(try string())
        case nil: throw fail(.invalid("outcome"))
        }
    }
}
