package import EDM
import Operations

/// Writes changed items of a working set into a storage.
package struct DirtyItemWriter {
    private let source: WorkingSet
    private let dirty: DirtyItems

    /// Updates a storage from a state at the last call of ``WorkingSet/trackDirtyItems()`` to the current one, without reading
    /// unchanged items. Restarts the tracking.
    ///
    /// Has to run in one transaction. In both states the pending operations have to be applied.
    ///
    /// - Returns: False if the state has to be written anew because the model changed; then the storage is unchanged.
    package static func writeChanges(of state: WorkingSet, into storage: some StateStorage) throws(StateError) -> Bool {
        guard let dirty = state.drainDirtyItems(), !dirty.hasModel else { return false }
        try DirtyItemWriter(source: state, dirty: dirty).write(into: storage)
        return true
    }

    /// Writes a state into an empty storage. Has to run in one transaction.
    ///
    /// - Parameter model: The model of the state's metadata, if it has any.
    package static func writeAll(of state: WorkingSet, into storage: some StateStorage, _ model: EntityDataModel?)
        throws(StateError)
    {
        var restoration = StateRestoration(into: storage, model)
        do {
            try StateSnapshot.forEachItem(of: state) { try restoration.add($0) }
        } catch {
            throw error as? StateError ?? StateError(.unavailable, "The state cannot be read: \(error)")
        }
        try restoration.complete()
    }

    private func write(into storage: some StateStorage) throws(StateError) {
        try storage.setHeader(try source.header())
        for id in dirty.entities.sorted() { if let set = try source.set(of: id) { try storage.register(id, set: set) } }
        for key in dirty.keys {
            if let id = try source.entity(set: key.set, key: key.key) {
                try storage.assignKey(set: key.set, key: key.key, to: id)
            }
        }
        for id in dirty.rows.sorted() {
            if let row = try source.row(id) { try storage.putRow(row) } else { try storage.removeRow(id) }
        }
        for id in dirty.bases.sorted() {
            if let base = try source.base(id) { try storage.saveBase(id, base) } else { try storage.removeBase(id) }
        }
        for link in dirty.links {
            if let row = try source.link(link.relationship, first: link.first, second: link.second) {
                try storage.putLink(row)
            } else {
                try storage.removeLink(link.relationship, first: link.first, second: link.second)
            }
        }
        try writeQueue(into: storage)
        for id in dirty.mergeBases.sorted() {
            if let mergeBase = try source.bookkeeping.mergeBase(id) {
                try storage.bookkeeping.putMergeBase(mergeBase)
            } else {
                try storage.bookkeeping.removeMergeBase(id)
            }
        }
        for id in dirty.streams.sorted() {
            try storage.bookkeeping.putStreams(try source.bookkeeping.streams(of: id), of: id)
        }
        try writeQueries(into: storage)
        if dirty.hasEvents { try storage.bookkeeping.putEvents(try source.bookkeeping.events()) }
        if dirty.hasOpenLinks { try storage.bookkeeping.putOpenLinks(try source.bookkeeping.openLinks()) }
        if dirty.hasQuarantine { try storage.bookkeeping.putQuarantine(try source.bookkeeping.quarantine()) }
    }

    private func writeQueue(into storage: some StateStorage) throws(StateError) {
        // Effects are stored for all operations or for none.
        try storage.removeEffects()
        for sequence in dirty.pending.ids.sorted() {
            // The operation may refer to fewer entities now.
            try storage.removePending(sequence)
            if let pending = try source.pendingOperation(sequence) { try storage.putPending(pending) }
        }
        for sequence in dirty.undone.ids.sorted() {
            if let undone = try source.bookkeeping.undoneOperation(sequence) {
                try storage.bookkeeping.putUndone(undone)
            } else {
                try storage.bookkeeping.removeUndone(sequence)
            }
        }
        for batch in dirty.batches.sorted() {
            guard let open = try source.bookkeeping.openBatch(batch) else {
                try storage.bookkeeping.removeOpenBatch(batch)
                continue
            }
            try storage.bookkeeping.putOpenBatch(open)
        }
    }

    private func writeQueries(into storage: some StateStorage) throws(StateError) {
        let former = try storage.bookkeeping.queries().map(\.query.name)
        let memory = source.bookkeeping.memory
        for id in dirty.coverage.sorted() {
            for name in former where memory?.run(of: id, by: name) == nil {
                try storage.bookkeeping.uncover(id, query: name)
            }
            for (name, runs) in memory?.coverage ?? [] {
                if let run = runs[id] { try storage.bookkeeping.cover(id, query: name, run: run) }
            }
        }
        guard dirty.hasQueries else { return }
        // The order of the queries is part of the state.
        for name in former { try storage.bookkeeping.removeQuery(name) }
        for query in try source.bookkeeping.queries() { try storage.bookkeeping.putQuery(query) }
    }
}
