import EDM
import Operations

/// Makes a state again from a snapshot's records.
///
/// Belongs into one transaction: before ``finish()`` the storage holds a part of the state only.
public struct StateRestoration<Storage: StateStorage> {
    private let storage: Storage
    private var decoder = SnapshotDecoder()
    private var header = StateHeader()

    /// - Precondition: the storage is empty.
    public init(into storage: Storage) { self.storage = storage }

    /// - Throws: ``StateError`` with `damaged` where the records are no snapshot.

    public mutating func add(kind: UInt8, payload: [UInt8]) throws(StateError) {
        if let item = try decoder.add(kind: kind, payload: payload) { try add(item) }
    }

    private mutating func add(_ item: SnapshotItem) throws(StateError) {
        switch item {
        case .header(let applied, let nextEntity, let nextBatch):
            header = StateHeader(applied: applied, nextEntity: nextEntity, nextBatch: nextBatch)
        case .service(let service): try install(service)
        case .query(let query): try storage.putQuery(query)
        case .entity(let id, let set): try storage.register(id, set: set)
        case .key(let key, let set, let id): try storage.assignKey(set: set, key: key, to: id)
        case .row(let row): try storage.putRow(row)
        case .base(let id, let base): try storage.saveBase(id, base)
        case .link(let link): try storage.putLink(link)
        case .pending(let pending): try storage.putPending(pending)
        case .undone(let undone): try storage.putUndone(undone)
        case .coverage(let query, let id, let run): try storage.cover(id, query: query, run: run)
        case .postponed(let postponed): header.postponed = postponed
        case .openBatch(let batch): try storage.putOpenBatch(batch)
        case .ancestor(let ancestor): try storage.putAncestor(ancestor)
        case .since(let time, let sequence):
            try setSince(time, sequence)
        case .lastDownload(let sequence): header.lastDownload = sequence
        case .streams(let id, let streams): try storage.putStreams(streams, of: id)
        case .events(let events): try storage.putEvents(events)
        case .openLinks(let links): try storage.putOpenLinks(links)
        case .quarantine(let entries): try storage.putQuarantine(entries)
        case .end: break
        }
    }

    /// Returns the header of the state that is now in the storage.
    ///
    /// - Throws: ``StateError`` with `damaged` where the snapshot's end was missing.
    public func finish() throws(StateError) -> (header: StateHeader, digest: StateDigest) {
        let digest = try decoder.finish()
        try storage.setHeader(header)
        return (header, digest)
    }

    private func setSince(_ time: Timestamp, _ sequence: SequenceNumber) throws(StateError) {
        if var pending = try storage.pendingOperation(sequence) {
            pending.since = time
            try storage.putPending(pending)
        } else if var undone = try storage.undoneOperation(sequence) {
            undone.operation.since = time
            try storage.putUndone(undone)
        } else {
            throw SnapshotDecoder.damaged("tells of an operation that it does not have")
        }
    }

    private mutating func install(_ service: ServiceDescription) throws(StateError) {
        header.service = service
        // What the fold does with the same record: the tables of the entity sets come from the metadata.
        try storage.setHeader(StateHeader(service: service))
        let model: EntityDataModel
        do throws(CSDLError) {
            model = try CSDLReader.read(service.metadata)
        } catch {
            throw SnapshotDecoder.damaged("has metadata that does not parse: \(error)")
        }
        try storage.install(model)
    }
}
