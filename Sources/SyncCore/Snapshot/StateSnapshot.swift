import Operations

/// A state as a sequence of records, from which it can be restored without the earlier log.
package enum StateSnapshot {
    /// Calls `body` with every item of the state except the end, in snapshot order. Memory is bounded by the storage.
    ///
    /// - Parameter body: A function that must not use the storage.
    static func forEachItem(of storage: some StateReader, _ body: (SnapshotItem) throws -> Void) throws {
        var header = try storage.header()
        let service = header.service
        header.service = nil
        try body(.header(header))
        if let service { try body(.service(service)) }
        for query in try storage.bookkeeping.queries() { try body(.query(query)) }
        try storage.forEachEntity { try body(.entity($0, set: $1)) }
        try storage.forEachKey { try body(.key($1, set: $0, of: $2)) }
        try storage.forEachRow { try body(.row($0)) }
        try storage.forEachBase { try body(.base($0, $1)) }
        try storage.forEachLink { try body(.link($0)) }
        try storage.bookkeeping.forEachCoverage { try body(.coverage(query: $0, $1, run: $2)) }
        try storage.forEachPending { try body(.pending($0)) }
        try storage.bookkeeping.forEachUndone { try body(.undone($0)) }
        for batch in try storage.bookkeeping.openBatches() { try body(.openBatch(batch)) }
        try storage.bookkeeping.forEachMergeBase { try body(.ancestor($0)) }
        try storage.bookkeeping.forEachStreams { try body(.streams($0, $1)) }
        let events = try storage.bookkeeping.events()
        if !events.isEmpty { try body(.events(events)) }
        let links = try storage.bookkeeping.openLinks()
        if !links.isEmpty { try body(.openLinks(links)) }
        let quarantine = try storage.bookkeeping.quarantine()
        if !quarantine.isEmpty { try body(.quarantine(quarantine)) }
    }
}

extension Fold {
    /// Writes the current state record by record, and returns its digest.
    ///
    /// The memory is bounded by the largest item. Cost: one pass over the whole state.
    /// - Precondition: The pending operations are applied; see ``finishRebase()``. A state without them does not
    ///   correspond to the log.
    /// - Parameter sink: A function that must not use the storage.
    @discardableResult
    package func writeSnapshot(
        to sink: (_ kind: UInt8, _ payload: [UInt8]) throws -> Void
    ) throws -> StateDigest {
        precondition(isRebased, "a snapshot of a state whose pending operations are reverted")
        var hash = StateHash()
        var items: UInt64 = 0
        func write(_ item: SnapshotItem) throws {
            var (kind, payload) = SnapshotCodec.encode(item)
            while payload.count > SnapshotCodec.pieceLength {
                try sink(SnapshotCodec.pieceKind, Array(payload.prefix(SnapshotCodec.pieceLength)))
                payload.removeFirst(SnapshotCodec.pieceLength)
            }
            try sink(kind.rawValue, payload)
        }
        try StateSnapshot.forEachItem(of: storage) { item in
            hash.add(item)
            items += 1
            try write(item)
        }
        let digest = StateDigest(value: hash.value)
        try write(.end(items: items, digest: digest))
        return digest
    }
}
