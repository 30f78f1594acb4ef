import EDM
import OperationLog
import Operations
import SyncCore

/// The state that a compaction left instead of the earlier records, from the oldest readable snapshot.
struct CompactedState {
    /// The first record that the state does not include.
    let sequence: SequenceNumber
    private(set) var service: ServiceDescription?
    private(set) var rows: [EntityRow] = []
    private var items: [SnapshotItem] = []
    private var links: [LinkRow] = []
    private var keys: [(set: String, key: String, entity: EntityID)] = []

    /// Reads the state, or returns nil if the log has its first record or no readable snapshot.
    ///
    /// Memory and cost are those of the snapshot.
    static func read(_ reader: LogReader) throws(LogError) -> CompactedState? {
        guard try reader.firstSequence() > 1 else { return nil }
        for file in try reader.snapshots() {
            do throws(LogError) {
                if let state = try CompactedState(file, reader) { return state }
            } catch {
                guard case .damaged = error else { throw error }
            }
        }
        return nil
    }

    private init?(_ file: SnapshotFile, _ reader: LogReader) throws(LogError) {
        sequence = file.sequence
        let cursor = try reader.snapshot(file)
        var decoder = SnapshotDecoder()
        while let record = try cursor.next() {
            guard let item = try? decoder.add(kind: record.kind, payload: record.bytes) else { continue }
            switch item {
            case .service(let found): service = found
            case .row(let row): rows.append(row)
            case .link(let link): links.append(link)
            case .key(let key, let set, let id): keys.append((set, key, id))
            default: items.append(item)
            }
        }
        guard (try? decoder.finish()) != nil else { return nil }
    }

    /// - Parameter type: The type of the set's entities.
    func entities(set: String, key: String, _ type: EntityType) -> [EntityID] {
        keys.filter { $0.set == set && KeyText.current($0.key, of: type) == key }.map(\.entity)
    }

    func partners(of centre: Set<EntityID>) -> Set<EntityID> {
        var found: Set<EntityID> = []
        for link in links {
            if centre.contains(link.first) { found.insert(link.second) }
            if centre.contains(link.second) { found.insert(link.first) }
        }
        for operation in pending where operation.touchedEntities.contains(where: centre.contains) {
            found.formUnion(operation.touchedEntities)
        }
        return found
    }

    func operations(touching entities: Set<EntityID>) -> [SequenceNumber] {
        items.compactMap { item in
            switch item {
            case .pending(let pending) where pending.operation.touches(entities): pending.sequence
            case .undone(let undone) where undone.operation.operation.touches(entities): undone.sequence
            default: nil
            }
        }
    }

    /// Returns the outcomes of the operations at the time of the snapshot.
    func outcomes(_ operations: Set<SequenceNumber>) -> [(SequenceNumber, OperationOutcome)] {
        items.compactMap { item in
            switch item {
            case .pending(let pending) where operations.contains(pending.sequence):
                (pending.sequence, OperationOutcome(pending.status))
            case .undone(let undone) where operations.contains(undone.sequence):
                (undone.sequence, .undone(by: undone.undo, before: OperationOutcome(undone.operation.status)))
            default: nil
            }
        }
    }

    private var pending: [Operation] {
        items.compactMap { item in
            switch item {
            case .pending(let pending): pending.operation
            case .undone(let undone): undone.operation.operation
            default: nil
            }
        }
    }

    /// Restores the parts of the state that concern the entities.
    func restore(_ entities: Set<EntityID>, into storage: WorkingSet) throws(StateError) {
        var header = StateHeader()
        let kept = Set(operations(touching: entities))
        for row in rows where entities.contains(row.id) { try storage.putRow(row) }
        for link in links where entities.contains(link.first) && entities.contains(link.second) {
            try storage.putLink(link)
        }
        for (set, key, id) in keys where entities.contains(id) {
            try storage.assignKey(set: set, key: key, to: id)
        }
        for item in items {
            switch item {
            case .header(let found):
                header = found
                header.postponed = nil
            case .query(let query): try storage.bookkeeping.putQuery(query)
            case .entity(let id, let set) where entities.contains(id): try storage.register(id, set: set)
            case .base(let id, let base) where entities.contains(id): try storage.saveBase(id, base)
            case .pending(let pending) where kept.contains(pending.sequence): try storage.putPending(pending)
            case .undone(let undone) where kept.contains(undone.sequence): try storage.bookkeeping.putUndone(undone)
            case .coverage(let query, let id, let run) where entities.contains(id):
                try storage.bookkeeping.cover(id, query: query, run: run)
            case .ancestor(let mergeBase) where entities.contains(mergeBase.id):
                try storage.bookkeeping.putMergeBase(mergeBase)
            case .streams(let id, let streams) where entities.contains(id):
                try storage.bookkeeping.putStreams(streams, of: id)
            default: break
            }
        }
        header.service = service
        try storage.setHeader(header)
    }
}

extension Operation {
    func touches(_ entities: Set<EntityID>) -> Bool { touchedEntities.contains(where: entities.contains) }
}
