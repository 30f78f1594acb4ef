package import EDM
import Operations

/// Restores a state from the records of a snapshot.
///
/// It has to run in one transaction, because before ``finish()`` the storage contains only a part of the state.
package struct StateRestoration {
    // Not generic: other modules would look up the metadata of the specialized type for each item.
    private let storage: any StateStorage
    /// The model of the state's metadata, if the caller has it.
    private let model: EntityDataModel?
    private let models: ModelSource
    private var decoder = SnapshotDecoder()
    private var header = StateHeader()
    /// The model of the state's metadata, after they were read.
    private var installed: EntityDataModel?

    /// Creates a restoration into an empty storage.
    ///
    /// - Parameter models: The source of the model of the state's metadata.
    /// - Precondition: The storage is empty.
    package init(into storage: any StateStorage, models: ModelSource = .parser) {
        self.init(into: storage, nil, models)
    }

    /// - Parameter model: The model of the state's metadata; if nil, the metadata are read.
    init(into storage: any StateStorage, _ model: EntityDataModel?, _ models: ModelSource = .parser) {
        self.storage = storage
        self.model = model
        self.models = models
    }

    /// Adds a record of the snapshot.
    ///
    /// - Throws: A ``StateError`` with `damaged` if the records are no snapshot.
    package mutating func add(kind: UInt8, payload: [UInt8]) throws(StateError) {
        try add(kind: kind, payload: payload[...])
    }

    /// Adds a record of the snapshot, whose payload is a slice of bytes.
    package mutating func add(kind: UInt8, payload: ArraySlice<UInt8>) throws(StateError) {
        if let item = try decoder.add(kind: kind, payload: payload) { try add(item) }
    }

    mutating func add(_ item: consuming SnapshotItem) throws(StateError) {
        switch consume item {
        case .header(let header): self.header = header
        case .service(let service): try install(service)
        case .query(let query): try storage.bookkeeping.putQuery(query)
        case .entity(let id, let set): try storage.register(id, set: set)
        case .key(let key, let set, let id):
            let type = installed?.findEntitySet(set)?.entityType
            try storage.assignKey(set: set, key: KeyText.current(key, of: type), to: id)
        case .row(let row): try storage.putRow(row)
        case .base(let id, let base): try storage.saveBase(id, base)
        case .link(let link): try storage.putLink(link)
        case .pending(let pending): try storage.putPending(pending)
        case .undone(let undone): try storage.bookkeeping.putUndone(undone)
        case .coverage(let query, let id, let run): try storage.bookkeeping.cover(id, query: query, run: run)
        case .openBatch(let batch): try storage.bookkeeping.putOpenBatch(batch)
        case .ancestor(let mergeBase): try storage.bookkeeping.putMergeBase(mergeBase)
        case .streams(let id, let streams): try storage.bookkeeping.putStreams(streams, of: id)
        case .events(let events): try storage.bookkeeping.putEvents(events)
        case .openLinks(let links): try storage.bookkeeping.putOpenLinks(links)
        case .quarantine(let entries): try storage.bookkeeping.putQuarantine(entries)
        case .end: break
        }
    }

    /// Completes the restoration. Returns the header of the restored state, and its digest.
    ///
    /// - Throws: A ``StateError`` with `damaged` if the snapshot has no end.
    package func finish() throws(StateError) -> (header: StateHeader, digest: StateDigest) {
        let digest = try decoder.finish()
        try storage.setHeader(header)
        return (header, digest)
    }

    /// Completes a restoration from items, without an end.
    func complete() throws(StateError) { try storage.setHeader(header) }

    private mutating func install(_ service: ServiceDescription) throws(StateError) {
        header.service = service
        // As in the fold of the same record: the tables of the entity sets are derived from the metadata.
        try storage.setHeader(StateHeader(service: service))
        let installed: EntityDataModel
        do throws(CSDLError) {
            if let model { installed = model } else { installed = try models.read(service.metadata) }
        } catch {
            throw SnapshotDecoder.damaged("contains metadata that cannot be parsed: \(error)")
        }
        self.installed = installed
        try storage.install(installed)
    }
}
