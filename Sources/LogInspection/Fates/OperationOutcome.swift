public import Operations

/// The outcome of an operation according to later records.
public enum OperationOutcome: Sendable, Hashable {
    /// Waiting for an upload: it was never sent, or is known not to have taken effect.
    case pending
    /// Sent or about to be sent; the log contains no response.
    case inFlight(BatchID)
    /// The response is missing or inconclusive.
    case inDoubt(BatchID, reason: String)
    /// Confirmed by the service in this batch.
    case confirmed(BatchID)
    /// Rejected by the service. The batch is nil if a snapshot contains the rejection and a compaction has removed the
    /// record.
    case rejected(BatchID?, Refusal)
    /// Rejected for the moment; a later upload sends it again.
    case deferred(Refusal)
    /// Undone by the app, in the record with this number. It is final unless the operation is redone, which restores
    /// the previous outcome.
    indirect case undone(by: SequenceNumber, before: OperationOutcome)
    /// Cancelled out by other operations, according to the record with this number. It was not sent. Final.
    case elided(by: SequenceNumber)
    /// A client-only operation whose changes became permanent with the record with this number. Final.
    case kept(by: SequenceNumber)
    /// Later records are unreadable and may contain the outcome.
    case unknown

    /// The name in the output of `tidelog log --json`: `pending`, `inFlight`, `inDoubt`, `confirmed`, `rejected`,
    /// `deferred`, `undone`, `elided`, `kept` or `unknown`.
    public var name: String {
        switch self {
        case .pending: "pending"
        case .inFlight: "inFlight"
        case .inDoubt: "inDoubt"
        case .confirmed: "confirmed"
        case .rejected: "rejected"
        case .deferred: "deferred"
        case .undone: "undone"
        case .elided: "elided"
        case .kept: "kept"
        case .unknown: "unknown"
        }
    }

    /// The last batch that sent the operation, as far as the outcome contains it.
    package var batch: BatchID? {
        var outcome = self
        while case .undone(_, let before) = outcome { outcome = before }
        return switch outcome {
        case .inFlight(let batch), .inDoubt(let batch, _), .confirmed(let batch): batch
        case .rejected(let batch, _): batch
        case .pending, .deferred, .undone, .elided, .kept, .unknown: nil
        }
    }

    /// Whether the outcome is final, even if records are missing.
    var isFinal: Bool {
        switch self {
        case .confirmed, .elided, .kept: true
        default: false
        }
    }
}
