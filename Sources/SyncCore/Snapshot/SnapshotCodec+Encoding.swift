import EDM
import Operations

extension ByteWriter {
    mutating func item(_ item: SnapshotItem) {
        switch item {
        case .header(let header): self.header(header)
        case .service(let service): self.service(service)
        case .query(let state): query(state)
        case .entity(let id, let set):
            entity(id)
            string(set)
        case .key(let key, let set, let id):
            string(set)
            string(key)
            entity(id)
        case .row(let row): self.row(row)
        case .base(let id, let base):
            entity(id)
            let row: EntityRow? = if case .row(let row) = base { row } else { nil }
            optional(row) { $0.row($1) }
        case .link(let link):
            string(link.relationship)
            entity(link.first)
            entity(link.second)
            bool(link.inBase)
            bool(link.inLocal)
        case .coverage(let query, let id, let run):
            string(query)
            entity(id)
            unsigned(run)
        case .pending(let pending): queued(pending, undo: nil)
        case .undone(let undone): queued(undone.operation, undo: undone.undo)
        case .openBatch(let batch): openBatch(batch)
        case .ancestor(let mergeBase): self.mergeBase(mergeBase)
        case .streams(let id, let streams):
            entity(id)
            list(streams) { $0.write($1) }
        case .events(let events):
            byte(ListTag.events.rawValue)
            list(events) { $0.event($1) }
        case .openLinks(let links):
            byte(ListTag.openLinks.rawValue)
            openLinks(links)
        case .quarantine(let entries):
            byte(ListTag.quarantine.rawValue)
            list(entries) { $0.quarantineEntry($1) }
        case .end(let items, let digest):
            unsigned(items)
            fixed64(digest.value)
        }
    }

    private mutating func header(_ header: StateHeader) {
        unsigned(header.applied)
        entity(header.nextEntity)
        unsigned(header.nextBatch)
        field(HeaderField.lastDownload, header.lastDownload == 0 ? nil : header.lastDownload)
        field(HeaderField.postponed, header.postponed) {
            $0.postponed($1.upload)
            $0.signed($1.since)
        }
        end()
    }

    private mutating func query(_ state: QueryState) {
        definingQuery(state.query)
        unsigned(state.run)
        field(QueryField.isComplete, state.isComplete)
        field(QueryField.isDelta, state.isDelta)
        field(QueryField.deltaLink, state.deltaLink) { $0.serviceLink($1) }
        field(QueryField.next, state.next) { $0.serviceLink($1) }
        field(QueryField.downloaded, signed: state.downloaded)
        end()
    }

    private mutating func serviceLink(_ link: QueryState.ServiceLink) {
        string(link.url)
        signed(link.time)
    }

    mutating func row(_ row: EntityRow) {
        entity(row.id)
        string(row.set)
        string(row.type)
        properties(row.values)
        byte(row.origin.rawValue)
        field(RowField.etag, row.etag)
        field(RowField.editLink, row.editLink)
        field(RowField.downloaded, row.downloaded == 0 ? nil : row.downloaded)
        end()
    }

    private mutating func queued(_ pending: PendingOperation, undo: SequenceNumber?) {
        unsigned(pending.sequence)
        signed(pending.time)
        operation(pending.operation)
        status(pending.status)
        field(QueuedField.since, signed: pending.since == pending.time ? nil : pending.since)
        field(QueuedField.undo, undo)
        end()
    }

    private mutating func status(_ status: PendingOperation.Status) {
        switch status {
        case .pending: byte(StatusTag.pending.rawValue)
        case .inFlight(let batch):
            byte(StatusTag.inFlight.rawValue)
            unsigned(batch)
        case .inDoubt(let batch, let reason):
            byte(StatusTag.inDoubt.rawValue)
            unsigned(batch)
            string(reason)
        case .rejected(let refusal):
            byte(StatusTag.rejected.rawValue)
            self.refusal(refusal)
        case .deferred(let refusal, let attempts):
            byte(StatusTag.deferred.rawValue)
            self.refusal(refusal)
            count(attempts)
        }
    }

    private mutating func openBatch(_ batch: OpenBatch) {
        prepared(batch.prepared)
        field(OpenBatchField.monitor, batch.monitor)
        field(OpenBatchField.shown, batch.shown.isEmpty ? nil : batch.shown) {
            $0.list($1) {
                $0.entity($1.entity)
                $0.string($1.name)
                $0.optional($1.target) { $0.entity($1) }
            }
        }
        end()
    }

    private mutating func mergeBase(_ mergeBase: MergeBase) {
        row(mergeBase.row)
        list(mergeBase.links) {
            $0.string($1.relationship)
            $0.bool($1.isFirst)
            $0.optional($1.partner) { $0.entity($1) }
        }
    }

    private mutating func event(_ event: StoreEvent) {
        unsigned(event.id)
        byte(event.kind.rawValue)
        signed(event.time)
        unsigned(event.mark)
        field(EventField.subset, event.subset) { $0.list($1) { $0.string($1) } }
        end()
    }

    private mutating func quarantineEntry(_ entry: QuarantineEntry) {
        unsigned(entry.sequence)
        signed(entry.time)
        quarantined(entry.entity)
    }
}
