import EDM
import Operations

/// Decoding of snapshot items. It is total: it handles any bytes.
extension ByteReader {
    mutating func item(_ kind: SnapshotCodec.ItemKind) throws(CodecError) -> SnapshotItem {
        switch kind {
        case .header: .header(try header())
        case .service: .service(try service())
        case .query: .query(try query())
        case .entity: .entity(try entity(), set: try name())
        case .key: try key()
        case .row: .row(try row())
        case .base: .base(try entity(), try optional { r throws(CodecError) in BaseState.row(try r.row()) } ?? .absent)
        case .link:
            .link(
                LinkRow(
                    relationship: try name(), first: try entity(), second: try entity(), inBase: try bool(),
                    inLocal: try bool()))
        case .coverage: .coverage(query: try name(), try entity(), run: try unsigned())
        case .operation: try queued()
        case .openBatch: .openBatch(try openBatch())
        case .ancestor: .ancestor(try mergeBase())
        case .streams: .streams(try entity(), try list { r throws(CodecError) in try r.streamImage() })
        case .list: try itemList()
        case .end: .end(items: try unsigned(), digest: StateDigest(value: try fixed64()))
        }
    }

    private mutating func header() throws(CodecError) -> StateHeader {
        var header = StateHeader(applied: try unsigned(), nextEntity: try entity(), nextBatch: try unsigned())
        try fields { r, tag throws(CodecError) in
            switch HeaderField(rawValue: tag) {
            case .lastDownload: header.lastDownload = try r.positive()
            case .postponed:
                header.postponed = try r.content { r throws(CodecError) in
                    Postponement(try r.postponed(), since: try r.signed())
                }
            case nil: return false
            }
            return true
        }
        return header
    }

    /// Reads a number that is present only if it is not 0.
    private mutating func positive() throws(CodecError) -> UInt64 {
        let number = try unsigned()
        guard number != 0 else { throw fail(.invalid("optional number")) }
        return number
    }

    private mutating func query() throws(CodecError) -> QueryState {
        var state = QueryState(query: try definingQuery(), run: try unsigned())
        try fields { r, tag throws(CodecError) in
            switch QueryField(rawValue: tag) {
            case .isComplete: state.isComplete = try r.flag()
            case .isDelta: state.isDelta = try r.flag()
            case .deltaLink: state.deltaLink = try r.content { r throws(CodecError) in try r.serviceLink() }
            case .next: state.next = try r.content { r throws(CodecError) in try r.serviceLink() }
            case .downloaded: state.downloaded = try r.signed()
            case nil: return false
            }
            return true
        }
        return state
    }

    private mutating func serviceLink() throws(CodecError) -> QueryState.ServiceLink {
        QueryState.ServiceLink(url: try string(), time: try signed())
    }

    private mutating func key() throws(CodecError) -> SnapshotItem {
        let set = try name()
        return .key(try string(), set: set, of: try entity())
    }

    private mutating func row() throws(CodecError) -> EntityRow {
        let id = try entity()
        let set = try name()
        let type = try name()
        let values = try properties()
        guard let origin = EntityRow.Origin(rawValue: try byte()) else { throw fail(.invalid("origin")) }
        var row = EntityRow(id: id, set: set, type: type, values: values, origin: origin)
        try fields { r, tag throws(CodecError) in
            switch RowField(rawValue: tag) {
            case .etag: row.etag = try r.string()
            case .editLink: row.editLink = try r.string()
            case .downloaded: row.downloaded = try r.positive()
            case nil: return false
            }
            return true
        }
        return row
    }

    private mutating func queued() throws(CodecError) -> SnapshotItem {
        var pending = PendingOperation(
            sequence: try unsigned(), time: try signed(), operation: try operation(), status: try status())
        var undo: SequenceNumber?
        try fields { r, tag throws(CodecError) in
            switch QueuedField(rawValue: tag) {
            case .since:
                pending.since = try r.signed()
                guard pending.since != pending.time else { throw r.fail(.invalid("time of the status")) }
            case .undo: undo = try r.unsigned()
            case nil: return false
            }
            return true
        }
        return undo.map { .undone(UndoneOperation(operation: pending, undo: $0)) } ?? .pending(pending)
    }

    private mutating func status() throws(CodecError) -> PendingOperation.Status {
        switch StatusTag(rawValue: try byte()) {
        case .pending: .pending
        case .inFlight: .inFlight(try unsigned())
        case .inDoubt: .inDoubt(try unsigned(), reason: try string())
        case .rejected: .rejected(try refusal())
        case .deferred: .deferred(try refusal(), attempts: try attempts())
        case nil: throw fail(.invalid("status"))
        }
    }

    private mutating func openBatch() throws(CodecError) -> OpenBatch {
        var batch = OpenBatch(try prepared())
        try fields { r, tag throws(CodecError) in
            switch OpenBatchField(rawValue: tag) {
            case .monitor: batch.monitor = try r.string()
            case .shown:
                batch.shown = try r.content { r throws(CodecError) in
                    try r.list { r throws(CodecError) in
                        ShownEffect(
                            entity: try r.entity(), name: try r.name(),
                            target: try r.optional { r throws(CodecError) in try r.entity() })
                    }
                }
            case nil: return false
            }
            return true
        }
        return batch
    }

    private mutating func mergeBase() throws(CodecError) -> MergeBase {
        MergeBase(
            row: try row(),
            links: try list { r throws(CodecError) in
                MergeBase.Link(
                    relationship: try r.name(), isFirst: try r.bool(),
                    partner: try r.optional { r throws(CodecError) in try r.entity() })
            })
    }

    private mutating func itemList() throws(CodecError) -> SnapshotItem {
        switch ListTag(rawValue: try byte()) {
        case .events: .events(try list { r throws(CodecError) in try r.event() })
        case .openLinks: .openLinks(try openLinks())
        case .quarantine:
            .quarantine(
                try list { r throws(CodecError) in
                    QuarantineEntry(sequence: try r.unsigned(), time: try r.signed(), entity: try r.quarantined())
                })
        case nil: throw fail(.invalid("list"))
        }
    }

    private mutating func event() throws(CodecError) -> StoreEvent {
        let id = try unsigned()
        guard let kind = StoreEvent.EventKind(rawValue: try byte()) else { throw fail(.invalid("event")) }
        var event = StoreEvent(id: id, kind: kind, time: try signed(), mark: try unsigned())
        try fields { r, tag throws(CodecError) in
            guard EventField(rawValue: tag) == .subset else { return false }
            event.subset = try r.content { r throws(CodecError) in
                try r.list { r throws(CodecError) in try r.string() }
            }
            return true
        }
        return event
    }
}
