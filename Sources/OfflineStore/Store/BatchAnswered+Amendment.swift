package import Operations
import SyncCore

extension BatchAnswered {
    /// The reason why a create of a rejected change set is in doubt. The create is resolved individually, whatever else
    /// the change set contained. Logs contain the text, so it must not change.
    package static let refusedButThere =
        "The service rejected the change set, but it may have kept what this operation created."
}

extension BatchAnswered.Outcome {
    /// Returns the outcome with a better-known result. A confirmed outcome does not change.
    package func amended(by result: BatchAnswered.Result?) -> BatchAnswered.Outcome {
        guard let result, !isConfirmed else { return self }
        return BatchAnswered.Outcome(operation: operation, result: result)
    }
}
