import Operations

/// The consequences of an unreadable record. It may have been of any kind, so nothing may be concluded from its
/// absence: neither that an operation was never sent, nor that a number is free, nor that a download is complete.
struct LostRecordFold {
    /// The last record that replaces a lost one.
    private var last: SequenceNumber?

    /// Applies a record that replaces a lost one.
    mutating func apply(_ sequence: SequenceNumber, to layers: inout LayeredState) throws(StateError) {
        // Each further lost record in a row can only have been one more batch.
        if last == sequence &- 1 { try skipBatch(in: layers) } else { try applyLoss(to: &layers) }
        last = sequence
    }

    /// The reason of the doubt about operations before the lost record.
    private static var reason: String {
        "Records after it were lost from the log, and one of them may have contained its outcome."
    }

    /// The minimum gap in the entity IDs for a lost record. Neither a record of 16 MiB nor all records of a log contain
    /// nearly as many.
    private static var entitiesPerLoss: UInt64 { 1 << 32 }

    private func applyLoss(to layers: inout LayeredState) throws(StateError) {
        var header = try layers.storage.header()
        // The lost record may have prepared a batch, and created entities to which later records and links of the app
        // refer. If there is a gap already and no entity was created since, it is large enough.
        header.nextBatch &+= 1
        let next = header.nextEntity.rawValue
        let hasGap = next > 1 && next % Self.entitiesPerLoss == 0
        if !hasGap, next < .max - 3 * Self.entitiesPerLoss {
            header.nextEntity = EntityID(rawValue: (next / Self.entitiesPerLoss + 2) * Self.entitiesPerLoss)
        }
        try layers.storage.setHeader(header)
        for pending in try layers.storage.pendingOperations() {
            switch pending.status {
            case .inDoubt: break
            case .inFlight(let batch): try layers.setStatus(pending.sequence, .inDoubt(batch, reason: Self.reason))
            // A local-only operation is never sent.
            case .pending where pending.operation.delivery == .localOnly: break
            case .pending, .rejected, .deferred:
                try layers.setStatus(pending.sequence, .inDoubt(0, reason: Self.reason))
            }
        }
        // It may have been redone and sent since.
        for var undone in try layers.storage.bookkeeping.undoneOperations() {
            if case .inDoubt = undone.operation.status { continue }
            if undone.operation.operation.delivery == .localOnly { continue }
            undone.operation.status = .inDoubt(0, reason: Self.reason)
            try layers.storage.bookkeeping.putUndone(undone)
        }
        // A page may be missing, so an entity is not known to be gone because no page contains it.
        for var query in try layers.storage.bookkeeping.queries() where query.run != 0 || query.isComplete {
            query.run = 0
            query.isComplete = false
            query.downloaded = nil
            query.deltaLink = nil
            query.next = nil
            try layers.storage.bookkeeping.putQuery(query)
        }
    }

    private func skipBatch(in layers: LayeredState) throws(StateError) {
        var header = try layers.storage.header()
        header.nextBatch &+= 1
        try layers.storage.setHeader(header)
    }
}
