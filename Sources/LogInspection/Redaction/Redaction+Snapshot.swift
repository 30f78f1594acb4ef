import EDM
import Operations
import SyncCore

extension Redaction {
    /// Adds a snapshot item to a state, with everything replaced except names of the model.
    ///
    /// - Parameter state: The state, or nil if values are only collected.
    func item(_ item: SnapshotItem, into state: WorkingSet?, _ header: inout StateHeader) throws(StateError) {
        switch item {
        case .header(let applied, let nextEntity, let nextBatch):
            header = StateHeader(applied: applied, nextEntity: nextEntity, nextBatch: nextBatch)
        case .service(let service):
            header.service = self.service(service)
            if let model { try state?.install(model) }
        case .query(var query):
            query.query = self.query(query.query)
            query.deltaLink = query.deltaLink.map { .init(url: url($0.url), time: $0.time) }
            query.next = query.next.map { .init(url: url($0.url), time: $0.time) }
            try state?.bookkeeping.putQuery(query)
        case .entity(let id, let set):
            register(id, set, places[id]?.type ?? model?.findEntitySet(set)?.entityType.name ?? "")
            try state?.register(id, set: name(set))
        case .key(let key, let set, let id): keysSeen.append((key, set, id))
        case .row(let row): try state?.putRow(self.row(row)) ?? collect(row)
        case .base(let id, .row(let row)): try state?.saveBase(id, .row(self.row(row))) ?? collect(row)
        case .base(let id, .absent): try state?.saveBase(id, .absent)
        case .link(let link): try state?.putLink(link)
        case .pending(let pending): try put(self.pending(pending), state)
        case .coverage(let query, let id, let run): try state?.bookkeeping.cover(id, query: queryName(query), run: run)
        default: try rest(item, state, &header)
        }
    }

    private func rest(_ item: SnapshotItem, _ state: WorkingSet?, _ header: inout StateHeader) throws(StateError) {
        switch item {
        case .undone(let undone):
            let redacted = UndoneOperation(operation: pending(undone.operation), undo: undone.undo)
            try state?.bookkeeping.putUndone(redacted)
        case .postponed(let postponed):
            header.postponed = Postponement(self.postponed(postponed.upload), since: postponed.since)
        case .openBatch(let batch):
            try state?.bookkeeping.putOpenBatch(
                OpenBatch(prepared(batch.prepared), monitor: batch.monitor.map(monitor)))
        case .ancestor(let mergeBase):
            let row = self.row(mergeBase.row)
            try state?.bookkeeping.putMergeBase(MergeBase(row: row, links: mergeBase.links))
        case .since(let time, let sequence):
            if var pending = try state?.pendingOperation(sequence) {
                pending.since = time
                try state?.putPending(pending)
            } else if var undone = try state?.bookkeeping.undoneOperation(sequence) {
                undone.operation.since = time
                try state?.bookkeeping.putUndone(undone)
            }
        case .lastDownload(let sequence): header.lastDownload = sequence
        case .streams(let id, let streams):
            let redacted = streams.map(stream)
            try state?.bookkeeping.putStreams(redacted, of: id)
        case .events(let events):
            try state?.bookkeeping.putEvents(
                events.map {
                    var event = $0
                    event.subset = event.subset.map { $0.map(queryName) }
                    return event
                })
        case .openLinks(let links):
            let redacted = links.map(openLink)
            try state?.bookkeeping.putOpenLinks(redacted)
        case .quarantine(let entries):
            let redacted = entries.map {
                QuarantineEntry(sequence: $0.sequence, time: $0.time, entity: quarantined($0.entity))
            }
            try state?.bookkeeping.putQuarantine(redacted)
        default: break
        }
    }

    private func put(_ pending: PendingOperation, _ state: WorkingSet?) throws(StateError) {
        try state?.putPending(pending)
    }

    private func collect(_ row: EntityRow) { _ = self.row(row) }

    private func row(_ row: EntityRow) -> EntityRow {
        register(row.id, row.set, row.type)
        var redacted = row
        redacted.set = name(row.set)
        redacted.type = name(row.type)
        redacted.values = values(row.values, type: row.type, set: row.set)
        redacted.etag = etag(row.etag)
        redacted.editLink = url(row.editLink)
        if !isCollecting, let type = model?.findEntitySet(row.set)?.entityType,
            let before = KeyText.of(row.values, type: type), let after = KeyText.of(redacted.values, type: type)
        {
            keys[ExactText(row.set + "\u{1}" + before)] = after
        }
        return redacted
    }

    /// Adds the keys after all rows are known: current keys as in the redacted rows, and former ones as numbers.
    func putKeys(into state: WorkingSet) throws(StateError) {
        for (key, set, id) in keysSeen {
            let former = "Former=\(number(of: set + key, "key"))"
            try state.assignKey(set: name(set), key: keys[ExactText(set + "\u{1}" + key)] ?? former, to: id)
        }
        keysSeen = []
    }

    private func pending(_ pending: PendingOperation) -> PendingOperation {
        var redacted = pending
        redacted.operation = operation(pending.operation)
        redacted.status =
            switch pending.status {
            case .pending, .inFlight: pending.status
            case .inDoubt(let batch, let reason): .inDoubt(batch, reason: opaque(reason))
            case .rejected(let refusal): .rejected(self.refusal(refusal))
            case .deferred(let refusal, let attempts): .deferred(self.refusal(refusal), attempts: attempts)
            }
        return redacted
    }
}
