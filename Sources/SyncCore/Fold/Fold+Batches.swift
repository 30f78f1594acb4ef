import Operations

/// Batches and their responses.
extension Fold {
    var openBatches: OpenBatches { OpenBatches(storage: storage) }

    mutating func apply(_ prepared: BatchPrepared) throws(StateError) {
        let operations = prepared.operations
        // A batch contains an undone operation only if it was redone and the record of that is lost.
        try layers.redo(operations)
        var header = try storage.header()
        if prepared.batch >= header.nextBatch { header.nextBatch = prepared.batch &+ 1 }
        try storage.setHeader(header)
        var left: Set<BatchID> = []
        for sequence in operations {
            if let batch = try storage.pendingStatus(of: sequence)?.status.batch { left.insert(batch) }
            try layers.setStatus(sequence, .inFlight(prepared.batch))
        }
        var kept = prepared
        // Not part of the state, because nothing depends on it.
        kept.fingerprint = nil
        try storage.bookkeeping.putOpenBatch(OpenBatch(kept))
        try openBatches.forgetRequests(following: operations, of: prepared.batch)
        try openBatches.close(left.union([prepared.batch]))
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
            try layers.setStatus(sequence, .inDoubt(interrupted.batch, reason: interrupted.reason))
        }
    }

    mutating func release(_ operations: [SequenceNumber]) throws(StateError) {
        let left = try openBatches.containing(operations)
        for operation in operations { try layers.setStatus(operation, .pending) }
        try openBatches.close(left)
    }

    mutating func apply(_ answered: BatchAnswered) throws(StateError) {
        if answered.showsService { try postpone(nil) }
        try layers.beginRebase()
        layers.forgetAnswers()
        defer { layers.forgetAnswers() }
        let outcomes = answered.outcomes
        // By index, because a loop over the elements copies each outcome.
        for place in outcomes.indices {
            let operation = outcomes[place].operation
            guard let pending = try storage.pendingOperation(operation) else {
                // The operation was lost. The images of the response are valid nevertheless.
                if case .confirmed(let images) = outcomes[place].result { try layers.apply(images) }
                continue
            }
            switch outcomes[place].result {
            case .confirmed(let images):
                let shown = try layers.shownEffects(of: pending)
                try ConfirmationFold(pending, images, shown: shown).apply(to: &layers)
            case .rejected(let refusal): try layers.setStatus(operation, .rejected(refusal))
            case .deferred(let refusal, let attempts):
                try layers.setStatus(operation, .deferred(refusal, attempts: attempts))
            case .notProcessed: try layers.setStatus(operation, .pending)
            case .inDoubt(let reason): try layers.setStatus(operation, .inDoubt(answered.batch, reason: reason))
            }
        }
    }

    mutating func postpone(_ postponed: Postponement?) throws(StateError) {
        var header = try storage.header()
        guard header.postponed != postponed else { return }
        header.postponed = postponed
        try storage.setHeader(header)
    }
}

extension BatchAnswered {
    /// Whether the service processed at least one operation, so that a postponement of the upload ends.
    var showsService: Bool {
        outcomes.contains { outcome in
            switch outcome.result {
            case .confirmed, .rejected: true
            case .deferred, .notProcessed, .inDoubt: false
            }
        }
    }
}
