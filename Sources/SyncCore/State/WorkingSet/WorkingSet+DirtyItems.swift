import Operations

/// The items of a state, for another storage.
extension WorkingSet {
    /// Writes all items except the header into an empty storage. Only without a backing.
    func writeItems(into storage: some StateStorage) throws(StateError) {
        try register.forEach { id, set throws(StateError) in try storage.register(id, set: set) }
        for (key, id) in keys { try storage.assignKey(set: key.set, key: key.key, to: id) }
        try rowTable.forEachInOrder { row throws(StateError) in try storage.putRow(row) }
        for id in bases.entities.sorted() { if let base = bases[id] ?? nil { try storage.saveBase(id, base) } }
        for link in linkTable.links { try storage.putLink(link) }
        for pending in try pendingOperations() { try storage.putPending(pending) }
        try bookkeeping.writeItems(into: storage.bookkeeping)
    }

    func drainDirtyItems() -> DirtyItems? {
        defer { if tracking.dirtyItems != nil { tracking.dirtyItems = DirtyItems() } }
        return tracking.dirtyItems
    }
}
