package import Operations

/// The open batches of the state. A batch is open until none of its operations is in flight or in doubt with it.
struct OpenBatches {
    let storage: WorkingSet

    /// Stores the status monitor of an accepted batch.
    func accept(_ accepted: BatchAccepted) throws(StateError) {
        guard var batch = try storage.bookkeeping.openBatch(accepted.batch) else { return }
        batch.monitor = accepted.monitor
        try storage.bookkeeping.putOpenBatch(batch)
    }

    /// Returns the batches in which the operations are in flight or in doubt.
    func containing(_ operations: [SequenceNumber]) throws(StateError) -> Set<BatchID> {
        var found: Set<BatchID> = []
        for operation in operations {
            if let batch = try storage.pendingStatus(of: operation)?.status.batch { found.insert(batch) }
        }
        return found
    }

    /// Removes those of the batches that no operation waits for.
    func close(_ batches: Set<BatchID>) throws(StateError) {
        for batch in batches.sorted() {
            guard let open = try storage.bookkeeping.openBatch(batch) else { continue }
            let isOpen = try open.prepared.containsOperation { operation throws(StateError) in
                try storage.pendingStatus(of: operation)?.status.batch == batch
            }
            if !isOpen { try storage.bookkeeping.removeOpenBatch(batch) }
        }
    }
}

extension PendingOperation.Status {
    /// The batch with which the operation is in flight or in doubt.
    package var batch: BatchID? {
        switch self {
        case .inFlight(let batch), .inDoubt(let batch, _): batch
        case .pending, .rejected, .deferred: nil
        }
    }
}
