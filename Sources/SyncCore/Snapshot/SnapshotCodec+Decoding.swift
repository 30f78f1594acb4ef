package import EDM
import Operations

/// Decoding of snapshot items. It is total: it handles any bytes.
extension SnapshotCodec {
    /// Decodes an item.
    ///
    /// - Throws: An error if the payload does not match the kind. It never traps, whatever the bytes.
    package static func decode(_ kind: Kind, payload: [UInt8]) throws(CodecError) -> SnapshotItem {
        try decode(kind, payload: payload, names: nil)
    }

    /// Decodes an item, with interned names.
    ///
    /// - Parameter names: A table of interned names, or nil. If it is not nil, the values of entities stay encoded.
    static func decode(_ kind: Kind, payload: [UInt8], names: NameTable?) throws(CodecError) -> SnapshotItem {
        var found = SnapshotItem.header(applied: 0, nextEntity: EntityID(rawValue: 1), nextBatch: 0)
        try ByteReader.readWhole(payload, names: names) { reader throws(CodecError) in
            found = try item(kind, &reader)
        }
        return found
    }

    private static func item(_ kind: Kind, _ reader: inout ByteReader) throws(CodecError) -> SnapshotItem {
        switch kind {
        case .header, .summedHeader:
            .header(
                applied: try reader.unsigned(), nextEntity: try reader.entity(), nextBatch: try reader.unsigned())
        case .service: .service(ServiceDescription(root: try reader.string(), metadata: try reader.blob()))
        case .query: .query(try query(&reader))
        case .queryWithLinks: .query(try queryWithLinks(&reader))
        case .downloadedQuery: .query(try downloadedQuery(&reader))
        case .entity: .entity(try reader.entity(), set: try reader.name())
        case .key: try key(&reader)
        case .row: .row(try row(&reader))
        case .downloadedRow: .row(try downloadedRow(&reader))
        case .base:
            .base(
                try reader.entity(),
                try reader.optional { r throws(CodecError) in try row(&r) }.map(BaseState.row) ?? .absent)
        case .downloadedBase: try downloadedBase(&reader)
        case .link:
            .link(
                LinkRow(
                    relationship: try reader.name(), first: try reader.entity(), second: try reader.entity(),
                    inBase: try reader.bool(), inLocal: try reader.bool()))
        case .pending: .pending(try pending(nil, &reader))
        case .pendingWithAttributes: .pending(try pendingWithAttributes(&reader))
        case .pendingInTransaction: .pending(try pending(try reader.string(), &reader))
        case .coverage:
            .coverage(query: try reader.name(), try reader.entity(), run: try reader.unsigned())
        case .undone: .undone(try undone(&reader))
        case .postponed: .postponed(Postponement(try reader.postponed(), since: try reader.signed()))
        case .since: try since(&reader)
        case .openBatch:
            .openBatch(
                OpenBatch(
                    try ValueCodec.decodeBatchWithoutEffects(try reader.blob()),
                    monitor: try reader.optional { r throws(CodecError) in try r.string() }))
        case .openBatchWithEffects:
            .openBatch(
                OpenBatch(
                    try ValueCodec.decodeBatchPrepared(try reader.blob()),
                    monitor: try reader.optional { r throws(CodecError) in try r.string() }))
        case .undoneWithAttributes: .undone(try undoneWithAttributes(&reader))
        case .ancestor: .ancestor(try mergeBase(&reader))
        case .lastDownload: .lastDownload(try reader.unsigned())
        case .pendingWithStream: try pendingWithStream(&reader)
        case .undoneWithStream: try undoneWithStream(&reader)
        case .pendingWithCall: try pendingWithCall(&reader)
        case .undoneWithCall: try undoneWithCall(&reader)
        case .streams:
            .streams(try reader.entity(), try reader.list { r throws(CodecError) in try r.streamImage() })
        case .streamsTold:
            .streams(try reader.entity(), try reader.list { r throws(CodecError) in try r.streamImageWithTold() })
        case .events: .events(try reader.list { r throws(CodecError) in try event(&r) })
        case .openLinks: .openLinks(try reader.openLinks())
        case .quarantine:
            .quarantine(
                try reader.list { r throws(CodecError) in
                    QuarantineEntry(
                        sequence: try r.unsigned(), time: try r.signed(), entity: try r.quarantined())
                })
        case .end: .end(items: try reader.unsigned(), digest: StateDigest(value: try reader.fixed64()))
        }
    }

    private static func query(_ reader: inout ByteReader) throws(CodecError) -> QueryState {
        QueryState(
            query: DefiningQuery(
                name: try reader.string(), query: try reader.string(),
                automaticallyRetrievesStreams: try reader.bool()),
            run: try reader.unsigned(), isComplete: try reader.bool())
    }

    private static func queryWithLinks(_ reader: inout ByteReader) throws(CodecError) -> QueryState {
        var state = try query(&reader)
        state.isDelta = try reader.bool()
        state.deltaLink = try serviceLink(&reader)
        state.next = try serviceLink(&reader)
        return state
    }

    private static func downloadedQuery(_ reader: inout ByteReader) throws(CodecError) -> QueryState {
        var state = try queryWithLinks(&reader)
        state.downloaded = try reader.signed()
        return state
    }

    private static func serviceLink(_ reader: inout ByteReader) throws(CodecError) -> QueryState.ServiceLink? {
        try reader.optional { r throws(CodecError) in
            QueryState.ServiceLink(url: try r.string(), time: try r.signed())
        }
    }

    private static func downloadedRow(_ reader: inout ByteReader) throws(CodecError) -> EntityRow {
        var row = try row(&reader)
        row.downloaded = try reader.unsigned()
        return row
    }

    private static func downloadedBase(_ reader: inout ByteReader) throws(CodecError) -> SnapshotItem {
        let id = try reader.entity()
        guard var row = try reader.optional({ r throws(CodecError) in try row(&r) }) else {
            throw reader.fail(.invalid("base"))
        }
        row.downloaded = try reader.unsigned()
        return .base(id, .row(row))
    }

    private static func event(_ reader: inout ByteReader) throws(CodecError) -> StoreEvent {
        let id = try reader.unsigned()
        guard let kind = StoreEvent.Kind(rawValue: try reader.byte()) else { throw reader.fail(.invalid("event")) }
        return StoreEvent(
            id: id, kind: kind, time: try reader.signed(),
            subset: try reader.optional { r throws(CodecError) in
                try r.list { r throws(CodecError) in try r.string() }
            }, mark: try reader.unsigned())
    }

    private static func since(_ reader: inout ByteReader) throws(CodecError) -> SnapshotItem {
        let sequence = try reader.unsigned()
        return .since(try reader.signed(), sequence)
    }

    private static func key(_ reader: inout ByteReader) throws(CodecError) -> SnapshotItem {
        let set = try reader.name()
        return .key(try reader.string(), set: set, of: try reader.entity())
    }

    private static func row(_ reader: inout ByteReader) throws(CodecError) -> EntityRow {
        let id = try reader.entity()
        let set = try reader.name()
        let type = try reader.name()
        let values = try reader.properties()
        let etag = try reader.optional { r throws(CodecError) in try r.string() }
        let editLink = try reader.optional { r throws(CodecError) in try r.string() }
        guard let origin = EntityRow.Origin(rawValue: try reader.byte()) else { throw reader.fail(.invalid("origin")) }
        return EntityRow(
            id: id, set: set, type: type, values: values, etag: etag, editLink: editLink, origin: origin)
    }

    private static func mergeBase(_ reader: inout ByteReader) throws(CodecError) -> MergeBase {
        MergeBase(
            row: try row(&reader),
            links: try reader.list { r throws(CodecError) in
                MergeBase.Link(
                    relationship: try r.name(), isFirst: try r.bool(),
                    partner: try r.optional { r throws(CodecError) in try r.entity() })
            })
    }

    private static func pending(
        _ transaction: String?, _ reader: inout ByteReader
    ) throws(CodecError) -> PendingOperation {
        var pending = PendingOperation(
            sequence: try reader.unsigned(), time: try reader.signed(), operation: try reader.operation(),
            status: try status(&reader))
        pending.operation.transactionID = transaction
        return pending
    }

    private static func pendingWithAttributes(_ reader: inout ByteReader) throws(CodecError) -> PendingOperation {
        PendingOperation(
            sequence: try reader.unsigned(), time: try reader.signed(),
            operation: try reader.operationWithAttributes(), status: try status(&reader))
    }

    private static func undoneWithAttributes(_ reader: inout ByteReader) throws(CodecError) -> UndoneOperation {
        let undo = try reader.unsigned()
        return UndoneOperation(operation: try pendingWithAttributes(&reader), undo: undo)
    }

    private static func pendingWithStream(_ reader: inout ByteReader) throws(CodecError) -> SnapshotItem {
        let stream = try reader.streamWrite()
        var pending = try pendingWithAttributes(&reader)
        pending.operation.stream = stream
        return .pending(pending)
    }

    private static func undoneWithStream(_ reader: inout ByteReader) throws(CodecError) -> SnapshotItem {
        let stream = try reader.streamWrite()
        var undone = try undoneWithAttributes(&reader)
        undone.operation.operation.stream = stream
        return .undone(undone)
    }

    private static func pendingWithCall(_ reader: inout ByteReader) throws(CodecError) -> SnapshotItem {
        let call = try reader.actionCall()
        var pending = try pendingWithAttributes(&reader)
        pending.operation.call = call
        return .pending(pending)
    }

    private static func undoneWithCall(_ reader: inout ByteReader) throws(CodecError) -> SnapshotItem {
        let call = try reader.actionCall()
        var undone = try undoneWithAttributes(&reader)
        undone.operation.operation.call = call
        return .undone(undone)
    }

    private static func undone(_ reader: inout ByteReader) throws(CodecError) -> UndoneOperation {
        let undo = try reader.unsigned()
        let transaction = try reader.optional { r throws(CodecError) in try r.string() }
        return UndoneOperation(operation: try pending(transaction, &reader), undo: undo)
    }

    private static func status(_ reader: inout ByteReader) throws(CodecError) -> PendingOperation.Status {
        switch StatusTag(rawValue: try reader.byte()) {
        case .pending: return .pending
        case .inFlight: return .inFlight(try reader.unsigned())
        case .inDoubt: return .inDoubt(try reader.unsigned(), reason: try reader.string())
        case .rejected: return .rejected(try reader.refusal())
        case .rejectedWithRequest: return .rejected(try reader.wholeRefusal())
        case .deferred: return .deferred(try reader.wholeRefusal(), attempts: try reader.attempts())
        case nil: throw reader.fail(.invalid("status"))
        }
    }
}
