import EDM
import OperationLog
import Operations
import SyncCore

/// Redacts a snapshot: it restores a redacted state and writes a snapshot of it.
final class SnapshotRedactor {
    private let redaction: Redaction
    private let records: RecordRedactor
    private let urls: URLRedactor
    /// The redacted state, or nil if values are only collected.
    private let state: WorkingSet?
    private var decoder = SnapshotDecoder()
    private var header = StateHeader()
    /// The keys in the state, from original to redacted.
    private var keys: [ExactText: String] = [:]
    /// The keys of the snapshot until its rows are known.
    private var keysSeen: [(key: String, set: String, entity: EntityID)] = []

    init(_ redaction: Redaction, isCollecting: Bool) {
        self.redaction = redaction
        records = RecordRedactor(redaction)
        urls = URLRedactor(redaction: redaction)
        state = isCollecting ? nil : WorkingSet()
    }

    func add(kind: UInt8, payload: [UInt8], _ log: LogCopy?) throws {
        guard let item = try decoder.add(kind: kind, payload: payload) else { return }
        try add(item)
        guard case .end = item else { return }
        guard let state, let log else {
            keysSeen = []
            return
        }
        try putKeys(into: state)
        try state.setHeader(header)
        let fold = try Fold(storage: state)
        try fold.writeSnapshot { try log.addSnapshotItem(kind: $0, payload: $1) }
    }

    /// Adds an item to the state, with everything replaced except names of the model.
    private func add(_ item: SnapshotItem) throws(StateError) {
        switch item {
        case .header(let original):
            header = original
            header.postponed = original.postponed.map { Postponement(records.postponed($0.upload), since: $0.since) }
        case .service(let service):
            header.service = records.service(service)
            if let model = redaction.model { try state?.install(model) }
        case .query(var query):
            query.query = records.query(query.query)
            query.deltaLink = query.deltaLink.map { .init(url: urls.url($0.url), time: $0.time) }
            query.next = query.next.map { .init(url: urls.url($0.url), time: $0.time) }
            try state?.bookkeeping.putQuery(query)
        case .entity(let id, let set):
            redaction.register(
                id, set, redaction.places[id]?.type ?? redaction.model?.findEntitySet(set)?.entityType.name ?? "")
            try state?.register(id, set: redaction.name(set))
        case .key(let key, let set, let id):
            keysSeen.append((KeyText.current(key, of: redaction.model?.findEntitySet(set)?.entityType), set, id))
        case .row(let row): try state?.putRow(self.row(row)) ?? collect(row)
        case .base(let id, .row(let row)): try state?.saveBase(id, .row(self.row(row))) ?? collect(row)
        case .base(let id, .absent): try state?.saveBase(id, .absent)
        case .link(let link): try state?.putLink(link)
        case .pending(let pending): try state?.putPending(self.pending(pending))
        case .coverage(let query, let id, let run):
            try state?.bookkeeping.cover(id, query: records.queryName(query), run: run)
        default: try addRest(item)
        }
    }

    private func addRest(_ item: SnapshotItem) throws(StateError) {
        switch item {
        case .undone(let undone):
            let redacted = UndoneOperation(operation: pending(undone.operation), undo: undone.undo)
            try state?.bookkeeping.putUndone(redacted)
        case .openBatch(let batch):
            try state?.bookkeeping.putOpenBatch(
                OpenBatch(
                    records.prepared(batch.prepared), monitor: batch.monitor.map(records.monitor),
                    shown: batch.shown.map {
                        ShownEffect(entity: $0.entity, name: redaction.name($0.name), target: $0.target)
                    }.sorted()))
        case .ancestor(let mergeBase):
            let row = self.row(mergeBase.row)
            try state?.bookkeeping.putMergeBase(MergeBase(row: row, links: mergeBase.links))
        case .streams(let id, let streams):
            let redacted = streams.map(records.stream)
            try state?.bookkeeping.putStreams(redacted, of: id)
        case .events(let events):
            try state?.bookkeeping.putEvents(
                events.map {
                    var event = $0
                    event.subset = event.subset.map { $0.map(records.queryName) }
                    return event
                })
        case .openLinks(let links):
            let redacted = links.map(records.openLink)
            try state?.bookkeeping.putOpenLinks(redacted)
        case .quarantine(let entries):
            let redacted = entries.map {
                QuarantineEntry(sequence: $0.sequence, time: $0.time, entity: records.quarantined($0.entity))
            }
            try state?.bookkeeping.putQuarantine(redacted)
        default: break
        }
    }

    private func collect(_ row: EntityRow) { _ = self.row(row) }

    private func row(_ row: EntityRow) -> EntityRow {
        redaction.register(row.id, row.set, row.type)
        var redacted = row
        redacted.kind = EntityKind(set: redaction.name(row.set), type: redaction.name(row.type))
        redacted.values = redaction.values(row.values, type: row.type, set: row.set)
        redacted.etag = redaction.etag(row.etag)
        redacted.editLink = urls.url(row.editLink)
        if !redaction.isCollecting, let type = redaction.model?.findEntitySet(row.set)?.entityType,
            let before = KeyText.of(row.values, type: type), let after = KeyText.of(redacted.values, type: type)
        {
            keys[ExactText(row.set + "\u{1}" + before)] = after
        }
        return redacted
    }

    /// Adds the keys after all rows are known: current keys as in the redacted rows, and former ones as numbers.
    private func putKeys(into state: WorkingSet) throws(StateError) {
        for (key, set, id) in keysSeen {
            let former = "Former=\(redaction.number(of: set + key, "key"))"
            try state.assignKey(set: redaction.name(set), key: keys[ExactText(set + "\u{1}" + key)] ?? former, to: id)
        }
        keysSeen = []
    }

    private func pending(_ pending: PendingOperation) -> PendingOperation {
        var redacted = pending
        redacted.operation = records.operation(pending.operation)
        redacted.status =
            switch pending.status {
            case .pending, .inFlight: pending.status
            case .inDoubt(let batch, let reason): .inDoubt(batch, reason: redaction.opaque(reason))
            case .rejected(let refusal): .rejected(records.refusal(refusal))
            case .deferred(let refusal, let attempts): .deferred(records.refusal(refusal), attempts: attempts)
            }
        return redacted
    }
}
