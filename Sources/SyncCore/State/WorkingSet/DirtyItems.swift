package import EDM
import Operations

/// The items of a state that have changed since the tracking started.
struct DirtyItems {
    struct Key: Hashable {
        let set: String
        let key: String

        static func == (a: Key, b: Key) -> Bool { a.set == b.set && a.key.isExactly(b.key) }
    }

    struct LinkEnds: Hashable {
        let relationship: String
        let first: EntityID
        let second: EntityID

        /// Hashes only the entities, because two entities rarely have links of several relationships.
        func hash(into hasher: inout Hasher) {
            hasher.combine(first)
            hasher.combine(second)
        }
    }

    var entities: Set<EntityID> = []
    var keys: Set<Key> = []
    var rows: Set<EntityID> = []
    var bases: Set<EntityID> = []
    var links: Set<LinkEnds> = []
    var pending: Set<SequenceNumber> = []
    var undone: Set<SequenceNumber> = []
    var batches: Set<BatchID> = []
    var mergeBases: Set<EntityID> = []
    var streams: Set<EntityID> = []
    var coverage: Set<EntityID> = []
    var hasQueries = false
    var hasEvents = false
    var hasOpenLinks = false
    var hasQuarantine = false
    /// Whether a model was installed. Rows may have been dropped with their sets, and the tables differ.
    var hasModel = false
}

extension WorkingSet {
    /// Updates a storage from the state at the last call of ``trackDirtyItems()`` to the current one, without reading
    /// unchanged items. Restarts the tracking.
    ///
    /// Has to run in one transaction. In both states the pending operations have to be applied.
    ///
    /// - Returns: False if the state has to be written anew because the model changed; then the storage is unchanged.
    package func writeDirtyItems(into storage: some StateStorage) throws(StateError) -> Bool {
        guard let touched = drainDirtyItems(), !touched.hasModel else { return false }
        try write(touched, into: storage)
        return true
    }

    /// Writes this state into an empty storage. Has to run in one transaction.
    ///
    /// - Parameter model: The model of the state's metadata, if it has any.
    package func write(into storage: some StateStorage, _ model: EntityDataModel?) throws(StateError) {
        try storage.setHeader(try header())
        if let model { try storage.install(model) }
        try write(try allItems, into: storage)
    }

    private func write(_ touched: DirtyItems, into storage: some StateStorage) throws(StateError) {
        try storage.setHeader(try header())
        for id in touched.entities.sorted() { if let set = try set(of: id) { try storage.register(id, set: set) } }
        for key in touched.keys {
            if let id = try entity(set: key.set, key: key.key) {
                try storage.assignKey(set: key.set, key: key.key, to: id)
            }
        }
        for id in touched.rows.sorted() {
            if let row = try row(id) { try storage.putRow(row) } else { try storage.removeRow(id) }
        }
        for id in touched.bases.sorted() {
            if let base = try base(id) { try storage.saveBase(id, base) } else { try storage.removeBase(id) }
        }
        for link in touched.links {
            if let row = try self.link(link.relationship, first: link.first, second: link.second) {
                try storage.putLink(row)
            } else {
                try storage.removeLink(link.relationship, first: link.first, second: link.second)
            }
        }
        try writeQueue(touched, into: storage)
        for id in touched.mergeBases {
            if let mergeBase = try bookkeeping.mergeBase(id) {
                try storage.bookkeeping.putMergeBase(mergeBase)
            } else {
                try storage.bookkeeping.removeMergeBase(id)
            }
        }
        for id in touched.streams { try storage.bookkeeping.putStreams(try bookkeeping.streams(of: id), of: id) }
        try writeQueries(touched, into: storage)
        if touched.hasEvents { try storage.bookkeeping.putEvents(try bookkeeping.events()) }
        if touched.hasOpenLinks { try storage.bookkeeping.putOpenLinks(try bookkeeping.openLinks()) }
        if touched.hasQuarantine { try storage.bookkeeping.putQuarantine(try bookkeeping.quarantine()) }
    }

    private func writeQueue(_ touched: DirtyItems, into storage: some StateStorage) throws(StateError) {
        // Effects are stored for all operations or for none.
        try storage.removeEffects()
        for sequence in touched.pending.sorted() {
            // The operation may refer to fewer entities now.
            try storage.removePending(sequence)
            if let pending = try pendingOperation(sequence) { try storage.putPending(pending) }
        }
        for sequence in touched.undone.sorted() {
            if let undone = try bookkeeping.undoneOperation(sequence) {
                try storage.bookkeeping.putUndone(undone)
            } else {
                try storage.bookkeeping.removeUndone(sequence)
            }
        }
        for batch in touched.batches.sorted() {
            guard let open = try bookkeeping.openBatch(batch) else {
                try storage.bookkeeping.removeOpenBatch(batch)
                continue
            }
            try storage.bookkeeping.putOpenBatch(open)
        }
    }

    private func writeQueries(_ touched: DirtyItems, into storage: some StateStorage) throws(StateError) {
        let former = try storage.bookkeeping.queries().map(\.query.name)
        for id in touched.coverage.sorted() {
            let runs = bookkeeping.coverage(of: id)
            for name in former where runs[name] == nil { try storage.bookkeeping.uncover(id, query: name) }
            for (name, run) in runs { try storage.bookkeeping.cover(id, query: name, run: run) }
        }
        guard touched.hasQueries else { return }
        // The order of the queries is part of the state.
        for name in former { try storage.bookkeeping.removeQuery(name) }
        for query in try bookkeeping.queries() { try storage.bookkeeping.putQuery(query) }
    }
}
