import EDM
public import Operations

/// Passes over the whole state. Changes are flushed to the backing first.
extension WorkingSet {
    public func forEachEntity(_ body: (EntityID, String) throws -> Void) throws {
        try flush()
        if let backing { return try backing.forEachEntity(body) }
        try register.forEach { id, set throws(any Error) in try body(id, set) }
    }

    public func forEachKey(_ body: (String, String, EntityID) throws -> Void) throws {
        try flush()
        if let backing { return try backing.forEachKey(body) }
        let sorted = keys.sorted {
            $0.key.set == $1.key.set
                ? Self.precedes($0.key.key, $1.key.key) : Self.precedes($0.key.set, $1.key.set)
        }
        for (key, id) in sorted { try body(key.set, key.key, id) }
    }

    public func forEachRow(_ body: (EntityRow) throws -> Void) throws {
        try flush()
        if let backing { return try backing.forEachRow(body) }
        let sorted = rowTable.rows.sorted { $0.set == $1.set ? $0.id < $1.id : Self.precedes($0.set, $1.set) }
        for row in sorted { try body(row) }
    }

    public func forEachBase(_ body: (EntityID, BaseState) throws -> Void) throws {
        try flush()
        if let backing { return try backing.forEachBase(body) }
        for id in bases.entities.sorted() { if let base = bases[id] ?? nil { try body(id, base) } }
    }

    public func forEachLink(_ body: (LinkRow) throws -> Void) throws {
        try flush()
        if let backing { return try backing.forEachLink(body) }
        for link in linkTable.links.values.sorted(by: Self.inOrder) { try body(link) }
    }

    /// All items of a state. Only without a backing.
    var allItems: DirtyItems {
        get throws(StateError) {
            var all = DirtyItems(
                keys: Set(keys.keys), rows: Set(rowTable.entities), bases: Set(bases.entities),
                links: Set(linkTable.links.keys), pending: Set(try pendingOperations().map(\.sequence)),
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
