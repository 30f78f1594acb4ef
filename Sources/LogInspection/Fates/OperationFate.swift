public import Operations

/// How an operation stands, as later records tell.
public enum OperationFate: Sendable, Hashable {
    /// Waits for an upload; never sent, or known not to have taken effect.
    case pending
    /// Sent, or about to be; the log holds no answer.
    case inFlight(BatchID)
    /// The answer did not come, or does not tell.
    case inDoubt(BatchID, reason: String)
    case confirmed(BatchID)
    /// The batch is nil where a snapshot says so and the record was removed by a compaction.
    case rejected(BatchID?, Refusal)
    /// Refused for a while only; a later upload sends it again.
    case deferred(Refusal)
    /// Taken back by the app, in the record with the number. Final, unless it is redone: then it is as it was before.
    indirect case undone(by: SequenceNumber, before: OperationFate)
    /// Cancelled out by others, as the record with the number says: nothing of it was sent. Final.
    case elided(by: SequenceNumber)
    /// Records behind the operation cannot be read, and how it ended may be in one of them.
    case unknown

    /// `pending`, `inFlight`, `inDoubt`, `confirmed`, `rejected`, `deferred`, `undone`, `elided` or `unknown`: what ``HistoryItem/json(fates:)`` has.
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
        case .unknown: "unknown"
        }
    }

    /// The batch that carried the operation last, as far as the fate tells.
    public var batch: BatchID? {
        var fate = self
        while case .undone(_, let before) = fate { fate = before }
        return switch fate {
        case .inFlight(let batch), .inDoubt(let batch, _), .confirmed(let batch): batch
        case .rejected(let batch, _): batch
        case .pending, .deferred, .undone, .elided, .unknown: nil
        }
    }

    /// Whether nothing can change it any more, whatever records are missing.
    var isFinal: Bool {
        switch self {
        case .confirmed, .elided: true
        default: false
        }
    }
}
