import Operations

/// The changed items of a state, for another storage.
extension WorkingSet {
    /// All items of a state. Only without a backing.
    var allItems: DirtyItems {
        get throws(StateError) {
            var all = DirtyItems(
                keys: Set(keys.keys), rows: Set(rowTable.entities), bases: Set(bases.entities),
                links: Set(linkTable.keys), pending: Set(try pendingOperations().map(\.sequence)),
                undone: Set(try bookkeeping.undoneOperations().map(\.sequence)),
                batches: Set(try bookkeeping.openBatches().map(\.batch)),
                mergeBases: Set(try bookkeeping.mergeBases()),
                coverage: bookkeeping.covered, hasQueries: true,
                hasEvents: true, hasOpenLinks: true, hasQuarantine: true)
            register.forEach { id, _ in all.entities.insert(id) }
            do {
                try bookkeeping.forEachStreams { id, _ in all.streams.insert(id) }
            } catch {
                throw error as? StateError ?? StateError(.unavailable, "\(error)")
            }
            return all
        }
    }

    func drainDirtyItems() -> DirtyItems? {
        defer { if tracking.dirtyItems != nil { tracking.dirtyItems = DirtyItems() } }
        return tracking.dirtyItems
    }
}
