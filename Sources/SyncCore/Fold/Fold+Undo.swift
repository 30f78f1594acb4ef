import Operations

/// Operations that the app took back: no longer pending, and kept, since they may be wanted again.
extension Fold {
    /// What is not pending any more is left alone: an undo has no say in what the service did.
    mutating func undo(_ sequences: [SequenceNumber], by record: SequenceNumber) throws(StateError) {
        for sequence in sequences {
            guard var pending = try storage.pendingOperation(sequence) else { continue }
            try unwind()
            // Only what was not at the service's can be undone. Where the log says otherwise a record was lost that told the
            // outcome, and whoever undid it knew.
            switch pending.status {
            case .pending, .rejected: break
            case .inFlight, .inDoubt: pending.status = .pending
            }
            try storage.removePending(sequence)
            try storage.putUndone(UndoneOperation(operation: pending, undo: record))
        }
    }

    /// They go back to their old places: the pending operations are applied in order of their numbers.
    mutating func redo(_ sequences: [SequenceNumber]) throws(StateError) {
        for sequence in sequences {
            guard let undone = try storage.undoneOperation(sequence) else { continue }
            try unwind()
            try storage.removeUndone(sequence)
            try storage.putPending(undone.operation)
            try register(undone.operation.operation)
        }
    }
}
