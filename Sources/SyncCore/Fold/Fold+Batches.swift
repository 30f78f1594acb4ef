public import Operations

/// Batches without a response. A batch is open until none of its operations is in flight or in doubt with it.
extension Fold {
    mutating func apply(_ prepared: BatchPrepared) throws(StateError) {
        let operations = prepared.operations
        // A batch contains an undone operation only if it was redone and the record of that is lost.
        try redo(operations)
        var header = try storage.header()
        if prepared.batch >= header.nextBatch { header.nextBatch = prepared.batch &+ 1 }
        try storage.setHeader(header)
        var left: Set<BatchID> = []
        for sequence in operations {
            if let batch = try storage.pendingStatus(of: sequence)?.status.batch { left.insert(batch) }
            try setStatus(sequence, .inFlight(prepared.batch))
        }
        var kept = prepared
        // Not part of the state, because nothing depends on it.
        kept.fingerprint = nil
        try storage.bookkeeping.putOpenBatch(OpenBatch(kept))
        try close(left.union([prepared.batch]))
    }

    func apply(_ accepted: BatchAccepted) throws(StateError) {
        guard var batch = try storage.bookkeeping.openBatch(accepted.batch) else { return }
        batch.monitor = accepted.monitor
        try storage.bookkeeping.putOpenBatch(batch)
    }

    mutating func apply(_ interrupted: BatchInterrupted) throws(StateError) {
        // Absent if the state was restored from a snapshot of an earlier version.
        let open = try storage.bookkeeping.openBatch(interrupted.batch)
        if var open, open.monitor != nil {
            open.monitor = nil
            try storage.bookkeeping.putOpenBatch(open)
        }
        let operations =
            if let open { open.prepared.operations } else { try storage.pendingOperations(.inFlight).map(\.sequence) }
        for sequence in operations
        where try storage.pendingStatus(of: sequence)?.status == .inFlight(interrupted.batch) {
            try setStatus(sequence, .inDoubt(interrupted.batch, reason: interrupted.reason))
        }
    }

    mutating func release(_ operations: [SequenceNumber]) throws(StateError) {
        let left = try batches(of: operations)
        for operation in operations { try setStatus(operation, .pending) }
        try close(left)
    }

    /// Returns the batches in which the operations are in flight or in doubt.
    func batches(of operations: [SequenceNumber]) throws(StateError) -> Set<BatchID> {
        var found: Set<BatchID> = []
        for operation in operations {
            if let batch = try storage.pendingStatus(of: operation)?.status.batch { found.insert(batch) }
        }
        return found
    }

    private func isAwaited(_ open: OpenBatch) throws(StateError) -> Bool {
        for changeSet in open.prepared.changeSets {
            for request in changeSet
            where try storage.pendingStatus(of: request.operation)?.status.batch == open.batch { return true }
        }
        return false
    }

    /// Returns the entities that an action returned and the state does not have.
    func newEntities(in images: [EntityImage]) throws(StateError) -> [EntityID] {
        var found: [EntityID] = []
        for image in images where try baseRow(image.entity) == nil && !found.contains(image.entity) {
            found.append(image.entity)
        }
        return found
    }

    /// Removes those of the batches that no operation waits for.
    func close(_ batches: Set<BatchID>) throws(StateError) {
        for batch in batches.sorted() {
            guard let open = try storage.bookkeeping.openBatch(batch) else { continue }
            var isOpen = false
            for operation in open.prepared.operations where !isOpen {
                isOpen = try storage.pendingOperation(operation)?.status.batch == batch
            }
            if !isOpen { try storage.bookkeeping.removeOpenBatch(batch) }
        }
    }
}

extension PendingOperation.Status {
    /// The batch with which the operation is in flight or in doubt.
    public var batch: BatchID? {
        switch self {
        case .inFlight(let batch), .inDoubt(let batch, _): batch
        case .pending, .rejected, .deferred: nil
        }
    }
}
