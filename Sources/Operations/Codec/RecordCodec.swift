package import EDM

/// The binary form of records, version 1.
///
/// A record consists of its kind, which the log stores separately, and a payload: the time as a zigzag varint,
/// followed by the fields in the order of their declaration; ``Record/Body/lost`` has an empty payload. Strings and
/// lists are prefixed with their length, optionals with a flag. A kind that this version does not support decodes to
/// ``Record/Body/unknown(kind:payload:)``. If the fields of a kind change, it gets a new kind number, and the old one
/// stays readable.
package enum RecordCodec {
    /// The number of a record kind. Numbers are part of the format and never reused.
    package enum Kind: UInt8, Sendable, CaseIterable {
        /// The number of the placeholders that a repair of the log writes for lost records. No payload.
        case lost = 0
        case serviceInstalled = 1
        case operation = 2
        case definingQueryAdded = 3
        case definingQueryRemoved = 4
        case downloadStarted = 5
        case downloadPage = 6
        case downloadFinished = 7
        case entitiesRead = 8
        case batchPrepared = 9
        case batchAnswered = 10
        case batchInterrupted = 11
        case operationsReleased = 12
        case operationsUndone = 13
        case operationsRedone = 14
        /// An operation with a transactionID, which precedes the fields of an ``operation``.
        case operationInTransaction = 15
        /// A ``batchPrepared`` followed by the requests as sent.
        case repeatableBatchPrepared = 16
        case batchAccepted = 17
        case uploadPostponed = 18
        /// An answer with an outcome that ``batchAnswered`` cannot represent: a postponed operation, or a rejection
        /// with the request's body.
        case batchAnsweredInDetail = 19
        /// An operation with attributes that the kinds above cannot represent; they precede the fields of an
        /// ``operation``.
        case operationWithAttributes = 20
        case deliveryChanged = 21
        case operationsElided = 23
        case clientChangesKept = 49
        case conflictResolved = 22
        case operationsUnfit = 24
        case entitiesMissing = 25
        /// Queries that are about to be downloaded, each with its mode; ``downloadStarted`` represents full downloads
        /// only.
        case downloadStartedByMode = 26
        /// A page with more than its entities; see ``DownloadPage``.
        case changesPage = 27
        /// A ``downloadFinished`` followed by the delta link.
        case downloadFinishedWithLink = 28
        /// An operation that writes a stream, which precedes the fields of an ``operationWithAttributes``.
        case operationWithStream = 31
        case streamsStored = 32
        /// A ``streamsStored`` with an image that contains the service's metadata of the stream.
        case streamsTold = 33
        case linksLeftOpen = 34
        case operationsAmended = 35
        /// A ``batchPrepared``, followed by the requests as sent, empty if they are not repeatable, and the
        /// fingerprint.
        case batchPreparedWithFingerprint = 36
        /// A ``batchPrepared``, followed by the effects of its requests, the requests as sent, and the fingerprint.
        case batchPreparedWithEffects = 48
        case entitiesQuarantined = 42
        /// An operation that calls an action, which precedes the fields of an ``operationWithAttributes``.
        case operationWithCall = 44
        /// An ``operationsAmended`` with an operation that calls an action.
        case operationsAmendedWithCall = 45
    }

    /// Encodes a record. Encoding never fails and is deterministic: equal records have equal bytes.
    package static func encode(_ record: Record) -> (kind: UInt8, payload: [UInt8]) {
        var writer = ByteWriter(minimumCapacity: 256)
        let kind: Kind
        writer.signed(record.time)
        switch record.body {
        case .serviceInstalled(let service):
            kind = .serviceInstalled
            writer.string(service.root)
            writer.blob(service.metadata)
        case .operation(let operation):
            kind = writer.operationByKind(operation)
        case .definingQueryAdded(let query):
            kind = .definingQueryAdded
            writer.string(query.name)
            writer.string(query.query)
            writer.bool(query.automaticallyRetrievesStreams)
        case .definingQueryRemoved(let name):
            kind = .definingQueryRemoved
            writer.string(name)
        case .downloadStarted(let queries): kind = writer.started(queries)
        case .downloadPage(let page): kind = writer.page(page)
        case .downloadFinished(let finished): kind = writer.finished(finished)
        case .linksLeftOpen(let links):
            kind = .linksLeftOpen
            writer.openLinks(links)
        case .entitiesQuarantined(let entities):
            kind = .entitiesQuarantined
            writer.list(entities) { $0.quarantined($1) }
        case .entitiesRead(let images):
            kind = .entitiesRead
            writer.list(images) { $0.image($1) }
        case .batchPrepared(let prepared):
            writer.prepared(prepared)
            if prepared.hasEffects {
                kind = .batchPreparedWithEffects
                writer.effects(prepared)
            } else if let fingerprint = prepared.fingerprint {
                kind = .batchPreparedWithFingerprint
                writer.sent(prepared.sent)
                writer.fingerprint(fingerprint)
            } else {
                kind = prepared.sent.isEmpty ? .batchPrepared : .repeatableBatchPrepared
                if !prepared.sent.isEmpty { writer.sent(prepared.sent) }
            }
        case .batchAccepted(let accepted):
            kind = .batchAccepted
            writer.unsigned(accepted.batch)
            writer.string(accepted.monitor)
        case .batchAnswered(let answered):
            kind = answered.isInDetail ? .batchAnsweredInDetail : .batchAnswered
            writer.answered(answered)
        case .batchInterrupted(let interrupted):
            kind = .batchInterrupted
            writer.unsigned(interrupted.batch)
            writer.string(interrupted.reason)
        case .operationsReleased(let operations):
            kind = .operationsReleased
            writer.list(operations) { $0.unsigned($1) }
        case .operationsUndone(let operations):
            kind = .operationsUndone
            writer.list(operations) { $0.unsigned($1) }
        case .operationsRedone(let operations):
            kind = .operationsRedone
            writer.list(operations) { $0.unsigned($1) }
        case .uploadPostponed(let postponed):
            kind = .uploadPostponed
            writer.postponed(postponed)
        case .deliveryChanged(let operations, let delivery):
            kind = .deliveryChanged
            writer.list(operations) { $0.unsigned($1) }
            writer.byte(delivery.rawValue)
        case .operationsElided(let operations):
            kind = .operationsElided
            writer.list(operations) { $0.unsigned($1) }
        case .clientChangesKept(let operations):
            kind = .clientChangesKept
            writer.list(operations) { $0.unsigned($1) }
        case .conflictResolved(let resolved):
            kind = .conflictResolved
            writer.resolved(resolved)
        case .entitiesMissing(let entities):
            kind = .entitiesMissing
            writer.list(entities) { $0.entity($1) }
        case .operationsUnfit(let unfit):
            kind = .operationsUnfit
            writer.list(unfit) {
                $0.unsigned($1.operation)
                $0.wholeRefusal($1.refusal)
            }
        case .operationsAmended(let amended):
            kind = amended.contains { $0.content.call != nil } ? .operationsAmendedWithCall : .operationsAmended
            writer.list(amended) {
                $0.unsigned($1.operation)
                $0.blob(ValueCodec.encode($1.content))
            }
        case .streamsStored(let images):
            let isTold = images.contains { $0.told != nil }
            kind = isTold ? .streamsTold : .streamsStored
            writer.list(images) { if isTold { $0.writeWithTold($1) } else { $0.write($1) } }
        case .lost: return (Kind.lost.rawValue, [])
        case .unknown(let kind, let payload):
            return (kind, payload)
        }
        return (kind.rawValue, writer.bytes)
    }

    /// Decodes a record. Throws if the payload is not valid for its kind. Never traps, whatever the bytes.
    package static func decode(kind: UInt8, payload: [UInt8]) throws(CodecError) -> Record {
        try decode(kind: kind, payload: payload[...], names: nil)
    }

    static func decode(kind: UInt8, payload: ArraySlice<UInt8>, names: NameTable?) throws(CodecError) -> Record {
        guard let known = Kind(rawValue: kind) else {
            return Record(time: 0, body: .unknown(kind: kind, payload: Array(payload)))
        }
        // The placeholder of a lost record has no fields, not even a time.
        var record = Record(time: 0, body: .lost)
        if known == .operation, let names, payload.withUnsafeBytes({ PlainReader.read(&record, $0, names: names) }) {
            return record
        }
        try ByteReader.readWhole(payload, names: names) { reader throws(CodecError) in
            if known != .lost { record = Record(time: try reader.signed(), body: try body(known, &reader)) }
        }
        return record
    }

    private static func body(_ kind: Kind, _ reader: inout ByteReader) throws(CodecError) -> Record.Body {
        switch kind {
        case .lost: .lost
        case .serviceInstalled:
            .serviceInstalled(ServiceDescription(root: try reader.string(), metadata: try reader.blob()))
        case .operation: .operation(try reader.operation())
        case .definingQueryAdded:
            .definingQueryAdded(
                DefiningQuery(
                    name: try reader.string(), query: try reader.string(),
                    automaticallyRetrievesStreams: try reader.bool()))
        case .definingQueryRemoved: .definingQueryRemoved(name: try reader.string())
        case .downloadStarted: .downloadStarted(queries: try reader.list { r throws(CodecError) in try r.string() })
        case .downloadStartedByMode: .downloadStarted(try reader.list { r throws(CodecError) in try r.queryStart() })
        case .changesPage: .downloadPage(try reader.changesPage())
        case .downloadFinishedWithLink:
            .downloadFinished(DownloadFinished(query: try reader.string(), deltaLink: try reader.string()))
        case .downloadPage: .downloadPage(DownloadPage(query: try reader.string(), entities: try reader.images()))
        case .downloadFinished: .downloadFinished(query: try reader.string())
        case .linksLeftOpen: .linksLeftOpen(try reader.openLinks())
        case .entitiesQuarantined:
            .entitiesQuarantined(try reader.list { r throws(CodecError) in try r.quarantined() })
        case .entitiesRead: .entitiesRead(try reader.images())
        case .batchPrepared: .batchPrepared(try reader.prepared())
        case .batchAnswered: .batchAnswered(try reader.answered(inDetail: false))
        case .batchAnsweredInDetail: .batchAnswered(try reader.answered(inDetail: true))
        case .uploadPostponed: .uploadPostponed(try reader.postponed())
        case .batchInterrupted:
            .batchInterrupted(BatchInterrupted(batch: try reader.unsigned(), reason: try reader.string()))
        case .operationsReleased: .operationsReleased(try sequences(&reader))
        case .operationsUndone: .operationsUndone(try sequences(&reader))
        case .operationsRedone: .operationsRedone(try sequences(&reader))
        case .operationInTransaction: .operation(try operationInTransaction(&reader))
        case .repeatableBatchPrepared: .batchPrepared(try repeatable(&reader))
        case .batchPreparedWithFingerprint: .batchPrepared(try preparedWithFingerprint(&reader))
        case .batchPreparedWithEffects: .batchPrepared(try preparedWithEffects(&reader))
        case .batchAccepted:
            .batchAccepted(BatchAccepted(batch: try reader.unsigned(), monitor: try reader.string()))
        case .operationWithAttributes: .operation(try reader.operationWithAttributes())
        case .operationsElided: .operationsElided(try sequences(&reader))
        case .clientChangesKept: .clientChangesKept(try sequences(&reader))
        case .deliveryChanged: .deliveryChanged(try sequences(&reader), to: try reader.delivery())
        case .conflictResolved: .conflictResolved(try reader.resolved())
        case .operationsUnfit:
            .operationsUnfit(
                try reader.list { r throws(CodecError) in
                    UnfitOperation(operation: try r.unsigned(), refusal: try r.wholeRefusal())
                })
        case .operationsAmended, .operationsAmendedWithCall:
            .operationsAmended(
                try reader.list { r throws(CodecError) in
                    AmendedOperation(
                        operation: try r.unsigned(), content: try ValueCodec.decodeOperation(try r.blob()))
                })
        case .operationWithStream: .operation(try reader.operationWithStream())
        case .operationWithCall: .operation(try reader.operationWithCall())
        case .streamsStored: .streamsStored(try reader.list { r throws(CodecError) in try r.streamImage() })
        case .streamsTold: .streamsStored(try reader.list { r throws(CodecError) in try r.streamImageWithTold() })
        case .entitiesMissing: .entitiesMissing(try reader.list { r throws(CodecError) in try r.entity() })
        }
    }

    private static func sequences(_ reader: inout ByteReader) throws(CodecError) -> [SequenceNumber] {
        try reader.list { r throws(CodecError) in try r.unsigned() }
    }

    private static func preparedWithEffects(_ reader: inout ByteReader) throws(CodecError) -> BatchPrepared {
        var prepared = try reader.prepared()
        try reader.effects(&prepared)
        return prepared
    }

    private static func preparedWithFingerprint(_ reader: inout ByteReader) throws(CodecError) -> BatchPrepared {
        var prepared = try repeatable(&reader)
        prepared.fingerprint = try reader.fingerprint()
        return prepared
    }

    private static func repeatable(_ reader: inout ByteReader) throws(CodecError) -> BatchPrepared {
        var prepared = try reader.prepared()
        prepared.sent = try reader.sent()
        return prepared
    }

    private static func operationInTransaction(_ reader: inout ByteReader) throws(CodecError) -> Operation {
        let transaction = try reader.string()
        var operation = try reader.operation()
        operation.transactionID = transaction
        return operation
    }
}
