import Operations

/// What follows from a record that nobody can read any more. It may have been anything, so nothing may be concluded from
/// its absence: not that an operation was never sent, not that a number is free, not that a download is complete.
extension Fold {
    /// Why operations are in doubt that stood in front of the lost record.
    static var lossReason: String {
        "Records of the log were lost behind it, and how it ended may have been in one of them."
    }

    /// A record of 16 MiB cannot name so many entities by far, nor do all records of a log.
    private static var entitiesPerLoss: UInt64 { 1 << 32 }

    mutating func applyLoss() throws(StateError) {
        var header = try storage.header()
        // The lost record may have prepared a batch, and created entities that later records, and links that the app holds,
        // still name. Where a gap has been left and nothing was created since, it is still large enough.
        header.nextBatch &+= 1
        let next = header.nextEntity.rawValue
        let hasGap = next > 1 && next % Self.entitiesPerLoss == 0
        if !hasGap, next < .max - 3 * Self.entitiesPerLoss {
            header.nextEntity = EntityID(rawValue: (next / Self.entitiesPerLoss + 2) * Self.entitiesPerLoss)
        }
        try storage.setHeader(header)
        for pending in try storage.pendingOperations() {
            switch pending.status {
            case .inDoubt: break
            case .inFlight(let batch): try setStatus(pending.sequence, .inDoubt(batch, reason: Self.lossReason))
            // What is for this store only is sent by no batch, and nothing makes it otherwise.
            case .pending where pending.operation.delivery == .localOnly: break
            case .pending, .rejected, .deferred: try setStatus(pending.sequence, .inDoubt(0, reason: Self.lossReason))
            }
        }
        // It may have been redone, and sent since.
        for var undone in try storage.undoneOperations() {
            if case .inDoubt = undone.operation.status { continue }
            if undone.operation.operation.delivery == .localOnly { continue }
            undone.operation.status = .inDoubt(0, reason: Self.lossReason)
            try storage.putUndone(undone)
        }
        // A page may be missing: an entity that no page brought is no longer known to be gone.
        for var query in try storage.queries() where query.run != 0 || query.isComplete {
            query.run = 0
            query.isComplete = false
            query.downloaded = nil
            query.deltaLink = nil
            query.next = nil
            try storage.putQuery(query)
        }
    }
}
