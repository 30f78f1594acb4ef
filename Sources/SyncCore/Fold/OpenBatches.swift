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

    /// Removes the requests of change sets in doubt that change an entity after one of the operations, which a new batch
    /// sends again.
    ///
    /// A service that has executed such a request does not execute its repetition, so the earlier operation, sent again
    /// with another identifier, would have the last effect. Without the request, the change set is sent again with a new
    /// identifier, too. One with a creation, a deletion or a call keeps its requests, because it must not be executed
    /// twice.
    func forgetRequests(following again: [SequenceNumber], of batch: BatchID) throws(StateError) {
        let earlier = try pending(again)
        for var open in try storage.bookkeeping.openBatches() where open.batch != batch {
            var isChanged = false
            for place in open.prepared.sent.indices where place < open.prepared.changeSets.count {
                let members = try pending(open.prepared.changeSets[place].map(\.operation)).filter {
                    $0.status.batch == open.batch
                }
                guard members.contains(where: { later in earlier.contains { later.mayOverwrite($0) } }),
                    members.allSatisfy(\.operation.isIdempotent)
                else { continue }
                open.prepared.sent[place] = []
                isChanged = true
            }
            if isChanged { try storage.bookkeeping.putOpenBatch(open) }
        }
    }

    private func pending(_ operations: [SequenceNumber]) throws(StateError) -> [PendingOperation] {
        var found: [PendingOperation] = []
        for operation in operations {
            if let pending = try storage.pendingOperation(operation) { found.append(pending) }
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

extension PendingOperation {
    /// Whether the operation follows an operation that names one of its entities.
    fileprivate func mayOverwrite(_ earlier: PendingOperation) -> Bool {
        guard earlier.sequence < sequence else { return false }
        let entities = operation.touchedEntities
        return earlier.operation.touchedEntities.contains(where: entities.contains)
    }
}

extension Operation {
    /// Whether the operation has the same effect if the service executes it twice.
    fileprivate var isIdempotent: Bool {
        switch action {
        case .update, .createLink, .updateLink, .deleteLink: call == nil
        case .create, .delete: false
        }
    }
}
