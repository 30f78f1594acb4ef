import OperationLog
import Operations
import SyncCore

/// The state of uploads that is only in memory.
struct UploadState {
    /// The number of running uploads.
    var running = 0
    /// Operations in the current batches that were already in doubt when these were prepared.
    private(set) var doubtful: Set<SequenceNumber> = []
    /// The time of the first search for batches in doubt, if the clock was before the time at which they were sent.
    var firstLooks: [BatchID: Timestamp] = [:]

    /// Stores which of the operations are in doubt. It has to be called before logging that they are sent again.
    mutating func remember(_ operations: [SequenceNumber], in state: WorkingSet) throws(StateError) {
        for operation in operations {
            if case .inDoubt? = try state.pendingStatus(of: operation)?.status {
                doubtful.insert(operation)
            } else {
                doubtful.remove(operation)
            }
        }
    }

    /// Keeps operations in doubt that were not processed this time, because an earlier transmission may have been.
    func keepingDoubts(_ outcomes: [BatchAnswered.Outcome]) -> [BatchAnswered.Outcome] {
        outcomes.map { outcome in
            guard doubtful.contains(outcome.operation) else { return outcome }
            switch outcome.result {
            case .confirmed, .rejected, .inDoubt: return outcome
            case .notProcessed, .deferred:
                let reason = "The response to the first request was lost, and the retry was not executed."
                return BatchAnswered.Outcome(operation: outcome.operation, result: .inDoubt(reason))
            }
        }
    }
}
