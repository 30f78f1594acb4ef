import Operations

/// A state as a sequence of records, from which it can be restored without the earlier log.
package enum StateSnapshot {
    /// Calls `body` with every item of the state except the end, in snapshot order. Memory is bounded by the storage.
    ///
    /// - Parameter body: A function that must not use the storage.
    static func forEachItem(of storage: some StateReader, _ body: (SnapshotItem) throws -> Void) throws {
        let header = try storage.header()
        try body(.header(applied: header.applied, nextEntity: header.nextEntity, nextBatch: header.nextBatch))
        if let service = header.service { try body(.service(service)) }
        for query in try storage.bookkeeping.queries() { try body(.query(query)) }
        try storage.forEachEntity { try body(.entity($0, set: $1)) }
        try storage.forEachKey { try body(.key($1, set: $0, of: $2)) }
        try storage.forEachRow { try body(.row($0)) }
        try storage.forEachBase { try body(.base($0, $1)) }
        try storage.forEachLink { try body(.link($0)) }
        var later = Later()
        try storage.forEachPending {
            if later.isLater($0.operation) { return }
            try body(.pending($0))
        }
        if later.inTransaction {
            try storage.forEachPending { if $0.operation.isInTransactionOnly { try body(.pending($0)) } }
        }
        try storage.bookkeeping.forEachCoverage { try body(.coverage(query: $0, $1, run: $2)) }
        var isUndoneLater = false
        try storage.bookkeeping.forEachUndone {
            if $0.operation.operation.isWithPart {
                later.withPart = true
            } else if $0.operation.operation.hasLaterAttributes {
                isUndoneLater = true
            } else {
                try body(.undone($0))
            }
        }
        if let postponed = header.postponed { try body(.postponed(postponed)) }
        for batch in try storage.bookkeeping.openBatches() { try body(.openBatch(batch)) }
        if later.withAttributes {
            try storage.forEachPending { if $0.operation.isWithAttributesOnly { try body(.pending($0)) } }
        }
        if isUndoneLater {
            try storage.bookkeeping.forEachUndone {
                if $0.operation.operation.isWithAttributesOnly { try body(.undone($0)) }
            }
        }
        if later.withPart {
            try storage.forEachPending { if $0.operation.isWithPart { try body(.pending($0)) } }
            try storage.bookkeeping.forEachUndone { if $0.operation.operation.isWithPart { try body(.undone($0)) } }
        }
        try storage.bookkeeping.forEachMergeBase { try body(.ancestor($0)) }
        try storage.forEachPending { if $0.since != $0.time { try body(.since($0.since, $0.sequence)) } }
        try storage.bookkeeping.forEachUndone {
            let operation = $0.operation
            if operation.since != operation.time { try body(.since(operation.since, operation.sequence)) }
        }
        if header.lastDownload != 0 { try body(.lastDownload(header.lastDownload)) }
        try storage.bookkeeping.forEachStreams { try body(.streams($0, $1)) }
        let events = try storage.bookkeeping.events()
        if !events.isEmpty { try body(.events(events)) }
        let links = try storage.bookkeeping.openLinks()
        if !links.isEmpty { try body(.openLinks(links)) }
        let quarantine = try storage.bookkeeping.quarantine()
        if !quarantine.isEmpty { try body(.quarantine(quarantine)) }
    }
}

/// The pending operations that are not among the first in a snapshot. Most states have none and need no further pass.
private struct Later {
    var inTransaction = false
    var withAttributes = false
    var withPart = false

    mutating func isLater(_ operation: Operation) -> Bool {
        if operation.isWithPart {
            withPart = true
            return true
        }
        if operation.hasLaterAttributes {
            withAttributes = true
            return true
        }
        if operation.transactionID != nil { inTransaction = true }
        return operation.transactionID != nil
    }
}

extension Operation {
    /// Whether it writes a stream or calls an action.
    fileprivate var isWithPart: Bool { stream != nil || call != nil }
    fileprivate var isInTransactionOnly: Bool { transactionID != nil && !hasLaterAttributes && !isWithPart }
    fileprivate var isWithAttributesOnly: Bool { hasLaterAttributes && !isWithPart }
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
