import EDM
import Operations

/// The binary form of snapshot items, built from the elements of the record codec.
///
/// An item consists of its kind, which the log stores as the record kind, and a payload with the fields in the order of
/// their declaration. A change of a kind's fields requires a new kind number. Unlike a record, an item of an unknown
/// kind cannot be skipped, because the state would be incomplete without it.
///
/// An item may exceed the size of a log record, for example a row that grew by several updates. All of it except the
/// end is then written before, in records of the kind *piece*.
package enum SnapshotCodec {
    /// The number of an item's kind. It is part of the format and is never reused. Kinds ascend in a snapshot, except
    /// for the end, which is always last.
    package enum Kind: UInt8, Sendable, CaseIterable {
        case header = 1
        case service = 2
        case query = 3
        case entity = 4
        case key = 5
        case row = 6
        case base = 7
        case link = 8
        case pending = 9
        case coverage = 10
        case end = 11
        case undone = 12
        /// A pending operation with a transactionID, which precedes the fields of a ``pending``.
        case pendingInTransaction = 13
        case postponed = 14
        case openBatch = 15
        /// A pending operation with attributes that the kinds above do not support. They precede the fields of the
        /// operation.
        case pendingWithAttributes = 20
        case undoneWithAttributes = 21
        case ancestor = 22
        case since = 24
        /// A ``query`` with links for further requests. It is ordered among the queries without links.
        case queryWithLinks = 26
        /// A ``row`` followed by the download that changed it. It is ordered among the rows without one.
        case downloadedRow = 27
        case downloadedBase = 28
        case lastDownload = 29
        /// A pending operation that writes a stream, which precedes the fields of a ``pendingWithAttributes``.
        case pendingWithStream = 31
        case undoneWithStream = 32
        case streams = 33
        /// A ``queryWithLinks`` followed by the time of the download. It is ordered among the queries without one.
        case downloadedQuery = 34
        case events = 35
        /// A ``streams`` with the service's metadata of each stream. It has the same position, and is the kind that is
        /// written.
        case streamsTold = 36
        case openLinks = 37
        /// The ``header`` of a snapshot whose digest is a sum. It has the same position, and is the kind that is
        /// written.
        case summedHeader = 38
        case quarantine = 43
        /// An ``openBatch`` with the effects of its requests. It is ordered among the batches without them.
        case openBatchWithEffects = 48
        /// A pending operation that calls an action, which precedes the fields of a ``pendingWithAttributes``.
        case pendingWithCall = 46
        case undoneWithCall = 47

        /// The sort position of the kind in a snapshot.
        var place: UInt8 {
            switch self {
            case .pendingInTransaction: Kind.pending.rawValue * 2 + 1
            case .summedHeader: Kind.header.rawValue * 2
            case .queryWithLinks, .downloadedQuery: Kind.query.rawValue * 2
            case .downloadedRow: Kind.row.rawValue * 2
            case .downloadedBase: Kind.base.rawValue * 2
            case .openBatchWithEffects: Kind.openBatch.rawValue * 2
            case .pendingWithStream, .undoneWithStream, .pendingWithCall, .undoneWithCall:
                Kind.undoneWithAttributes.rawValue * 2 + 1
            case .streamsTold: Kind.streams.rawValue * 2
            case .end: .max
            default: rawValue * 2
            }
        }
    }

    /// The kind of a record that contains a part of the next item.
    package static let pieceKind: UInt8 = 64
    /// The largest part of an item in one record, in bytes.
    static let pieceLength = 4 << 20
    /// The largest size of an item in bytes. It bounds the memory that a malicious snapshot can consume.
    static let maximumLength = 64 << 20

    /// The number of a status. It is part of the format and is never reused.
    enum StatusTag: UInt8 {
        case pending = 0
        case inFlight = 1
        case inDoubt = 2
        case rejected = 3
        case deferred = 4
        case rejectedWithRequest = 5
    }

    /// Encodes an item. Equal items always give equal bytes.
    package static func encode(_ item: SnapshotItem) -> (kind: Kind, payload: [UInt8]) {
        var writer = ByteWriter()
        let kind = write(item, &writer)
        return (kind, writer.bytes)
    }

    private static func write(_ item: SnapshotItem, _ writer: inout ByteWriter) -> Kind {
        switch item {
        case .header(let applied, let nextEntity, let nextBatch):
            writer.unsigned(applied)
            writer.entity(nextEntity)
            writer.unsigned(nextBatch)
            return .summedHeader
        case .service(let service):
            writer.string(service.root)
            writer.blob(service.metadata)
            return .service
        case .query(let state): return write(state, &writer)
        case .entity(let id, let set):
            writer.entity(id)
            writer.string(set)
            return .entity
        case .key(let key, let set, let id):
            writer.string(set)
            writer.string(key)
            writer.entity(id)
            return .key
        case .row(let row):
            write(row, &writer)
            guard row.downloaded != 0 else { return .row }
            writer.unsigned(row.downloaded)
            return .downloadedRow
        case .base(let id, let base):
            writer.entity(id)
            let row: EntityRow? = if case .row(let row) = base { row } else { nil }
            writer.optional(row) { write($1, &$0) }
            guard let row, row.downloaded != 0 else { return .base }
            writer.unsigned(row.downloaded)
            return .downloadedBase
        case .link(let link):
            writer.string(link.relationship)
            writer.entity(link.first)
            writer.entity(link.second)
            writer.bool(link.inBase)
            writer.bool(link.inLocal)
            return .link
        case .pending(let pending):
            if let stream = pending.operation.stream {
                writer.write(stream)
                write(pending, &writer) { $0.operationWithAttributes($1) }
                return .pendingWithStream
            }
            if let call = pending.operation.call {
                writer.write(call)
                write(pending, &writer) { $0.operationWithAttributes($1) }
                return .pendingWithCall
            }
            if pending.operation.hasLaterAttributes {
                write(pending, &writer) { $0.operationWithAttributes($1) }
                return .pendingWithAttributes
            }
            if let transaction = pending.operation.transactionID { writer.string(transaction) }
            write(pending, &writer) { $0.operation($1) }
            return pending.operation.transactionID == nil ? .pending : .pendingInTransaction
        case .coverage(let query, let id, let run):
            writer.string(query)
            writer.entity(id)
            writer.unsigned(run)
            return .coverage
        case .undone(let undone):
            if let stream = undone.operation.operation.stream {
                writer.write(stream)
                writer.unsigned(undone.undo)
                write(undone.operation, &writer) { $0.operationWithAttributes($1) }
                return .undoneWithStream
            }
            if let call = undone.operation.operation.call {
                writer.write(call)
                writer.unsigned(undone.undo)
                write(undone.operation, &writer) { $0.operationWithAttributes($1) }
                return .undoneWithCall
            }
            writer.unsigned(undone.undo)
            if undone.operation.operation.hasLaterAttributes {
                write(undone.operation, &writer) { $0.operationWithAttributes($1) }
                return .undoneWithAttributes
            }
            writer.optional(undone.operation.operation.transactionID) { $0.string($1) }
            write(undone.operation, &writer) { $0.operation($1) }
            return .undone
        case .since(let time, let sequence):
            writer.unsigned(sequence)
            writer.signed(time)
            return .since
        case .postponed(let postponed):
            writer.postponed(postponed.upload)
            writer.signed(postponed.since)
            return .postponed
        case .openBatch(let batch):
            let hasEffects = batch.prepared.hasEffects
            writer.blob(
                hasEffects
                    ? ValueCodec.encode(batch.prepared) : ValueCodec.encodeWithoutEffects(batch.prepared))
            writer.optional(batch.monitor) { $0.string($1) }
            return hasEffects ? .openBatchWithEffects : .openBatch
        case .ancestor(let mergeBase):
            write(mergeBase.row, &writer)
            writer.list(mergeBase.links) {
                $0.string($1.relationship)
                $0.bool($1.isFirst)
                $0.optional($1.partner) { $0.entity($1) }
            }
            return .ancestor
        case .lastDownload(let sequence):
            writer.unsigned(sequence)
            return .lastDownload
        case .streams(let id, let streams):
            writer.entity(id)
            writer.list(streams) { $0.writeWithTold($1) }
            return .streamsTold
        case .events(let events):
            writer.list(events) {
                $0.unsigned($1.id)
                $0.byte($1.kind.rawValue)
                $0.signed($1.time)
                $0.optional($1.subset) { $0.list($1) { $0.string($1) } }
                $0.unsigned($1.mark)
            }
            return .events
        case .openLinks(let links):
            writer.openLinks(links)
            return .openLinks
        case .quarantine(let entries):
            writer.list(entries) {
                $0.unsigned($1.sequence)
                $0.signed($1.time)
                $0.quarantined($1.entity)
            }
            return .quarantine
        case .end(let items, let digest):
            writer.unsigned(items)
            writer.fixed64(digest.value)
            return .end
        }
    }

    private static func write(_ state: QueryState, _ writer: inout ByteWriter) -> Kind {
        writer.string(state.query.name)
        writer.string(state.query.query)
        writer.bool(state.query.automaticallyRetrievesStreams)
        writer.unsigned(state.run)
        writer.bool(state.isComplete)
        guard state.isDelta || state.deltaLink != nil || state.next != nil || state.downloaded != nil else {
            return .query
        }
        writer.bool(state.isDelta)
        for link in [state.deltaLink, state.next] {
            writer.optional(link) {
                $0.string($1.url)
                $0.signed($1.time)
            }
        }
        guard let downloaded = state.downloaded else { return .queryWithLinks }
        writer.signed(downloaded)
        return .downloadedQuery
    }

    /// Writes a row without the download that changed it, which the original kinds did not contain.
    private static func write(_ row: EntityRow, _ writer: inout ByteWriter) {
        writer.entity(row.id)
        writer.string(row.set)
        writer.string(row.type)
        writer.properties(row.values)
        writer.optional(row.etag) { $0.string($1) }
        writer.optional(row.editLink) { $0.string($1) }
        writer.byte(row.origin.rawValue)
    }

    private static func write(
        _ pending: PendingOperation, _ writer: inout ByteWriter, _ operation: (inout ByteWriter, Operation) -> Void
    ) {
        writer.unsigned(pending.sequence)
        writer.signed(pending.time)
        operation(&writer, pending.operation)
        switch pending.status {
        case .pending:
            writer.byte(StatusTag.pending.rawValue)
        case .inFlight(let batch):
            writer.byte(StatusTag.inFlight.rawValue)
            writer.unsigned(batch)
        case .inDoubt(let batch, let reason):
            writer.byte(StatusTag.inDoubt.rawValue)
            writer.unsigned(batch)
            writer.string(reason)
        case .rejected(let refusal) where refusal.requestBody == nil:
            writer.byte(StatusTag.rejected.rawValue)
            writer.refusal(refusal)
        case .rejected(let refusal):
            writer.byte(StatusTag.rejectedWithRequest.rawValue)
            writer.wholeRefusal(refusal)
        case .deferred(let refusal, let attempts):
            writer.byte(StatusTag.deferred.rawValue)
            writer.wholeRefusal(refusal)
            writer.count(attempts)
        }
    }
}
